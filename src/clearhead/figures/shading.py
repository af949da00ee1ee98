"""From weights to colours: which scale, what is hidden, and what the figure must say about it.

Three options mean the same in every figure. `scale` is "linear", "log" (four powers of ten below the largest weight) or
"row" (each query's weights beside the largest of its own). `hide_sink` leaves out the first key, or the keys it names,
and scales the colours to the rest: where most weight rests on one key, nothing else can be seen beside it. `vmax` ends
the scale at a given weight.

What is masked or hidden is NaN here and is drawn as nothing, so the grey behind the map shows; zero is white.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.colors import Colormap, LogNorm, Normalize

from clearhead import checks
from clearhead.figures import colours, pooling

SCALES = ("linear", "log", "row")
DECADES = 4
BEHIND = "#e4e4ea"  # what shows where nothing is drawn

Keys = bool | int | Sequence[int]


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
        return colours.text_colours(self.cmap(self.norm(np.nan_to_num(self.shades(cells)))))


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
    colour_map = colours.colour_map(cmap)
    largest = float(np.fmax.reduce(maps, axis=None, initial=0))
    if scale == "row":
        if vmax is not None:
            raise ValueError("vmax ends a scale of weights, but with scale='row' each row has its own; leave one out")
        return Shading(scale, colour_map, Normalize(0.0, 1.0), f"{what} ÷ largest in its row", above=False)
    norm = colours.scale(largest, vmax)
    top = float(norm.vmax or 1.0)
    if scale == "log":
        norm, what = LogNorm(top / 10**DECADES, top, clip=True), f"{what} (log scale)"
    return Shading(scale, colour_map, norm, what, above=largest > top)


def hidden_keys(hide_sink: Keys, n_k: int) -> list[int]:
    """The keys to leave out: the first for True, none for False, or those that are named."""
    if isinstance(hide_sink, (bool, np.bool_)):
        keys = [0] if hide_sink else []
    else:
        named = [hide_sink] if np.ndim(hide_sink) == 0 else list(hide_sink)  # type: ignore[arg-type]
        keys = sorted({checks.count("hide_sink", key, least=0) for key in named})
    if keys and keys[-1] >= n_k:
        raise ValueError(f"hide_sink names key {keys[-1]}, but there are only {n_k} keys (0 … {n_k - 1})")
    if len(keys) == n_k:
        raise ValueError(f"hide_sink leaves no key to draw, as there {'is' if n_k == 1 else 'are'} only {n_k}")
    return keys


def hidden_note(keys: list[int], by_k: float) -> str:
    """What the figure says about hidden keys. In a pooled map their neighbours in the same cell go with them."""
    if not keys:
        return ""
    shown = ", ".join(map(str, keys[:8])) + (" …" if len(keys) > 8 else "")
    named = f"Key {shown} is" if len(keys) == 1 else f"Keys {shown} are"
    pooled = " with its neighbours in the same cell" if by_k > 1 else ""
    return f"{named} hidden{pooled}, and the colours are scaled to the others."


def notes(n_q: int, n_k: int, by: tuple[float, float], *, reduce: str, hidden: list[int], masked: bool) -> str:
    """All that a figure must say about what it shows."""
    said = [
        pooling.note(n_q, n_k, *by, reduce=reduce),
        hidden_note(hidden, by[1]),
        "Grey: masked, no weight is possible." if masked else "",
    ]
    return " ".join(part for part in said if part)
