"""The big map in tiles: 256 × 256 cells of 2^level positions each, and single rows and columns, exact.

Tiles of one level lie side by side from the first query and key on, so that any part of a map at any zoom is a few of
them. Each is computed when it is asked for; cells as large as those of a view's own map, or larger, are taken from it.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearhead.page.reading import Layer

TILE = 256  # cells along a side
MOST = 1 << 26  # places that a tile is computed of, which takes some 50 ms; beyond, only what is kept is given


def levels(layer: Layer) -> int:
    """How many levels there are, the last of which has the whole map in one tile."""
    longest = max(layer.n_q, layer.n_k)
    return max((-(-longest // TILE) - 1).bit_length(), 0) + 1


def tiles_along(n: int, level: int) -> int:
    """How many tiles of a level so many positions take."""
    return -(-n // (TILE << level))


def is_within_reach(layer: Layer, level: int, reduce: str) -> bool:
    """Whether a tile is quick to compute: it has few enough places, or its means are kept."""
    places = min(TILE << level, layer.n_q) * min(TILE << level, layer.n_k)
    return places <= MOST or (reduce == "mean" and bool(getattr(layer.matrix, "map_size", 0)))


def tile(
    layer: Layer, head: int, level: int, row: int, column: int, reduce: str = "mean"
) -> Float[np.ndarray, "cells_q cells_k"]:
    """One tile: the mean or the largest weight of each cell, HIDDEN where all of it is masked."""
    side = TILE << level
    rows = slice(row * side, min((row + 1) * side, layer.n_q))
    cols = slice(column * side, min((column + 1) * side, layer.n_k))
    if level == 0:
        return layer.exact_window(head, rows, cols)
    return layer.window(head, rows, cols, tuple(-(-(x.stop - x.start) >> level) for x in (rows, cols)), reduce)


def row_of(layer: Layer, head: int, query: int) -> Float[np.ndarray, " n_k"]:
    """The weights of one query, HIDDEN where masked."""
    return layer.exact_window(head, slice(query, query + 1), slice(0, layer.n_k))[0]


def column_of(layer: Layer, head: int, key: int) -> Float[np.ndarray, " n_q"]:
    """The weights on one key, HIDDEN where masked."""
    return layer.exact_window(head, slice(0, layer.n_q), slice(key, key + 1))[:, 0]
