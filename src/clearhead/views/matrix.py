"""The matrix of one call, as if it were there.

Everything a view or a reading aid asks is answered here in NumPy, from what the kernels observed or by computing it
again: from a query, a key and the lse if it is a few weights, by another pass of the kernels if it is a sum over many.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from clearhead import checks, kernels, masks
from clearhead.call import Call, prepare
from clearhead.views.edges import chosen
from clearhead.views.weights import Weights, strips, too_far

if TYPE_CHECKING:
    from clearhead.kernels.observation import Observation


class Matrix:
    """The weights of every head of a call (…, h, n_q, n_k), none of them stored.

    `seen` holds the statistics the kernels observed, `recomputed` gives any weight of a head.
    """

    def __init__(self, q: Any, k: Any, v: Any, top_k: int, map_size: int, *, mask: Any = None, **options: Any) -> None:
        self.call = prepare(q, k, _column(k, k) if v is None else v, mask=mask, lse=True, **options)
        self.output, self.lse, self.seen = kernels.observation.observe(
            self.call, top_k=top_k, map_size=map_size, output=v is not None
        )
        self.recomputed = Weights(self.call, self.lse.reshape(*self.call.lead, self.n_q))
        self.has_output = v is not None
        self.q, self.k, self.like = np.asarray(q), np.asarray(k), np.asarray(k if v is None else v)
        if not (mask is None or isinstance(mask, masks.Mask)):
            mask = masks.array(mask) if np.asarray(mask).dtype == np.bool_ else None  # a float mask is in the bias
        self.mask: masks.Mask | None = mask

    @property
    def heads(self) -> int:
        """How many heads there are; 1 if there is no axis for them."""
        return self.call.heads

    @property
    def n_q(self) -> int:
        """How many queries."""
        return self.call.n_q

    @property
    def n_k(self) -> int:
        """How many keys."""
        return self.call.n_k

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The axes before that of the heads."""
        return self.call.batch_shape if self.call.many_axes is None else self.call.many_axes

    @property
    def lead(self) -> tuple[int, ...]:
        """The axes before that of the queries: batch and heads, or none."""
        return (*self.batch_shape, self.heads) if self.call.has_heads else ()

    @functools.cached_property
    def total(self) -> np.ndarray:
        """Σ weights of each query: 1 but for sinks, 0 with no key left."""
        return self.mass(None)

    @functools.cached_property
    def distance(self) -> np.ndarray:
        """How far away each query looks, on average."""
        far: np.ndarray = self.seen.distance
        return np.divide(far, self.total, out=np.zeros_like(far), where=self.total != 0)

    @functools.cached_property
    def on_first(self) -> np.ndarray:
        """The weight on the first key."""
        return self.at(np.zeros(self.n_q, np.int64))

    @functools.cached_property
    def on_self(self) -> np.ndarray:
        """The weight on the query's own position."""
        return self.at(np.arange(self.n_q) + self.n_k - self.n_q)

    def at(self, keys: Int[np.ndarray, " n_q"]) -> Float[np.ndarray, "... n_q"]:
        """Each query's weight on one key of its own, 0 where there is no such key: keys (n_q) → (…, h, n_q)"""
        return self.shaped(self.recomputed.at(keys))

    def window(self, head: Any, rows: Any, cols: Any, batch: Any) -> np.ndarray:
        """Any window, of all heads unless some are chosen: see `View.weights`."""
        rows, one_row = chosen("rows", rows, self.n_q)
        cols, one_col = chosen("cols", cols, self.n_k)
        entries = self._entries(head, batch)
        tall, wide = len(np.arange(self.n_q)[rows]), len(np.arange(self.n_k)[cols])
        result = np.empty((*entries.shape, tall, wide), self.call.kind)
        for place in np.ndindex(entries.shape):
            *which, of_head = np.unravel_index(entries[place], self.call.lead)
            result[place] = self.recomputed.window(tuple(map(int, which)), int(of_head), rows, cols)
        kept = (..., 0 if one_row else slice(None), 0 if one_col else slice(None))
        return np.ascontiguousarray(result[kept])

    def pooled(self, size: int | None = None) -> Observation:
        """What was seen, with a map; another one if it is to be of another size."""
        seen = self.seen
        if size is not None and seen.map_count.shape[-2:] != (min(size, self.n_q), min(size, self.n_k)):
            return kernels.observation.observe(self.call, map_size=size, output=False).observation
        if size is None and 0 in seen.map_count.shape[-2:] and self.n_q and self.n_k:
            raise ValueError("this view has no map, as it was made with map_size=0; look(…, map_size=512) makes one")
        return seen

    @functools.cached_property
    def peaks(self) -> np.ndarray:
        """The largest weight in each cell of the map: another pass, for those who ask."""
        size = max(self.pooled().map_count.shape[-2:])
        return kernels.observation.observe(self.call, map_size=size, peaks=True, output=False).observation.map_max

    def mass(self, further: masks.Mask | ArrayLike | None) -> np.ndarray:
        """The share of attention on the keys a further mask allows: see `View.mass`."""
        lse = self.recomputed.lse
        if further is None and self.call.sinks is None:
            return self.shaped(np.where(np.isnan(lse), lse, ~np.isneginf(lse)).astype(self.call.kind))
        call = self.again(None, _boolean(further), sinks=False)
        part = kernels.launch.compute(call)[1]
        assert part is not None
        share, far = self.recomputed.share(part.reshape(lse.shape)), too_far(lse)
        return self.shaped(self._summed(call, share, far) if far.any() else share)

    def _summed(self, call: Call, share: np.ndarray, far: np.ndarray) -> np.ndarray:
        """Masses weight by weight, for queries whose lse says too little."""
        inside = Weights(call, share)
        for batch, head in self.recomputed.heads():
            rows = np.flatnonzero(far[(*batch, head)])
            for strip in strips(rows.size, self.n_k):
                query = rows[strip]
                weights = self.recomputed.window(batch, head, query, slice(None))
                kept = inside.allowed(batch, head, query[:, None], np.arange(self.n_k))
                share[(*batch, head)][query] = np.where(kept, weights, 0).sum(axis=-1)
        return share

    def mix(self, values: np.ndarray) -> np.ndarray:
        """Other values under the same weights: see `View.mix`."""
        if values.ndim < 2 or values.shape[-2] != self.n_k:
            raise ValueError(f"values need a row for each of the {self.n_k} keys, got shape {values.shape}")
        return kernels.launch.compute(self.again(values))[0]

    def received_from(self, shares: np.ndarray) -> np.ndarray:
        """The attention each key gets if queries count so much each: see `View.received_from`."""
        try:
            shares = np.broadcast_to(shares, (*self.lead, self.n_q))
        except ValueError:
            raise ValueError(
                f"shares of shape {shares.shape} do not broadcast to {(*self.lead, self.n_q)}, one for each query"
            ) from None
        shares = shares.reshape(*self.call.lead, self.n_q)
        return kernels.observation.observe(self.call, row_weights=shares, output=False).observation.received

    def again(self, values: np.ndarray | None, further: masks.Mask | None = None, *, sinks: bool = True) -> Call:
        """The same call with other values, perhaps fewer keys and no sinks. Without values, for its lse alone.

        The output is not rounded to half precision, as these values are not the model's.
        """
        mask = further if self.mask is None else self.mask if further is None else self.mask & further
        q = self.q
        if values is None:
            values = _column(self.like, self.k)
        else:
            q = q.astype(checks.compute_type(self.call.kind, values.dtype), copy=False)
        if self.call.has_heads:
            values = values if values.ndim > 2 else values[None]
            values = np.broadcast_to(values, (*self.batch_shape, *values.shape[-3:]))
        call = prepare(
            q, self.k, values, mask=mask, scale=self.call.scale, softcap=self.call.softcap or None,
            sinks=self.call.sinks if sinks else None, lse=True,
        )  # fmt: skip
        return replace(call, bias=self.call.bias, table=self.call.table, bias_shape=self.call.bias_shape)

    def shaped(self, x: np.ndarray) -> np.ndarray:
        """From the axes a call has to those that came: (*call.lead, …) → (*lead, …)"""
        return x.reshape(*self.lead, *x.shape[len(self.call.lead) :])

    def _entries(self, head: Any, batch: Any) -> np.ndarray:
        """The heads of batch entries that are meant, as numbers over all of them."""
        entries = np.arange(int(np.prod(self.lead))).reshape(self.lead)
        if batch is not None:
            places = batch if isinstance(batch, tuple) else (batch,)
            if len(places) > len(self.batch_shape):
                raise ValueError(f"batch {batch!r} has {len(places)} numbers; the batch axes are {self.batch_shape}")
            for place, size in zip(places, self.batch_shape, strict=False):
                number, _ = chosen("batch", checks.count("batch", place, least=None), size)
                entries = entries[number][0]
        if head is None:
            return entries
        if not self.lead:
            raise ValueError(f"this view has no head axis; leave head out, got {head!r}")
        heads, one = chosen("head", head, self.heads)
        return np.asarray(entries[..., heads][..., 0] if one else entries[..., heads])


def _column(like: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Values of one column that takes no memory, for calls of which only the lse is wanted."""
    like, keys = (checks.float_array("k", x, ndim=2) for x in (like, keys))
    return np.broadcast_to(np.zeros((), like.dtype), (*like.shape[:-2], keys.shape[-2], 1))


def _boolean(mask: masks.Mask | ArrayLike | None) -> masks.Mask | None:
    """A further mask, which can only allow or forbid."""
    if mask is None or isinstance(mask, masks.Mask):
        return mask
    array = np.asarray(mask)
    if array.dtype != np.bool_:
        raise TypeError(
            f"mask must be a mask from clearhead.masks or boolean (True = may attend), got {array.dtype.name}"
        )
    return masks.array(array)
