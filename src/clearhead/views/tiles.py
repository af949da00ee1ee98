"""Windows pooled into cells: what is drawn of a matrix that has more places than a screen has pixels.

A cell is a square or oblong of 2^l × 2^m places, counted from the window's start, so that the cells of a coarser tile
are made of those of a finer one. It holds the mean or the maximum over its places that are not masked, NaN where all
of them are. No more than a strip of the window is there at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from clearhead import checks
from clearhead.views.allowed import allowed, strips
from clearhead.views.windows import numbered, of_heads

if TYPE_CHECKING:
    from clearhead.views.view import View

REDUCE = ("mean", "max")


class Window(NamedTuple):
    """A window, and how many queries and keys make a cell of it."""

    rows: slice
    cols: slice
    by_q: int
    by_k: int

    @property
    def cells(self) -> tuple[int, int]:
        """How many cells there are."""
        tall, wide = self.rows.stop - self.rows.start, self.cols.stop - self.cols.start
        return -(-tall // self.by_q), -(-wide // self.by_k)


def cell_length(n: int, size: int) -> int:
    """The smallest power of two of which `size` cells hold n positions."""
    return 1 << max(-(-n // size) - 1, 0).bit_length()


def tile(view: View, head: Any, rows: Any, cols: Any, size: Any, reduce: str, batch: Any) -> Float[np.ndarray, ...]:
    """See `View.tile`."""
    checks.choice("reduce", reduce, REDUCE)
    window = checked_window(rows, cols, size, view.n_q, view.n_k)
    entries = of_heads(view, head, batch)
    result = np.empty((*entries.shape, *window.cells), view.call.kind)
    for place in np.ndindex(entries.shape):
        result[place] = pooled(window, _strips(view, *numbered(view, int(entries[place])), window), reduce)
    return result


def checked_window(rows: Any, cols: Any, size: Any, n_q: int, n_k: int) -> Window:
    """Which window is meant, and in cells of which size."""
    most = size if isinstance(size, tuple) else (size, size)
    if len(most) != 2:
        raise ValueError(f"size must be a number of cells, or two for queries and keys, got {size!r}")
    most_q, most_k = (checks.count("size", x) for x in most)
    queries, keys = run_of("rows", rows, n_q), run_of("cols", cols, n_k)
    by_q, by_k = cell_length(queries.stop - queries.start, most_q), cell_length(keys.stop - keys.start, most_k)
    return Window(queries, keys, by_q, by_k)


def run_of(name: str, positions: Any, n: int) -> slice:
    """A run of positions, from its first to its last: a slice, or all of them."""
    if positions is None or positions is Ellipsis:
        return slice(0, n)
    start, stop, step = positions.indices(n) if isinstance(positions, slice) else (0, 0, 0)
    if step != 1 or (stop <= start and n):
        raise ValueError(f"{name} must be a run of positions such as slice(0, 40), of {n} there are, got {positions}")
    return slice(start, stop)


Strip = tuple[int, Float[np.ndarray, "rows cols"], Bool[np.ndarray, "rows cols"]]


def _strips(view: View, batch: tuple[int, ...], head: int, window: Window) -> Iterator[Strip]:
    """The window of one head, some rows at a time: where they begin, their weights, and which are not masked."""
    key = np.arange(window.cols.start, window.cols.stop)
    for strip in strips(window.rows.stop - window.rows.start, key.size):
        query = np.arange(window.rows.start + strip.start, window.rows.start + strip.stop)
        weights = view.recomputed.window(batch, head, query, window.cols)
        yield strip.start, weights, allowed(view.call, batch, head, query[:, None], key)


def pooled(window: Window, strips_of: Iterator[Strip], reduce: str) -> Float[np.ndarray, "cells_q cells_k"]:
    """The mean or maximum over each cell's places that are not masked, from strips of the window."""
    found, count = np.zeros(window.cells), np.zeros(window.cells, np.int64)
    join: np.ufunc = np.add if reduce == "mean" else np.maximum
    for start, weights, unmasked in strips_of:
        if not weights.size:
            continue
        first, last = start // window.by_q, (start + len(weights) - 1) // window.by_q
        cells = slice(first, last + 1)
        found[cells] = join(found[cells], _over_cells(join, np.where(unmasked, weights, 0), start, window))
        count[cells] += _over_cells(np.add, unmasked, start, window).astype(np.int64)
    result = found / np.maximum(count, 1) if reduce == "mean" else found
    return np.where(count > 0, result, np.nan)


def _over_cells(join: np.ufunc, x: np.ndarray, start: int, window: Window) -> np.ndarray:
    """Some rows of a window, the first of which is number `start`, joined into the cells they lie in."""
    rows = np.arange(start // window.by_q, (start + len(x) - 1) // window.by_q + 1) * window.by_q - start
    along = join.reduceat(x, np.arange(0, x.shape[1], window.by_k), axis=1, dtype=np.float64)
    return np.asarray(join.reduceat(along, np.maximum(rows, 0), axis=0))
