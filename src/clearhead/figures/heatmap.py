"""Heat maps with the tokens on both sides: every head in a grid, one head with its statistics, and cross-attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from clearhead.figures.grid import arrange
from clearhead.figures.layout import Layout
from clearhead.figures.maps import HeatMaps, heat_maps, pixels
from clearhead.figures.options import MapOptions, Options, takes_options
from clearhead.figures.source import Drawn, checked_head, checked_range, source
from clearhead.figures.strips import Strip
from clearhead.figures.ticks import key_ticks, query_ticks
from clearhead.matrices import cell_length, pool

MOST_HEADS = 144  # twelve layers of twelve
MOST_MARKS = 100  # queries whose largest weight is framed


@takes_options(MapOptions)
def visualize_attention(
    weights: Any,
    tokens: Sequence[object] | None = None,
    *,
    key_tokens: Sequence[object] | None = None,
    head_names: Sequence[str] | None = None,
    **shared: Unpack[MapOptions],
) -> Figure:
    """Draw which key each query attends to: queries are rows, keys are columns.

    weights (n_q, n_k) or (h, n_q, n_k), leading axes of length 1 are dropped; or a view that `look` made, of any length
    tokens (n_q) name the queries, and the keys too unless key_tokens (n_k) do; those of the view unless they are given
    → a matplotlib figure

    Several heads become a grid that shares one colour scale, from 0 to the largest weight or to `vmax`. The value
    stands in each cell while cells are large enough to read it (a weight of exactly zero, as a mask leaves, is
    "0" and a very small one "0.00"); `values=False` leaves it out. A map of more positions than pixels is pooled
    by `reduce`, "mean" or "max", and the figure says so.

    `scale` is "linear", "log", or "row" for colours by each query's own largest weight. `hide_keys` leaves out the
    first key, or the keys it names, and scales the colours to the others. `batch` picks an item of a view's batch.

    `save` writes the figure to a .png, .svg or .pdf file. The figure is not pyplot's: it shows itself as the last
    line of a notebook cell, opens no window and need not be closed.

    Raises:
        TypeError: the weights are not floats, or the tokens are one text instead of a list.
        ValueError: the weights are empty, a batch, negative or not finite; the tokens or head names do not fit
            their number; `scale`, `hide_keys`, `vmax`, `reduce`, `cmap` or the suffix of `save` is not one of those
            allowed.
        FileNotFoundError: the folder of `save` does not exist.
    """
    options = Options(**shared)
    drawn = source(weights, batch=options.batch)
    h, n_q, n_k = drawn.heads, drawn.n_q, drawn.n_k
    if h > MOST_HEADS:
        raise ValueError(f"{h} heads do not fit a figure; draw at most {MOST_HEADS}, weights[:64] say")
    queries, keys = drawn.axis_tokens(tokens, key_tokens)
    names = _head_names(head_names, h)
    grid = arrange(h, n_q, n_k)
    maps = heat_maps(drawn, range(h), slice(0, n_q), slice(0, n_k), grid, options)
    below = key_ticks(keys, n_k, grid.width, slanted=h == 1)
    beside = query_ticks(queries, n_q, grid.height, most=below.size)
    figure, panels = Layout(grid, beside, below, options.title, maps.note, head_names=names).sheet(maps.shades)
    maps.draw(panels, grid, values=options.values)
    return options.finished(figure)


@takes_options(MapOptions)
def visualize_head(
    weights: Any,
    tokens: Sequence[object] | None = None,
    *,
    key_tokens: Sequence[object] | None = None,
    head: int | None = None,
    rows: slice | None = None,
    cols: slice | None = None,
    strips: bool = True,
    **shared: Unpack[MapOptions],
) -> Figure:
    """Draw one head, or the mean of all: its weights, each query's entropy beside them and what each key gets above.

    weights (…, n_q, n_k) or a view, tokens (n_q) and key_tokens (n_k) as in `visualize_attention` → a matplotlib figure

    `rows` and `cols` are the queries and keys to draw, such as slice(900, 960): exact weights at any length, labelled
    by their positions in the whole. Entropy is in nats, 0 where a query looks at one key; beside a mean of heads it is
    the entropy of the mean. What a key gets is summed over all queries, those outside the window too. The other
    options are those of `visualize_attention`.

    Raises:
        TypeError, ValueError, FileNotFoundError: as `visualize_attention`; `head`, `rows` or `cols` lie outside.
    """
    options = Options(**shared)
    every = source(weights, batch=options.batch)
    queries, keys = every.axis_tokens(tokens, key_tokens)
    head = checked_head(head, every.heads)
    rows, cols = checked_range("rows", rows, every.n_q), checked_range("cols", cols, every.n_k)
    n_q, n_k = rows.stop - rows.start, cols.stop - cols.start
    drawn, number = every.one(head)
    grid = arrange(1, n_q, n_k)
    maps = heat_maps(drawn, [number], rows, cols, grid, options, mean_of=1 if head is not None else every.heads)
    below = key_ticks(keys and keys[cols], n_k, grid.width, slanted=True, start=cols.start)
    beside = query_ticks(queries and queries[rows], n_q, grid.height, most=below.size, start=rows.start)
    down, across = pixels(grid)
    layout = Layout(
        grid,
        beside,
        below,
        options.title,
        maps.note,
        over=_strip("received", drawn, number, cols, across, options.reduce, maps.hidden) if strips else None,
        beside=_strip("entropy", drawn, number, rows, down, options.reduce, []) if strips else None,
    )
    figure, panels = layout.sheet(maps.shades)
    maps.draw(panels, grid, values=options.values)
    return options.finished(figure)


@takes_options(MapOptions)
def visualize_cross_attention(
    weights: Any,
    target_tokens: Sequence[object] | None = None,
    source_tokens: Sequence[object] | None = None,
    *,
    target_text: str | None = None,
    source_text: str | None = None,
    head: int | None = None,
    mark: bool = True,
    **shared: Unpack[MapOptions],
) -> Figure:
    """Draw a target reading its source: the source across the top, the target down the left, the weights between them.

    weights (…, n_t, n_s) or a view; of several heads one is drawn, `head`, or the mean
    target_tokens (n_t)  source_tokens (n_s), those of the view unless they are given → a matplotlib figure

    `source_text` and `target_text` are written along their sides. `mark` frames each target token's largest weight,
    the source token it looked at most. The other options are those of `visualize_attention`.

    Raises:
        TypeError, ValueError, FileNotFoundError: as `visualize_attention`; `head` lies outside.
    """
    options = Options(**shared)
    every = source(weights, batch=options.batch)
    n_q, n_k = every.n_q, every.n_k
    targets, sources = every.cross_tokens(target_tokens, source_tokens)
    head = checked_head(head, every.heads)
    drawn, number = every.one(head)
    grid = arrange(1, n_q, n_k)
    whole = slice(0, n_q), slice(0, n_k)
    maps = heat_maps(drawn, [number], *whole, grid, options, mean_of=1 if head is not None else every.heads)
    above = key_ticks(sources, n_k, grid.width, slanted=False)
    beside = query_ticks(targets, n_q, grid.height, most=above.size)
    words = (_word("target", target_text), _word("source", source_text))
    layout = Layout(grid, beside, above, options.title, maps.note, words=words, keys_above=True)
    figure, panels = layout.sheet(maps.shades)
    maps.draw(panels, grid, values=options.values)
    if mark and not maps.pooled and n_q <= MOST_MARKS:
        _mark_largest(panels[0], maps)
    return options.finished(figure)


def _head_names(head_names: Sequence[str] | None, h: int) -> list[str]:
    """One name for each head; a single head needs none."""
    if head_names is None:
        return [f"head {i}" for i in range(h)] if h > 1 else []
    if isinstance(head_names, str) or len(head_names) != h:
        raise ValueError(f"head_names must be a list of {h} names, one for each head, got {head_names!r}")
    return [str(name) for name in head_names]


def _strip(name: str, drawn: Drawn, head: int, part: slice, size: int, reduce: str, hidden: list[int]) -> Strip:
    """A statistic along one side of the window, pooled like the map."""
    values = drawn.statistic(name, head)[part].copy()
    values[hidden] = np.nan
    by = cell_length(len(values), size)
    label = {"entropy": "entropy (nats)", "received": "received, all queries"}[name]
    return Strip(label, pool(values[None], 1, by, reduce=reduce)[0], by, len(values))


def _word(side: str, text: str | None) -> str:
    return side if text is None else f"{side}: {text}"


def _mark_largest(axes: Axes, maps: HeatMaps) -> None:
    """A frame in each row around its largest weight, in the ink that can be seen on it."""
    (cells,) = maps.cells
    inks = maps.shades.inks(cells)
    for i, row in enumerate(np.nan_to_num(cells)):
        j = int(row.argmax())
        if row[j] > 0:
            axes.add_patch(
                Rectangle((j - 0.44, i - 0.44), 0.88, 0.88, fill=False, edgecolor=inks[i, j], linewidth=1.1, alpha=0.8)
            )
