"""Heat maps with the tokens on both sides: every head in a grid, one head with its statistics, and cross-attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from clearhead.figures import words
from clearhead.figures.grid import arrange
from clearhead.figures.layout import Layout
from clearhead.figures.maps import HeatMaps, heat_maps, pixels
from clearhead.figures.options import MapOptions, Options, takes_options
from clearhead.figures.source import Drawn, checked_head, checked_range, source
from clearhead.figures.strips import Strip, number_label
from clearhead.figures.ticks import key_ticks, query_ticks
from clearhead.languages import Said
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

    Several heads become a grid that shares one colour scale, from 0 to the largest weight or to `vmax`; a map longer
    than 64 positions chooses a scale on which its weights can be seen, and says which. The value stands in each cell
    while cells are large enough to read it (one below 0.005 is a dot, and 0 nothing); `values=False` leaves it out. A
    map of more positions than pixels is pooled by `reduce`, "mean" or "max", and the figure says so. What is masked is
    grey: a view knows its mask, and for an array `mask` has it, True = may attend.

    `scale` is "linear", "log", or "row" for colours by each query's own largest weight. `hide_keys` leaves out the
    first key, or the keys it names, and scales the colours to the others. `batch` picks an item of a view's batch.
    `language` is that of the words, "en" or "ko"; unless given, that of CLEARHEAD_LANG or of the locale.

    `save` writes the figure to a .png, .svg or .pdf file. The figure is not pyplot's and need not be closed: it shows
    itself as the last line of a notebook cell, and from a script in a window with `figure.show()`.

    Raises:
        TypeError: the weights are not floats, or the pair (output, weights); the tokens are one text instead of a list.
        ValueError: the weights are empty, a batch, negative or not finite; the tokens or head names do not fit
            their number, or the weights their mask; `scale`, `hide_keys`, `vmax`, `reduce`, `cmap`, `language` or
            the suffix of `save` is not one of those allowed.
        FileNotFoundError: the folder of `save` does not exist.
    """
    options = Options(**shared)
    drawn = source(weights, batch=options.batch, mask=options.mask)
    h, n_q, n_k = drawn.heads, drawn.n_q, drawn.n_k
    if h > MOST_HEADS:
        raise ValueError(f"{h} heads do not fit a figure; draw at most {MOST_HEADS}, weights[:64] say")
    queries, keys = drawn.axis_tokens(tokens, key_tokens)
    names = _head_names(head_names, h, options)
    grid = arrange(h, n_q, n_k)
    maps = heat_maps(drawn, range(h), slice(0, n_q), slice(0, n_k), grid, options)
    below = key_ticks(keys, n_k, grid.width, slanted=h == 1)
    beside = query_ticks(queries, n_q, grid.height, most=below.size)
    sides = options.say(words.QUERY), options.say(words.KEY)
    layout = Layout(grid, beside, below, sides, options.title, maps.note, head_names=names)
    figure, panels = layout.sheet(maps.shades)
    maps.draw(panels)
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
    every = source(weights, batch=options.batch, mask=options.mask)
    queries, keys = every.axis_tokens(tokens, key_tokens)
    head = checked_head(head, every.heads)
    rows, cols = checked_range("rows", rows, every.n_q), checked_range("cols", cols, every.n_k)
    n_q, n_k = rows.stop - rows.start, cols.stop - cols.start
    drawn, number = every.one(head)
    grid = arrange(1, n_q, n_k)
    mean_of = 1 if head is not None else every.heads
    maps = heat_maps(drawn, [number], rows, cols, grid, options, mean_of=mean_of, mark_keys=not strips)
    below = key_ticks(keys and keys[cols], n_k, grid.width, slanted=True, start=cols.start)
    beside = query_ticks(queries and queries[rows], n_q, grid.height, most=below.size, start=rows.start)
    sides = options.say(words.QUERY), options.say(words.KEY)
    layout = Layout(grid, beside, below, sides, options.title, maps.note)
    if strips:
        layout = _with_strips(layout, drawn, number, maps, options)
    figure, panels = layout.sheet(maps.shades)
    maps.draw(panels)
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
    every = source(weights, batch=options.batch, mask=options.mask)
    n_q, n_k = every.n_q, every.n_k
    targets, sources = every.cross_tokens(target_tokens, source_tokens)
    head = checked_head(head, every.heads)
    drawn, number = every.one(head)
    grid = arrange(1, n_q, n_k)
    whole = slice(0, n_q), slice(0, n_k)
    maps = heat_maps(drawn, [number], *whole, grid, options, mean_of=1 if head is not None else every.heads)
    above = key_ticks(sources, n_k, grid.width, slanted=False)
    beside = query_ticks(targets, n_q, grid.height, most=above.size)
    sides = _side(words.TARGET, target_text, options), _side(words.SOURCE, source_text, options)
    layout = Layout(grid, beside, above, sides, options.title, maps.note, keys_above=True)
    figure, panels = layout.sheet(maps.shades)
    maps.draw(panels)
    if mark and not maps.pooled and n_q <= MOST_MARKS:
        _mark_largest(panels[0], maps)
    return options.finished(figure)


def _head_names(head_names: Sequence[str] | None, h: int, options: Options) -> list[str]:
    """One name for each head; a single head needs none."""
    if head_names is None:
        return [options.say(words.NUMBERED_HEAD, number=i) for i in range(h)] if h > 1 else []
    if isinstance(head_names, str) or len(head_names) != h:
        raise ValueError(f"head_names must be a list of {h} names, one for each head, got {head_names!r}")
    return [str(name) for name in head_names]


def _with_strips(layout: Layout, drawn: Drawn, head: int, maps: HeatMaps, options: Options) -> Layout:
    """What each key gets above the map, and each query's entropy beside it; bars that are cut are told in the note."""
    received, entropy = (drawn.statistic(name, head).copy() for name in ("received", "entropy"))
    received[[maps.cols.start + key for key in maps.hidden]] = np.nan
    down, across = pixels(layout.grid)
    over = _strip(words.STRIPS["received"], received[maps.cols], across, options)
    beside = _strip(words.STRIPS["entropy"], entropy[maps.rows], down, options)
    said = [layout.note]
    for strip, name, values, part in (
        (over, "received", received, maps.cols),
        (beside, "entropy", entropy, maps.rows),
    ):
        if strip.cut.any():
            place = part.start + int(np.nanargmax(values[part]))
            said.append(options.say(words.LONG_BARS[name], largest=number_label(float(values[place])), place=place))
    return replace(layout, note=" ".join(part for part in said if part), over=over, beside=beside)


def _strip(name: Said, values: Float[np.ndarray, " n"], size: int, options: Options) -> Strip:
    """A statistic along one side of the window, pooled like the map."""
    by = cell_length(len(values), size)
    return Strip(options.say(name), pool(values[None], 1, by, reduce=options.reduce)[0], by, len(values))


def _side(name: Said, text: str | None, options: Options) -> str:
    side = options.say(name)
    return side if text is None else options.say(words.WITH_TEXT, side=side, text=text)


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
