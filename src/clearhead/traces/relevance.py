"""Gradient × attention: how relevant each position is to one number that a model gave (Chefer et al., 2021).

    R ← R + mean_h (∇A ⊙ A)₊ R        from the first layer to the last, R = 1 before it

One row of R needs no matrix: r ← r + r · mean_h (∇A ⊙ A)₊, from the last layer to the first. And ∇A[q, k] = dO_q · v_k,
with dO the gradient of what the heads gave, so strips of queries are enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from clearhead import checks
from clearhead.traces.progress import showing
from clearhead.traces.projections import unchanged_values

if TYPE_CHECKING:
    from clearhead.traces.result import Trace

MOST_PLACES = 2**22  # weights that are worked on at a time


def relevance(trace: Trace, position: int = -1, *, progress: bool = True) -> Float[np.ndarray, " n"]:
    """See `Trace.relevance`."""
    if len(trace.stacks) > 1:
        raise NotImplementedError(
            f"relevance follows one stack of layers, and there are {len(trace.stacks)}: {', '.join(trace.stacks)}; the "
            "rules for several are others"
        )
    names = trace.names
    if left_out := trace.facts.left_out(names):
        raise ValueError(
            f"relevance goes through all layers, and {', '.join(left_out)} were not kept; leave layers= out: "
            "trace(model, gradients=True)"
        )
    n = trace._view(names[0]).n_q
    place = checks.count("position", position, least=None)
    if not -n <= place < n:
        raise ValueError(f"position {position} is out of range; there are {n} positions")
    row = np.zeros(n)
    row[place] = 1
    with showing(progress, names[::-1]) as layers:
        for name in layers:
            row = row + _carried(trace, name, row)
    return row


def _carried(trace: Trace, name: str, row: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """r · mean_h (∇A ⊙ A)₊ of one layer."""
    take, entry = trace._sequence()
    gradient, view = take.piece(name, entry).gradient, trace._view(name)
    if gradient is None:
        raise ValueError(
            f"no gradient reached the heads of {name}: trace(model, gradients=True), and call backward on one number "
            "that the model gave, model(ids).logits[0, -1, token].backward(), without torch.no_grad()"
        )
    if view.n_q != view.n_k:
        raise ValueError(f"{name} has {view.n_q} queries and {view.n_k} keys; relevance needs one text, read at once")
    values = unchanged_values(trace, name)
    heads, v = values.heads, values.of_heads()
    queries = np.flatnonzero(row)
    height = max(1, MOST_PLACES // (heads * view.n_k))
    carried = np.zeros(view.n_k)
    for start in range(0, len(queries), height):
        rows = queries[start : start + height]
        weights = np.asarray(view.weights(rows=rows), np.float64)  # (h, rows, n_k)
        slopes = gradient[:, rows].astype(np.float64) @ v.swapaxes(-1, -2)
        carried += row[rows] @ np.maximum(weights * slopes, 0).mean(axis=0)
    return carried
