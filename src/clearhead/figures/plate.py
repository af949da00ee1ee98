"""One map with all that can stand around it: tokens, strips of statistics, colour bar, title, note. Lengths are inches.

    title
            received
            ▁▂▁▇▁▁▂▁ entropy
q   token   ┌──────┐ ▅▅
u   token   │ map  │ ▂    ┃ bar
e   token   └──────┘ ▇▇▇
…            tokens
    note
"""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from clearhead.figures import strips
from clearhead.figures.bar import Bar
from clearhead.figures.frame import AXIS_LABEL, BAR_GAP, PAD, fitted, put_key_ticks, put_query_ticks
from clearhead.figures.measure import NOTE_SIZE, text_size
from clearhead.figures.shading import Shading
from clearhead.figures.sheet import LABEL_SIZE, MARGIN, TITLE_SIZE, Sheet, block
from clearhead.figures.strips import Strip
from clearhead.figures.ticks import Ticks

WORD_SIZES = (LABEL_SIZE, 8.5, 7.5)
LEGEND_LINE = 0.2
SQUARE = 0.16  # and the space after it


@dataclass(frozen=True)
class Plate:
    """A map of width × height with its tokens and strips; `words` say what its rows and columns are."""

    width: float
    height: float
    queries: Ticks
    keys: Ticks
    title: str | None
    note: str
    words: tuple[str, str] = ("query", "key")
    keys_above: bool = False
    over: Strip | None = None
    beside: Strip | None = None
    legend: tuple[tuple[str, str], ...] = ()  # names and their colours

    def sheet(self, shades: Shading | None) -> tuple[Sheet, Axes]:
        """The sheet with everything drawn but the map, and the axes of the map. Without shades there is no bar."""
        bar = Bar(shades.norm, shades.bar_label, self.height, shades.above, shades.below) if shades else None
        left, right, bar_left = self._sides()
        across = (bar_left + bar.room if bar else right) + MARGIN
        title, title_height = block(self.title, TITLE_SIZE, across - 2 * MARGIN)
        note, note_height = block(self.note, NOTE_SIZE, across - 2 * MARGIN)
        top = MARGIN + title_height + self._above()
        below = self.height + (self._below() if not self.keys_above else 0.0)
        entries = _in_lines(self.legend, across - 2 * MARGIN)
        legend_top = top + max(below, bar.height if bar else 0.0) + 0.06
        down = legend_top - 0.06 + LEGEND_LINE * (1 + max((line for _, _, line, _ in entries), default=-1))
        down += note_height + MARGIN

        sheet = Sheet(across, down)
        if title:
            sheet.write(title, MARGIN, MARGIN, TITLE_SIZE, va="top", linespacing=1.2)
        if note:
            sheet.write(note, MARGIN, down - MARGIN, NOTE_SIZE, va="bottom", linespacing=1.2, alpha=0.7)
        for name, colour, line, place in entries:
            level = legend_top + (line + 0.5) * LEGEND_LINE
            sheet.write("■", MARGIN + place, level, LABEL_SIZE, va="center", color=colour)
            sheet.write(name, MARGIN + place + SQUARE, level, NOTE_SIZE, va="center")
        axes = sheet.axes_at(left, top, self.width, self.height)
        put_query_ticks(axes, self.queries)
        put_key_ticks(axes, self.keys, above=self.keys_above)
        self._write_words(sheet, left, top)
        if self.over:
            self.over.draw_over(sheet, left, top - strips.GAP, self.width)
        if self.beside:
            self.beside.draw_beside(sheet, left + self.width + strips.GAP, top, self.height)
        if bar and shades:
            sheet.draw_bar(bar, shades.cmap, bar_left, top)
        return sheet, axes

    def _sides(self) -> tuple[float, float, float]:
        """The left edge of the map, the right edge of what belongs to it, and where a bar would begin."""
        numbers = self.over.number_width if self.over else 0.0
        left = MARGIN + max(AXIS_LABEL + self.queries.reach + PAD, self.keys.overhang, numbers)
        right = left + self.width
        if self.beside:
            name = text_size(self.beside.name, NOTE_SIZE)[0]
            right += strips.GAP + max(strips.REACH, name - BAR_GAP)  # the name may reach over the gap, not over the bar
        if self.over:
            right = max(right, left + text_size(self.over.name, NOTE_SIZE)[0])
        return left, right, right + BAR_GAP

    def _above(self) -> float:
        """From the title to the map."""
        names = strips.NAME_ROOM if self.over or self.beside else 0.0
        return names + (strips.REACH + strips.GAP if self.over else 0.0) + (self._below() if self.keys_above else 0.0)

    def _below(self) -> float:
        """What the keys' labels and their word take, on whichever side they stand."""
        return PAD + self.keys.reach + AXIS_LABEL

    def _write_words(self, sheet: Sheet, left: float, top: float) -> None:
        (rows,), size = fitted([self.words[0]], max(self.height, 0.5), WORD_SIZES)
        sheet.write(rows, MARGIN, top + self.height / 2, size, ha="left", va="center", rotation=90)
        (columns,), size = fitted([self.words[1]], max(self.width, 0.5), WORD_SIZES)
        level = top - self._below() if self.keys_above else top + self.height + self._below()
        sheet.write(columns, left + self.width / 2, level, size, ha="center", va="top" if self.keys_above else "bottom")


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
