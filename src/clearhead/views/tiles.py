"""Windows pooled into cells: what is drawn of a matrix that has more places than a screen has pixels.

A cell is 2^l × 2^m places, counted from the window's start, so that the cells of a coarser tile are made of those of a
finer one. It holds the mean or the maximum over its places that are not masked, NaN where all of them are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from clearhead import checks, kernels
from clearhead.matrices import REDUCTIONS, cell_length
from clearhead.views.windows import of_heads, one_head

if TYPE_CHECKING:
    from clearhead.kernels.recompute import Pooled
    from clearhead.views.view import View


class Window(NamedTuple):
    """A window, and how many queries and keys make a cell of it."""

    rows: slice
    cols: slice
    by_q: int
    by_k: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and keys there are."""
        return self.rows.stop - self.rows.start, self.cols.stop - self.cols.start

    @property
    def cells(self) -> tuple[int, int]:
        """How many cells there are."""
        tall, wide = self.shape
        return -(-tall // self.by_q), -(-wide // self.by_k)

    @property
    def bits(self) -> tuple[int, int]:
        """Which powers of two a cell is."""
        return self.by_q.bit_length() - 1, self.by_k.bit_length() - 1


def tile(view: View, head: Any, rows: Any, cols: Any, size: Any, reduce: str, batch: Any) -> Float[np.ndarray, ...]:
    """See `View.tile`."""
    checks.choice("reduce", reduce, REDUCTIONS)
    window = checked_window(rows, cols, size, view.n_q, view.n_k)
    if head is None and batch is None:
        found = pooled(view, window)
        return view.shaped(cell_values(found.total, found.peak, found.places, reduce, view.call.kind))
    entries = of_heads(view, head, batch)
    result = np.empty((*entries.shape, *window.cells), view.call.kind)
    for entry in np.ndindex(entries.shape):
        found = pooled(view, window, entries[entry])
        result[entry] = cell_values(found.total, found.peak, found.places, reduce, view.call.kind)[0]
    return result


def pooled(view: View, window: Window, number: Any = None) -> Pooled:
    """The sum, maximum and count of each cell, of every head or of one by its number: (*call.lead or 1, cells)"""
    call, sums = (view.call, view.sums) if number is None else one_head(view, number)
    return kernels.recompute.pooled(call, sums, window.rows, window.cols, *window.bits)


def cell_values(total: np.ndarray, peak: np.ndarray, count: np.ndarray, reduce: str, kind: Any) -> np.ndarray:
    """From sums, maxima and counts of cells to what a tile holds."""
    found = total / np.maximum(count, 1) if reduce == "mean" else peak
    unknown = (count == 0) | np.isnan(total)  # a maximum passes over NaN, a sum does not
    return np.where(unknown, np.nan, found).astype(kind)


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


def join_rows(how: np.ufunc, rows: np.ndarray, start: int, window: Window, cells: np.ndarray) -> None:
    """Join some rows of a window, the first of which is number `start`, into the cells they lie in."""
    if not rows.size:
        return
    first, last = start // window.by_q, (start + len(rows) - 1) // window.by_q
    borders = np.maximum(np.arange(first, last + 1) * window.by_q - start, 0)
    along = how.reduceat(rows, np.arange(0, rows.shape[1], window.by_k), axis=1, dtype=cells.dtype)
    here = cells[first : last + 1]
    how(here, how.reduceat(along, borders, axis=0), out=here)
