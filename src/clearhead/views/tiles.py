"""Windows pooled into cells: what is drawn of a matrix that has more places than a screen has pixels.

A cell is 2^l × 2^m places, counted from the window's start, so that the cells of a coarser tile are made of those of a
finer one. It holds the mean or the maximum over its places that are not masked, NaN where all of them are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from clearhead import checks
from clearhead.matrices import REDUCTIONS, Pooled, cell_length
from clearhead.views import engines
from clearhead.views.windows import indices_of, of_heads, one_head

if TYPE_CHECKING:
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

    def made_of(self, finer: Window) -> bool:
        """Whether each cell is made of whole cells of another window, which begins where the matrix does."""
        runs = ((self.rows, self.by_q, finer.rows, finer.by_q), (self.cols, self.by_k, finer.cols, finer.by_k))
        return all(
            by % length == 0 and run.start % length == 0 and (run.stop % length == 0 or run.stop == whole.stop)
            for run, by, whole, length in runs
        )

    def coarser(self, how: np.ufunc, cells: np.ndarray, finer: Window) -> np.ndarray:
        """The cells of a finer window joined into those of this one: (…, cells_q, cells_k)"""
        for axis, run, by, length in ((-2, self.rows, self.by_q, finer.by_q), (-1, self.cols, self.by_k, finer.by_k)):
            first, end = run.start // length, -(-run.stop // length)
            cells = np.take(cells, range(first, end), axis=axis)
            if by > length and end > first:
                cells = how.reduceat(cells, np.arange(0, end - first, by // length), axis=axis)
        return cells


def tile(view: View, head: Any, rows: Any, cols: Any, size: Any, reduce: str, batch: Any) -> Float[np.ndarray, ...]:
    """See `View.tile`."""
    checks.choice("reduce", reduce, REDUCTIONS)
    window = checked_window(rows, cols, size, view.n_q, view.n_k)
    if head is None and batch is None:
        return view.shaped(cell_values(pooled(view, window, None, reduce), reduce, view.call.kind))
    entries = of_heads(view, head, batch)
    result = np.empty((*entries.shape, *window.cells), view.call.kind)
    for entry in np.ndindex(entries.shape):
        result[entry] = cell_values(pooled(view, window, entries[entry], reduce), reduce, view.call.kind)[0]
    return result


def pooled(view: View, window: Window, number: Any, reduce: str) -> Pooled:
    """Each cell's sum or maximum, and how many of its places are not masked: (*call.lead, cells), or (1, cells)

    Of every head, or of one by its number over all of them. Cells that are made of those of the view's map are taken
    from there, others are computed again.
    """
    whole = checked_window(None, None, max(view.map_size, 1), view.n_q, view.n_k)
    if not (view.map_size and window.made_of(whole)):
        call, sums = (view.call, view.sums) if number is None else one_head(view, number)
        return engines.pooled(call, sums, window.rows, window.cols, *window.bits)
    kept = map_of(view, whole, reduce)
    if number is not None:
        batch, head = indices_of(view, number)
        kept = Pooled(*(x[batch][[head]] for x in kept))
    return Pooled(*(window.coarser(how, x, whole) for how, x in zip((np.add, np.maximum, np.add), kept, strict=True)))


def map_of(view: View, whole: Window, reduce: str) -> Pooled:
    """The sums that were kept while looking; for maxima, another pass the first time."""
    if reduce == "max":
        return view.maxima
    shape = (*view.call.lead, *whole.cells)
    total, unmasked = view.observed.map_sum.reshape(shape), view.observed.map_count.reshape(shape)
    return Pooled(total, total, unmasked)


def size_of_map(view: View) -> int:
    """How many cells the map of a view has along either side, at most."""
    if not view.map_size:
        raise ValueError("this view has no map, as it was made with map_size=0; look(…, map_size=512) makes one")
    return view.map_size


def cell_values(cells: Pooled, reduce: str, kind: Any) -> np.ndarray:
    """From sums, maxima and counts of cells to what a tile holds."""
    found = cells.total / np.maximum(cells.unmasked, 1) if reduce == "mean" else cells.peak
    unknown = (cells.unmasked == 0) | np.isnan(cells.total)  # a maximum passes over NaN, a sum does not
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
