"""Any weight on demand: a query, a key and the query's sums are enough to compute it again, so that none is stored.

    weight = 2^(score − top) / total        score: scale → softcap → bias → mask, as in `clearhead.attention`

The kernels compute it just as the call did. Two shapes are asked for: windows (some queries × some keys), and keys of
its own for each query (the query itself, the one before it, those around it).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from clearhead import kernels, masks
from clearhead.call import Call

if TYPE_CHECKING:
    from clearhead.kernels.launch import Sums

STRIP = 2**20  # weights that are worked on at a time
NEIGHBOURS = 64  # queries whose own keys are looked for in one window

Index = slice | np.ndarray  # of queries or keys, in whole numbers


class Weights:
    """The weights of one call, none of them stored. sums: each query's, as the call left them."""

    def __init__(self, call: Call, sums: Sums) -> None:
        self.call = call
        self.sums = sums

    def heads(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """Every batch entry and head there is."""
        for *batch, head in itertools.product(*map(range, self.call.lead)):
            yield tuple(batch), head

    def window(self, batch: tuple[int, ...], head: int, rows: Index, cols: Index) -> Float[np.ndarray, "rows cols"]:
        """The weights of some queries on some keys, in one head: → (rows, cols)"""
        chosen, sums = kernels.recompute.of_head(self.call, self.sums, batch, head)
        return kernels.recompute.weights(chosen, sums, rows, cols)[0]

    def picked(
        self, batch: tuple[int, ...], head: int, query: Int[np.ndarray, " r"], keys: Int[np.ndarray, "r c"]
    ) -> tuple[Float[np.ndarray, "r c"], Bool[np.ndarray, "r c"]]:
        """The weights of some queries on keys of their own, and which may be attended: 0 where there is no such key."""
        there = (keys >= 0) & (keys < self.call.n_k)
        if not there.any():
            return np.zeros(keys.shape, self.call.kind), there
        inside = np.where(there, keys, 0)
        chosen, sums = kernels.recompute.of_head(self.call, self.sums, batch, head)
        found = _own_keys(chosen, sums, query, inside)[0]
        found[~there] = 0
        return found, there & self.allowed(batch, head, query[:, None], inside)

    def at(self, keys: Int[np.ndarray, " n_q"]) -> Float[np.ndarray, "*lead n_q"]:
        """Each query's weight on one key of its own, 0 where there is no such key: keys (n_q) → (…, h, n_q)"""
        there = (keys >= 0) & (keys < self.call.n_k)
        if not there.any():
            return np.zeros((*self.call.lead, self.call.n_q), self.call.kind)
        inside = np.where(there, keys, 0)[:, None]
        found = _own_keys(self.call, self.sums, np.arange(self.call.n_q), inside)[..., 0]
        return np.where(there, found, found.dtype.type(0))

    def allowed(self, batch: tuple[int, ...], head: int, query: np.ndarray, key: np.ndarray) -> Bool[np.ndarray, "r c"]:
        """Whether each place may be attended, by the mask and by a bias of −inf: query (r, 1), key (c) or (r, c)"""
        call = self.call
        result = np.ones(np.broadcast_shapes(query.shape, key.shape), np.bool_)
        if call.ranges is not None:
            low, high = (of_head(x, call, batch, head)[:, query] for x in call.ranges)
            result &= ((low <= key) & (key < high)).any(axis=0)
        if call.allowed is not None:
            result &= of_head(call.allowed, call, batch, head)[query, key]
        if call.rule is not None:
            number = int(np.ravel_multi_index(batch, call.batch_shape)) if batch else 0
            place = np.full((1, 1), number), np.full((1, 1), head)
            result &= call.rule.allows(masks.Where.inside(call.sizes, *place, query, key))
        added = self._added(batch, head, query, key)
        return result if added is None else result & ~np.isneginf(added)

    def share(self, part: Sums) -> Float[np.ndarray, "*lead n_q"]:
        """The share of attention that falls on some of the keys, from the sums of those keys alone: (…, h, n_q)"""
        return part.share_in(self.sums)

    def counts(self) -> Int[np.ndarray, "*lead n_q"]:
        """How many keys each query may attend to: → (…, h, n_q)"""
        call = self.call
        full = (*call.lead, call.n_q)
        table_forbids = call.table is not None and bool(np.isneginf(call.table).any())
        if call.allowed is None and call.rule is None and call.bias is None and not table_forbids:
            if call.ranges is None:
                return np.full(full, call.n_k)
            return np.broadcast_to(union_size(*call.ranges), full)
        result = np.empty(full, np.int64)
        key = np.arange(call.n_k)
        for batch, head in self.heads():
            for strip in strips(call.n_q, call.n_k):
                query = np.arange(call.n_q)[strip, None]
                result[(*batch, head)][strip] = self.allowed(batch, head, query, key).sum(axis=-1)
        return result

    def _added(self, batch: tuple[int, ...], head: int, query: np.ndarray, key: np.ndarray) -> np.ndarray | None:
        """The bias at each place, if there is one."""
        call = self.call
        if call.bias is not None:
            return of_head(call.bias, call, batch, head)[query, key]
        if call.table is not None:
            return call.table[0 if len(call.table) == 1 else head][query - key + call.n_k - 1]
        return None


def _own_keys(
    call: Call, sums: Sums, query: Int[np.ndarray, " r"], keys: Int[np.ndarray, "r c"]
) -> Float[np.ndarray, "*lead r c"]:
    """The weights of some queries on keys of their own, in every head: neighbours have theirs close together."""
    result = np.empty((*call.lead, *keys.shape), call.kind)
    for start in range(0, query.size, NEIGHBOURS):
        some = slice(start, start + NEIGHBOURS)
        first, last = int(keys[some].min()), int(keys[some].max())
        cols: Index
        if last - first < 2 * keys[some].size:
            cols, place = slice(first, last + 1), keys[some] - first
        else:
            cols, place = np.unique(keys[some], return_inverse=True)
            place = place.reshape(keys[some].shape)
        window = kernels.recompute.weights(call, sums, query[some], cols)
        result[..., some, :] = np.take_along_axis(window, np.broadcast_to(place, (*call.lead, *place.shape)), axis=-1)
    return result


def of_head(x: np.ndarray, call: Call, batch: tuple[int, ...], head: int) -> np.ndarray:
    """What belongs to one head of one batch entry, whatever axes x lacks or shares: x (…, a, b) → (a, b)"""
    lead = x.shape[:-2]
    if not lead:
        return x
    place = (*batch, head // (call.heads // lead[-1]))[-len(lead) :]
    return x[tuple(0 if size == 1 else i for i, size in zip(place, lead, strict=True))]


def strips(rows: int, cols: int) -> Iterator[slice]:
    """Rows in strips of about STRIP numbers."""
    height = max(1, STRIP // max(cols, 1))
    return (slice(start, min(start + height, rows)) for start in range(0, rows, height))


def union_size(low: Int[np.ndarray, "*lead r n_q"], high: Int[np.ndarray, "*lead r n_q"]) -> Any:
    """How many keys lie in at least one of a query's runs; runs may overlap: → (…, n_q)"""
    low, high = np.broadcast_arrays(low, high)
    order = np.argsort(low, axis=-2)
    low, high = (np.take_along_axis(x, order, axis=-2) for x in (low, high))
    reached = np.maximum.accumulate(high, axis=-2)
    before = np.concatenate([np.zeros_like(low[..., :1, :]), reached[..., :-1, :]], axis=-2)
    return np.maximum(high - np.maximum(low, before), 0).sum(axis=-2)
