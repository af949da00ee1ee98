"""Weights of a view, computed again: any window, and for each query its weights on keys of its own.

    weight = 2^(score − top) / total        in the kernels, with the scores and the two sums of the forward pass

A view keeps the sums of each query, so none of its weights is stored, and all are as exact as they were on the way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from clearhead import kernels
from clearhead.textbook.pattern_scores import real_ends
from clearhead.views import engines
from clearhead.views.allowed import MOST_PLACES
from clearhead.views.choosing import chosen, of_batch

if TYPE_CHECKING:
    from clearhead.views.view import View

MOST_ROWS = 256  # queries whose own keys are computed together


def window(view: View, head: Any, rows: Any, cols: Any, batch: Any) -> np.ndarray:
    """Any window, of all heads unless some are chosen: see `View.weights`."""
    rows, one_row = chosen("rows", rows, view.n_q)
    cols, one_col = chosen("cols", cols, view.n_k)
    if head is None and batch is None:
        result = view.shaped(engines.weights(view.call, view.sums, rows, cols))
    else:
        entries = of_heads(view, head, batch)
        tall, wide = len(np.arange(view.n_q)[rows]), len(np.arange(view.n_k)[cols])
        result = np.empty((*entries.shape, tall, wide), view.call.kind)
        for entry in np.ndindex(entries.shape):
            result[entry] = engines.weights(*one_head(view, entries[entry]), rows, cols)[0]
    return np.ascontiguousarray(result[(..., 0 if one_row else slice(None), 0 if one_col else slice(None))])


def at(view: View, keys: Int[np.ndarray, " n_q"]) -> Float[np.ndarray, "... n_q"]:
    """Each query's weight on one key of its own, 0 where there is no such key: keys (n_q) → (…, h, n_q)"""
    result = np.zeros((*view.call.lead, view.n_q), view.call.kind)
    for rows, weights in near(view, keys[:, None]):
        result[..., rows] = weights[..., 0]
    return view.shaped(result)


def on_first(view: View, padding: Bool[np.ndarray, "*batch n_k"] | None) -> Float[np.ndarray, "... n_q"]:
    """Each query's weight on the first key of its batch entry that is no padding: → (…, h, n_q)"""
    return on_key(view, real_ends(padding, view.n_k)[0])


def on_key(view: View, keys: Int[np.ndarray, "*batch"]) -> Float[np.ndarray, "... n_q"]:
    """Each query's weight on the one key of its batch entry, 0 where there is no such key: → (…, h, n_q)"""
    different = np.unique(keys)
    if different.size <= 1:
        return at(view, np.full(view.n_q, different.max(initial=-1)))
    result = np.zeros((*view.call.lead, view.n_q), view.call.kind)
    every = np.broadcast_to(keys, view.batch_shape).ravel()
    for batch, key in zip(np.ndindex(view.call.batch_shape), every.tolist(), strict=True):
        if 0 <= key < view.n_k:
            entry = kernels.recompute.of_entry(view.call, view.sums, batch)
            result[batch] = engines.weights(*entry, cols=slice(key, key + 1))[..., 0]
    return view.shaped(result)


def near(view: View, keys: Int[np.ndarray, "n_q c"]) -> Iterator[tuple[slice, Float[np.ndarray, "*lead rows c"]]]:
    """Each query's weights on keys of its own, some queries at a time, 0 where there is no such key: (*call.lead, …)

    Neighbours have keys that are neighbours, so their weights are picked from a window that holds all of these.
    """
    height = min(MOST_ROWS, max(16, math.isqrt(MOST_PLACES // max(math.prod(view.call.lead), 1))))
    for start in range(0, view.n_q, height):
        rows = slice(start, min(start + height, view.n_q))
        there = (keys[rows] >= 0) & (keys[rows] < view.n_k)
        if not there.any():
            continue
        cols = slice(int(keys[rows][there].min()), int(keys[rows][there].max()) + 1)
        weights = engines.weights(view.call, view.sums, rows, cols)
        places = np.where(there, keys[rows] - cols.start, 0)
        places = np.broadcast_to(places, (*weights.shape[:-1], places.shape[-1]))
        yield rows, np.where(there, np.take_along_axis(weights, places, axis=-1), 0)


def one_head(view: View, number: Any) -> tuple[Any, Any]:
    """The call and the sums of one head of a batch entry, by its number over all of them."""
    return kernels.recompute.of_head(view.call, view.sums, *indices_of(view, number))


def indices_of(view: View, number: Any) -> tuple[tuple[int, ...], int]:
    """Where the call has a head of a batch entry, by its number over all of them."""
    *batch, head = (int(i) for i in np.unravel_index(int(number), view.call.lead))
    return tuple(batch), head


def of_heads(view: View, head: Any, batch: Any) -> Int[np.ndarray, ...]:
    """The heads of batch entries that are meant, as numbers over all of them."""
    entries = of_batch(np.arange(math.prod(view.lead)).reshape(view.lead), batch, view.batch_shape)
    if head is None:
        return entries
    if not view.lead:
        raise ValueError(f"this view has no head axis; leave head out, got {head!r}")
    heads, one = chosen("head", head, view.heads)
    return np.asarray(entries[..., heads][..., 0] if one else entries[..., heads])
