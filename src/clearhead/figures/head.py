"""One head with its tokens: exact weights of any window, how decided each query is, and how much each key gets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.colors import Colormap
from matplotlib.figure import Figure

from clearhead import checks
from clearhead.figures import pooling
from clearhead.figures.grid import arrange
from clearhead.figures.heatmap import MOST_VALUES, axis_tokens, draw_map, has_masked, write_values
from clearhead.figures.measure import DPI
from clearhead.figures.plate import Plate
from clearhead.figures.save import checked_path, write
from clearhead.figures.shading import Keys, hidden_keys, notes, shading
from clearhead.figures.source import (
    Source,
    checked_head,
    checked_range,
    mean_statistic,
    mean_window,
    source,
)
from clearhead.figures.strips import Strip
from clearhead.figures.ticks import key_ticks, query_ticks

AT_ONCE = 1 << 22  # weights of a window that are held before they are pooled


def visualize_head(
    weights: Any,
    tokens: Sequence[object] | None = None,
    *,
    key_tokens: Sequence[object] | None = None,
    head: int | None = None,
    rows: slice | None = None,
    cols: slice | None = None,
    strips: bool = True,
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
    """Draw one head, or the mean of all: its weights, each query's entropy beside them and what each key gets above.

    weights (…, n_q, n_k) or a view, tokens (n_q) and key_tokens (n_k) as in `visualize_attention` → a matplotlib figure

    `rows` and `cols` are the queries and keys to draw, such as slice(900, 960): exact weights at any length, labelled
    by their positions in the whole. Entropy is in nats, 0 where a query looks at one key; what a key gets is summed
    over all queries, those outside the window too. The other options are those of `visualize_attention`.

    Raises:
        TypeError, ValueError, FileNotFoundError: as `visualize_attention`; `head`, `rows` or `cols` lie outside.
    """
    path = None if save is None else checked_path(save)
    drawn = source(weights, batch=batch)
    queries, keys = axis_tokens(tokens, key_tokens, drawn.n_q, drawn.n_k)
    head = checked_head(head, drawn.heads)
    rows, cols = checked_range("rows", rows, drawn.n_q), checked_range("cols", cols, drawn.n_k)
    n_q, n_k = rows.stop - rows.start, cols.stop - cols.start
    hidden = [key - cols.start for key in hidden_keys(hide_sink, drawn.n_k) if cols.start <= key < cols.stop]
    checks.choice("reduce", reduce, pooling.REDUCTIONS)

    grid = arrange(1, n_q, n_k)
    most = int(grid.height * DPI), int(grid.width * DPI)
    cells, by = window_map(drawn, head, rows, cols, most, reduce, hidden)
    what = "attention weight" if by == (1.0, 1.0) else f"{pooling.WORDS[reduce]} attention weight"
    what = what if head is not None else f"{what}, mean of {drawn.heads} heads"
    shades = shading(cells, scale=scale, vmax=vmax, cmap=cmap, what=what)
    shown = [key + cols.start for key in hidden]
    note = notes(n_q, n_k, by, reduce=reduce, hidden=shown, masked=has_masked(cells, hidden, by[1]))
    note = " ".join(part for part in (_place(rows, cols, drawn), note) if part)

    key_labels = key_ticks(keys and keys[cols], n_k, grid.width, slanted=True, start=cols.start)
    query_labels = query_ticks(queries and queries[rows], n_q, grid.height, most=key_labels.size, start=rows.start)
    plate = Plate(
        grid.width,
        grid.height,
        query_labels,
        key_labels,
        title,
        note,
        over=_strip("received", drawn, head, cols, most[1], reduce, hidden) if strips else None,
        beside=_strip("entropy", drawn, head, rows, most[0], reduce, []) if strips else None,
    )
    figure, axes = plate.sheet(shades)
    draw_map(axes, cells, by, (n_q, n_k), shades)
    if values and by == (1.0, 1.0) and cells.size <= MOST_VALUES:
        write_values(axes, cells, grid.width, grid.height, shades)
    if path is not None:
        write(figure, path)
    return figure


def _place(rows: slice, cols: slice, drawn: Source) -> str:
    """Which window it is, if it is not the whole."""
    if (rows.stop - rows.start, cols.stop - cols.start) == (drawn.n_q, drawn.n_k):
        return ""
    return (
        f"Queries {rows.start:,} … {rows.stop - 1:,} and keys {cols.start:,} … {cols.stop - 1:,} "
        f"of {drawn.n_q:,} × {drawn.n_k:,}."
    )


def window_map(
    drawn: Source, head: int | None, rows: slice, cols: slice, most: tuple[int, int], reduce: str, hidden: list[int]
) -> tuple[Float[np.ndarray, "cells_q cells_k"], tuple[float, float]]:
    """A window in at most most[0] × most[1] cells: exact if it can be, pooled strip by strip if it is larger."""
    n_q, n_k = rows.stop - rows.start, cols.stop - cols.start
    by_q, by_k = pooling.factor(n_q, most[0]), pooling.factor(n_k, most[1])
    if (n_q, n_k) == (drawn.n_q, drawn.n_k) and (by_q, by_k) != (1, 1) and (head is not None or reduce == "mean"):
        maps, by = drawn.maps(*most, reduce, hidden)
        return maps[head] if head is not None else maps.mean(axis=0), by
    step = max(AT_ONCE // n_k // by_q, 1) * by_q
    parts = []
    for start in range(rows.start, rows.stop, step):
        part = mean_window(drawn, head, slice(start, min(start + step, rows.stop)), cols)
        if hidden:
            part = part.copy()
            part[:, hidden] = np.nan
        parts.append(pooling.pool(part, by_q, by_k, reduce=reduce))
    return np.concatenate(parts), (float(by_q), float(by_k))


def _strip(name: str, drawn: Source, head: int | None, part: slice, most: int, reduce: str, hidden: list[int]) -> Strip:
    """A statistic along one side of the window, pooled like the map."""
    values = mean_statistic(drawn, name, head)[part].copy()
    values[hidden] = np.nan
    by = pooling.factor(len(values), most)
    label = {"entropy": "entropy (nats)", "received": "received, all queries"}[name]
    return Strip(label, pooling.pool(values[None], 1, by, reduce=reduce)[0], float(by), len(values))
