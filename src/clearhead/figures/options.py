"""The options that figures share: each is said once here, and reaches every figure as one value.

A figure names what it takes beside its own arguments, `**shared: Unpack[MapOptions]` say, and `takes_options` shows
those in its signature and refuses others. What they mean is the same in every figure:

title        above the figure
scale        "linear", from 0 to the largest weight; "log", four powers of ten below it; or "row", each query's
             weights beside the largest of its own. "auto" is linear for small maps, and for one that is pooled or
             longer than 64 positions whatever shows its weights; the figure says what that is
vmax, cmap   where the scale of colours ends, and the colours
hide_keys    True leaves out the first key, a number or several the keys they name, and scales the colours to the rest:
             where most weight rests on one key, nothing else can be seen beside it
values       whether numbers stand in the cells
reduce       "mean" or "max", for a map of more positions than pixels
batch        which item of a batch is drawn
mask         for an array of weights: which of them may be, True = may attend; the others are grey. A view knows its own
language     "en" or "ko", of all words but the title and names that are given; that of CLEARHEAD_LANG or of the locale
             unless given
save         a .png, .svg or .pdf file to write
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast

import numpy as np
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from clearhead import checks, masks
from clearhead.figures import words
from clearhead.figures.shading import Shading, shading
from clearhead.figures.sheet import checked_path, write
from clearhead.languages import Said, spoken
from clearhead.matrices import REDUCTIONS

Keys = bool | int | Sequence[int]
Place = int | tuple[int, ...] | None
Masked = masks.Mask | ArrayLike | None


class LineOptions(TypedDict, total=False):
    """What a figure of lines shares with the others."""

    title: str | None
    scale: str
    hide_keys: Keys
    batch: Place
    language: str | None
    save: str | os.PathLike[str] | None


class ImageOptions(LineOptions, total=False):
    """And one of colours over an image."""

    vmax: float | None
    cmap: str | Colormap | None


class MapOptions(ImageOptions, total=False):
    """And a heat map."""

    values: bool
    reduce: str
    mask: Masked


class LayerOptions(TypedDict, total=False):
    """What a figure of layers and heads, which has no keys, shares with the others."""

    title: str | None
    scale: str
    vmax: float | None
    cmap: str | Colormap | None
    values: bool
    batch: Place
    language: str | None
    save: str | os.PathLike[str] | None


@dataclass(frozen=True)
class Options:
    """What was asked for, and what was not."""

    title: str | None = None
    scale: str = "auto"
    hide_keys: Keys = False
    vmax: float | None = None
    cmap: str | Colormap | None = None
    values: bool = True
    reduce: str = "mean"
    batch: Place = None
    mask: Masked = None
    language: str | None = None
    save: str | os.PathLike[str] | None = None
    path: Path | None = field(init=False)

    def __post_init__(self) -> None:
        checks.choice("reduce", self.reduce, REDUCTIONS)
        object.__setattr__(self, "language", spoken(self.language))
        object.__setattr__(self, "path", None if self.save is None else checked_path(self.save))

    def hidden(self, n_k: int) -> list[int]:
        """The keys to leave out: the first for True, none for False, or those that are named."""
        if isinstance(self.hide_keys, (bool, np.bool_)):
            keys = [0] if self.hide_keys else []
        else:
            named = [self.hide_keys] if np.ndim(self.hide_keys) == 0 else list(self.hide_keys)  # type: ignore[arg-type]
            keys = sorted({checks.count("hide_keys", key, least=0) for key in named})
        if keys and keys[-1] >= n_k:
            raise ValueError(f"hide_keys names key {keys[-1]}, but there are only {n_k} keys (0 … {n_k - 1})")
        if len(keys) == n_k:
            raise ValueError(f"hide_keys leaves no key to draw, as there {'is' if n_k == 1 else 'are'} only {n_k}")
        return keys

    def say(self, said: Said, **values: object) -> str:
        """A text in the language of the figure."""
        return said(self.language, **values)

    def shading(self, cells: np.ndarray, what: str | None = None, *, fit: bool = False) -> Shading:
        """The colours of the cells, by all options that concern them; `fit` where they may choose their scale."""
        return shading(
            cells, scale=self.scale, vmax=self.vmax, cmap=self.cmap, what=what, language=self.language, fit=fit
        )

    def hidden_note(self, keys: list[int], *, neighbours: bool = False, what: Said = words.COLOURS) -> str:
        """What the figure says about hidden keys. In a pooled map those in the same cell may go with them."""
        if not keys:
            return ""
        one, several = (words.HIDDEN_CELL, words.HIDDEN_CELLS) if neighbours else (words.HIDDEN_KEY, words.HIDDEN_KEYS)
        shown = ", ".join(map(str, keys[:8])) + (" …" if len(keys) > 8 else "")
        return self.say(one if len(keys) == 1 else several, keys=shown, what=self.say(what))

    def finished(self, figure: Figure) -> Figure:
        """The figure, written if it is to be."""
        if self.path is not None:
            write(figure, self.path)
        return figure


Draws = TypeVar("Draws", bound=Callable[..., Figure])


def takes_options(kind: type) -> Callable[[Draws], Draws]:
    """For a function that takes the options of `kind` as keywords: others are refused, and help() shows them all."""
    names = tuple(kind.__annotations__)
    defaults = {each.name: each for each in dataclasses.fields(Options)}

    def decorate(draw: Draws) -> Draws:
        own = [
            parameter
            for parameter in inspect.signature(draw).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        shared = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name].default, annotation=defaults[name].type
            )
            for name in names
        ]
        known = {parameter.name for parameter in (*own, *shared)}

        @functools.wraps(draw)
        def checked(*arguments: Any, **keywords: Any) -> Figure:
            for name in keywords:
                if name not in known:
                    raise TypeError(
                        f"{draw.__name__}() got an unexpected keyword argument {name!r}; beside its own arguments it "
                        f"takes {', '.join(names)}"
                    )
            return draw(*arguments, **keywords)

        signature = inspect.Signature([*own, *shared], return_annotation="Figure")
        checked.__signature__ = signature  # type: ignore[attr-defined]
        return cast(Draws, checked)

    return decorate
