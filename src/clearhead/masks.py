"""Masks that compose, and that never become an n × n array unless asked to.

    from clearhead import masks
    masks.causal() & masks.window(256)          # both
    masks.causal() | masks.prefix(10)           # either
    ~masks.documents(ids)                       # not

A mask answers one question in two ways. `array(n_q, n_k)` writes it out, True = may attend, for reading and for the
textbook. The kernels ask for `ranges`: most masks leave each query a few runs of neighbouring keys, so the first and
last key of each run say everything in O(n) memory, and tell which tiles are empty and which are full. Masks that
cannot be said in runs are worked out a strip of queries at a time.

Queries are the last positions: query i stands at position i + n_k − n_q among the keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import ArrayLike

from clearhead import checks

FAR = 2**60  # further than any key, and twice it still fits 64 bits
MOST_RANGES = 8  # beyond this many runs per query a strip of booleans is cheaper to test


class Where(NamedTuple):
    """Places in the score matrix, as index arrays that broadcast against one another, and the sizes they are in.

    `batch` counts over all batch axes at once; `head` counts query heads.
    """

    batch: np.ndarray
    head: np.ndarray
    query: np.ndarray
    key: np.ndarray
    n_q: int
    n_k: int
    batch_shape: tuple[int, ...]
    heads: int

    @property
    def position(self) -> np.ndarray:
        """Where the queries stand among the keys."""
        return self.query + (self.n_k - self.n_q)


class Ranges(NamedTuple):
    """The keys each query may attend to: the union of low[r] … high[r] − 1 over r.

    low, high (…, r, n_q), the leading axes broadcasting against (*batch, heads)
    """

    low: Int[np.ndarray, "*lead r n_q"]
    high: Int[np.ndarray, "*lead r n_q"]


class Mask:
    """Which key each query may attend to. Join masks with `&`, `|` and `~`."""

    __array_ufunc__ = None  # array & mask is the mask's to answer

    def __and__(self, other: Mask | np.ndarray) -> Mask:
        return _Both(self, _mask(other)) if _is_mask(other) else NotImplemented

    def __or__(self, other: Mask | np.ndarray) -> Mask:
        return _Either(self, _mask(other)) if _is_mask(other) else NotImplemented

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Mask:
        return _Not(self)

    def __bool__(self) -> bool:
        raise TypeError("a mask has no truth value; join masks with &, | and ~ instead of and, or and not")

    def allows(self, at: Where) -> Bool[np.ndarray, "*places"]:
        """Whether each place may be attended, in array arithmetic."""
        raise NotImplementedError

    def ranges(self, n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int) -> Ranges | None:
        """The same in runs of keys, or None where it takes too many."""
        return None

    def whole_array(self) -> np.ndarray | None:
        """The boolean array this mask is, if it is nothing else."""
        return None

    def array(
        self, n_q: int, n_k: int | None = None, *, batch_shape: tuple[int, ...] = (), heads: int | None = None
    ) -> Bool[np.ndarray, "*lead n_q n_k"]:
        """The mask written out: (n_q, n_k), or (*batch_shape, heads, n_q, n_k) if sizes for those are given."""
        n_q = checks.count("n_q", n_q, least=0)
        n_k = n_q if n_k is None else checks.count("n_k", n_k, least=0)
        at = places(n_q, n_k, batch_shape, 1 if heads is None else heads)
        full = np.broadcast_to(self.allows(at), (*batch_shape, at.heads, n_q, n_k))
        return full if heads is not None else full[..., 0, :, :]


def places(n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int, rows: slice = slice(None)) -> Where:
    """All places of the matrix, or those of a strip of queries."""
    batch = np.arange(math.prod(batch_shape)).reshape(*batch_shape, 1, 1, 1)
    head = np.arange(heads)[:, None, None]
    return Where(batch, head, np.arange(n_q)[rows, None], np.arange(n_k), n_q, n_k, batch_shape, heads)


def _is_mask(other: object) -> bool:
    return isinstance(other, Mask) or (isinstance(other, np.ndarray) and other.dtype == np.bool_)


def _mask(other: Mask | np.ndarray) -> Mask:
    return other if isinstance(other, Mask) else array(other)


# The masks


@dataclass(frozen=True)
class _Span(Mask):
    """Keys from `left` before to `right` after the query's own position; None reaches to the end."""

    left: int | None
    right: int | None
    offset: int | None

    def _centre(self, query: np.ndarray, n_q: int, n_k: int) -> np.ndarray:
        return query + (n_k - n_q if self.offset is None else self.offset)

    def allows(self, at: Where) -> np.ndarray:
        centre = self._centre(at.query, at.n_q, at.n_k)
        allowed = np.ones(np.broadcast_shapes(at.query.shape, at.key.shape), np.bool_)
        if self.left is not None:
            allowed &= at.key >= centre - self.left
        if self.right is not None:
            allowed &= at.key <= centre + self.right
        return allowed

    def ranges(self, n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int) -> Ranges | None:
        centre = self._centre(np.arange(n_q), n_q, n_k)
        low = np.zeros(n_q, np.int64) if self.left is None else centre - self.left
        high = np.full(n_q, n_k) if self.right is None else centre + self.right + 1
        return _tidy(low[None], high[None], n_k)


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
        return _Span(min(checks.count("window", left) - 1, FAR), 0, offset)
    left, right = checks.count("left", left, least=0), checks.count("right", right, least=0)
    return _Span(min(left, FAR), min(right, FAR), offset)


@dataclass(frozen=True, eq=False)
class _KeyLengths(Mask):
    lengths: np.ndarray

    def _per_batch(self, batch_shape: tuple[int, ...]) -> np.ndarray:
        return _over_batch("lengths", self.lengths, (), batch_shape)

    def allows(self, at: Where) -> np.ndarray:
        return at.key < self._per_batch(at.batch_shape).ravel()[at.batch]

    def ranges(self, n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int) -> Ranges | None:
        high = np.broadcast_to(self._per_batch(batch_shape)[..., None, None, None], (*batch_shape, 1, 1, n_q))
        return _tidy(np.zeros((1, n_q), np.int64), high, n_k)


def key_lengths(lengths: ArrayLike | int) -> Mask:
    """Only the first `lengths[b]` keys of each batch entry are real, the rest is padding. lengths (*batch)"""
    array = np.asarray(lengths)
    if array.dtype.kind not in "iu":
        raise TypeError(f"lengths must be integers, one per batch entry, got {array.dtype.name}")
    if (array < 0).any():
        raise ValueError(f"lengths must not be negative, got {array.min()}")
    return _KeyLengths(array.astype(np.int64))


def prefix(length: int) -> Mask:
    """The first `length` keys, for every query: `causal() | prefix(10)` reads a prompt of 10 both ways."""
    return _KeyLengths(np.asarray(checks.count("length", length, least=0), np.int64))


@dataclass(frozen=True, eq=False)
class _Documents(Mask):
    ids: np.ndarray

    def _per_batch(self, n_k: int, batch_shape: tuple[int, ...]) -> np.ndarray:
        if self.ids.shape[-1] != n_k:
            raise ValueError(f"documents: there are {n_k} keys but ids for {self.ids.shape[-1]}")
        return _over_batch("ids", self.ids, (n_k,), batch_shape)

    def allows(self, at: Where) -> np.ndarray:
        if at.n_q > at.n_k:
            raise ValueError(f"documents: {at.n_q} queries cannot be the last positions of {at.n_k} keys")
        ids = self._per_batch(at.n_k, at.batch_shape).reshape(math.prod(at.batch_shape), at.n_k)
        return ids[at.batch, at.position] == ids[at.batch, at.key]

    def ranges(self, n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int) -> Ranges | None:
        ids = self._per_batch(n_k, batch_shape)
        if n_q > n_k:
            raise ValueError(f"documents: {n_q} queries cannot be the last positions of {n_k} keys")
        flat = ids.reshape(math.prod(batch_shape), n_k)
        starts = np.ones(flat.shape, np.bool_)
        starts[:, 1:] = flat[:, 1:] != flat[:, :-1]
        if any(len(np.unique(row)) != first.sum() for row, first in zip(flat, starts, strict=True)):
            return None  # a document in several pieces
        place = np.arange(n_k)
        low = np.maximum.accumulate(np.where(starts, place, 0), axis=-1)
        ends = np.ones(flat.shape, np.bool_)
        ends[:, :-1] = starts[:, 1:]
        high = np.minimum.accumulate(np.where(ends, place + 1, n_k)[:, ::-1], axis=-1)[:, ::-1]
        shape = (*ids.shape[:-1], 1, 1, n_q)
        return _tidy(low[:, n_k - n_q :].reshape(shape), high[:, n_k - n_q :].reshape(shape), n_k)


def documents(ids: ArrayLike | None = None, *, boundaries: ArrayLike | None = None) -> Mask:
    """Several documents in one sequence: a query sees only its own.

    ids (*batch, n_k): the document of each key. Or boundaries (documents + 1,): the first position of each document
    and then the length, [0, 30, 100] for documents of 30 and 70.
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


def dilated(step: int) -> Mask:
    """Every `step`-th key, counted from the query's own: `dilated(4) & window(64)` is 16 keys spread over 64."""
    return _Dilated(checks.count("step", step))


@dataclass(frozen=True, eq=False)
class _BlockSparse(Mask):
    layout: np.ndarray
    block_size: int

    def _fits(self, n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int) -> None:
        needed = (-(-n_q // self.block_size), -(-n_k // self.block_size))
        if self.layout.shape[-2:] != needed:
            raise ValueError(
                f"block_sparse: {n_q} queries and {n_k} keys in blocks of {self.block_size} need a layout of "
                f"{needed}, got {self.layout.shape[-2:]}"
            )
        _fits_lead(self.layout.shape[:-2], batch_shape, heads)

    def allows(self, at: Where) -> np.ndarray:
        self._fits(at.n_q, at.n_k, at.batch_shape, at.heads)
        return _look_up(self.layout, at, at.query // self.block_size, at.key // self.block_size)

    def ranges(self, n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int) -> Ranges | None:
        self._fits(n_q, n_k, batch_shape, heads)
        edges = np.zeros((*self.layout.shape[:-1], self.layout.shape[-1] + 2), np.int8)
        edges[..., 1:-1] = self.layout
        change = np.diff(edges, axis=-1)  # +1 where a run of blocks begins, −1 after its end
        runs = int((change == 1).sum(axis=-1).max(initial=0))
        if runs > MOST_RANGES:
            return None
        low, high = (
            np.stack([_nth(change == sign, r) for r in range(max(runs, 1))], axis=-2) * self.block_size
            for sign in (1, -1)
        )
        rows = np.arange(n_q) // self.block_size
        return _tidy(low[..., rows], high[..., rows], n_k)


def block_sparse(layout: ArrayLike, block_size: int) -> Mask:
    """Whole blocks of the matrix: query i may attend to key j where layout[…, i // block_size, j // block_size]."""
    array = np.asarray(layout)
    if array.dtype != np.bool_ or array.ndim < 2:
        raise TypeError(f"layout must be boolean with at least 2 dimensions, got {array.dtype.name} {array.shape}")
    return _BlockSparse(array, checks.count("block_size", block_size))


@dataclass(frozen=True, eq=False)
class _Array(Mask):
    allowed: np.ndarray

    def allows(self, at: Where) -> np.ndarray:
        for name, has, need in (("n_q", self.allowed.shape[-2], at.n_q), ("n_k", self.allowed.shape[-1], at.n_k)):
            if has not in (1, need):
                raise ValueError(f"mask of shape {self.allowed.shape} does not broadcast to {name} = {need}")
        return _look_up(self.allowed, at, at.query, at.key)

    def whole_array(self) -> np.ndarray | None:
        return self.allowed


def array(allowed: ArrayLike) -> Mask:
    """Any boolean array that broadcasts to (*batch, heads, n_q, n_k); True = may attend."""
    allowed = np.asarray(allowed)
    if allowed.dtype != np.bool_:
        raise TypeError(f"allowed must be boolean (True = may attend), got {allowed.dtype.name}")
    return _Array(allowed if allowed.ndim >= 2 else allowed.reshape(1, -1))


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


# Joining


@dataclass(frozen=True)
class _Both(Mask):
    a: Mask
    b: Mask

    def allows(self, at: Where) -> np.ndarray:
        return self.a.allows(at) & self.b.allows(at)

    def ranges(self, n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int) -> Ranges | None:
        a, b = (m.ranges(n_q, n_k, batch_shape, heads) for m in (self.a, self.b))
        if a is None or b is None:
            return None
        pairs = [(r, s) for r in range(a.low.shape[-2]) for s in range(b.low.shape[-2])]
        low = np.stack([np.maximum(a.low[..., r, :], b.low[..., s, :]) for r, s in pairs], axis=-2)
        high = np.stack([np.minimum(a.high[..., r, :], b.high[..., s, :]) for r, s in pairs], axis=-2)
        return _tidy(low, high, n_k)


@dataclass(frozen=True)
class _Either(Mask):
    a: Mask
    b: Mask

    def allows(self, at: Where) -> np.ndarray:
        return self.a.allows(at) | self.b.allows(at)

    def ranges(self, n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int) -> Ranges | None:
        a, b = (m.ranges(n_q, n_k, batch_shape, heads) for m in (self.a, self.b))
        return None if a is None or b is None else _tidy(_beside(a.low, b.low), _beside(a.high, b.high), n_k)


@dataclass(frozen=True)
class _Not(Mask):
    a: Mask

    def __invert__(self) -> Mask:
        return self.a

    def allows(self, at: Where) -> np.ndarray:
        return ~self.a.allows(at)

    def ranges(self, n_q: int, n_k: int, batch_shape: tuple[int, ...], heads: int) -> Ranges | None:
        a = self.a.ranges(n_q, n_k, batch_shape, heads)
        if a is None:
            return None
        order = np.argsort(a.low, axis=-2)
        low, high = (np.take_along_axis(x, order, axis=-2) for x in (a.low, a.high))
        edge = np.zeros((*low.shape[:-2], 1, low.shape[-1]), np.int64)
        return _tidy(_beside(edge, np.maximum.accumulate(high, axis=-2)), _beside(low, edge + n_k), n_k)


def parts(mask: Mask) -> list[Mask]:
    """The masks that `mask` joins with &, itself if there are none."""
    return [*parts(mask.a), *parts(mask.b)] if isinstance(mask, _Both) else [mask]


# Working with ranges


def _tidy(low: np.ndarray, high: np.ndarray, n_k: int) -> Ranges | None:
    """Ranges inside 0 … n_k, as few of them as can be: empty ones dropped, touching ones joined."""
    low, high = np.broadcast_arrays(np.clip(low, 0, n_k), np.clip(high, 0, n_k))
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for r in range(low.shape[-2]):
        a, b = low[..., r, :], high[..., r, :]
        if not (a < b).any():
            continue
        for n, (c, d) in enumerate(kept):
            apart = (a < b) & (c < d) & ((b < c) | (d < a))
            if not apart.any():
                first = np.where(a < b, np.where(c < d, np.minimum(a, c), a), c)
                kept[n] = first, np.where(a < b, np.where(c < d, np.maximum(b, d), b), d)
                break
        else:
            kept.append((a, b))
    if len(kept) > MOST_RANGES:
        return None
    if not kept:
        kept = [(np.zeros(low.shape[-1:], np.int64),) * 2]
    stacked = [np.ascontiguousarray(np.stack(x, axis=-2), dtype=np.int64) for x in zip(*kept, strict=True)]
    return Ranges(*stacked)


def _beside(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Two sets of ranges in one, their leading axes broadcast."""
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return np.concatenate([np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b)], axis=-2)


def _nth(flags: np.ndarray, n: int) -> np.ndarray:
    """Where the n-th True of each row is; 0 in rows that have fewer."""
    found = flags & (np.cumsum(flags, axis=-1) == n + 1)
    return found.argmax(axis=-1)


def _over_batch(name: str, values: np.ndarray, tail: tuple[int, ...], batch_shape: tuple[int, ...]) -> np.ndarray:
    """Values with one entry per batch entry, broadcast to the batch axes there are."""
    try:
        return np.broadcast_to(values, (*batch_shape, *tail))
    except ValueError:
        raise ValueError(
            f"{name} of shape {values.shape} do not broadcast to the batch axes {batch_shape}"
            + (f" and {tail[0]} keys" if tail else "")
        ) from None


def _fits_lead(lead: tuple[int, ...], batch_shape: tuple[int, ...], heads: int) -> None:
    """A mask's axes before n_q and n_k broadcast to (*batch, heads)."""
    try:
        fitting = np.broadcast_shapes(lead, (*batch_shape, heads)) == (*batch_shape, heads)
    except ValueError:
        fitting = False
    if not fitting:
        raise ValueError(
            f"a mask with leading axes {lead} does not broadcast to the batch axes {batch_shape} and {heads} heads"
        )


def _look_up(table: np.ndarray, at: Where, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """table[batch, head, row, column], where any axis of the table may be missing or 1."""
    lead = table.shape[:-2]
    _fits_lead(lead, at.batch_shape, at.heads)
    index: list[np.ndarray | int] = []
    if lead:
        places = [*np.unravel_index(at.batch, at.batch_shape or (1,)), at.head]
        index = [i if size != 1 else 0 for i, size in zip(places[-len(lead) :], lead, strict=True)]
    index += [row if table.shape[-2] != 1 else 0, column if table.shape[-1] != 1 else 0]
    return np.atleast_1d(table[tuple(index)])


def _whole(name: str, value: int) -> int:
    return max(-FAR, min(checks.count(name, value, least=None), FAR))
