"""Everything around the maps: title, names of heads, tokens, axis labels, colour bar and note. Lengths are inches.

What a map needs around it is measured first; the sheet is then cut to fit, so nothing is clipped and no space is
left over. Tokens stand only at the left and lower edge of a grid, since all its maps share them.
"""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from clearhead.figures.bar import Bar
from clearhead.figures.grid import NAME_HEIGHT, Grid
from clearhead.figures.labels import drawable
from clearhead.figures.measure import NOTE_SIZE, largest, text_size, text_style
from clearhead.figures.shading import Shading
from clearhead.figures.sheet import MARGIN, TITLE_SIZE, Sheet, block
from clearhead.figures.ticks import Ticks
from clearhead.text.clusters import display_width, shorten

PAD = 0.06  # between a map and its labels
AXIS_LABEL = 0.24  # the words "query" and "key"
BAR_GAP = 0.2
NAME_SIZES = (10.0, 9.0, 8.0, 7.0)
LEAST_BAR = 2.0  # a colour bar ends where a row of maps ends, the first that makes it this long


@dataclass(frozen=True)
class Frame:
    """What stands around a grid of maps."""

    grid: Grid
    queries: Ticks
    keys: Ticks
    head_names: list[str]
    title: str | None
    note: str

    def sheet(self, shades: Shading) -> tuple[Sheet, list[Axes]]:
        """The sheet with all of it drawn, and the empty axes of each map."""
        bar = Bar(shades.norm, shades.bar_label, self.grid.rows_of(LEAST_BAR), shades.above, shades.below)
        left = MARGIN + max(AXIS_LABEL + self.queries.reach + PAD, self.keys.overhang)
        bar_left = left + self.grid.total_width + BAR_GAP
        width = bar_left + bar.room + MARGIN
        title, title_height = block(self.title, TITLE_SIZE, width - 2 * MARGIN)
        note, note_height = block(self.note, NOTE_SIZE, width - 2 * MARGIN)
        top = MARGIN + title_height + (NAME_HEIGHT if self.head_names else 0)
        below = self.grid.total_height + PAD + self.keys.reach + AXIS_LABEL
        height = top + max(below, bar.height) + note_height + MARGIN

        sheet = Sheet(width, height)
        if title:
            sheet.write(title, MARGIN, MARGIN, TITLE_SIZE, va="top", linespacing=1.2)
        if note:
            sheet.write(note, MARGIN, height - MARGIN, NOTE_SIZE, va="bottom", linespacing=1.2, alpha=0.7)
        panels = []
        for i in range(max(len(self.head_names), 1)):
            right, down = self.grid.place(i)
            panels.append(sheet.axes_at(left + right, top + down, self.grid.width, self.grid.height))
            self._panel(panels[i], i)
        names, size = fitted(self.head_names, self.grid.width)
        for i, name in enumerate(names):
            panels[i].set_title(name, loc="center", y=1.0, pad=4, **text_style(size))
        sheet.axis_labels(
            "key", left + self.grid.total_width / 2, top + below, "query", MARGIN, top + self.grid.total_height / 2
        )
        sheet.draw_bar(bar, shades.cmap, bar_left, top)
        return sheet, panels

    def _panel(self, axes: Axes, index: int) -> None:
        """The tokens of one map, if it stands at an edge."""
        axes.set_xticks([])
        axes.set_yticks([])
        if index % self.grid.columns == 0:
            put_query_ticks(axes, self.queries)
        if index + self.grid.columns >= len(self.head_names):
            put_key_ticks(axes, self.keys)


def put_query_ticks(axes: Axes, ticks: Ticks) -> None:
    """Labels beside the rows; thinned ones get a mark, so that it is clear which row each belongs to."""
    axes.tick_params(axis="y", **_marks(ticks))
    axes.set_yticks(ticks.positions, ticks.labels, **text_style(ticks.size))


def put_key_ticks(axes: Axes, ticks: Ticks, *, above: bool = False) -> None:
    """Labels below the columns, or above them, turned as planned."""
    axes.tick_params(axis="x", **_marks(ticks), top=above, bottom=not above, labeltop=above, labelbottom=not above)
    slanted = ticks.rotation == 45
    side = ("left" if above else "right") if slanted else "center"
    axes.set_xticks(
        ticks.positions,
        ticks.labels,
        rotation=ticks.rotation,
        rotation_mode="anchor" if slanted else "default",
        ha=side,
        va="center" if slanted else "bottom" if above else "top",
        **text_style(ticks.size),
    )


def _marks(ticks: Ticks) -> dict[str, float]:
    length = 2.5 if ticks.thinned else 0.0
    return {"length": length, "width": 0.6, "pad": PAD * 72 - length}


def fitted(names: list[str], width: float, sizes: tuple[float, ...] = NAME_SIZES) -> tuple[list[str], float]:
    """Names made to fit above their maps: all of them smaller at first, then the long ones shorter."""
    names = [drawable(name.replace("\n", " ")) for name in names]
    size = next((size for size in sizes if largest(names, size)[0] <= width), sizes[-1])
    return [_shortened(name, size, width) for name in names], size


def _shortened(name: str, size: float, width: float) -> str:
    """As many columns of the name as fit."""
    if text_size(name, size)[0] <= width:
        return name
    short, long = 1, display_width(name)
    while short + 1 < long:
        columns = (short + long) // 2
        fits = text_size(shorten(name, columns), size)[0] <= width
        short, long = (columns, long) if fits else (short, columns)
    return shorten(name, short)
