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
    may be smaller, and is the mean or maximum of what it has. NaN, which is no weight, does not count.
    """
    checks.choice("reduce", reduce, REDUCTIONS)
    pooled = weights.astype(checks.compute_type(weights.dtype), copy=False)
    if by_q == by_k == 1:
        return pooled
    if reduce == "max":
        return _blocks(np.fmax, pooled, by_q, by_k)
    there = ~np.isnan(pooled)
    counts = _blocks(np.add, there.astype(pooled.dtype), by_q, by_k)
    totals = _blocks(np.add, pooled if there.all() else np.where(there, pooled, 0), by_q, by_k)
    with np.errstate(invalid="ignore"):  # 0 / 0: a block of NaN alone is NaN
        return totals / counts


def _blocks(reduction: np.ufunc, cells: np.ndarray, by_q: int, by_k: int) -> np.ndarray:
    for axis, by in ((1, by_k), (0, by_q)):
        if by > 1:
            cells = reduction.reduceat(cells, np.arange(0, cells.shape[axis], by), axis=axis)
    return cells


def note(n_q: int, n_k: int, by_q: int | float, by_k: int | float, *, reduce: str) -> str:
    """What the figure says about its pooling, or nothing if each cell is one weight."""
    if by_q == by_k == 1:
        return ""
    even = float(by_q).is_integer() and float(by_k).is_integer()
    return (
        f"Pooled: each cell is the {WORDS[reduce]} of {'' if even else 'about '}{by_q:.3g} × {by_k:.3g} weights "
        f"(queries × keys); the map is {n_q:,} × {n_k:,}, more than the pixels can show."
    )
