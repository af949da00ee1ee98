"""Direct logit attribution: what each head, and each token it looks at, adds to a logit by itself.

The stream that runs through a model is a sum, and heads are terms of it. With the scale of the last norm held fast, a
logit is a linear function of the stream, and so a sum of what each head adds to it:

    head h          z_h W_Oʰ · u            z_h = Σ_k A[q, k] v_k      u: the token's column of the unembedding, taken
    source token k  A[q, k] (v_k W_Oʰ · u)                             back through the norm at position q

Direct: what a head does by changing what later layers compute is not in it; `Trace.effects` has both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from clearhead import checks
from clearhead.traces.naming import role
from clearhead.traces.projections import is_plain, projection, the_model, unchanged_values
from clearhead.traces.tables import HeadScores

if TYPE_CHECKING:
    from clearhead.traces.result import Trace


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(HeadScores):
    """What each head adds to a logit, by the names of the layers, (h,) each.

    sources: of every layer, what each of its heads adds by each key, (h, n_k); their sums are the heads'.
    biases: of every layer, what the bias of its output projection adds. position: of the query, counted from 0.
    """

    sources: dict[str, Float[np.ndarray, "h n_k"]]
    biases: dict[str, float]
    position: int

    @property
    def total(self) -> float:
        """What attention adds to the logit: all heads of the layers kept, and the biases of their projections."""
        return float(sum(row.sum() for row in self.layers.values()) + sum(self.biases.values()))


def attribution(
    trace: Trace,
    token: int,
    position: int = -1,
    *,
    against: int | None = None,
    projections: Mapping[str, Any] | None = None,
    model: Any = None,
) -> Attribution:
    """See `Trace.attribution`."""
    names = _names(trace)
    model = the_model(trace, model)
    place = _place(position, trace._view(names[0]).n_q)
    direction = _direction(trace, model, place, token, against)
    layers, sources, biases = {}, {}, {}
    for name in names:
        own = projection(trace, name, projections, model)
        towards = own.rows @ direction  # (h, d_v): what a value's columns count
        by_key = np.einsum("hkd,hd->hk", unchanged_values(trace, name).of_heads(), towards)
        row = np.asarray(trace._view(name).row(place), np.float64)
        sources[name] = row * by_key
        layers[name], biases[name] = sources[name].sum(axis=-1), float(own.bias @ direction)
    what = f"logit of {token}" + ("" if against is None else f" − logit of {against}")
    two_sided = any(role(path) != "encoder" for path in trace.facts.called)  # an encoder's own do not reach the logits
    left_out = [x for x in trace.facts.left_out(names) if not (two_sided and role(x) == "encoder")]
    return Attribution(layers, f"{what} at {place}{', of the layers kept' if left_out else ''}", sources, biases, place)


def _names(trace: Trace) -> list[str]:
    """The layers that add to the stream which becomes the logits; refused where one does so in another way."""
    several = len(trace.stacks) > 1
    names = [name for name in trace.names if not (several and role(name) == "encoder")]
    for name in names:
        unchanged_values(trace, name)
        path = name.partition(":")[0]
        if path not in trace.facts.added:
            why = trace.facts.missing.get(path, f"its output projection was not found in {path.rpartition('.')[0]}")
            raise NotImplementedError(f"what the heads of {path} add to a logit cannot be read off: {why}")
    return names


def _place(position: int, n: int) -> int:
    position = checks.count("position", position, least=None)
    if not -n <= position < n:
        raise ValueError(f"position {position} is out of range; there are {n} positions")
    return position % n


def _direction(trace: Trace, model: Any, place: int, token: int, against: int | None) -> np.ndarray:
    """The direction of the stream at a position that is a logit, or the difference of two: (width,)"""
    from clearhead.traces.norms import read_norm

    facts = trace.facts
    take, entry = trace._sequence()
    scales = take.scales(entry)
    if facts.norm is None or facts.unembedding is None or scales is None:
        why = facts.missing.get("unembedding", "it makes no logits, or none were made while it was traced")
        raise NotImplementedError(f"logits of {type(model).__name__} cannot be attributed: {why}")
    unembedding = model.get_submodule(facts.unembedding)
    if not is_plain(unembedding):
        raise NotImplementedError(
            f"logits of {type(model).__name__} cannot be attributed: {facts.unembedding} is a "
            f"{type(unembedding).__name__}, which may multiply by something else than its weight; make it a Linear"
        )
    weight = unembedding.weight.detach()  # (vocabulary, width)
    if place >= len(scales):
        raise ValueError(
            f"the norm before the logits was seen at {len(scales)} positions, and {place} is not one of them"
        )
    for number in (token, *([] if against is None else [against])):
        if not 0 <= checks.count("token", number, least=None) < len(weight):
            raise ValueError(f"token {number} is out of range; the model has {len(weight)} of them")
    column = weight[token].double() - (0 if against is None else weight[against].double())
    norm = read_norm(model.get_submodule(facts.norm), weight[:1])
    assert norm is not None
    return float(scales[place]) * norm.back(np.array(column.cpu().numpy()))
