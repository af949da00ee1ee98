"""The kinds of masks."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearhead import checks, names
from clearhead.masks.lookup import fits_lead, look_up, over_batch, shown
from clearhead.masks.mask import Mask, of_array
from clearhead.masks.ranges import MOST_RANGES, Ranges, as_few, within
from clearhead.masks.sizes import Number, Sizes, Where

Rule = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]

UNLIMITED = 2**60  # a reach beyond the end of any sequence, and twice it still fits 64 bits


@dataclass(frozen=True)
class _Span(Mask):
    """Keys from `left` before to `right` after the query's own position; None reaches to the end."""

    left: int | None
    right: int | None
    offset: int | None

    def __repr__(self) -> str:
        offset = "" if self.offset is None else f"offset={self.offset}"
        if self.left is None:
            return f"causal({offset})"
        reach = f"{self.left + 1}" if self.right == 0 else f"{self.left}, {self.right}"
        return f"window({reach}{offset and ', ' + offset})"

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

    def lasting(self) -> bool:
        return True

    def terms(self) -> tuple[Any, ...] | None:
        return _Span, self.left, self.right, self.offset


def _rising(first: int, n_q: int, n_k: int) -> np.ndarray:
    """One edge of a run for each query, a key further on each time, but within 0 … n_k: (1, n_q)"""
    edge = np.arange(first, first + n_q)[None]
    if first < 0:
        np.maximum(edge, 0, out=edge)
    if first + n_q > n_k:
        np.minimum(edge, n_k, out=edge)
    return edge


@names.by_name_only(
    "causal() takes no size, as a mask fits any; how far a query sees beyond its own number is offset=, and "
    "create_causal_mask(n) or causal().array(n) is an array"
)
def causal(*, offset: int | None = None) -> Mask:
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
    lengths: np.ndarray  # this mask's own
    padded: bool  # whether the rest is padding, and not only out of sight

    def __repr__(self) -> str:
        return f"{'key_lengths' if self.padded else 'prefix'}({shown(self.lengths)})"

    def allows(self, at: Where) -> np.ndarray:
        return at.key < over_batch("lengths", self.lengths, at.sizes).ravel()[at.batch]

    def ranges(self, sizes: Sizes) -> Ranges | None:
        over_batch("lengths", self.lengths, sizes)
        shape = (*self.lengths.shape, 1, 1, sizes.n_q)
        low, high = np.zeros(shape, np.int64), np.empty(shape, np.int64)
        ends = np.minimum(np.maximum(self.lengths - sizes.keys.start, 0), sizes.n_k)
        high[...] = ends[..., None, None, None]
        return Ranges(low, high)

    def lasting(self) -> bool:
        return True

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


@dataclass(frozen=True)
class _Dilated(Mask):
    step: int

    def __repr__(self) -> str:
        return f"dilated({self.step})"

    def allows(self, at: Where) -> np.ndarray:
        return (at.position - at.key) % self.step == 0

    def period(self) -> int | None:
        return self.step

    def lasting(self) -> bool:
        return True

    def terms(self) -> tuple[Any, ...] | None:
        return _Dilated, self.step


def dilated(step: int) -> Mask:
    """Every `step`-th key, counted from the query's own: `dilated(4) & window(64)` is 16 keys spread over 64."""
    return _Dilated(min(checks.count("step", step), UNLIMITED))


@dataclass(frozen=True, eq=False)
class _BlockSparse(Mask):
    layout: np.ndarray
    block_size: int

    def __repr__(self) -> str:
        return f"block_sparse({shown(self.layout)}, {self.block_size})"

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
    function: Rule

    def __repr__(self) -> str:
        return f"where({getattr(self.function, '__name__', repr(self.function))})"

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


def where(function: Rule) -> Mask:
    """Any rule: function(batch, head, query, key) gets integer arrays that broadcast and returns booleans.

    masks.where(lambda b, h, i, j: (i + j) % 3 == 0)
    """
    if not callable(function):
        raise TypeError(f"masks.where needs a function of (batch, head, query, key), got {type(function).__name__}")
    try:
        inspect.signature(function).bind(*"bhij")
    except TypeError:
        raise TypeError(
            f"masks.where needs a function of (batch, head, query, key), and this one takes "
            f"{inspect.signature(function)}; masks.where(lambda b, h, i, j: …) need not use all four"
        ) from None
    except ValueError:  # some functions written in C do not say what they take
        pass
    return _Function(function)
