"""Strips: one bar for each position along a side of a map, such as the entropy of its queries. Lengths are inches.

One bar may be far longer than all others, as that of a first key on which every head rests. It is then cut, with a
mark at its end, so that the others can be seen; the figure's note says how long it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib import rcParams

from clearhead.figures.lettering import NOTE_SIZE, text_size, text_style
from clearhead.figures.sheet import Sheet

REACH = 0.62  # of the longest bar
NAME_ROOM = 0.17  # the name of a strip, above it
GAP = 0.08
COLOUR = "#76748c"  # beside the map, not before it
SELDOM = 0.05  # the share of bars that may be cut, one at least
FEWEST = 5  # bars; of fewer none is cut
FAR = 5  # times longer than all but the seldom ones: such a bar is cut
ROOM = 1.25  # the scale of a strip with cut bars, as a share of the longest other


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
        """The end of the scale, which starts at 0: the longest bar, unless it is far longer than nearly all others."""
        rising = np.sort(self.values[~np.isnan(self.values)])
        longest = float(np.max(rising, initial=self.least_top))
        if rising.size < FEWEST:
            return longest
        seldom = max(1, int(SELDOM * rising.size))
        usual = max(float(rising[-1 - seldom]), self.least_top)
        return ROOM * usual if longest > FAR * usual else longest

    @property
    def cut(self) -> Bool[np.ndarray, " cells"]:
        """Which bars are longer than the scale."""
        return np.nan_to_num(self.values) > self.top

    @property
    def top_label(self) -> str:
        return number_label(self.top)

    @property
    def number_width(self) -> float:
        return text_size(self.top_label, NOTE_SIZE)[0] + 0.08

    def draw_over(self, sheet: Sheet, left: float, bottom: float, width: float) -> None:
        """Bars that stand on the columns of a map."""
        axes = sheet.axes_at(left, bottom - REACH, width, REACH)
        axes.spines["left"].set_position(("outward", 1.5))  # the first bar may be a pixel wide
        axes.stairs(self.values, self._edges(), fill=True, color=COLOUR, linewidth=0)
        axes.set(xlim=(-0.5, self.positions - 0.5), ylim=(0, self.top), xticks=[])
        axes.tick_params(axis="y", length=2.5, width=0.6, pad=2)
        axes.set_yticks([0, self.top], ["0", self.top_label], **text_style(NOTE_SIZE))
        lowest, highest = axes.get_yticklabels()  # inside the strip, away from what is above and below it
        lowest.set_verticalalignment("bottom")
        highest.set_verticalalignment("top")
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["bottom", "left"]].set(linewidth=0.5, alpha=0.5)
        middles = self._middles(self.cut)
        axes.plot(middles, np.full(len(middles), 0.95 * self.top), **_mark("^"))
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
        middles = self._middles(self.cut)
        axes.plot(np.full(len(middles), 0.95 * self.top), middles, **_mark(">"))
        sheet.write(self.name, left, top - 0.03, NOTE_SIZE, va="bottom")

    def _edges(self) -> np.ndarray:
        return np.minimum(np.arange(len(self.values) + 1) * self.by, self.positions) - 0.5

    def _middles(self, chosen: Bool[np.ndarray, " cells"]) -> np.ndarray:
        edges = self._edges()
        return ((edges[:-1] + edges[1:]) / 2)[chosen]


def number_label(number: float) -> str:
    """A number beside a strip."""
    return f"{number:.2g}" if number < 100 else f"{number:,.0f}"


def _mark(shape: str) -> dict[str, Any]:
    """How the end of a cut bar is drawn."""
    return {
        "marker": shape,
        "markersize": 4.0,
        "markeredgewidth": 0,
        "linestyle": "none",
        "color": rcParams["text.color"],
    }
