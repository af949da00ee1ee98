"""Looking at attention: what each head does, at any length, without its matrix.

    view = look(q, k, v, mask=masks.causal())
    view.entropy, view.max_weight, view.received      # exact, for each head and query or key
    view.weights(head=3, rows=slice(900, 1000))       # any window of the matrix, computed when it is asked for

Statistics stream out of the tiles in one pass beside the output, which has the bits `attention` gives it. Everything
else is computed again from q, k and the lse, so a view holds on to q and k, the ones it was given: it reads them
where they lie, and they must not be changed while it is in use.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from clearhead import checks, masks
from clearhead.dispatch import Call, prepare
from clearhead.views.averages import Average, average
from clearhead.views.edges import Give, chosen, entering, is_tensor
from clearhead.views.grouping import Labels, between_groups
from clearhead.views.weights import Weights, strips, too_far

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from clearhead.kernels.observation import Observation, Seen
    from clearhead.views.patterns import Patterns

REDUCE = ("mean", "max")


class TopK(NamedTuple):
    """The keys each query attends to most, by falling weight; of equal scores the lower key comes first.

    indices (…, h, n_q, k), −1 where fewer than k keys may be attended; weights (…, h, n_q, k), 0 there
    """

    indices: Int[Any, "... n_q k"]
    weights: Float[Any, "... n_q k"]


def look(
    q: Float[Any, "... n_q d"],
    k: Float[Any, "... n_k d"],
    v: Float[Any, "... n_k d_v"] | None = None,
    *,
    mask: masks.Mask | ArrayLike | None = None,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | float | None = None,
    top_k: int = 8,
    map_size: int = 512,
) -> View:
    """Attention, and a view of every head of it, in O(n) memory. NumPy in, NumPy out; torch in, torch out.

    q (…, h, n_q, d)  k (…, h_kv, n_k, d)  v (…, h_kv, n_k, d_v) → a `View`

    Takes and means what `clearhead.attention` does. Without v there is no output, and all the rest is the same. With
    tensors, which are to be on the CPU, gradients are not tracked.

    Args:
        bias: an array, or a structure from `clearhead.biases` or `clearhead.torch.biases`.
        top_k: how many of each query's strongest keys to keep.
        map_size: how many cells the pooled map of a head has along either side, at most.

    Raises:
        TypeError: an array is not of floats, or the mask is neither a mask, boolean nor float.
        ValueError: shapes do not fit together, or top_k or map_size is negative.
    """
    from clearhead.kernels.observation import observe

    top_k, map_size = checks.count("top_k", top_k, least=0), checks.count("map_size", map_size, least=0)
    (q, k, v), options, give = entering(q, k, v, mask=mask, bias=bias, sinks=sinks)
    values = _column(k, k) if v is None else v
    call = prepare(q, k, values, scale=scale, softcap=softcap, lse=True, **options)
    seen = observe(call, top_k=top_k, map_size=map_size, output=v is not None)
    return View(call, seen, (q, k, v), options["mask"], give)


class View:
    """What `look` saw. Statistics are exact, for each head, in float32 or float64, the type they were computed in.

    output       (…, h, n_q, d_v)  as `clearhead.attention` gives it, bit for bit
    lse          (…, h, n_q)       log Σ exp(score), sinks included; −inf for a query with no key left
    entropy      (…, h, n_q)       −Σ weight · log weight in nats: 0 for one key, log n for n keys alike
    max_weight   (…, h, n_q)       the largest weight
    distance     (…, h, n_q)       how far away a query looks, on average, in positions
    on_first     (…, h, n_q)       the weight on the first key
    on_self      (…, h, n_q)       the weight on the query's own position, i + n_k − n_q: queries are the last positions
    received     (…, h, n_k)       the attention each key gets, summed over the queries
    top_k        (…, h, n_q, k)    .indices and .weights of the keys each query attends to most

    Without a head axis in q, k and v, there is none here. A query with no key left has 0 in all of them but lse.
    """

    def __init__(
        self,
        call: Call,
        seen: Seen,
        arrays: tuple[np.ndarray, np.ndarray, np.ndarray | None],
        mask: Any,
        give: Give,
    ) -> None:
        self.call = call
        self._q, self._k = np.asarray(arrays[0]), np.asarray(arrays[1])
        self._v = None if arrays[2] is None else np.asarray(arrays[2])
        self._output, self._lse, self._seen, self._give = seen.output, seen.lse, seen.observation, give
        boolean = not (mask is None or isinstance(mask, masks.Mask)) and np.asarray(mask).dtype == np.bool_
        self._mask = masks.array(mask) if boolean else mask if isinstance(mask, masks.Mask) else None
        self._recomputed = Weights(call, seen.lse.reshape(*call.lead, call.n_q))

    # Sizes

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

    def __repr__(self) -> str:
        heads = f"{self.heads} heads" if self.heads != 1 else "1 head"
        batch = f"a batch of {' × '.join(map(str, self.batch_shape))}, " if self.batch_shape else ""
        return f"View({batch}{heads}, {self.n_q} queries × {self.n_k} keys, {self.call.kind.name})"

    # Statistics

    @property
    def output(self) -> Float[Any, "... n_q d_v"]:
        if self._v is None:
            raise AttributeError("there is no output without values: look(q, k, v) gives one, look(q, k) does not")
        return self._give(self._output)

    @property
    def lse(self) -> Float[Any, "... n_q"]:
        return self._give(self._lse)

    @property
    def entropy(self) -> Float[Any, "... n_q"]:
        return self._give(self._seen.entropy)

    @property
    def max_weight(self) -> Float[Any, "... n_q"]:
        return self._give(self._seen.max_weight)

    @property
    def received(self) -> Float[Any, "... n_k"]:
        return self._give(self._seen.received)

    @property
    def distance(self) -> Float[Any, "... n_q"]:
        return self._give(self._distance)

    @property
    def on_first(self) -> Float[Any, "... n_q"]:
        return self._give(self._on_first)

    @property
    def on_self(self) -> Float[Any, "... n_q"]:
        return self._give(self._on_self)

    @property
    def top_k(self) -> TopK:
        return TopK(self._give(self._seen.top_indices), self._give(self._seen.top_weights))

    def map(self, reduce: str = "mean") -> Float[Any, "... size_q size_k"]:
        """The weights pooled into a map: → (…, h, size_q, size_k), with size_q = min(map_size, n_q), size_k likewise

        Query i lies in row i · size_q // n_q, keys likewise. A cell is the mean or the maximum of its weights over
        the places that are not masked; NaN where all of them are.
        """
        checks.choice("reduce", reduce, REDUCE)
        seen = self._pooled()
        empty = seen.map_count == 0
        pooled = seen.map_sum / np.maximum(seen.map_count, 1) if reduce == "mean" else seen.map_max
        return self._give(np.where(empty, np.nan, pooled).astype(self.call.kind))

    # Any weight

    def weights(
        self, head: Any = None, rows: Any = slice(None), cols: Any = slice(None), *, batch: Any = None
    ) -> Float[Any, ...]:
        """Any window of the matrix, exact: → (…, h, rows, cols)

        head, rows and cols are a number, whose axis is dropped, a slice, or a sequence of numbers; all of them unless
        given. batch is the place along the batch axes, a number or one for each axis. The memory it takes is that of
        the window: all of it, at n = 65,536, is 16 GiB for each head.
        """
        return self._give(self._window(head, rows, cols, batch))

    def row(self, query: int, head: Any = None, *, batch: Any = None) -> Float[Any, "... n_k"]:
        """The weights of one query on every key: → (…, h, n_k)"""
        return self.weights(head, checks.count("query", query, least=None), batch=batch)

    def mass(self, mask: masks.Mask | ArrayLike | None = None) -> Float[Any, "... n_q"]:
        """The share of each query's attention that falls on the keys a further mask allows: → (…, h, n_q)

        mask: from `clearhead.masks`, or a boolean array. What the view's own mask hides stays hidden. Without a mask,
        the share that falls on any key: 1, less what sinks take, and 0 for a query with no key left.
        """
        return self._give(self._mass(mask))

    def mix(self, values: Float[Any, "... n_k w"]) -> Float[Any, "... n_q w"]:
        """Other values under the same weights: values (…, h_kv, n_k, w), or one head for all → (…, h, n_q, w)"""
        return self._give(self._mix(_array("values", values)))

    def received_from(self, shares: Float[Any, "... n_q"]) -> Float[Any, "... n_k"]:
        """The attention each key gets if queries count so much each: shares (…, h, n_q) → (…, h, n_k)"""
        return self._give(self._received_from(_array("shares", shares, ndim=1)))

    def patterns(self, token_ids: ArrayLike | None = None) -> Patterns:
        """What each head does, and how sure that is: a name with its score, and the score of every pattern.

        token_ids (*batch, n_k) or (n_k): the tokens of the keys, of which the queries are the last; with them, heads
        that look for their own token, or for what followed it, are found too. What a pattern is, and what its score
        means, is told in `clearhead.views.patterns`. NumPy in any case; print the result to see it as a table.
        """
        from clearhead.views.patterns import find_patterns

        return find_patterns(self, token_ids)

    def grouped(self, query_groups: Labels, key_groups: Labels | None = None) -> Float[Any, "... G_q G_k"]:
        """Attention between groups of positions, such as the words that tokens make up: → (…, h, G_q, G_k)

        query_groups (n_q) or (*batch, n_q), key_groups (n_k) likewise, the same unless given: whole numbers from 0 on
        are the groups' own numbers, −1 or None is no group, and any other labels are numbered in the order in which
        they first appear. Weights are summed over the keys of a group and averaged over its queries; exact, in memory
        of the size of the answer.
        """
        return self._give(between_groups(self, query_groups, key_groups))

    def average(self, heads: Any = None) -> Average:
        """The mean over heads, or some of them: see `clearhead.views.average`, which takes several layers too."""
        return average(self, heads)

    def plot(self, kind: str | None = None, *, tokens: Sequence[object] | None = None, **options: Any) -> Figure:
        """A figure of this view: its heads in a grid, one head with its tokens, or as `kind` says.

        The kinds and their options are told in `clearhead.figures.plot`.
        """
        from clearhead.figures import plot

        return plot(self, kind, tokens=tokens, **options)

    # Inside, where all is NumPy

    @functools.cached_property
    def _total(self) -> np.ndarray:
        """Σ weights of each query: 1 but for sinks, 0 with no key left."""
        return self._mass(None)

    @functools.cached_property
    def _distance(self) -> np.ndarray:
        far: np.ndarray = self._seen.distance
        return np.divide(far, self._total, out=np.zeros_like(far), where=self._total != 0)

    @functools.cached_property
    def _on_first(self) -> np.ndarray:
        return self.at(np.zeros(self.n_q, np.int64))

    @functools.cached_property
    def _on_self(self) -> np.ndarray:
        return self.at(np.arange(self.n_q) + self.n_k - self.n_q)

    def at(self, keys: Int[np.ndarray, " n_q"]) -> Float[np.ndarray, "... n_q"]:
        """Each query's weight on one key of its own, 0 where there is no such key: keys (n_q) → (…, h, n_q)"""
        return self._shaped(self._recomputed.at(keys))

    def _window(self, head: Any, rows: Any, cols: Any, batch: Any) -> np.ndarray:
        rows, one_row = chosen("rows", rows, self.n_q)
        cols, one_col = chosen("cols", cols, self.n_k)
        entries = self._entries(head, batch)
        tall, wide = len(np.arange(self.n_q)[rows]), len(np.arange(self.n_k)[cols])
        result = np.empty((*entries.shape, tall, wide), self.call.kind)
        for place in np.ndindex(entries.shape):
            *which, of_head = np.unravel_index(entries[place], self.call.lead)
            result[place] = self._recomputed.window(tuple(map(int, which)), int(of_head), rows, cols)
        kept = (..., 0 if one_row else slice(None), 0 if one_col else slice(None))
        return np.ascontiguousarray(result[kept])

    def _pooled(self, size: int | None = None) -> Observation:
        """What was seen, with a map; another one if it is to be of another size."""
        seen = self._seen
        if size is not None and seen.map_count.shape[-2:] != (min(size, self.n_q), min(size, self.n_k)):
            from clearhead.kernels.observation import observe

            return observe(self.call, map_size=size, output=False).observation
        if size is None and 0 in seen.map_count.shape[-2:] and self.n_q and self.n_k:
            raise ValueError("this view has no map, as it was made with map_size=0; look(…, map_size=512) makes one")
        return seen

    def _mass(self, further: masks.Mask | ArrayLike | None) -> np.ndarray:
        lse = self._recomputed.lse
        if further is None and self.call.sinks is None:
            return self._shaped(np.where(np.isnan(lse), lse, ~np.isneginf(lse)).astype(self.call.kind))
        call = self.again(self.column(), _boolean(further), sinks=False)
        part = call.run()[1]
        assert part is not None
        share, far = self._recomputed.share(part.reshape(lse.shape)), too_far(lse)
        return self._shaped(self._summed(call, share, far) if far.any() else share)

    def _summed(self, call: Call, share: np.ndarray, far: np.ndarray) -> np.ndarray:
        """Masses weight by weight, for queries whose lse says too little."""
        inside = Weights(call, share)
        for batch, head in self._recomputed.heads():
            rows = np.flatnonzero(far[(*batch, head)])
            for strip in strips(rows.size, self.n_k):
                query = rows[strip]
                weights = self._recomputed.window(batch, head, query, slice(None))
                kept = inside.allowed(batch, head, query[:, None], np.arange(self.n_k))
                share[(*batch, head)][query] = np.where(kept, weights, 0).sum(axis=-1)
        return share

    def _mix(self, values: np.ndarray) -> np.ndarray:
        if values.ndim < 2 or values.shape[-2] != self.n_k:
            raise ValueError(f"values need a row for each of the {self.n_k} keys, got shape {values.shape}")
        return self.again(values).run()[0]

    def _received_from(self, shares: np.ndarray) -> np.ndarray:
        from clearhead.kernels.observation import observe

        try:
            shares = np.broadcast_to(shares, (*self.lead, self.n_q))
        except ValueError:
            raise ValueError(
                f"shares of shape {shares.shape} do not broadcast to {(*self.lead, self.n_q)}, one for each query"
            ) from None
        shares = shares.reshape(*self.call.lead, self.n_q)
        return observe(self.call, row_weights=shares, output=False).observation.received

    def again(self, values: np.ndarray, further: masks.Mask | None = None, *, sinks: bool = True) -> Call:
        """The same call with other values, perhaps fewer keys, perhaps no sinks, and its output not rounded to half."""
        mask = further if self._mask is None else self._mask if further is None else self._mask & further
        kind = checks.compute_type(self.call.kind, values.dtype)
        if self.call.has_heads:
            values = values if values.ndim > 2 else values[None]
            values = np.broadcast_to(values, (*self.batch_shape, *values.shape[-3:]))
        call = prepare(
            self._q.astype(kind, copy=False), self._k, values, mask=mask, scale=self.call.scale,
            softcap=self.call.softcap or None, sinks=self.call.sinks if sinks else None, lse=True,
        )  # fmt: skip
        return replace(call, bias=self.call.bias, table=self.call.table, bias_shape=self.call.bias_shape)

    def column(self) -> np.ndarray:
        """Values of one column, for calls of which only the lse is wanted."""
        return _column(self._k if self._v is None else self._v, self._k)

    def _shaped(self, x: np.ndarray) -> np.ndarray:
        """From the axes a call has to those of the view: (*call.lead, …) → (*lead, …)"""
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


def _array(name: str, value: Any, *, ndim: int = 2) -> np.ndarray:
    """Floats as an array, from an array or a tensor."""
    if is_tensor(value):
        from clearhead.torch.arrays import to_numpy

        value = to_numpy(value)
    return checks.float_array(name, value, ndim=ndim)
