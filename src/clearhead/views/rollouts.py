"""Through the layers: where what is at a position came from, and where it goes.

With Ā the mean of a layer's heads, and a residual connection that carries its share past attention, a layer moves
content by

    M = residual · I + (1 − residual) · Ā

and the layers together by their product M_last ⋯ M_first (Abnar and Zuidema, 2020). One row or column of it needs no
matrix, only vectors: a row is followed from the last layer to the first by what keys receive, a column from the first
to the last by attention with the column as its values. It is a reading of attention, not of causes: what values
hold, and what the layers between do with it, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from clearhead import checks
from clearhead.views import passes, tiles
from clearhead.views.averages import checked_views, chosen_heads, over_heads
from clearhead.views.choosing import chosen

if TYPE_CHECKING:
    from clearhead.views.view import View


def rollout(
    views: View | Sequence[View], position: int, *, residual: float = 0.5, heads: Any = None
) -> Float[Any, "... n"]:
    """Where the output at a position came from: its share from each input position, exact: → (…, n)

    views: one for each layer, from the first to the last. residual: the share that passes attention by. heads: those
    whose mean is followed, all of them unless given. The shares sum to 1, but for what sinks take.
    """
    layers, share = checked_views(views, square=True), _share(residual)
    row = _one_hot(layers[0], position)
    for view in reversed(layers):
        received = passes.received_from(view, row[..., None, :] if view.lead else row)
        row = share * row + (1 - share) * over_heads(view, received, chosen_heads(view, heads))
    return layers[0].convert(row)


def flow(
    views: View | Sequence[View], position: int, *, residual: float = 0.5, heads: Any = None
) -> Float[Any, "... n"]:
    """Where the content of an input position ends up: its share in each output position, exact: → (…, n)

    Arguments as in `rollout`, which this turns around: rollout(views, i)[j] is flow(views, j)[i].
    """
    layers, share = checked_views(views, square=True), _share(residual)
    column = _one_hot(layers[0], position)
    for view in layers:
        values = column[..., None, :, None] if view.lead else column[:, None]
        mixed = passes.mix(view, values)[..., 0]
        column = share * column + (1 - share) * over_heads(view, mixed, chosen_heads(view, heads))
    return layers[0].convert(column)


class ApproximateRollout(NamedTuple):
    """Rollout between cells of positions instead of positions, approximate: shares (…, c, c), cells (n).

    shares[a, b] is how much of the outputs in cell a came from the inputs in cell b; cells has the cell of each
    position. With a cell for each position it is exact.
    """

    shares: Float[Any, "... c c"]
    cells: Any


def pooled_rollout(
    views: View | Sequence[View], size: int = 256, *, residual: float = 0.5, heads: Any = None
) -> ApproximateRollout:
    """Rollout of every position at once, approximately: on maps pooled to at most `size` cells of 2^l positions a side.

    Each layer is exact for its cells; their product takes what arrives in a cell for evenly spread within it, which
    it need not be. For single positions `rollout` is exact.
    """
    layers, share = checked_views(views, square=True), _share(residual)
    n = layers[0].n_q
    window = tiles.checked_window(None, None, checks.count("size", size), n, n)
    cells = np.arange(n) // window.by_q
    queries = np.maximum(np.bincount(cells, minlength=window.cells[0]), 1)[:, None]
    product = np.broadcast_to(np.eye(*window.cells), (*layers[0].batch_shape, *window.cells))
    for view in layers:
        sums = view.shaped(tiles.pooled(view, window, None, "mean").total)
        moved = over_heads(view, sums, chosen_heads(view, heads)) / queries
        product = share * product + (1 - share) * (moved @ product)
    product = np.array(product, layers[0].call.kind)
    return ApproximateRollout(layers[0].convert(product), layers[0].convert(cells))


def _one_hot(view: View, position: int) -> np.ndarray:
    """1 at the position, 0 elsewhere: (*batch, n)"""
    place, _ = chosen("position", checks.count("position", position, least=None), view.n_q)
    result = np.zeros((*view.batch_shape, view.n_q), view.call.kind)
    result[..., place] = 1
    return result


def _share(residual: float) -> float:
    share = checks.number("residual", residual)
    if not 0 <= share <= 1:
        raise ValueError(f"residual must be between 0 and 1, a share, got {share:g}")
    return share
