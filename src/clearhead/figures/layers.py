"""Layers × heads: one number, or one name, for each head of a whole model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.figures import words
from clearhead.figures.grid import Grid
from clearhead.figures.layout import Layout
from clearhead.figures.lettering import NOTE_SIZE, fitted, text_size, text_style
from clearhead.figures.maps import draw_map
from clearhead.figures.options import LayerOptions, Options, takes_options
from clearhead.figures.shading import EMPTY_COLOUR, Shading, text_colours
from clearhead.figures.source import refuse_pair, source
from clearhead.figures.ticks import key_ticks, query_ticks
from clearhead.matrices import as_floats, is_matrix
from clearhead.textbook.patterns import name_pattern

CELL = (0.56, 0.36)  # the width and height of a head while there is room for it
NAMED_CELL = (0.94, 0.42)  # with the name of a pattern in it
LARGEST = (11.0, 9.0)
NAME_ROOM = (0.62, 0.15)  # the smallest cell that can hold a name
SCORE_ROOM = 0.3  # the lowest that can hold a score as well
SMALLEST_NUMBER = 6.0  # points
# Okabe and Ito's colours, which eyes of any kind tell apart; as tints, so that text can be read on them. Every pattern
# has its own in all figures.
PATTERN_COLOURS = {
    "previous_token": "#0072b2",
    "first_token": "#e69f00",
    "self": "#56b4e9",
    "local": "#009e73",
    "uniform": "#f0e442",
    "induction": "#d55e00",
    "duplicate_token": "#cc79a7",
    "next_token": "#332288",  # this and the following are Tol's
    "separator": "#882255",
    "punctuation": "#117733",
}
OTHER_COLOUR = "#999999"


@takes_options(LayerOptions)
def visualize_layers(
    views: Any,
    statistic: str | Callable[[Any], ArrayLike] = "entropy",
    *,
    label: str | None = None,
    layer_names: Sequence[str] | None = None,
    **shared: Unpack[LayerOptions],
) -> Figure:
    """Draw one number for each head of each layer: layers are rows, from the first at the top, heads are columns.

    views: one for each layer, views or weights (…, h, n_q, n_k), or one alone; or the numbers themselves (layers, h)
    → a matplotlib figure

    `statistic` is "entropy", "max_weight", "distance", "on_first" or "on_self", each the mean over the queries, or a
    function from a view to one number for each head. "pattern" writes the name of what each head does, coloured by
    pattern, the stronger the score the stronger the colour; `views` may then hold what their `patterns` returned, for
    instance given token ids, or (names, scores).
    `label` names the numbers beside the colours, and layers with fewer heads than others leave the rest grey. `scale`
    and the other options are those of `visualize_attention`, a row being a layer.

    Raises:
        TypeError, ValueError: the numbers are not (layers, h) floats, the statistic is not one of these, or the layer
            names do not fit their number; `vmax`, `cmap`, `batch` and `save` as in `visualize_attention`.
    """
    options = Options(**shared)
    layers = _layers(views)
    if isinstance(statistic, str) and statistic == "pattern":
        return options.finished(_patterns(_named(layers, options.batch), layer_names, options))
    table, usual = _table(layers, statistic, options)
    shades = options.shading(table, label or usual)
    layout = _layout(table.shape, CELL, layer_names, options, bool(np.isnan(table).any()))
    figure, (axes,) = layout.sheet(shades)
    draw_map(axes, table, (1, 1), table.shape, shades)
    if options.values:
        _write_numbers(axes, table, layout.grid, shades)
    return options.finished(figure)


def _layers(views: Any) -> Any:
    """One of each layer, or a table of numbers; a view alone is a layer."""
    refuse_pair(views, layers=True)
    if hasattr(views, "ndim") and views.ndim == 2:
        return views
    layers = list(views) if isinstance(views, Sequence) or hasattr(views, "ndim") else [views]
    if not layers:
        raise ValueError("views must hold at least one layer, got none")
    return layers


def _table(layers: Any, statistic: str | Callable[[Any], ArrayLike], options: Options) -> tuple[np.ndarray, str]:
    """The numbers (layers, h), NaN where a layer has no such head, and what they are called."""
    if not isinstance(layers, list):
        array = as_floats("views", layers)
        if array.size == 0 or not np.isfinite(array).all():
            raise ValueError(f"the numbers of {array.shape} layers × heads must be finite, and there must be some")
        return array.astype(np.float64), options.say(words.VALUE)
    if callable(statistic):
        rows = [np.asarray(statistic(layer), dtype=np.float64).reshape(-1) for layer in layers]
        usual = getattr(statistic, "__name__", options.say(words.VALUE)).replace("_", " ")
    else:
        checks.choice("statistic", statistic, (*words.STATISTICS, "pattern"))
        drawn = [source(layer, batch=options.batch) for layer in layers]
        rows = [np.array([one.statistic(statistic, i).mean() for i in range(one.heads)]) for one in drawn]
        usual = options.say(words.STATISTICS[statistic])
    table = np.full((len(rows), max(map(len, rows))), np.nan)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table, usual


def _layout(
    shape: tuple[int, ...],
    cell: tuple[float, float],
    layer_names: Sequence[str] | None,
    options: Options,
    ragged: bool,
    note: str = "",
) -> Layout:
    layers, heads = shape
    if layer_names is not None and (isinstance(layer_names, str) or len(layer_names) != layers):
        raise ValueError(f"layer_names must be a list of {layers} names, one for each layer, got {layer_names!r}")
    width, height = min(heads * cell[0], LARGEST[0]), min(layers * cell[1], LARGEST[1])
    columns = key_ticks(None, heads, width, slanted=False)
    rows = query_ticks(layer_names, layers, height, most=columns.size)
    note = " ".join(part for part in (note, options.say(words.NO_SUCH_HEAD) if ragged else "") if part)
    sides = options.say(words.LAYER), options.say(words.HEAD)
    return Layout(Grid(1, 1, width, height), rows, columns, sides, options.title, note)


def _write_numbers(axes: Axes, table: Float[np.ndarray, "layers h"], grid: Grid, shades: Shading) -> None:
    """Each number in its cell, in as many digits as the largest needs, if cells are large enough."""
    largest = float(np.nanmax(np.abs(table)))
    digits = 2 if largest < 10 else 1 if largest < 100 else 0
    texts = np.array([["" if np.isnan(x) else f"{x:,.{digits}f}" for x in row] for row in table])
    width = max(text_size(text, 100.0)[0] for text in texts.ravel())
    across, down = 84 * grid.width / table.shape[1], 90 * grid.height / len(table)
    size = min(9.0, across / width, down / text_size("0", 100.0)[1])
    if size < SMALLEST_NUMBER:
        return
    inks = shades.inks(table)
    for (i, j), text in np.ndenumerate(texts):
        axes.text(j, i, text, color=inks[i, j], ha="center", va="center_baseline", **text_style(size))


def _named(layers: Any, batch: Any) -> list[tuple[list[str], np.ndarray]]:
    """For each layer the names of its heads' patterns and their scores."""
    rows = []
    for layer in layers:
        names, scores = layer if isinstance(layer, tuple) else _found(layer, batch)
        names, scores = [str(name) for name in np.ravel(names)], np.ravel(np.asarray(scores, dtype=np.float64))
        if len(names) != len(scores):
            raise ValueError(f"each head needs a name and a score, got {len(names)} names and {len(scores)} scores")
        rows.append((names, scores))
    return rows


def _found(layer: Any, batch: Any) -> tuple[Any, Any]:
    """What a view, or the patterns that were found in one, or weights say of the heads of one item."""
    found = layer.patterns() if callable(getattr(layer, "patterns", None)) else layer
    if not (hasattr(found, "labels") and hasattr(found, "score")):
        return _of_weights(layer, batch)
    names, scores = np.asarray(found.labels), np.asarray(found.score)
    place = (batch,) if isinstance(batch, int) else batch or (0,) * max(names.ndim - 1, 0)
    if batch is None and any(length > 1 for length in names.shape[:-1]):
        raise ValueError(f"the patterns are of a batch of {names.shape[:-1]}; batch=0 picks the first item")
    return names[place], scores[place]


def _of_weights(layer: Any, batch: Any) -> tuple[Any, Any]:
    """The patterns of weights that are there, as the textbook names them."""
    if not (hasattr(layer, "ndim") or is_matrix(layer)):
        raise TypeError(f"a layer must be a view, its patterns, weights or (names, scores), got {type(layer).__name__}")
    drawn = source(layer, batch=batch)
    heads = [drawn.window(i, slice(0, drawn.n_q), slice(0, drawn.n_k)) for i in range(drawn.heads)]
    match = name_pattern(np.stack(heads))
    return match.name, match.score


def _patterns(rows: list[tuple[list[str], np.ndarray]], layer_names: Sequence[str] | None, options: Options) -> Figure:
    """Names in cells, coloured by pattern; where cells are too small for names, a legend has them."""
    heads = max(len(names) for names, _ in rows)
    ragged = any(len(names) < heads for names, _ in rows)
    layout = _layout((len(rows), heads), NAMED_CELL, layer_names, options, ragged, options.say(words.STRENGTH))
    cell = (layout.grid.width / heads, layout.grid.height / len(rows))
    if cell[0] < NAME_ROOM[0] or cell[1] < NAME_ROOM[1]:
        known = dict.fromkeys(name for names, _ in rows for name in names)
        layout = replace(layout, legend=tuple((_shown(name, options), _colour(name)) for name in sorted(known)))
    figure, (axes,) = layout.sheet(None)
    axes.set(xlim=(-0.5, heads - 0.5), ylim=(len(rows) - 0.5, -0.5), facecolor=EMPTY_COLOUR if ragged else "none")
    axes.spines[:].set_visible(False)
    for i, (names, scores) in enumerate(rows):
        for j, (name, score) in enumerate(zip(names, scores, strict=True)):
            tint = _tint(name, float(score))
            axes.add_patch(Rectangle((j - 0.48, i - 0.46), 0.96, 0.92, facecolor=tint, edgecolor="none"))
            if not layout.legend:
                _name_cell(axes, i, j, _shown(name, options), float(score), tint, cell)
    return figure


def _name_cell(
    axes: Axes, i: int, j: int, name: str, score: float, tint: Float[np.ndarray, " 3"], cell: tuple[float, float]
) -> None:
    """The name of the pattern, and its score below it if the cell is high enough for both."""
    (text,), size = fitted([name], 0.92 * cell[0], (NOTE_SIZE, 7.0, 6.0))
    style: dict[str, Any] = {"color": text_colours(tint)[()], "ha": "center", "va": "center_baseline"}
    both = cell[1] >= SCORE_ROOM
    axes.text(j, i - 0.16 * both, text, **style, **text_style(size))
    if both:
        axes.text(j, i + 0.24, f"{score:.2f}", **style, **text_style(6.5))


def _tint(name: str, score: float) -> Float[np.ndarray, " 3"]:
    strength = 0.12 + 0.78 * min(max(score, 0.0), 1.0)
    return np.asarray(to_rgb(_colour(name))) * strength + (1 - strength)


def _colour(name: str) -> str:
    return PATTERN_COLOURS.get(name, OTHER_COLOUR)


def _shown(name: str, options: Options) -> str:
    """A pattern's name for readers; one that is not in the table shows as it is."""
    return options.say(words.PATTERNS[name]) if name in words.PATTERNS else name.replace("_", " ")
