"""From weights to colours: one scale for all maps of a figure, and text that can be read on any of it.

Most weights of most maps are nearly zero, so zero is nearly the white of the page and what stands out is dark. The
colours are those of magma, whose lightness alone carries the order, for eyes of any kind and on grey paper; its
pale yellow end gives way to white, and the steps are spaced anew so that lightness falls evenly.

What is masked or hidden is NaN here and is drawn as nothing, so the grey below the map shows; zero is white.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import matplotlib
import numpy as np
from jaxtyping import Float
from matplotlib.colors import Colormap, ListedColormap, LogNorm, Normalize

from clearhead import checks
from clearhead.figures import words
from clearhead.figures.limits import DECADES, Limits, fitted_limits

SCALES = ("auto", "linear", "log", "row")
EMPTY_COLOUR = "#e4e4ea"  # what shows where nothing is drawn
# What red, green and blue give to the brightness of light, and the two inks (as in the web's rule for contrast).
BRIGHTNESS = np.array([0.2126, 0.7152, 0.0722])
DARK, LIGHT = "#1a1a1a", "#ffffff"
DARK_LUMINANCE = 0.0103


@dataclass(frozen=True)
class Shading:
    """One scale for all maps of a figure, and how its bar is named and ends; `fitted` if the weights chose it."""

    scale: str
    cmap: Colormap
    norm: Normalize
    bar_label: str
    above: bool
    fitted: Limits | None = None

    @property
    def below(self) -> bool:
        """Whether weights lie below the lowest colour, as zero does on a scale of powers."""
        return self.scale == "log"

    def note(self, language: str | None) -> str:
        """What the figure says about a scale that the weights chose, or nothing where it is the usual one."""
        if self.fitted is None or (self.scale == "linear" and not self.above):
            return ""
        said = words.FITTED[self.scale](language, low=self.fitted.low, high=self.fitted.high)
        if not self.above:
            return said
        past = {"count": self.fitted.above, "total": self.fitted.total, "largest": self.fitted.largest}
        return f"{said} {words.PAST_THE_END(language, **past)}"

    def shades(self, cells: Float[np.ndarray, "cells_q cells_k"]) -> Float[np.ndarray, "cells_q cells_k"]:
        """The numbers that become colours: the weights, or their shares of the largest in their row."""
        if self.scale != "row":
            return cells
        top = np.fmax.reduce(cells, axis=-1, keepdims=True, initial=0)
        return cells / np.where(top > 0, top, 1)

    def inks(self, cells: Float[np.ndarray, "cells_q cells_k"]) -> np.ndarray:
        """For each cell the colour in which text on it can be read."""
        return text_colours(self.cmap(self.norm(np.nan_to_num(self.shades(cells)))))


def shading(
    maps: Float[np.ndarray, ...],
    *,
    scale: str = "auto",
    vmax: float | None = None,
    cmap: str | Colormap | None = None,
    what: str | None = None,
    language: str | None = None,
    fit: bool = False,
) -> Shading:
    """One scale for all the numbers, which are called `what`.

    "linear" runs from 0, "log" from four powers of ten lower, to the largest of all numbers or to `vmax`. "auto" is
    linear too, but with `fit` the numbers choose the scale and where it ends.
    """
    checks.choice("scale", scale, SCALES)
    colours = colour_map(cmap)
    what = words.WEIGHT(language) if what is None else what
    largest = float(np.fmax.reduce(maps, axis=None, initial=0))
    if scale == "row":
        if vmax is not None:
            raise ValueError("vmax ends a scale of weights, but with scale='row' each row has its own; leave one out")
        return Shading(scale, colours, Normalize(0.0, 1.0), words.BY_ROW(language, what=what), above=False)
    if scale == "auto" and fit and vmax is None:
        limits = fitted_limits(maps)
        scale, low, top = limits[:3]
    else:
        limits, scale, top = None, "log" if scale == "log" else "linear", _end(largest, vmax)
        low = top / 10**DECADES
    if scale == "linear":
        return Shading(scale, colours, Normalize(0.0, top), what, largest > top, limits)
    norm = LogNorm(low, top, clip=True)
    return Shading(scale, colours, norm, words.ON_LOG_SCALE(language, what=what), largest > top, limits)


@cache
def paper_to_ink() -> Colormap:
    """The default: from almost white at zero, through rose and purple, to almost black."""
    depth = np.linspace(0, 1, 1024)[:, None]
    magma = matplotlib.colormaps["magma"](1 - 0.93 * depth[:, 0])[:, :3]
    white = np.clip(1 - depth / 0.35, 0, 1)
    path = white * [0.995, 0.99, 0.985] + (1 - white) * magma
    darkness = -lightness(path)
    even = np.linspace(darkness[0], darkness[-1], 256)
    return ListedColormap(np.stack([np.interp(even, darkness, c) for c in path.T], axis=-1), name="paper_to_ink")


def colour_map(cmap: str | Colormap | None) -> Colormap:
    """A colour map by its name in matplotlib, or as it is, or the default."""
    if cmap is None:
        return paper_to_ink()
    if isinstance(cmap, Colormap):
        return cmap
    if not isinstance(cmap, str) or cmap not in matplotlib.colormaps:
        raise ValueError(
            f"cmap must be a colour map of matplotlib or its name, got {cmap!r} "
            "(eyes of any kind can read 'viridis', 'magma' and 'cividis')"
        )
    return matplotlib.colormaps[cmap]


def _end(largest: float, vmax: float | None) -> float:
    """`vmax`, or the largest weight there is; the same for every map of the figure."""
    if vmax is None:
        return largest if largest > 0 else 1.0
    return checks.number("vmax", vmax, above=0.0)


def luminance(colours: Float[np.ndarray, "... channels"]) -> Float[np.ndarray, ...]:
    """How bright each sRGB colour is as light, from 0 to 1; a fourth channel, opacity, is ignored."""
    channels = colours[..., :3]
    light = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return np.asarray(light @ BRIGHTNESS)


def lightness(colours: Float[np.ndarray, "... channels"]) -> Float[np.ndarray, ...]:
    """How bright each looks, from 0 to 100: equal steps look equal (CIE L*)."""
    bright = luminance(colours)
    return np.where(bright > 0.008856, 116 * np.cbrt(bright) - 16, 903.3 * bright)


def text_colours(colours: Float[np.ndarray, "... channels"]) -> np.ndarray:
    """For each background the ink that stands out more: (…, 3 or 4) → (…) of colour names."""
    bright = luminance(colours) + 0.05
    return np.where(1.05 / bright > bright / (DARK_LUMINANCE + 0.05), LIGHT, DARK)
