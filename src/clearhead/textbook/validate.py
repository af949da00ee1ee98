"""Are these attention weights? The question to ask of a matrix before believing what it seems to say.

It is separate from attention itself, because the weights worth asking about are mostly someone else's.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearhead import checks

# The gap between 1 and the next number, and the smallest number above 0.
SPACING = {
    "float16": (2.0**-10, 2.0**-24),
    "bfloat16": (2.0**-7, 2.0**-133),
    "float32": (2.0**-23, 2.0**-149),
    "float64": (2.0**-52, 2.0**-1074),
}


def validate_attention(
    weights: Float[np.ndarray, "... n_q n_k"], *, sinks: bool = False, tolerance: float | None = None
) -> None:
    """Say nothing if every row shares out 1 among the keys, and raise otherwise.

    weights (…, n_q, n_k), heads on the third axis from the end → None

    Every weight must be in [0, 1] and every row must sum to 1, or be all zeros: a query with no key left. With
    `sinks` a row may sum to less than 1, because a sink takes weight without being a key. Sums may be off by what
    rounding in the type of the weights explains (`sum_tolerance`), or by `tolerance` if that is given.

    Raises:
        TypeError: weights are not floats.
        ValueError: a weight or a row is wrong. The first such row is named, with its head and batch.
    """
    weights = checks.float_array("weights", weights, ndim=2)
    if tolerance is None:
        tolerance = sum_tolerance(weights)
    elif checks.number("tolerance", tolerance) < 0:
        raise ValueError(f"tolerance must be at least 0, got {tolerance:g}")
    weights = weights.astype(np.float64)
    with np.errstate(invalid="ignore"):  # inf − inf: the row is refused for its inf
        sums = weights.sum(axis=-1)
    outside = ~((weights >= 0) & (weights <= 1 + tolerance))  # in this form NaN is outside too
    empty = (weights == 0).all(axis=-1)
    short = (sums < 1 - tolerance) & ~empty & (not sinks)
    bad = outside.any(axis=-1) | short | (sums > 1 + tolerance)
    if bad.any():
        row = tuple(int(i) for i in np.argwhere(bad)[0])
        others = int(bad.sum()) - 1
        more = f"; {others} more row{'s' * (others > 1)} not valid either" if others else ""
        raise ValueError(f"{_place(row)}: {_fault(weights, row, outside[row], tolerance)}{more}")


def sum_tolerance(weights: Float[np.ndarray, "... n_q n_k"]) -> float:
    """How far from 1 a row of these weights may sum and still be right.

    Two things move the sum: the rounding of each weight to its type, at most half a spacing of it, and the
    arithmetic before, whose errors grow like √n_k in float32 or float64. Both are granted twice over.
    """
    n_k = int(weights.shape[-1])
    spacing, smallest = SPACING[weights.dtype.name]
    arithmetic = SPACING[checks.compute_type(weights.dtype).name][0]
    return spacing + n_k * smallest + 2 * arithmetic * (4 + float(np.sqrt(n_k)))


def _place(row: tuple[int, ...]) -> str:
    """weights[2, 0, 5] (batch 2, head 0, row 5)"""
    *batch, head, position = (None, *row) if len(row) == 1 else row
    words = [f"row {position}"] if head is None else [f"head {head}", f"row {position}"]
    if batch:
        words.insert(0, f"batch {batch[0] if len(batch) == 1 else tuple(batch)}")
    return f"weights[{', '.join(map(str, row))}] ({', '.join(words)})"


def _fault(weights: np.ndarray, row: tuple[int, ...], outside: np.ndarray, tolerance: float) -> str:
    """What is wrong with one row, and what it looks like."""
    if outside.any():
        column = int(np.argmax(outside))
        value = weights[row][column]
        hint = "weights are shares of 1"
        if np.isnan(value):
            hint = "was every key of this query masked? softmax of such a row is 0 / 0; clearhead.softmax gives zeros"
        elif value < 0:
            hint = "are these scores? softmax turns them into weights"
        elif np.isfinite(value):
            hint = "are these scores before softmax, or weights after dropout? check those before it"
        return f"the weight of key {column} is {value:.6g}, expected a number in [0, 1] ({hint})"
    total = weights[row].sum()
    with np.errstate(invalid="ignore"):  # a later row may hold inf
        columns = weights[row[:-1]].sum(axis=0)
    if abs(total - 1) < 1e-3:
        hint = f"the tolerance here is {tolerance:.1g}; tolerance= allows more"
        return f"the weights sum to 1 {'+' if total > 1 else '-'} {abs(total - 1):.2g}, expected 1 ({hint})"
    if np.allclose(columns, 1, atol=1e-3):
        hint = "the columns do: softmax ran over the queries, use axis=-1"
    elif total > 1:
        hint = "weights after dropout do not: check those before it"
    else:
        hint = "sinks=True allows less than 1; dropout and a mask multiplied in after softmax also lose weight"
    return f"the weights sum to {total:.6g}, expected 1 ({hint})"
