"""The paper a figure is drawn on: a matplotlib figure measured in inches from its top left corner.

It has its own canvas and is known to no window, so it can be made anywhere, as often as one likes, and is gone when
nobody holds it. A notebook shows it when it is the last line of a cell.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

from clearhead.figures.bar import BAR_LABEL_SIZE, BAR_WIDTH, Bar
from clearhead.figures.labels import drawable
from clearhead.figures.measure import DPI, NOTE_SIZE, text_size, text_style, wrap

MARGIN = 0.16
TITLE_SIZE = 12.0
LABEL_SIZE = 9.5


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

    def axis_labels(self, x: str, x_left: float, x_bottom: float, y: str, y_left: float, y_top: float) -> None:
        """One word below all maps and one beside them."""
        across, down = self.inches
        style = text_style(LABEL_SIZE)
        self.supxlabel(x, x=x_left / across, y=1 - x_bottom / down, ha="center", va="bottom", **style)
        self.supylabel(y, x=y_left / across, y=1 - y_top / down, ha="left", va="center", **style)

    def draw_bar(self, bar: Bar, cmap: Colormap, left: float, top: float) -> None:
        """The colour bar with its left upper corner at a place."""
        drawn = self.colorbar(
            ScalarMappable(bar.norm, cmap),
            cax=self.axes_at(left, top, BAR_WIDTH, bar.height),
            extend={(0, 0): "neither", (0, 1): "max", (1, 0): "min", (1, 1): "both"}[bar.below, bar.above],
            ticks=FixedLocator(bar.ticks),
        )
        drawn.outline.set_visible(False)
        drawn.ax.tick_params(axis="y", length=2.5, width=0.6, pad=2, right=True, left=False)
        drawn.ax.set_yticks(bar.ticks, bar.tick_labels, **text_style(NOTE_SIZE))
        drawn.ax.minorticks_off()
        drawn.set_label(bar.label, labelpad=4, **text_style(BAR_LABEL_SIZE))

    def _repr_png_(self) -> bytes:
        """What a notebook shows, with or without matplotlib's own support switched on in it."""
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()


def block(text: str | None, size: float, width: float) -> tuple[str, float]:
    """A text wrapped to `width`, and the height it takes with the space after it; nothing takes nothing."""
    if not text:
        return "", 0.0
    lines = wrap(drawable(text), size, width)
    return "\n".join(lines), len(lines) * text_size("", size)[1] * 1.2 + 0.1
