"""Heat maps of one window: their cells, colours and numbers, and what must be said about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.transforms import ScaledTranslation

from clearhead.figures import words
from clearhead.figures.grid import Grid
from clearhead.figures.lettering import DPI, text_size, text_style
from clearhead.figures.options import Options
from clearhead.figures.shading import EMPTY_COLOUR, Shading
from clearhead.figures.source import Drawn, cell_lengths

SMALLEST_VALUE = 6.0  # points; a smaller number in a cell is a smudge
MOST_VALUES = 3000  # in a whole figure; beyond it nobody reads them and drawing them takes seconds
LEAST_VALUE = 0.005  # a smaller weight would read 0.00, and is a dot
DOT = "·"
NARROW = 4  # pixels; a column that is no wider may be missed
MUCH = 0.1  # of the attention of a head: a key that gets more is marked where it is narrow
SMALL = 64  # positions along a side; a larger map chooses its own scale


@dataclass(frozen=True)
class HeatMaps:
    """Maps of the same window, cells (maps, cells_q, cells_k) of by[0] × by[1] positions, NaN where there is nothing.

    `hidden` are the keys that were left out, as they are counted in the window. `value_size` is that of the numbers in
    the cells, in points, None without numbers. `narrow` are keys of each map that get much, in cells too narrow to see.
    """

    cells: Float[np.ndarray, "maps cells_q cells_k"]
    by: tuple[int, int]
    rows: slice
    cols: slice
    hidden: list[int]
    shades: Shading
    value_size: float | None
    narrow: list[list[int]]
    note: str

    @property
    def pooled(self) -> bool:
        return self.by != (1, 1)

    def draw(self, panels: Sequence[Axes]) -> None:
        """Each map on its axes, with its numbers."""
        positions = self.rows.stop - self.rows.start, self.cols.stop - self.cols.start
        for axes, cells, narrow in zip(panels, self.cells, self.narrow, strict=True):
            draw_map(axes, cells, self.by, positions, self.shades)
            _mark_keys(axes, narrow)
            if self.value_size is not None:
                write_values(axes, cells, self.value_size, self.shades)


def heat_maps(
    drawn: Drawn,
    heads: Sequence[int],
    rows: slice,
    cols: slice,
    grid: Grid,
    options: Options,
    *,
    mean_of: int = 1,
    mark_keys: bool = True,
) -> HeatMaps:
    """The maps of some heads in a window, pooled to the pixels they get.

    `mean_of` is how many heads one map stands for; `mark_keys` whether keys that get much are marked where narrow.
    """
    keys = [key for key in options.hidden(drawn.n_k) if cols.start <= key < cols.stop]
    hidden = [key - cols.start for key in keys]
    size = pixels(grid)
    by = cell_lengths(rows, cols, size)
    kept = drawn.without(keys)
    cells = np.stack([kept.cells(head, rows, cols, size, options.reduce) for head in heads])
    if not drawn.hides_exactly and hidden:
        cells[..., [key // by[1] for key in hidden]] = np.nan
    what = options.say(words.WEIGHT if by == (1, 1) else words.POOLED_WEIGHT[options.reduce])
    if mean_of > 1:
        what = options.say(words.OF_MEAN_HEAD, what=what, count=mean_of)
    large = max(rows.stop - rows.start, cols.stop - cols.start) > SMALL
    shades = options.shading(cells, what, fit=large)
    mark_keys = mark_keys and grid.width * DPI <= NARROW * cells.shape[-1]
    narrow = [_much(kept, head, cols, hidden) if mark_keys else [] for head in heads]
    value_size = size_of_values(cells, grid) if options.values and by == (1, 1) else None
    said = (
        _window_note(rows, cols, drawn, options),
        _pooling_note(rows, cols, by, options),
        shades.note(options.language),
        options.hidden_note(keys, neighbours=by[1] > 1 and not drawn.hides_exactly),
        options.say(words.MASKED) if _has_masked(cells, hidden, by[1]) else "",
        *(value_notes(cells, options) if value_size else ()),
        options.say(words.NARROW_KEYS, share=MUCH) if any(narrow) else "",
    )
    note = " ".join(part for part in said if part)
    return HeatMaps(cells, by, rows, cols, hidden, shades, value_size, narrow, note)


def pixels(grid: Grid) -> tuple[int, int]:
    """How many cells, down and across, can be told apart in one map."""
    return int(grid.height * DPI), int(grid.width * DPI)


class MapImage(AxesImage):
    """Cells in their own colours, each of a pixel at least; where a file or window has fewer, colours are mixed.

    Without that, a bright column that falls between two pixels would not be there at all.
    """

    def get_interpolation(self) -> str:
        rows, columns = self.get_size()
        left, right, bottom, top = self.get_extent()
        (x0, y0), (x1, y1) = self.get_transform().transform([(left, bottom), (right, top)])
        return "nearest" if abs(x1 - x0) >= columns - 1 and abs(y1 - y0) >= rows - 1 else "hanning"


def draw_map(
    axes: Axes,
    cells: Float[np.ndarray, "cells_q cells_k"],
    by: tuple[int, int],
    positions: tuple[int, int],
    shades: Shading,
) -> None:
    """One map, its axes counted in positions even where a cell stands for several."""
    bottom, right = cells.shape[0] * by[0] - 0.5, cells.shape[1] * by[1] - 0.5
    image: Any = MapImage(
        axes,
        cmap=shades.cmap,
        norm=shades.norm,
        origin="upper",
        extent=(-0.5, right, bottom, -0.5),
        interpolation="nearest",
        interpolation_stage="rgba",
        resample=True,
    )
    image.set_data(shades.shades(cells))
    axes.add_image(image)
    image.set_clip_path(axes.patch)
    axes.set(xlim=(-0.5, positions[1] - 0.5), ylim=(positions[0] - 0.5, -0.5), facecolor=EMPTY_COLOUR)
    sheet: Any = axes.figure
    sheet.frame(axes)


def size_of_values(cells: Float[np.ndarray, "maps n_q n_k"], grid: Grid) -> float | None:
    """Points of the numbers in the cells of maps, None if they are too many or too small to read."""
    _, n_q, n_k = cells.shape
    across, down = text_size("0.00", 100.0)
    size = min(10.0, 100 * 0.8 * grid.width / n_k / across, 100 * 0.9 * grid.height / n_q / down)
    return size if size >= SMALLEST_VALUE and cells.size <= MOST_VALUES else None


def write_values(axes: Axes, cells: Float[np.ndarray, "n_q n_k"], size: float, shades: Shading) -> None:
    """The weight in each cell: a dot where it would read 0.00, and nothing where it is 0."""
    style, inks = text_style(size), shades.inks(cells)
    for (i, j), weight in np.ndenumerate(cells):
        weight = float(weight)
        if weight > 0:  # neither masked, which is NaN, nor 0
            text, opacity = (f"{weight:.2f}", 1.0) if weight >= LEAST_VALUE else (DOT, 0.6)
            axes.text(j, i, text, color=inks[i, j], alpha=opacity, ha="center", va="center_baseline", **style)


def _much(drawn: Drawn, head: int, cols: slice, hidden: list[int]) -> list[int]:
    """The keys of a window that get much of all attention of a head, as they are counted there."""
    received = drawn.statistic("received", head)
    found = np.flatnonzero(received[cols] > MUCH * received.sum())
    return [key for key in found.tolist() if key not in hidden]


def _mark_keys(axes: Axes, keys: list[int]) -> None:
    """A mark above each key: a dark column a pixel or two wide is easily taken for a line of the frame."""
    place = axes.get_xaxis_transform() + ScaledTranslation(0, 2.2 / 72, axes.figure.dpi_scale_trans)
    style: dict[str, Any] = {
        "marker": "v",
        "markersize": 3.5,
        "markeredgewidth": 0,
        "linestyle": "none",
        "clip_on": False,
    }
    axes.plot(keys, np.ones(len(keys)), transform=place, color=rcParams["text.color"], **style)


def value_notes(cells: Float[np.ndarray, "maps n_q n_k"], options: Options) -> tuple[str, str]:
    """What stands in cells that have no number."""
    small, zero = ((cells > 0) & (cells < LEAST_VALUE)).any(), (cells == 0).any()
    return (
        options.say(words.SMALL_VALUES, dot=DOT, limit=LEAST_VALUE) if small else "",
        options.say(words.ZERO_VALUES) if zero else "",
    )


def _pooling_note(rows: slice, cols: slice, by: tuple[int, int], options: Options) -> str:
    """What the figure says about its pooling, or nothing if each cell is one weight."""
    if by == (1, 1):
        return ""
    n_q, n_k = rows.stop - rows.start, cols.stop - cols.start
    return options.say(words.POOLED[options.reduce], by_q=by[0], by_k=by[1], n_q=n_q, n_k=n_k)


def _window_note(rows: slice, cols: slice, drawn: Drawn, options: Options) -> str:
    """Which window it is, if it is not the whole."""
    if (rows.stop - rows.start, cols.stop - cols.start) == (drawn.n_q, drawn.n_k):
        return ""
    return options.say(
        words.WINDOW,
        first_query=rows.start,
        last_query=rows.stop - 1,
        first_key=cols.start,
        last_key=cols.stop - 1,
        n_q=drawn.n_q,
        n_k=drawn.n_k,
    )


def _has_masked(cells: Float[np.ndarray, "maps cells_q cells_k"], hidden: list[int], by_k: int) -> bool:
    """Whether cells are empty for another reason than that their key is hidden."""
    empty: np.ndarray = np.isnan(cells)
    empty[..., [key // by_k for key in hidden]] = False
    return bool(empty.any())
