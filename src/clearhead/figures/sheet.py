"""The paper a figure is drawn on: a matplotlib figure measured in inches from its top left corner, and its files.

It has its own canvas and is known to no window, so it can be made anywhere, as often as one likes, and is gone when
nobody holds it. A notebook shows it when it is the last line of a cell, and `show` opens a window for it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, MaxNLocator

from clearhead.figures import showing, words
from clearhead.figures.lettering import DPI, NOTE_SIZE, SAVED_DPI, drawable, largest, text_size, text_style, wrap
from clearhead.files import unfinished
from clearhead.languages import NotThereError, RefusedError

MARGIN = 0.16
TITLE_SIZE = 12.0
LABEL_SIZE = 9.5
BAR_WIDTH = 0.15
BAR_LABEL_SIZE = 9.0
FRAME_COLOUR = "#b4b4bc"
FRAME_GAP = 0.015  # between a map and the line around it
PAST_TICKS = 0.14  # the tick marks and the spaces before and after their numbers
SUFFIXES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Bar:
    """A bar of the whole scale; `above` and `below` say that some weights lie past its ends."""

    norm: Normalize
    label: str
    available: float
    above: bool = False
    below: bool = False

    @property
    def height(self) -> float:
        """As high as what is available, but never too short for its label."""
        return max(self.available, text_size(self.label, BAR_LABEL_SIZE)[0] + 0.04)

    @property
    def room(self) -> float:
        """The width of all of it."""
        numbers, _ = largest(self.tick_labels, NOTE_SIZE)
        return BAR_WIDTH + PAST_TICKS + numbers + text_size(self.label, BAR_LABEL_SIZE)[1]

    @property
    def ticks(self) -> list[float]:
        top = float(self.norm.vmax or 1.0)
        if isinstance(self.norm, LogNorm):
            powers = np.arange(np.ceil(np.log10(float(self.norm.vmin or top)) - 1e-9), np.log10(top) + 1e-9)
            return [float(10.0**power) for power in powers]
        marks = MaxNLocator(nbins=int(min(max(self.height / 0.4, 3), 5)), steps=[1, 2, 2.5, 5, 10])
        return [float(value) for value in marks.tick_values(0, top) if 0 <= value <= top * (1 + 1e-9)]

    @property
    def tick_labels(self) -> list[str]:
        return [f"{value:g}" for value in self.ticks]


class Sheet(Figure):
    """A figure of `width` × `height` inches."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__(figsize=(width, height), dpi=DPI)
        self.set_layout_engine("none")  # everything has its place; a layout from the process's settings would move it
        FigureCanvasAgg(self)
        self.inches = (width, height)

    def axes_at(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes with the given edges, free of whatever the process's settings put on axes."""
        across, down = self.inches
        axes = self.add_axes((left / across, 1 - (top + height) / down, width / across, height / down))
        axes.grid(False, which="both")
        axes.tick_params(which="both", direction="out", length=0, bottom=True, left=True, top=False, right=False)
        axes.tick_params(which="both", labelbottom=True, labelleft=True, labeltop=False, labelright=False)
        return axes

    def write(self, text: str, left: float, top: float, size: float, **style: Any) -> Text:
        """One text at a place; it is safe to draw whatever it holds."""
        across, down = self.inches
        return self.text(left / across, 1 - top / down, drawable(text), **text_style(size), **style)

    def axis_labels(self, x: Word, y: Word) -> None:
        """One word below or above all maps and one beside them."""
        for label, word in ((self.supxlabel, x), (self.supylabel, y)):
            place = {"x": word.left / self.inches[0], "y": 1 - word.top / self.inches[1]}
            label(word.text, **place, ha=word.ha, va=word.va, rotation_mode="default", **text_style(word.size))

    def draw_bar(self, bar: Bar, cmap: Colormap, left: float, top: float) -> None:
        """The colour bar with its left upper corner at a place."""
        drawn = self.colorbar(
            ScalarMappable(bar.norm, cmap),
            cax=self.axes_at(left, top, BAR_WIDTH, bar.height),
            extend={(0, 0): "neither", (0, 1): "max", (1, 0): "min", (1, 1): "both"}[bar.below, bar.above],
            ticks=FixedLocator(bar.ticks),
        )
        drawn.outline.set(linewidth=0.5, edgecolor=FRAME_COLOUR)  # the lightest colour is nearly that of the page
        drawn.ax.tick_params(axis="y", length=2.5, width=0.6, pad=2, right=True, left=False)
        drawn.ax.set_yticks(bar.ticks, bar.tick_labels, **text_style(NOTE_SIZE))
        drawn.ax.minorticks_off()
        drawn.set_label(bar.label, labelpad=4, **text_style(BAR_LABEL_SIZE))

    def frame(self, axes: Axes) -> None:
        """A thin line around axes of this sheet, a hair away from them: it must not cover the cells at an edge."""
        axes.spines[:].set_visible(False)
        box, (across, down) = axes.get_position(), self.inches
        pad_x, pad_y = FRAME_GAP / across, FRAME_GAP / down
        self.add_artist(
            Rectangle(
                (box.x0 - pad_x, box.y0 - pad_y),
                box.width + 2 * pad_x,
                box.height + 2 * pad_y,
                fill=False,
                linewidth=0.5,
                edgecolor=FRAME_COLOUR,
                transform=self.transFigure,
            )
        )

    def show(self, warn: bool = True) -> None:
        """Show the figure in a notebook, or in a window until that is closed."""
        showing.show(self, warn=warn)

    def _repr_png_(self) -> bytes:
        """What a notebook shows, with or without matplotlib's own support switched on in it."""
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()


class Word(NamedTuple):
    """A word, its place and how it stands there."""

    text: str
    left: float
    top: float
    size: float
    ha: str
    va: str


def titled_sheet(width: float, height: float, title: str | None, note: str) -> tuple[Sheet, float]:
    """A sheet of `width` with `height` between its title and its note, both written, and where that begins."""
    title, title_height = _block(title, TITLE_SIZE, width - 2 * MARGIN)
    note, note_height = _block(note, NOTE_SIZE, width - 2 * MARGIN)
    down = MARGIN + title_height + height + note_height + MARGIN
    sheet = Sheet(width, down)
    if title:
        sheet.write(title, MARGIN, MARGIN, TITLE_SIZE, va="top", linespacing=1.2)
    if note:
        sheet.write(note, MARGIN, down - MARGIN, NOTE_SIZE, va="bottom", linespacing=1.2, alpha=0.7)
    return sheet, MARGIN + title_height


def _block(text: str | None, size: float, width: float) -> tuple[str, float]:
    """A text wrapped to `width`, and the height it takes with the space after it; nothing takes nothing."""
    if not text:
        return "", 0.0
    lines = wrap(drawable(text), size, width)
    return "\n".join(lines), len(lines) * text_size("", size)[1] * 1.2 + 0.1


def checked_path(save: str | os.PathLike[str]) -> Path:
    """A path that ends in .png, .svg or .pdf and lies in a folder that exists."""
    if not isinstance(save, (str, os.PathLike)):
        raise TypeError(f"save must be a path such as 'attention.png', got {save!r} of type {type(save).__name__}")
    path = Path(save)
    if path.suffix.lower() not in SUFFIXES:
        raise RefusedError(words.NO_FORMAT.filled(others=", ".join(SUFFIXES[:-1]), last=SUFFIXES[-1], path=str(save)))
    path = path.resolve()  # a link keeps pointing where it pointed; the file it points to is replaced
    if not path.parent.is_dir():
        raise NotThereError(words.NO_FOLDER.filled(folder=str(path.parent), path=str(save)))
    return path


def write(figure: Figure, path: Path) -> None:
    """Save the figure in the format its suffix names, in one step as seen from outside."""
    with unfinished(path) as place:
        figure.savefig(place, format=path.suffix[1:].lower(), dpi=SAVED_DPI)


def rendered(figure: Figure, file_type: str) -> bytes:
    """What such a file would hold."""
    written = BytesIO()
    figure.savefig(written, format=file_type, dpi=SAVED_DPI)
    return written.getvalue()
