"""The sheet that the figures of the notes are drawn on: letters, colours, and the list of all figures.

Colours are Okabe and Ito's, which eyes of any kind can tell apart. A figure is written without a date and with fixed
names inside, so that the same run gives the same file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from clearhead.figures.lettering import families
from clearhead.languages import speaking

FOLDER = Path(__file__).parents[1] / "figures"
COMMAND = "python -m study_notes.drawing"
BLUE, ORANGE, GREEN, PINK, SKY, INK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#222222", "#757575"
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY)
PNG_DPI = 160


@dataclass(frozen=True)
class Drawing:
    """A figure that can be drawn in each language. A slow one trains something first."""

    name: str
    draw: Callable[[str], Figure]
    suffix: str = ".svg"
    slow: bool = False

    def path(self, language: str) -> Path:
        return FOLDER / f"{self.name}_{language}{self.suffix}"

    def figure(self, language: str) -> Figure:
        """Draw it, in letters that both languages have."""
        with mpl.rc_context({"font.family": list(families()), "font.size": 10}), speaking(language):
            return self.draw(language)

    def write(self, language: str) -> Path:
        """Draw it into its file and return where that is."""
        path, made_by = self.path(language), f"{COMMAND} {self.name}"
        metadata = {"Date": None, "Creator": made_by} if self.suffix == ".svg" else {"Software": made_by}
        figure = self.figure(language)
        with mpl.rc_context({"svg.hashsalt": self.name, "svg.fonttype": "path"}):
            figure.savefig(path, dpi=PNG_DPI, metadata=metadata)
        return path


registry: dict[str, Drawing] = {}


def draws(name: str, *, suffix: str = ".svg", slow: bool = False) -> Callable[[Callable[[str], Figure]], Any]:
    """Put a function language → figure on the list, under the name of its file."""

    def listed(draw: Callable[[str], Figure]) -> Callable[[str], Figure]:
        if name in registry:
            raise ValueError(f"two figures are named {name}")
        registry[name] = Drawing(name, draw, suffix, slow)
        return draw

    return listed


def paper(width: float, height: float, columns: int = 1, **grid: Any) -> tuple[Figure, Any]:
    """A white figure of so many inches, and its axes: one, or an array of `columns`."""
    figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, columns, **grid)


def tidy(figure: Figure) -> Figure:
    """The same figure with thin grey axes and no frame."""
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(GREY)
        axes.tick_params(colors=INK, labelsize=9)
    return figure
