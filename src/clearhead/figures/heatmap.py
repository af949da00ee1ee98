"""Attention weights as heat maps, one for each head, with the tokens on both sides."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.figures import colours, pooling
from clearhead.figures.frame import Frame
from clearhead.figures.grid import Grid, arrange
from clearhead.figures.measure import DPI, text_size, text_style
from clearhead.figures.save import checked_path, write
from clearhead.figures.ticks import key_ticks, query_ticks
from clearhead.figures.weights import check_values, checked_tokens, drawable_weights

SMALLEST_VALUE = 6.0  # points; a smaller number in a cell is a smudge
MOST_VALUES = 3000  # in a whole figure; beyond it nobody reads them and drawing them takes seconds


def visualize_attention(
    weights: ArrayLike,
    tokens: Sequence[object] | None = None,
    *,
    key_tokens: Sequence[object] | None = None,
    title: str | None = None,
    head_names: Sequence[str] | None = None,
    values: bool = True,
    vmax: float | None = None,
    reduce: str = "mean",
    cmap: str | Colormap | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw which key each query attends to: queries are rows, keys are columns.

    weights (n_q, n_k) or (h, n_q, n_k); leading axes of length 1 are dropped
    tokens (n_q) name the queries, and the keys too unless key_tokens (n_k) do → a matplotlib figure

    Several heads become a grid that shares one colour scale, from 0 to the largest weight or to `vmax`. The value
    stands in each cell while cells are large enough to read it (a weight of exactly zero, as a mask leaves, is
    "0" and a very small one "0.00"); `values=False` leaves it out. A map of more positions than pixels is pooled
    by `reduce`, "mean" or "max", and the figure says so.

    `save` writes the figure to a .png, .svg or .pdf file. The figure is not pyplot's: it shows itself as the last
    line of a notebook cell, opens no window and need not be closed.

    Raises:
        TypeError: the weights are not floats, or the tokens are one text instead of a list.
        ValueError: the weights are empty, a batch, negative or not finite; the tokens or head names do not fit
            their number; `vmax`, `reduce`, `cmap` or the suffix of `save` is not one of those allowed.
        FileNotFoundError: the folder of `save` does not exist.
    """
    path = None if save is None else checked_path(save)
    heads = drawable_weights(weights)
    h, n_q, n_k = heads.shape
    queries, keys = _axis_tokens(tokens, key_tokens, n_q, n_k)
    names = _head_names(head_names, h)
    colour_map = colours.colour_map(cmap)
    checks.choice("reduce", reduce, pooling.REDUCTIONS)

    grid = arrange(h, n_q, n_k)
    by_q, by_k = pooling.factor(n_q, int(grid.height * DPI)), pooling.factor(n_k, int(grid.width * DPI))
    maps = _pooled(heads, by_q, by_k, reduce)
    norm = colours.scale(float(maps.max()), vmax)
    note = pooling.note(n_q, n_k, by_q, by_k, reduce=reduce)
    bar_label = f"{pooling.WORDS[reduce]} attention weight" if note else "attention weight"

    key_labels = key_ticks(keys, n_k, grid.width, slanted=h == 1)
    query_labels = query_ticks(queries, n_q, grid.height, most=key_labels.size)
    frame = Frame(grid, query_labels, key_labels, names, title, note, bar_label)
    figure, panels = frame.sheet(colour_map, norm, above=vmax is not None and bool(maps.max() > vmax))
    for axes, cells in zip(panels, maps, strict=True):
        _draw_map(axes, cells, (by_q, by_k), (n_q, n_k), colour_map, norm)
    if values and not note:
        _write_values(panels, maps, grid, colour_map, norm)
    if path is not None:
        write(figure, path)
    return figure


def _axis_tokens(
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


def _pooled(
    heads: Float[np.ndarray, "h n_q n_k"], by_q: int, by_k: int, reduce: str
) -> Float[np.ndarray, "h cells_q cells_k"]:
    """Every head checked and pooled, one at a time: 64 heads of 2,000 positions are a gigabyte already."""
    maps = []
    for i, head in enumerate(heads):
        head = head.astype(checks.compute_type(head.dtype), copy=False)
        check_values(head, head=i)
        maps.append(pooling.pool(head, by_q, by_k, reduce=reduce))
    return np.stack(maps)


def _draw_map(
    axes: Axes,
    cells: Float[np.ndarray, "cells_q cells_k"],
    by: tuple[int, int],
    positions: tuple[int, int],
    cmap: Colormap,
    norm: Normalize,
) -> None:
    """One map, its axes counted in positions even where a cell stands for several."""
    bottom, right = cells.shape[0] * by[0] - 0.5, cells.shape[1] * by[1] - 0.5
    axes.imshow(
        cells,
        cmap=cmap,
        norm=norm,
        aspect="auto",
        origin="upper",
        interpolation="nearest",  # there are never more cells than pixels, so each keeps its own colour
        extent=(-0.5, right, bottom, -0.5),
    )
    axes.set(xlim=(-0.5, positions[1] - 0.5), ylim=(positions[0] - 0.5, -0.5))
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, alpha=0.5)


def _write_values(
    panels: list[Axes], maps: Float[np.ndarray, "h n_q n_k"], grid: Grid, cmap: Colormap, norm: Normalize
) -> None:
    """The weight in each cell, if the cells are large enough for numbers to be read."""
    _, n_q, n_k = maps.shape
    width, height = text_size("0.00", 100.0)
    size = min(10.0, 100 * 0.8 * grid.width / n_k / width, 100 * 0.9 * grid.height / n_q / height)
    if size < SMALLEST_VALUE or maps.size > MOST_VALUES:
        return
    style = text_style(size)
    for axes, cells in zip(panels, maps, strict=True):
        ink = colours.text_colours(cmap(norm(cells)))
        for (i, j), weight in np.ndenumerate(cells):
            # What a mask has emptied steps back, so that the numbers that matter stand out.
            text, opacity = (f"{weight:.2f}", 1.0) if weight else ("0", 0.45)
            axes.text(j, i, text, color=ink[i, j], alpha=opacity, ha="center", va="center_baseline", **style)
