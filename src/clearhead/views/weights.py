"""Any weight on demand: a query, a key and the query's lse are enough to compute it again, so that none is stored.

    weight = exp(score − lse)        score: scale → softcap → bias → mask, as in `clearhead.attention`

What is asked for is computed head by head and a strip of queries at a time, in the type the kernels compute in, so
memory is that of the answer and a little more. Two shapes are asked for: windows (some queries × some keys), and keys
of its own for each query (the query itself, the one before it, those around it).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from clearhead import masks
from clearhead.call import Call

STRIP = 2**20  # weights that are worked on at a time
FAR = 2.0**-13  # an lse whose last digit is worth more than this says too little about the sum in it

Index = slice | np.ndarray  # of queries or keys, in whole numbers


class Weights:
    """The weights of one call, none of them stored.

    lse (*batch, h, n_q): as the call left it, with an axis for heads in any case
    """

    def __init__(self, call: Call, lse: Float[np.ndarray, "*lead n_q"]) -> None:
        self.call = call
        self.lse = lse

    def heads(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """Every batch entry and head there is."""
        for *batch, head in itertools.product(*map(range, self.call.lead)):
            yield tuple(batch), head

    def window(self, batch: tuple[int, ...], head: int, rows: Index, cols: Index) -> Float[np.ndarray, "rows cols"]:
        """The weights of some queries on some keys, in one head: → (rows, cols)"""
        call = self.call
        query, key = np.arange(call.n_q)[rows], np.arange(call.n_k)[cols]
        result = np.empty((query.size, key.size), call.kind)
        queries, keys = of_head(call.q, call, batch, head), of_head(call.k, call, batch, head)
        keys = keys[cols].astype(call.kind, copy=False)
        for strip in strips(query.size, key.size):
            with np.errstate(invalid="ignore", over="ignore"):  # a masked key may hold anything
                dots = queries[query[strip]].astype(call.kind, copy=False) @ keys.T
            scores = self._scores(batch, head, query[strip, None], key, dots)
            result[strip] = self._soften(batch, head, query[strip], scores)
        return result

    def picked(
        self, batch: tuple[int, ...], head: int, query: Int[np.ndarray, " r"], keys: Int[np.ndarray, "r c"]
    ) -> tuple[Float[np.ndarray, "r c"], Bool[np.ndarray, "r c"]]:
        """The weights of some queries on keys of their own, and which may be attended: 0 where there is no such key.

        The products are not left to a BLAS, which would wake its threads for each of many small ones.
        """
        call = self.call
        there = (keys >= 0) & (keys < call.n_k)
        if not there.any():
            return np.zeros(keys.shape, call.kind), there
        inside = np.where(there, keys, 0)
        queries, rows = of_head(call.q, call, batch, head)[query], of_head(call.k, call, batch, head)[inside]
        with np.errstate(invalid="ignore", over="ignore"):  # a masked key may hold anything
            dots = np.einsum("rd,rcd->rc", queries.astype(call.kind, copy=False), rows.astype(call.kind, copy=False))
        scores = self._scores(batch, head, query[:, None], inside, dots)
        scores[~there] = -np.inf
        there &= self.allowed(batch, head, query[:, None], inside)
        return self._soften(batch, head, query, scores), there

    def at(self, keys: Int[np.ndarray, " n_q"]) -> Float[np.ndarray, "*lead n_q"]:
        """Each query's weight on one key of its own, 0 where there is no such key: keys (n_q) → (…, h, n_q)"""
        call = self.call
        result = np.empty((*call.lead, call.n_q), call.kind)
        for batch, head in self.heads():
            for strip in strips(call.n_q, max(call.q.shape[-1], 1)):
                query = np.arange(strip.start, strip.stop)
                result[(*batch, head)][strip] = self.picked(batch, head, query, keys[strip, None])[0][:, 0]
        return result

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

    def share(self, lse: Float[np.ndarray, "*lead n_q"]) -> Float[np.ndarray, "*lead n_q"]:
        """The share of attention that falls on some of the keys, from the lse of those keys alone: (…, h, n_q)"""
        with np.errstate(invalid="ignore"):  # −inf − −inf, of a query with no key left
            share = np.minimum(np.exp(lse - self.lse), 1)
        return np.where(np.isneginf(lse), 0, share).astype(self.lse.dtype)

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

    def _scores(
        self, batch: tuple[int, ...], head: int, query: np.ndarray, key: np.ndarray, dots: np.ndarray
    ) -> np.ndarray:
        """From products of queries and keys to scores, −inf where a key may not be attended."""
        call, kind = self.call, self.call.kind
        with np.errstate(invalid="ignore", over="ignore"):
            scores = dots * kind.type(call.scale)
            if call.softcap:
                scores = np.tanh(scores / kind.type(call.softcap)) * kind.type(call.softcap)
            added = self._added(batch, head, query, key)
            if added is not None:
                limits = np.finfo(kind)
                total = (scores + added).astype(kind)
                scores = np.where(np.isfinite(scores), np.clip(total, limits.min, limits.max), total)
        return np.where(self.allowed(batch, head, query, key), scores, kind.type(-np.inf))

    def _soften(self, batch: tuple[int, ...], head: int, query: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """exp(score − lse): scores (r, c) of the queries (r)"""
        top = self.lse[(*batch, head)][query]
        top[np.isposinf(top)] = np.nan  # of infinite scores no share can be told
        rest = np.zeros_like(top)
        far = too_far(top)
        if far.any():
            top[far], rest[far] = self._sums(batch, head, query[far])
        with np.errstate(invalid="ignore"):  # −inf − −inf, of a query with no key left
            weights = np.minimum(np.exp(scores - top[:, None] - rest[:, None]), 1)
        return np.where(np.isneginf(scores), top.dtype.type(0), weights)

    def _sums(self, batch: tuple[int, ...], head: int, query: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The highest score m of each query, and log Σ exp(score − m): apart, where together they are no number."""
        call, kind = self.call, self.call.kind
        key = np.arange(call.n_k)
        keys = of_head(call.k, call, batch, head).astype(kind, copy=False)
        tops, rests = np.empty(query.size, kind), np.empty(query.size, kind)
        for strip in strips(query.size, call.n_k):
            rows = of_head(call.q, call, batch, head)[query[strip]].astype(kind, copy=False)
            with np.errstate(invalid="ignore", over="ignore"):
                scores = self._scores(batch, head, query[strip, None], key, rows @ keys.T)
            if call.sinks is not None:
                sink = call.sinks if call.sinks.ndim == 0 or call.sinks.size == 1 else call.sinks[head]
                scores = np.concatenate([scores, np.full((len(scores), 1), sink, kind)], axis=-1)
            tops[strip] = scores.max(axis=-1)
            rests[strip] = np.log(np.exp(scores - tops[strip, None]).sum(axis=-1))
        return tops, rests


def too_far(lse: np.ndarray) -> np.ndarray:
    """Where scores are so large that little of the sum is left in the lse: log 3 is lost beside −1e30."""
    return np.isfinite(lse) & (np.abs(lse) * np.finfo(lse.dtype).eps > FAR)


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
