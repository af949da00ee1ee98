"""The colour bar, measured before it is drawn. Lengths are inches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.ticker import MaxNLocator

from clearhead.figures.measure import NOTE_SIZE, largest, text_size

BAR_WIDTH = 0.15
BAR_LABEL_SIZE = 9.0
PAST_TICKS = 0.14  # the tick marks and the spaces before and after their numbers


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
