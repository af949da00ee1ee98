"""The kinds of masks."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.masks.lookup import fits_lead, look_up, over_batch
from clearhead.masks.mask import Mask, of_array
from clearhead.masks.ranges import MOST_RANGES, Ranges, as_few, within
from clearhead.masks.sizes import Number, Sizes, Where

UNLIMITED = 2**60  # a reach beyond the end of any sequence, and twice it still fits 64 bits


@dataclass(frozen=True)
class _Span(Mask):
    """Keys from `left` before to `right` after the query's own position; None reaches to the end."""

    left: int | None
    right: int | None
    offset: int | None

    def _centre(self, query: Number, sizes: Sizes) -> Number:
        return sizes.position(query) if self.offset is None else query + self.offset

    def allows(self, at: Where) -> np.ndarray:
        centre = self._centre(at.query, at.sizes)
        allowed = np.ones(np.broadcast_shapes(at.query.shape, at.key.shape), np.bool_)
        if self.left is not None:
            allowed &= at.key >= centre - self.left
        if self.right is not None:
            allowed &= at.key <= centre + self.right
        return allowed

    def ranges(self, sizes: Sizes) -> Ranges | None:
        n_q, n_k = sizes.n_q, sizes.n_k
        first = self._centre(sizes.queries.start, sizes) - sizes.keys.start
        low = np.zeros((1, n_q), np.int64) if self.left is None else _rising(first - self.left, n_q, n_k)
        high = np.full((1, n_q), n_k) if self.right is None else _rising(first + self.right + 1, n_q, n_k)
        return Ranges(low, high)


def _rising(first: int, n_q: int, n_k: int) -> np.ndarray:
    """One edge of a run for each query, a key further on each time, but within 0 … n_k: (1, n_q)"""
    edge = np.arange(first, first + n_q)[None]
    if first < 0:
        np.maximum(edge, 0, out=edge)
    if first + n_q > n_k:
        np.minimum(edge, n_k, out=edge)
    return edge


def causal(offset: int | None = None) -> Mask:
    """Query i sees key j ≤ i + offset. The offset is n_k − n_q unless given, so the last query sees every key."""
    return _Span(None, 0, None if offset is None else _whole("offset", offset))


def window(left: int, right: int | None = None, *, offset: int | None = None) -> Mask:
    """A band of keys around each query.

    `window(w)` is w keys in all: the query's own and the w − 1 before it. `window(left, right)` is the query's own
    and so many besides on either side. (Peers disagree: transformers counts as the first, FlashAttention and ONNX
    as the second.) The query's own key is j = i + offset, and the offset is n_k − n_q unless given.
    """
    offset = None if offset is None else _whole("offset", offset)
    if right is None:
        return _Span(min(checks.count("window", left) - 1, UNLIMITED), 0, offset)
    left, right = checks.count("left", left, least=0), checks.count("right", right, least=0)
    return _Span(min(left, UNLIMITED), min(right, UNLIMITED), offset)


def _whole(name: str, value: int) -> int:
    return max(-UNLIMITED, min(checks.count(name, value, least=None), UNLIMITED))


@dataclass(frozen=True, eq=False)
class _KeyLengths(Mask):
    lengths: np.ndarray
    padded: bool  # whether the rest is padding, and not only out of sight

    def allows(self, at: Where) -> np.ndarray:
        return at.key < over_batch("lengths", self.lengths, at.sizes).ravel()[at.batch]

    def ranges(self, sizes: Sizes) -> Ranges | None:
        over_batch("lengths", self.lengths, sizes)
        high = np.empty((*self.lengths.shape, 1, 1, sizes.n_q), np.int64)
        high[...] = (self.lengths - sizes.keys.start)[..., None, None, None]
        return within(np.zeros_like(high), high, sizes.n_k)

    def padding(self, sizes: Sizes) -> np.ndarray | None:
        lengths = over_batch("lengths", self.lengths, sizes)
        return np.asarray(sizes.keys) >= lengths[..., None] if self.padded else None


def key_lengths(lengths: ArrayLike | int) -> Mask:
    """Only the first `lengths[b]` keys of each batch entry are real, the rest is padding. lengths (*batch)"""
    array = np.asarray(lengths)
    if array.dtype.kind not in "iu":
        raise TypeError(f"lengths must be integers, one per batch entry, got {array.dtype.name}")
    if (array < 0).any():
        raise ValueError(f"lengths must not be negative, got {array.min()}")
    return _KeyLengths(array.astype(np.int64), padded=True)


def prefix(length: int) -> Mask:
    """The first `length` keys, for every query: `causal() | prefix(10)` reads a prompt of 10 both ways."""
    return _KeyLengths(np.asarray(checks.count("length", length, least=0), np.int64), padded=False)


@dataclass(frozen=True, eq=False)
class _Documents(Mask):
    ids: np.ndarray  # of the whole sequence, and this mask's own

    def allows(self, at: Where) -> np.ndarray:
        self._cover(at.sizes)
        ids = over_batch("ids", self.ids, at.sizes, of_keys=True)
        ids = ids.reshape(math.prod(at.sizes.batch_shape), ids.shape[-1])
        return ids[at.batch, at.position] == ids[at.batch, at.key]

    def ranges(self, sizes: Sizes) -> Ranges | None:
        self._cover(sizes)
        over_batch("ids", self.ids, sizes, of_keys=True)
        if self._starts is None:
            return None
        n_q, length = sizes.n_q, self.ids.shape[-1]
        starts, ends = self._starts[:-1], self._starts[1:]
        entry = starts // max(length, 1) * length  # where the ids of a document's batch entry begin
        first = entry + sizes.position(sizes.queries.start)  # and where those of the queries do
        queries = np.maximum(np.minimum(ends, first + n_q) - np.maximum(starts, first), 0)
        shape = (*self.ids.shape[:-1], 1, 1, n_q)
        low, high = (np.repeat(edge - entry - sizes.keys.start, queries).reshape(shape) for edge in (starts, ends))
        return within(low, high, sizes.n_k)

    def _cover(self, sizes: Sizes) -> None:
        """There are ids for all keys and queries."""
        length, n_q, n_k = self.ids.shape[-1], sizes.n_q, sizes.n_k
        if sizes.whole and length != n_k:
            raise ValueError(f"documents: there are {n_k} keys but ids for {length}")
        first = sizes.position(sizes.queries.start)
        if sizes.whole and sizes.offset is None and first < 0:
            raise ValueError(f"documents: {n_q} queries cannot be the last positions of {n_k} keys")
        for what, start, n in (("keys", sizes.keys.start, n_k), ("queries", first, n_q)):
            if n and not 0 <= start <= length - n:
                raise ValueError(
                    f"documents: the {what} are positions {start} … {start + n - 1} of the sequence, but there are ids "
                    f"for {length}; ids are for the whole sequence"
                )

    @functools.cached_property
    def _starts(self) -> np.ndarray | None:
        """Where documents start in the ids of all batch entries, and the end of the last; None if one is in pieces."""
        ids = self.ids.reshape(math.prod(self.ids.shape[:-1]), self.ids.shape[-1])
        starting = np.ones(ids.shape, np.bool_)
        np.not_equal(ids[:, 1:], ids[:, :-1], out=starting[:, 1:])
        starts = np.flatnonzero(starting)
        name, entry = ids.ravel()[starts], starts // max(ids.shape[-1], 1)
        if not ((name[1:] > name[:-1]) | (entry[1:] > entry[:-1])).all():  # in order there are no pieces
            order = np.lexsort((name, entry))
            name, entry = name[order], entry[order]
            if ((name[1:] == name[:-1]) & (entry[1:] == entry[:-1])).any():
                return None
        return np.append(starts, ids.size)


def documents(ids: ArrayLike | None = None, *, boundaries: ArrayLike | None = None) -> Mask:
    """Several documents in one sequence: a query sees only its own.

    ids (*batch, n_k): the document of each key. Or boundaries (documents + 1,): the first position of each document
    and then the length, [0, 30, 100] for documents of 30 and 70. Both are of the whole sequence, also where a call
    holds only a part of it.
    """
    if (ids is None) == (boundaries is None):
        raise ValueError("documents needs either ids, one per key, or boundaries, such as [0, 30, 100]")
    if boundaries is not None:
        edges = np.asarray(boundaries)
        if edges.dtype.kind not in "iu" or edges.ndim != 1 or edges.size < 2:
            raise ValueError(f"boundaries must be at least two integers, such as [0, 30, 100], got {boundaries!r}")
        if edges[0] != 0 or (np.diff(edges) < 0).any():
            raise ValueError(f"boundaries must start at 0 and not decrease, got {edges.tolist()}")
        return _Documents(np.repeat(np.arange(edges.size - 1), np.diff(edges)))
    array = np.asarray(ids)
    if array.dtype.kind not in "iu" or array.ndim < 1:
        raise TypeError(f"ids must be integers of shape (*batch, n_k), got {array.dtype.name} of shape {array.shape}")
    return _Documents(array.astype(np.int64))


@dataclass(frozen=True)
class _Dilated(Mask):
    step: int

    def allows(self, at: Where) -> np.ndarray:
        return (at.position - at.key) % self.step == 0

    def period(self) -> int | None:
        return self.step


def dilated(step: int) -> Mask:
    """Every `step`-th key, counted from the query's own: `dilated(4) & window(64)` is 16 keys spread over 64."""
    return _Dilated(min(checks.count("step", step), UNLIMITED))


@dataclass(frozen=True, eq=False)
class _BlockSparse(Mask):
    layout: np.ndarray
    block_size: int

    def _fits(self, sizes: Sizes) -> None:
        needed = tuple(-(-numbers.stop // self.block_size) for numbers in (sizes.queries, sizes.keys))
        has = self.layout.shape[-2:]
        if has != needed if sizes.whole else min(has[0] - needed[0], has[1] - needed[1]) < 0:
            raise ValueError(
                f"block_sparse: {sizes.queries.stop} queries and {sizes.keys.stop} keys in blocks of {self.block_size} "
                f"need a layout of {needed}{'' if sizes.whole else ' or more'}, got {has}"
            )
        fits_lead(self.layout.shape[:-2], sizes)

    def allows(self, at: Where) -> np.ndarray:
        self._fits(at.sizes)
        return look_up(self.layout, at, at.query // self.block_size, at.key // self.block_size)

    def ranges(self, sizes: Sizes) -> Ranges | None:
        self._fits(sizes)
        rows, columns = (self._blocks(numbers) for numbers in (sizes.queries, sizes.keys))
        runs = _runs(self.layout[..., rows.start : rows.stop, columns.start : columns.stop])
        if runs is None:
            return None
        block = np.arange(sizes.queries.start, sizes.queries.stop) // self.block_size - rows.start
        skipped = columns.start * self.block_size - sizes.keys.start
        low, high = (edge[..., block] * self.block_size + skipped for edge in runs)
        return as_few(within(low, high, sizes.n_k))

    def _blocks(self, numbers: range) -> range:
        """The blocks that queries or keys with these numbers lie in."""
        return range(numbers.start // self.block_size, -(-numbers.stop // self.block_size))


def _runs(flags: np.ndarray) -> Ranges | None:
    """The runs of True in each row: (…, rows, n) → (…, r, rows), empty where a row has fewer; None if r is large."""
    change = np.diff(flags, axis=-1, prepend=False, append=False)
    *lead, rows, n = change.shape
    row, place = np.nonzero(change.reshape(math.prod(lead) * rows, n))
    row, begin, end = row[::2], place[::2], place[1::2]  # what begins ends in the same row
    count = np.bincount(row, minlength=math.prod(lead) * rows)
    r = int(count.max(initial=1))
    if r > MOST_RANGES:
        return None
    number = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)  # of a run in its row
    edges = np.zeros((2, count.size, r), np.int64)
    edges[:, row, number] = begin, end
    return Ranges(*edges.reshape(2, *lead, rows, r).swapaxes(-1, -2))


def block_sparse(layout: ArrayLike, block_size: int) -> Mask:
    """Whole blocks of the matrix: query i may attend to key j where layout[…, i // block_size, j // block_size]."""
    array = np.asarray(layout)
    if array.dtype != np.bool_ or array.ndim < 2:
        raise TypeError(f"layout must be boolean with at least 2 dimensions, got {array.dtype.name} {array.shape}")
    return _BlockSparse(array, checks.count("block_size", block_size))


def array(allowed: ArrayLike) -> Mask:
    """Any boolean array that broadcasts to (*batch, heads, n_q, n_k); True = may attend."""
    allowed = np.asarray(allowed)
    if allowed.dtype != np.bool_:
        raise TypeError(f"allowed must be boolean (True = may attend), got {allowed.dtype.name}")
    return of_array(allowed)


@dataclass(frozen=True)
class _Function(Mask):
    function: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]

    def allows(self, at: Where) -> np.ndarray:
        answer = np.atleast_1d(self.function(at.batch, at.head, at.query, at.key))
        if answer.dtype != np.bool_:
            raise TypeError(f"the function given to masks.where must return booleans, got {answer.dtype.name}")
        whole = np.broadcast_shapes(*(x.shape for x in (at.batch, at.head, at.query, at.key)))
        try:
            np.broadcast_to(answer, whole)
        except ValueError:
            raise ValueError(
                f"the function given to masks.where returned shape {answer.shape}, which does not broadcast to {whole}"
            ) from None
        return answer


def where(function: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> Mask:
    """Any rule: function(batch, head, query, key) gets integer arrays that broadcast and returns booleans.

    masks.where(lambda b, h, i, j: (i + j) % 3 == 0)
    """
    if not callable(function):
        raise TypeError(f"masks.where needs a function of (batch, head, query, key), got {type(function).__name__}")
    return _Function(function)
