"""Heat maps of one window: their cells, colours and numbers, and what must be said about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from clearhead.figures.grid import Grid
from clearhead.figures.lettering import DPI, text_size, text_style
from clearhead.figures.options import Options, hidden_note
from clearhead.figures.shading import EMPTY_COLOUR, Shading
from clearhead.figures.source import Drawn, cell_lengths

SMALLEST_VALUE = 6.0  # points; a smaller number in a cell is a smudge
MOST_VALUES = 3000  # in a whole figure; beyond it nobody reads them and drawing them takes seconds
REDUCTION_WORDS = {"mean": "mean", "max": "largest"}


@dataclass(frozen=True)
class HeatMaps:
    """Maps of the same window, cells (maps, cells_q, cells_k) of by[0] × by[1] positions, NaN where there is nothing.

    `hidden` are the keys that were left out, as they are counted in the window.
    """

    cells: Float[np.ndarray, "maps cells_q cells_k"]
    by: tuple[int, int]
    rows: slice
    cols: slice
    hidden: list[int]
    shades: Shading
    note: str

    @property
    def pooled(self) -> bool:
        return self.by != (1, 1)

    def draw(self, panels: Sequence[Axes], grid: Grid, *, values: bool) -> None:
        """Each map on its axes, with numbers if they are wanted and can be read."""
        positions = self.rows.stop - self.rows.start, self.cols.stop - self.cols.start
        for axes, cells in zip(panels, self.cells, strict=True):
            draw_map(axes, cells, self.by, positions, self.shades)
            if values and not self.pooled and self.cells.size <= MOST_VALUES:
                write_values(axes, cells, grid.width, grid.height, self.shades)


def heat_maps(
    drawn: Drawn, heads: Sequence[int], rows: slice, cols: slice, grid: Grid, options: Options, mean_of: int = 1
) -> HeatMaps:
    """The maps of some heads in a window, pooled to the pixels they get. `mean_of`: how many heads one stands for."""
    keys = [key for key in options.hidden(drawn.n_k) if cols.start <= key < cols.stop]
    hidden = [key - cols.start for key in keys]
    size = pixels(grid)
    by = cell_lengths(rows, cols, size)
    kept = drawn.without(keys)
    cells = np.stack([kept.cells(head, rows, cols, size, options.reduce) for head in heads])
    if not drawn.hides_exactly and hidden:
        cells = cells.copy()
        cells[..., [key // by[1] for key in hidden]] = np.nan
    what = "attention weight" if by == (1, 1) else f"{REDUCTION_WORDS[options.reduce]} attention weight"
    what = what if mean_of == 1 else f"{what}, mean of {mean_of} heads"
    neighbours = by[1] > 1 and not drawn.hides_exactly
    said = (
        _window_note(rows, cols, drawn),
        pooling_note(rows.stop - rows.start, cols.stop - cols.start, by, reduce=options.reduce),
        hidden_note(keys, neighbours=neighbours),
        "Grey: masked, no weight is possible." if _has_masked(cells, hidden, by[1]) else "",
    )
    note = " ".join(part for part in said if part)
    return HeatMaps(cells, by, rows, cols, hidden, options.shading(cells, what), note)


def pixels(grid: Grid) -> tuple[int, int]:
    """How many cells, down and across, can be told apart in one map."""
    return int(grid.height * DPI), int(grid.width * DPI)


def draw_map(
    axes: Axes,
    cells: Float[np.ndarray, "cells_q cells_k"],
    by: tuple[int, int],
    positions: tuple[int, int],
    shades: Shading,
) -> None:
    """One map, its axes counted in positions even where a cell stands for several."""
    bottom, right = cells.shape[0] * by[0] - 0.5, cells.shape[1] * by[1] - 0.5
    axes.imshow(
        shades.shades(cells),
        cmap=shades.cmap,
        norm=shades.norm,
        aspect="auto",
        origin="upper",
        interpolation="nearest",  # there are never more cells than pixels, so each keeps its own colour
        extent=(-0.5, right, bottom, -0.5),
    )
    axes.set(xlim=(-0.5, positions[1] - 0.5), ylim=(positions[0] - 0.5, -0.5), facecolor=EMPTY_COLOUR)
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, alpha=0.5)


def write_values(axes: Axes, cells: Float[np.ndarray, "n_q n_k"], width: float, height: float, shades: Shading) -> None:
    """The weight in each cell of a map of width × height inches, if the cells are large enough to read numbers."""
    n_q, n_k = cells.shape
    across, down = text_size("0.00", 100.0)
    size = min(10.0, 100 * 0.8 * width / n_k / across, 100 * 0.9 * height / n_q / down)
    if size < SMALLEST_VALUE:
        return
    style, inks = text_style(size), shades.inks(cells)
    for (i, j), weight in np.ndenumerate(cells):
        if np.isnan(weight):
            continue
        # What a mask has emptied steps back, so that the numbers that matter stand out.
        text, opacity = (f"{weight:.2f}", 1.0) if weight else ("0", 0.45)
        axes.text(j, i, text, color=inks[i, j], alpha=opacity, ha="center", va="center_baseline", **style)


def pooling_note(n_q: int, n_k: int, by: tuple[int, int], *, reduce: str) -> str:
    """What the figure says about its pooling, or nothing if each cell is one weight."""
    if by == (1, 1):
        return ""
    return (
        f"Pooled: each cell is the {REDUCTION_WORDS[reduce]} of {by[0]} × {by[1]} weights (queries × keys); the map is "
        f"{n_q:,} × {n_k:,}, more than the pixels can show."
    )


def _window_note(rows: slice, cols: slice, drawn: Drawn) -> str:
    """Which window it is, if it is not the whole."""
    if (rows.stop - rows.start, cols.stop - cols.start) == (drawn.n_q, drawn.n_k):
        return ""
    return (
        f"Queries {rows.start:,} … {rows.stop - 1:,} and keys {cols.start:,} … {cols.stop - 1:,} "
        f"of {drawn.n_q:,} × {drawn.n_k:,}."
    )


def _has_masked(cells: Float[np.ndarray, "maps cells_q cells_k"], hidden: list[int], by_k: int) -> bool:
    """Whether cells are empty for another reason than that their key is hidden."""
    empty: np.ndarray = np.isnan(cells)
    empty[..., [key // by_k for key in hidden]] = False
    return bool(empty.any())
