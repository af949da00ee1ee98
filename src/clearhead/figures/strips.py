"""Strips: one bar for each position along a side of a map, such as the entropy of its queries. Lengths are inches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from clearhead.figures.lettering import NOTE_SIZE, text_size, text_style
from clearhead.figures.sheet import Sheet

REACH = 0.62  # of the longest bar
NAME_ROOM = 0.17  # the name of a strip, above it
GAP = 0.08
COLOUR = "#76748c"  # beside the map, not before it


@dataclass(frozen=True)
class Strip:
    """What is counted, one number for each cell, and how many positions a cell and the whole side have."""

    name: str
    values: Float[np.ndarray, " cells"]
    by: int
    positions: int
    least_top: float = 0.1  # so that what is nearly nothing looks like it

    @property
    def top(self) -> float:
        """The end of the scale, which starts at 0."""
        return float(np.fmax.reduce(self.values, initial=self.least_top))

    @property
    def top_label(self) -> str:
        return f"{self.top:.2g}" if self.top < 100 else f"{self.top:,.0f}"

    @property
    def number_width(self) -> float:
        return text_size(self.top_label, NOTE_SIZE)[0] + 0.08

    def draw_over(self, sheet: Sheet, left: float, bottom: float, width: float) -> None:
        """Bars that stand on the columns of a map."""
        axes = sheet.axes_at(left, bottom - REACH, width, REACH)
        axes.stairs(self.values, self._edges(), fill=True, color=COLOUR, linewidth=0)
        axes.set(xlim=(-0.5, self.positions - 0.5), ylim=(0, self.top), xticks=[])
        axes.tick_params(axis="y", length=2.5, width=0.6, pad=2)
        axes.set_yticks([0, self.top], ["0", self.top_label], **text_style(NOTE_SIZE))
        lowest, highest = axes.get_yticklabels()  # inside the strip, away from what is above and below it
        lowest.set_verticalalignment("bottom")
        highest.set_verticalalignment("top")
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["bottom", "left"]].set(linewidth=0.5, alpha=0.5)
        sheet.write(self.name, left, bottom - REACH - 0.03, NOTE_SIZE, va="bottom")

    def draw_beside(self, sheet: Sheet, left: float, top: float, height: float) -> None:
        """Bars that grow to the right from the rows of a map."""
        axes = sheet.axes_at(left, top, REACH, height)
        axes.stairs(
            self.values,
            self._edges(),
            orientation="horizontal",
            fill=True,
            color=COLOUR,
            linewidth=0,
        )
        axes.set(ylim=(self.positions - 0.5, -0.5), xlim=(0, self.top), yticks=[])
        axes.tick_params(axis="x", length=2.5, width=0.6, pad=2)
        axes.set_xticks([0, self.top], ["0", self.top_label], **text_style(NOTE_SIZE))
        lowest, highest = axes.get_xticklabels()
        lowest.set_horizontalalignment("left")
        highest.set_horizontalalignment("right")
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["bottom", "left"]].set(linewidth=0.5, alpha=0.5)
        sheet.write(self.name, left, top - 0.03, NOTE_SIZE, va="bottom")

    def _edges(self) -> np.ndarray:
        return np.minimum(np.arange(len(self.values) + 1) * self.by, self.positions) - 0.5
