"""Any weight on demand: a query, a key and the query's lse are enough to compute it again, so that none is stored.

    weight = exp(score − lse)        score: scale → softcap → bias → mask, as in `clearhead.attention`

What is asked for is computed head by head and a strip of queries at a time, in the type the kernels compute in, so
memory is that of the answer and a little more. Two shapes are asked for: windows (some queries × some keys), and keys
of its own for each query (the query itself, the one before it, those around it).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from clearhead.call import Call
from clearhead.views.allowed import allowed, bias_at, every_head, of_head, strips

FAR = 2.0**-13  # an lse whose last digit is worth more than this says too little about the sum in it

Index = slice | np.ndarray  # of queries or keys, in whole numbers


class Weights:
    """The weights of one call, none of them stored.

    lse (*batch, h, n_q): as the call left it, with an axis for heads in any case
    """

    def __init__(self, call: Call, lse: Float[np.ndarray, "*lead n_q"]) -> None:
        self.call = call
        self.lse = lse

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
        there &= allowed(call, batch, head, query[:, None], inside)
        return self._soften(batch, head, query, scores), there

    def at(self, keys: Int[np.ndarray, " n_q"]) -> Float[np.ndarray, "*lead n_q"]:
        """Each query's weight on one key of its own, 0 where there is no such key: keys (n_q) → (…, h, n_q)"""
        call = self.call
        result = np.empty((*call.lead, call.n_q), call.kind)
        for batch, head in every_head(call):
            for strip in strips(call.n_q, max(call.q.shape[-1], 1)):
                query = np.arange(strip.start, strip.stop)
                result[(*batch, head)][strip] = self.picked(batch, head, query, keys[strip, None])[0][:, 0]
        return result

    def share(self, lse: Float[np.ndarray, "*lead n_q"]) -> Float[np.ndarray, "*lead n_q"]:
        """The share of attention that falls on some of the keys, from the lse of those keys alone: (…, h, n_q)"""
        with np.errstate(invalid="ignore"):  # −inf − −inf, of a query with no key left
            share = np.minimum(np.exp(lse - self.lse), 1)
        return np.where(np.isneginf(lse), 0, share).astype(self.lse.dtype)

    def _scores(
        self, batch: tuple[int, ...], head: int, query: np.ndarray, key: np.ndarray, dots: np.ndarray
    ) -> np.ndarray:
        """From products of queries and keys to scores, −inf where a key may not be attended."""
        call, kind = self.call, self.call.kind
        with np.errstate(invalid="ignore", over="ignore"):
            scores = dots * kind.type(call.scale)
            if call.softcap:
                scores = np.tanh(scores / kind.type(call.softcap)) * kind.type(call.softcap)
            added = bias_at(call, batch, head, query, key)
            if added is not None:
                limits = np.finfo(kind)
                total = (scores + added).astype(kind)
                scores = np.where(np.isfinite(scores), np.clip(total, limits.min, limits.max), total)
        return np.where(allowed(call, batch, head, query, key), scores, kind.type(-np.inf))

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
