"""Views over a group, beside a view of the same call on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.torch.parallel.cases import Case, arguments, draw

from clearhead.torch import parallel
from clearhead.views.view import look

ASKED: dict[str, Any] = {"top_k": 3, "map_size": 8}
FIELDS = ("lse", "entropy", "max_weight", "distance", "on_first", "on_self", "received", "output")


def seen(case: Case, ranks: int) -> dict[str, Any]:
    """What one rank is told of the whole, and what it has of its own rows."""
    q, k, v, options, *_ = arguments(case, ranks)
    del options["split"]
    view = parallel.look(q, k, v, **options, **ASKED)
    whole = view.gather()
    own = {f"own {name}": getattr(view, name).numpy() for name in ("entropy", "received")}
    return told(view, whole) | own


def expected(case: Case) -> dict[str, Any]:
    """The same of one machine."""
    drawn = draw(case)
    view = look(drawn.q, drawn.k, drawn.v, drawn.mask, bias=drawn.bias, sinks=drawn.sinks, **case.options, **ASKED)
    return told(view, view)


def told(view: Any, statistics: Any) -> dict[str, Any]:
    """Everything that is asked of a view, as arrays."""
    found = {name: getattr(statistics, name) for name in FIELDS}
    found |= {"top keys": statistics.top_k.indices, "top weights": statistics.top_k.weights}
    found |= {
        "all weights": view.weights(),
        "a window": view.weights(head=[2, 0], rows=slice(3, 9), cols=[1, 4, 2], batch=1),
        "a row": view.weights(head=3, rows=5),
        "a map": view.map(),
        "a map of maxima": view.map("max"),
        "a tile": view.tile(head=slice(1, None), rows=slice(4, 30), cols=slice(0, 20), size=(5, 7), reduce="max"),
    }
    patterns = view.patterns(np.arange(37) % 5)
    found |= {
        "labels": patterns.labels,
        "score": patterns.score,
        "radius": patterns.radius,
        "closest": patterns.closest,
    }
    found |= {f"score of {name}": x for name, x in patterns.scores.items()}
    found |= {f"share of {name}": x for name, x in patterns.shares.items()}
    return {name: np.asarray(x.detach() if hasattr(x, "detach") else x) for name, x in found.items()}


def without_values(case: Case, ranks: int) -> str:
    """A view of queries and keys alone says that there is no output."""
    q, k, _, options, *_ = arguments(case, ranks)
    view = parallel.look(q, k, None, options["mask"], group=options["group"])
    try:
        return str(view.output)
    except AttributeError as error:
        return f"{view!r}: {error}"


def without_heads() -> Any:
    import torch

    return parallel.look(torch.ones(3, 5), torch.ones(3, 5))
