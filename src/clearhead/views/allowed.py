"""Which keys each query of a call may attend to, place by place, and how many they are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from clearhead import masks
from clearhead.call import Call

MOST_PLACES = 2**20  # places that are worked on at a time


def allowed(
    call: Call, batch: tuple[int, ...], head: int, query: np.ndarray, key: np.ndarray
) -> Bool[np.ndarray, "r c"]:
    """Whether each place may be attended, by the mask and by a bias of −inf: query (r, 1), key (c) or (r, c)"""
    result = np.ones(np.broadcast_shapes(query.shape, key.shape), np.bool_)
    if call.ranges is not None:
        low, high = (call.own(x, batch, head)[:, query] for x in call.ranges)
        result &= ((low <= key) & (key < high)).any(axis=0)
    if call.allowed is not None:
        result &= call.own(call.allowed, batch, head)[query, key]
    if call.period > 1:
        result &= (query + call.phase - key) % call.period == 0
    if call.rule is not None:
        number = int(np.ravel_multi_index(batch, call.batch_shape)) if batch else 0
        place = np.full((1, 1), number), np.full((1, 1), head)
        result &= call.rule.allows(masks.Where.inside(call.sizes, *place, query, key))
    added = bias_at(call, batch, head, query, key)
    return result if added is None else result & ~np.isneginf(added)


def bias_at(call: Call, batch: tuple[int, ...], head: int, query: np.ndarray, key: np.ndarray) -> np.ndarray | None:
    """The bias at each place, if there is one."""
    if call.bias is not None:
        return call.own(call.bias, batch, head)[query, key]
    if call.table is not None:
        return call.table[0 if len(call.table) == 1 else head][query - key + call.n_k - 1]
    return None


def counts(call: Call, among: Bool[np.ndarray, "*batch n_k"] | None = None) -> Int[np.ndarray, "*lead n_q"]:
    """How many keys each query may attend to, of all or `among` some of them: → (…, h, n_q)"""
    full = (*call.lead, call.n_q)
    table_forbids = call.table is not None and bool(np.isneginf(call.table).any())
    runs_alone = call.allowed is None and call.rule is None and call.period == 1
    if runs_alone and call.bias is None and not table_forbids:
        if call.ranges is None:
            return np.broadcast_to(call.n_k if among is None else among.sum(axis=-1)[..., None, None], full)
        return np.broadcast_to(union_size(*call.ranges, among), full)
    result = np.empty(full, np.int64)
    key = np.arange(call.n_k)
    for batch, head in every_head(call):
        counted = True if among is None else among[batch]
        for strip in strips(call.n_q, call.n_k):
            query = np.arange(call.n_q)[strip, None]
            result[(*batch, head)][strip] = (allowed(call, batch, head, query, key) & counted).sum(axis=-1)
    return result


def allowed_at(call: Call, keys: Int[np.ndarray, "*batch n_q"]) -> Bool[np.ndarray, "*lead n_q"]:
    """Whether each query may attend to one key of its own, which may be none that there is: → (…, h, n_q)"""
    result = np.empty((*call.lead, call.n_q), np.bool_)
    keys = keys.reshape(*call.batch_shape, call.n_q)
    query = np.arange(call.n_q)[:, None]
    for batch, head in every_head(call):
        key = keys[batch][:, None]
        there = (key >= 0) & (key < call.n_k)
        found = allowed(call, batch, head, query, np.where(there, key, 0)) if call.n_k else there
        result[(*batch, head)] = (found & there)[:, 0]
    return result


def heads_share_mask(call: Call) -> bool:
    """Whether what is masked in one head is so in all heads of its batch entry, as far as a glance can tell."""
    if call.rule is not None or (call.table is not None and len(call.table) > 1 and np.isneginf(call.table).any()):
        return call.heads == 1
    runs = None if call.ranges is None else call.ranges.low
    return all(x is None or x.ndim < 3 or x.shape[-3] == 1 for x in (runs, call.allowed, call.bias)) or call.heads == 1


def every_head(call: Call) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every batch entry and head there is."""
    for *batch, head in itertools.product(*map(range, call.lead)):
        yield tuple(batch), head


def strips(rows: int, cols: int) -> Iterator[slice]:
    """Rows in strips of about MOST_PLACES."""
    height = max(1, MOST_PLACES // max(cols, 1))
    return (slice(start, min(start + height, rows)) for start in range(0, rows, height))


def union_size(
    low: Int[np.ndarray, "*lead r n_q"],
    high: Int[np.ndarray, "*lead r n_q"],
    among: Bool[np.ndarray, "*batch n_k"] | None = None,
) -> Any:
    """How many keys, of all or `among` some, lie in at least one of a query's runs; runs may overlap: → (…, n_q)"""
    low, high = np.broadcast_arrays(low, high)
    order = np.argsort(low, axis=-2)
    low, high = (np.take_along_axis(x, order, axis=-2) for x in (low, high))
    reached = np.maximum.accumulate(high, axis=-2)
    before = np.concatenate([np.zeros_like(low[..., :1, :]), reached[..., :-1, :]], axis=-2)
    low = np.maximum(low, before)
    if among is None:
        return np.maximum(high - low, 0).sum(axis=-2)
    upto = np.concatenate([np.zeros_like(among[..., :1], np.int64), np.cumsum(among, axis=-1)], axis=-1)
    upto = upto[..., None, None, :] if low.ndim > 2 or among.ndim > 1 else upto[..., None, :]
    low, high = (
        np.broadcast_to(x, (*np.broadcast_shapes(x.shape[:-1], upto.shape[:-1]), x.shape[-1])) for x in (low, high)
    )
    upto = np.broadcast_to(upto, (*low.shape[:-1], upto.shape[-1]))
    return np.maximum(np.take_along_axis(upto, high, -1) - np.take_along_axis(upto, low, -1), 0).sum(axis=-2)
