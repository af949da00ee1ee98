"""Attention weights as heat maps, one for each head, with the tokens on both sides."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure

from clearhead import checks
from clearhead.figures import pooling
from clearhead.figures.frame import Frame
from clearhead.figures.grid import arrange
from clearhead.figures.measure import DPI, text_size, text_style
from clearhead.figures.save import checked_path, write
from clearhead.figures.shading import BEHIND, Keys, Shading, hidden_keys, notes, shading
from clearhead.figures.source import source
from clearhead.figures.ticks import key_ticks, query_ticks
from clearhead.figures.weights import MOST_HEADS, checked_tokens

SMALLEST_VALUE = 6.0  # points; a smaller number in a cell is a smudge
MOST_VALUES = 3000  # in a whole figure; beyond it nobody reads them and drawing them takes seconds


def visualize_attention(
    weights: Any,
    tokens: Sequence[object] | None = None,
    *,
    key_tokens: Sequence[object] | None = None,
    title: str | None = None,
    head_names: Sequence[str] | None = None,
    values: bool = True,
    scale: str = "linear",
    hide_sink: Keys = False,
    vmax: float | None = None,
    reduce: str = "mean",
    cmap: str | Colormap | None = None,
    batch: int | tuple[int, ...] | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw which key each query attends to: queries are rows, keys are columns.

    weights (n_q, n_k) or (h, n_q, n_k), leading axes of length 1 are dropped; or a view that `look` made, of any length
    tokens (n_q) name the queries, and the keys too unless key_tokens (n_k) do → a matplotlib figure

    Several heads become a grid that shares one colour scale, from 0 to the largest weight or to `vmax`. The value
    stands in each cell while cells are large enough to read it (a weight of exactly zero, as a mask leaves, is
    "0" and a very small one "0.00"); `values=False` leaves it out. A map of more positions than pixels is pooled
    by `reduce`, "mean" or "max", and the figure says so.

    `scale` is "linear", "log", or "row" for colours by each query's own largest weight. `hide_sink` leaves out the
    first key, or the keys it names, and scales the colours to the others. `batch` picks an item of a view's batch.

    `save` writes the figure to a .png, .svg or .pdf file. The figure is not pyplot's: it shows itself as the last
    line of a notebook cell, opens no window and need not be closed.

    Raises:
        TypeError: the weights are not floats, or the tokens are one text instead of a list.
        ValueError: the weights are empty, a batch, negative or not finite; the tokens or head names do not fit
            their number; `scale`, `hide_sink`, `vmax`, `reduce`, `cmap` or the suffix of `save` is not one of those
            allowed.
        FileNotFoundError: the folder of `save` does not exist.
    """
    path = None if save is None else checked_path(save)
    drawn = source(weights, batch=batch)
    h, n_q, n_k = drawn.heads, drawn.n_q, drawn.n_k
    if h > MOST_HEADS:
        raise ValueError(f"{h} heads do not fit a figure; draw at most {MOST_HEADS}, weights[:64] say")
    queries, keys = axis_tokens(tokens, key_tokens, n_q, n_k)
    names = _head_names(head_names, h)
    hidden = hidden_keys(hide_sink, n_k)
    checks.choice("reduce", reduce, pooling.REDUCTIONS)

    grid = arrange(h, n_q, n_k)
    maps, by = drawn.maps(int(grid.height * DPI), int(grid.width * DPI), reduce, hidden)
    pooled = by != (1, 1)
    what = f"{pooling.WORDS[reduce]} attention weight" if pooled else "attention weight"
    shades = shading(maps, scale=scale, vmax=vmax, cmap=cmap, what=what)
    note = notes(n_q, n_k, by, reduce=reduce, hidden=hidden, masked=has_masked(maps, hidden, by[1]))

    key_labels = key_ticks(keys, n_k, grid.width, slanted=h == 1)
    query_labels = query_ticks(queries, n_q, grid.height, most=key_labels.size)
    frame = Frame(grid, query_labels, key_labels, names, title, note)
    figure, panels = frame.sheet(shades)
    for axes, cells in zip(panels, maps, strict=True):
        draw_map(axes, cells, by, (n_q, n_k), shades)
    if values and not pooled and maps.size <= MOST_VALUES:
        for axes, cells in zip(panels, maps, strict=True):
            write_values(axes, cells, grid.width, grid.height, shades)
    if path is not None:
        write(figure, path)
    return figure


def axis_tokens(
    tokens: Sequence[object] | None, key_tokens: Sequence[object] | None, n_q: int, n_k: int
) -> tuple[list[object] | None, list[object] | None]:
    """Names of the queries and of the keys; in self-attention they are the same."""
    if tokens is not None and key_tokens is None and n_q != n_k:
        raise ValueError(
            f"weights have {n_q} queries but {n_k} keys, so tokens cannot name both; give tokens for the {n_q} "
            f"queries and key_tokens for the {n_k} keys"
        )
    queries = checked_tokens("tokens", tokens, n_q, "queries")
    return queries, queries if key_tokens is None else checked_tokens("key_tokens", key_tokens, n_k, "keys")


def _head_names(head_names: Sequence[str] | None, h: int) -> list[str]:
    """One name for each head; a single head needs none."""
    if head_names is None:
        return [f"head {i}" for i in range(h)] if h > 1 else []
    if isinstance(head_names, str) or len(head_names) != h:
        raise ValueError(f"head_names must be a list of {h} names, one for each head, got {head_names!r}")
    return [str(name) for name in head_names]


def has_masked(maps: Float[np.ndarray, ...], hidden: list[int], by_k: float) -> bool:
    """Whether cells are empty for another reason than that their key is hidden."""
    empty: np.ndarray = np.isnan(maps)
    empty[..., [int(key / by_k) for key in hidden]] = False
    return bool(empty.any())


def draw_map(
    axes: Axes,
    cells: Float[np.ndarray, "cells_q cells_k"],
    by: tuple[float, float],
    positions: tuple[int, int],
    shades: Shading,
) -> None:
    """One map, its axes counted in positions even where a cell stands for several."""
    bottom, right = cells.shape[0] * by[0] - 0.5, cells.shape[1] * by[1] - 0.5
    axes.imshow(
        shades.shades(cells),
        cmap=shades.cmap,
        norm=shades.norm,
        aspect="auto",
        origin="upper",
        interpolation="nearest",  # there are never more cells than pixels, so each keeps its own colour
        extent=(-0.5, right, bottom, -0.5),
    )
    axes.set(xlim=(-0.5, positions[1] - 0.5), ylim=(positions[0] - 0.5, -0.5), facecolor=BEHIND)
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, alpha=0.5)


def write_values(axes: Axes, cells: Float[np.ndarray, "n_q n_k"], width: float, height: float, shades: Shading) -> None:
    """The weight in each cell of a map of width × height inches, if the cells are large enough to read numbers."""
    n_q, n_k = cells.shape
    across, down = text_size("0.00", 100.0)
    size = min(10.0, 100 * 0.8 * width / n_k / across, 100 * 0.9 * height / n_q / down)
    if size < SMALLEST_VALUE:
        return
    style, inks = text_style(size), shades.inks(cells)
    for (i, j), weight in np.ndenumerate(cells):
        if np.isnan(weight):
            continue
        # What a mask has emptied steps back, so that the numbers that matter stand out.
        text, opacity = (f"{weight:.2f}", 1.0) if weight else ("0", 0.45)
        axes.text(j, i, text, color=inks[i, j], alpha=opacity, ha="center", va="center_baseline", **style)
