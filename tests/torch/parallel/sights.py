"""Views over a group, beside a view of the same call on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.distributed as dist
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
    return told(case, view, whole) | own


def expected(case: Case) -> dict[str, Any]:
    """The same of one machine."""
    drawn = draw(case)
    view = look(drawn.q, drawn.k, drawn.v, drawn.mask, bias=drawn.bias, sinks=drawn.sinks, **case.options, **ASKED)
    return told(case, view, view)


def told(case: Case, view: Any, statistics: Any) -> dict[str, Any]:
    """Everything that is asked of a view, as arrays."""
    found = {name: getattr(statistics, name) for name in FIELDS}
    found |= {"top keys": statistics.top_k.indices, "top weights": statistics.top_k.weights}
    n_k = case.n if case.n_k is None else case.n_k
    found |= {
        "a band": view.weights(rows=slice(3, 70), cols=slice(0, 60)),
        "scattered": view.weights(rows=[9, case.n - 1, 4], cols=[n_k - 1, 2, 7]),
        "a map": view.map(),
        "a map of maxima": view.map("max"),
        "a tile": view.tile(rows=slice(4, 3 * case.n // 4), cols=slice(3, n_k // 2), size=(5, 7)),
    }
    if len(case.batch) == 1:
        found |= {
            "a window of heads": view.weights(head=[2, 0], rows=slice(3, 9), cols=[1, 4, 2], batch=1),
            "a row": view.weights(head=3, rows=5),
            "a tile of heads": view.tile(head=slice(1, None), rows=slice(1, 30), size=6, reduce="max", batch=0),
        }
    patterns = view.patterns(np.arange(n_k) % 5)
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


def bytes_sent(case: Case, ranks: int) -> list[list[int]]:
    """The bytes that this rank sends to each, in each exchange of a look at queries and keys."""
    q, k, _, options, *_ = arguments(case, ranks)
    counted: list[list[int]] = []
    real = dist.all_to_all_single

    def count(into: Any, out: Any, _: Any, sizes: list[int], group: Any = None) -> Any:
        counted.append(list(sizes))
        return real(into, out, _, sizes, group=group)

    dist.all_to_all_single = count
    try:
        parallel.look(q, k, None, options["mask"], group=options["group"])
    finally:
        dist.all_to_all_single = real
    return counted


def other_labels(name: str, own: Any, others: Any) -> Any:
    """A look in which rank 2 says otherwise what the tokens or the padding are."""
    q = torch.ones(2, 3, 5)
    return parallel.look(q, q, q, **{name: own if dist.get_rank() == 2 else others})
