"""Where everything stands: maps, tokens, names, strips of statistics, colour bar, title and note. Lengths are inches.

    title
            received
            ▁▂▁▇▁▁▂▁ entropy
q   token   ┌──────┐ ▅▅
u   token   │ map  │ ▂    ┃ bar
e   token   └──────┘ ▇▇▇
…            tokens
    legend
    note

What a map needs around it is measured first; the sheet is then cut to fit, so nothing is clipped and no space is
left over. Several maps make a grid: tokens stand only at its left and lower edge, since all its maps share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from clearhead.figures import strips
from clearhead.figures.grid import NAME_HEIGHT, Grid
from clearhead.figures.lettering import NOTE_SIZE, fitted, text_size, text_style
from clearhead.figures.shading import Shading
from clearhead.figures.sheet import LABEL_SIZE, MARGIN, Bar, Sheet, Word, titled_sheet
from clearhead.figures.strips import Strip
from clearhead.figures.ticks import Ticks

PAD = 0.06  # between a map and its labels
AXIS_LABEL = 0.24  # the words "query" and "key"
BAR_GAP = 0.2
WORD_SIZES = (LABEL_SIZE, 8.5, 7.5)
LEGEND_LINE = 0.2
LEGEND_GAP = 0.06
SQUARE = 0.16  # and the space after it


@dataclass(frozen=True)
class Layout:
    """What stands around one map or a grid of them; `words` say what the rows and columns of a map are."""

    grid: Grid
    queries: Ticks
    keys: Ticks
    words: tuple[str, str]
    title: str | None = None
    note: str = ""
    head_names: Sequence[str] = ()
    keys_above: bool = False
    over: Strip | None = None
    beside: Strip | None = None
    legend: tuple[tuple[str, str], ...] = ()  # names and their colours

    def sheet(self, shades: Shading | None) -> tuple[Sheet, list[Axes]]:
        """The sheet with everything drawn but the maps, and the axes of each map. Without shades there is no bar."""
        bar = None
        if shades:
            bar = Bar(shades.norm, shades.bar_label, self.grid.total_height, shades.above, shades.below)
        left, right = self._sides()
        bar_left = right + BAR_GAP
        across = (bar_left + bar.room if bar else right) + MARGIN
        below = self.grid.total_height + (0.0 if self.keys_above else self._key_room)
        body = self._above + max(below, bar.height if bar else 0.0)
        entries = _in_lines(self.legend, across - 2 * MARGIN)
        lines = 1 + max((line for _, _, line, _ in entries), default=-1)
        sheet, top = titled_sheet(across, body + LEGEND_LINE * lines, self.title, self.note)
        for name, colour, line, place in entries:
            level = top + body + LEGEND_GAP + (line + 0.5) * LEGEND_LINE
            sheet.write("■", MARGIN + place, level, LABEL_SIZE, va="center", color=colour)
            sheet.write(name, MARGIN + place + SQUARE, level, NOTE_SIZE, va="center")
        top += self._above
        panels = self._panels(sheet, left, top)
        sheet.axis_labels(*self._words(left, top))
        if self.over:
            self.over.draw_over(sheet, left, top - strips.GAP, self.grid.width)
        if self.beside:
            self.beside.draw_beside(sheet, left + self.grid.width + strips.GAP, top, self.grid.height)
        if bar and shades:
            sheet.draw_bar(bar, shades.cmap, bar_left, top)
        return sheet, panels

    def _sides(self) -> tuple[float, float]:
        """The left edge of the maps, and the right edge of what belongs to them."""
        numbers = self.over.number_width if self.over else 0.0
        left = MARGIN + max(AXIS_LABEL + self.queries.reach + PAD, self.keys.overhang, numbers)
        right = left + self.grid.total_width
        if self.beside:
            name = text_size(self.beside.name, NOTE_SIZE)[0]
            right += strips.GAP + max(strips.REACH, name - BAR_GAP)  # the name may reach over the gap, not over the bar
        if self.over:
            right = max(right, left + text_size(self.over.name, NOTE_SIZE)[0])
        return left, right

    @property
    def _above(self) -> float:
        """From the title to the maps."""
        names = strips.NAME_ROOM if self.over or self.beside else NAME_HEIGHT if self.head_names else 0.0
        return names + (strips.REACH + strips.GAP if self.over else 0.0) + (self._key_room if self.keys_above else 0.0)

    @property
    def _key_room(self) -> float:
        """What the keys' labels and their word take, on whichever side they stand."""
        return PAD + self.keys.reach + AXIS_LABEL

    def _words(self, left: float, top: float) -> tuple[Word, Word]:
        """What the columns and the rows are, in the middle of their sides."""
        width, height = self.grid.total_width, self.grid.total_height
        (columns,), size = fitted([self.words[1]], max(width, 0.5), WORD_SIZES)
        level, side = (top - self._key_room, "top") if self.keys_above else (top + height + self._key_room, "bottom")
        key = Word(columns, left + width / 2, level, size, "center", side)
        (rows,), size = fitted([self.words[0]], max(height, 0.5), WORD_SIZES)
        return key, Word(rows, MARGIN, top + height / 2, size, "left", "center")

    def _panels(self, sheet: Sheet, left: float, top: float) -> list[Axes]:
        """The axes of each map, with its name, and with its tokens if it stands at an edge."""
        panels = []
        names, size = fitted(list(self.head_names), self.grid.width)
        for i in range(max(len(names), 1)):
            right, down = self.grid.place(i)
            axes = sheet.axes_at(left + right, top + down, self.grid.width, self.grid.height)
            axes.set(xticks=[], yticks=[])
            if i % self.grid.columns == 0:
                _put_query_ticks(axes, self.queries)
            if i + self.grid.columns >= len(names):
                _put_key_ticks(axes, self.keys, above=self.keys_above)
            if names:
                axes.set_title(names[i], loc="center", y=1.0, pad=4, **text_style(size))
            panels.append(axes)
        return panels


def _put_query_ticks(axes: Axes, ticks: Ticks) -> None:
    """Labels beside the rows; thinned ones get a mark, so that it is clear which row each belongs to."""
    axes.tick_params(axis="y", **_marks(ticks))
    axes.set_yticks(ticks.positions, ticks.labels, **text_style(ticks.size))


def _put_key_ticks(axes: Axes, ticks: Ticks, *, above: bool = False) -> None:
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
    for label, level in zip(axes.get_xticklabels(), ticks.level, strict=True):
        if level:
            label.set(rotation=0, rotation_mode="default", ha="center", va="bottom" if above else "top")


def _marks(ticks: Ticks) -> dict[str, float]:
    length = 2.5 if ticks.thinned else 0.0
    return {"length": length, "width": 0.6, "pad": PAD * 72 - length}


def _in_lines(legend: tuple[tuple[str, str], ...], width: float) -> list[tuple[str, str, int, float]]:
    """Each name and colour with its line and its place in it, as many to a line as there is room for."""
    entries: list[tuple[str, str, int, float]] = []
    line, place = 0, 0.0
    for name, colour in legend:
        taken = SQUARE + text_size(name, NOTE_SIZE)[0] + 0.2
        if place and place + taken > width:
            line, place = line + 1, 0.0
        entries.append((name, colour, line, place))
        place += taken
    return entries
