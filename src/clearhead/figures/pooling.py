"""Fewer cells than weights: what a screen cannot show apart is pooled, evenly, before it is drawn.

Left to the drawing, a map larger than its pixels loses rows or blurs them, and no reader can tell which. Here every
cell stands for the same number of weights, and the figure says for how many.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from jaxtyping import Float

from clearhead import checks

REDUCTIONS = ("mean", "max")
WORDS = {"mean": "mean", "max": "largest"}


def factor(n: int, most: int) -> int:
    """How many neighbours one cell must stand for, so that n positions need at most `most` cells."""
    return ceil(n / most)


def pool(
    weights: Float[np.ndarray, "n_q n_k"], by_q: int, by_k: int, *, reduce: str = "mean"
) -> Float[np.ndarray, "cells_q cells_k"]:
    """Each block of by_q × by_k weights becomes one: their mean or their maximum.

    weights (n_q, n_k) → (⌈n_q / by_q⌉, ⌈n_k / by_k⌉), in float32 or float64. The last block of a row or column
    may be smaller, and is the mean or maximum of what it has.
    """
    checks.choice("reduce", reduce, REDUCTIONS)
    pooled = weights.astype(checks.compute_type(weights.dtype), copy=False)
    for axis, by in ((1, by_k), (0, by_q)):
        n = pooled.shape[axis]
        if by == 1:
            continue
        starts = np.arange(0, n, by)
        if reduce == "max":
            pooled = np.maximum.reduceat(pooled, starts, axis=axis)
        else:
            counts = np.minimum(by, n - starts).astype(pooled.dtype)
            totals = np.add.reduceat(pooled, starts, axis=axis)
            pooled = totals / (counts[:, None] if axis == 0 else counts)
    return pooled


def note(n_q: int, n_k: int, by_q: int, by_k: int, *, reduce: str) -> str:
    """What the figure says about its pooling, or nothing if each cell is one weight."""
    if by_q == by_k == 1:
        return ""
    return (
        f"Pooled: each cell is the {WORDS[reduce]} of {by_q} × {by_k} weights (queries × keys); "
        f"the map is {n_q:,} × {n_k:,}, more than the pixels can show."
    )
