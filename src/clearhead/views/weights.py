"""Any weight on demand: a query, a key and the query's sums are enough to compute it again, so that none is stored.

    weight = 2^(score − top) / total        score: scale → softcap → bias → mask, as in `clearhead.attention`

The kernels compute it just as the call did. Two shapes are asked for: windows (some queries × some keys), and keys of
its own for each query (the query itself, the one before it, those around it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from clearhead import kernels
from clearhead.call import Call
from clearhead.views.allowed import allowed

if TYPE_CHECKING:
    from clearhead.kernels.launch import Sums

NEIGHBOURS = 64  # queries whose own keys are looked for in one window

Index = slice | np.ndarray  # of queries or keys, in whole numbers


class Weights:
    """The weights of one call, none of them stored. sums: each query's, as the call left them."""

    def __init__(self, call: Call, sums: Sums) -> None:
        self.call = call
        self.sums = sums

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
        return found, there & allowed(self.call, batch, head, query[:, None], inside)

    def at(self, keys: Int[np.ndarray, " n_q"]) -> Float[np.ndarray, "*lead n_q"]:
        """Each query's weight on one key of its own, 0 where there is no such key: keys (n_q) → (…, h, n_q)"""
        there = (keys >= 0) & (keys < self.call.n_k)
        if not there.any():
            return np.zeros((*self.call.lead, self.call.n_q), self.call.kind)
        inside = np.where(there, keys, 0)[:, None]
        found = _own_keys(self.call, self.sums, np.arange(self.call.n_q), inside)[..., 0]
        return np.where(there, found, found.dtype.type(0))

    def share(self, part: Sums) -> Float[np.ndarray, "*lead n_q"]:
        """The share of attention that falls on some of the keys, from the sums of those keys alone: (…, h, n_q)"""
        return part.share_in(self.sums)


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
