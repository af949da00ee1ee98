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

SCALES = ("linear", "log", "row")
DECADES = 4
EMPTY_COLOUR = "#e4e4ea"  # what shows where nothing is drawn
# What red, green and blue give to the brightness of light, and the two inks (as in the web's rule for contrast).
BRIGHTNESS = np.array([0.2126, 0.7152, 0.0722])
DARK, LIGHT = "#1a1a1a", "#ffffff"
DARK_LUMINANCE = 0.0103


@dataclass(frozen=True)
class Shading:
    """One scale for all maps of a figure, and how its bar is named and ends."""

    scale: str
    cmap: Colormap
    norm: Normalize
    bar_label: str
    above: bool

    @property
    def below(self) -> bool:
        """Whether weights lie below the lowest colour, as zero does on a scale of powers."""
        return self.scale == "log"

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
    scale: str,
    vmax: float | None,
    cmap: str | Colormap | None,
    what: str = "attention weight",
) -> Shading:
    """The scale from 0, or four powers of ten lower, to the largest of all numbers or to `vmax`."""
    checks.choice("scale", scale, SCALES)
    colours = colour_map(cmap)
    largest = float(np.fmax.reduce(maps, axis=None, initial=0))
    if scale == "row":
        if vmax is not None:
            raise ValueError("vmax ends a scale of weights, but with scale='row' each row has its own; leave one out")
        return Shading(scale, colours, Normalize(0.0, 1.0), f"{what} ÷ largest in its row", above=False)
    norm = _linear(largest, vmax)
    top = float(norm.vmax or 1.0)
    if scale == "log":
        norm, what = LogNorm(top / 10**DECADES, top, clip=True), f"{what} (log scale)"
    return Shading(scale, colours, norm, what, above=largest > top)


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


def _linear(largest: float, vmax: float | None) -> Normalize:
    """From 0 to `vmax`, or to the largest weight there is; the same for every map of the figure."""
    if vmax is None:
        return Normalize(0.0, largest if largest > 0 else 1.0)
    return Normalize(0.0, checks.number("vmax", vmax, above=0.0))


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
