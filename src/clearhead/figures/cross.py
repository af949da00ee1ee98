"""Cross-attention: which word of the source each word of the target looked at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from clearhead import checks
from clearhead.figures import pooling
from clearhead.figures.grid import arrange
from clearhead.figures.head import window_map
from clearhead.figures.heatmap import MOST_VALUES, draw_map, has_masked, write_values
from clearhead.figures.measure import DPI
from clearhead.figures.plate import Plate
from clearhead.figures.save import checked_path, write
from clearhead.figures.shading import Keys, Shading, hidden_keys, notes, shading
from clearhead.figures.source import checked_head, source
from clearhead.figures.ticks import key_ticks, query_ticks
from clearhead.figures.weights import checked_tokens

MOST_MARKS = 100  # queries whose largest weight is framed


def visualize_cross_attention(
    weights: Any,
    target_tokens: Sequence[object] | None = None,
    source_tokens: Sequence[object] | None = None,
    *,
    target_text: str | None = None,
    source_text: str | None = None,
    head: int | None = None,
    mark: bool = True,
    title: str | None = None,
    values: bool = True,
    scale: str = "linear",
    hide_sink: Keys = False,
    vmax: float | None = None,
    reduce: str = "mean",
    cmap: str | Colormap | None = None,
    batch: int | tuple[int, ...] | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw a target reading its source: the source across the top, the target down the left, the weights between them.

    weights (…, n_t, n_s) or a view; of several heads one is drawn, `head`, or the mean
    target_tokens (n_t)  source_tokens (n_s) → a matplotlib figure

    `source_text` and `target_text` are written along their sides. `mark` frames each target token's largest weight,
    the source token it looked at most. The other options are those of `visualize_attention`.

    Raises:
        TypeError, ValueError, FileNotFoundError: as `visualize_attention`; `head` lies outside.
    """
    path = None if save is None else checked_path(save)
    drawn = source(weights, batch=batch)
    n_q, n_k = drawn.n_q, drawn.n_k
    targets = checked_tokens("target_tokens", target_tokens, n_q, "queries")
    sources = checked_tokens("source_tokens", source_tokens, n_k, "keys")
    head = checked_head(head, drawn.heads)
    hidden = hidden_keys(hide_sink, n_k)
    checks.choice("reduce", reduce, pooling.REDUCTIONS)

    grid = arrange(1, n_q, n_k)
    most = int(grid.height * DPI), int(grid.width * DPI)
    cells, by = window_map(drawn, head, slice(0, n_q), slice(0, n_k), most, reduce, hidden)
    what = "attention weight" if by == (1.0, 1.0) else f"{pooling.WORDS[reduce]} attention weight"
    shades = shading(
        cells,
        scale=scale,
        vmax=vmax,
        cmap=cmap,
        what=what if head is not None else f"{what}, mean of {drawn.heads} heads",
    )
    note = notes(n_q, n_k, by, reduce=reduce, hidden=hidden, masked=has_masked(cells, hidden, by[1]))
    key_labels = key_ticks(sources, n_k, grid.width, slanted=False)
    query_labels = query_ticks(targets, n_q, grid.height, most=key_labels.size)
    words = (_word("target", target_text), _word("source", source_text))
    plate = Plate(grid.width, grid.height, query_labels, key_labels, title, note, words, keys_above=True)
    figure, axes = plate.sheet(shades)
    draw_map(axes, cells, by, (n_q, n_k), shades)
    if by == (1.0, 1.0):
        if values and cells.size <= MOST_VALUES:
            write_values(axes, cells, grid.width, grid.height, shades)
        if mark and n_q <= MOST_MARKS:
            _mark_largest(axes, cells, shades)
    if path is not None:
        write(figure, path)
    return figure


def _word(side: str, text: str | None) -> str:
    return side if text is None else f"{side}: {text}"


def _mark_largest(axes: Axes, cells: Float[np.ndarray, "n_t n_s"], shades: Shading) -> None:
    """A frame in each row around its largest weight, in the ink that can be seen on it."""
    inks = shades.inks(cells)
    for i, row in enumerate(np.nan_to_num(cells)):
        j = int(row.argmax())
        if row[j] > 0:
            axes.add_patch(
                Rectangle((j - 0.44, i - 0.44), 0.88, 0.88, fill=False, edgecolor=inks[i, j], linewidth=1.1, alpha=0.8)
            )
