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

from clearhead import checks, kernels
from clearhead.matrices import REDUCTIONS, cell_length
from clearhead.views.windows import numbered, of_heads

if TYPE_CHECKING:
    from clearhead.views.view import View


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


def tile(view: View, head: Any, rows: Any, cols: Any, size: Any, reduce: str, batch: Any) -> Float[np.ndarray, ...]:
    """See `View.tile`."""
    checks.choice("reduce", reduce, REDUCTIONS)
    window = checked_window(rows, cols, size, view.n_q, view.n_k)
    entries = of_heads(view, head, batch)
    result = np.empty((*entries.shape, *window.cells), view.call.kind)
    bits = window.by_q.bit_length() - 1, window.by_k.bit_length() - 1
    from_map = reduce == "mean" and _is_made_of_the_map(view, window)
    for place in np.ndindex(entries.shape):
        batch, head = numbered(view, int(entries[place]))
        if from_map:
            total, places = _of_the_map(view, (*batch, head), window)
            peak = total
        else:
            chosen = kernels.recompute.of_head(view.call, view.recomputed.sums, batch, head)
            total, peak, places = (x[0] for x in kernels.recompute.pooled(*chosen, window.rows, window.cols, *bits))
        found = total / np.maximum(places, 1) if reduce == "mean" else peak
        result[place] = np.where((places == 0) | np.isnan(total), np.nan, found)  # a maximum passes over NaN
    return result


def _map_lengths(view: View) -> tuple[int, int]:
    """How many queries and keys a cell of the view's own map has."""
    return cell_length(view.n_q, view.map_size), cell_length(view.n_k, view.map_size)


def _is_made_of_the_map(view: View, window: Window) -> bool:
    """Whether the cells of a window are whole cells of the map that was kept."""
    if not view.map_size:
        return False
    runs = zip(
        (window.rows, window.cols), (window.by_q, window.by_k), _map_lengths(view), (view.n_q, view.n_k), strict=True
    )
    return all(
        by >= length and run.start % length == 0 and (run.stop % length == 0 or run.stop == n)
        for run, by, length, n in runs
    )


def _of_the_map(view: View, head: tuple[int, ...], window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The sums and the places of a window's cells, from those of the map."""
    tall, wide = _map_lengths(view)
    rows, cols = (
        slice(run.start // length, -(-run.stop // length)) for run, length in ((window.rows, tall), (window.cols, wide))
    )
    found = []
    for whole in (view.observed.map_sum, view.observed.map_count):
        part = whole.reshape(*view.call.lead, *whole.shape[-2:])[head][rows, cols]
        part = np.add.reduceat(part, np.arange(0, part.shape[0], window.by_q // tall), axis=0, dtype=np.float64)
        found.append(np.add.reduceat(part, np.arange(0, part.shape[1], window.by_k // wide), axis=1))
    return found[0], found[1]


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
