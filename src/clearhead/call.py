"""A checked call: what the kernels take as input.

`prepare` checks the arguments of `attention` and settles what they mean; the kernels behind it check nothing. Whoever
runs, watches, differentiates or explains a call prepares it here, so that all of them mean the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from clearhead import checks, masks
from clearhead.biases import RelativeBias
from clearhead.tensors import is_tensor
from clearhead.textbook.dropout import checked_dropout

MOST_BATCH_AXES = 5  # that the kernels walk over; more are made one
STRIP = 256  # queries whose mask is written out at a time when it cannot be said in ranges


class Part(NamedTuple):
    """Which part of a longer sequence a call holds: the numbers, in the whole, of its first query and its first key.

    Masks and dropout then speak of the whole, so that parts over different keys `merge` to what the whole gives. A
    query stands at the position of its number among the keys, plus `offset`: 0 in self-attention, and n_k − n_q of the
    whole where its queries are the last positions.
    """

    first_query: int = 0
    first_key: int = 0
    offset: int = 0


class HeadRun(NamedTuple):
    """Which heads of a call that has more of them: the number of the first, and how many there are in all.

    Dropout counts heads as all of them do.
    """

    first: int
    of: int


class Options(TypedDict, total=False):
    """What every attention takes by name, for type checkers."""

    bias: Any
    scale: float | None
    softcap: float | None
    sinks: Any
    dropout: float
    seed: int | None
    part: Part | tuple[int, ...] | None
    strict: bool


@dataclass
class Call:
    """A checked call: everything a kernel needs to know, in the shapes it needs it."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    batch_shape: tuple[int, ...]
    heads: int
    kv_heads: int
    has_heads: bool
    scale: float
    softcap: float
    ranges: masks.Ranges | None
    allowed: np.ndarray | None
    rule: masks.Mask | None  # what neither ranges nor one array can say
    bias: np.ndarray | None
    table: np.ndarray | None  # a relative bias, per distance
    sinks: np.ndarray | None
    dropout: float
    seed: int
    lse: bool
    bias_shape: tuple[int, ...] = ()  # as it was given
    part: Part | None = None
    period: int = 1  # query i may attend to key j only if (i + phase − j) % period is 0
    phase: int = 0
    strip_start: int = 0  # the number of the first query in the call that this one is a strip of
    among: HeadRun | None = None  # if these are some of the heads of another call
    many_axes: tuple[int, ...] | None = None  # the batch axes, where they are so many that they were made one
    slow: list[str] = field(default_factory=list)

    @property
    def n_q(self) -> int:
        return self.q.shape[-2]

    @property
    def n_k(self) -> int:
        return self.k.shape[-2]

    @property
    def d_v(self) -> int:
        return self.v.shape[-1]

    @property
    def kind(self) -> np.dtype[Any]:
        return checks.compute_type(self.q.dtype, self.k.dtype, self.v.dtype)

    @property
    def lead(self) -> tuple[int, ...]:
        """The output's leading axes; one head where the arguments have no axis for it."""
        return (*self.batch_shape, self.heads)

    @property
    def sizes(self) -> masks.Sizes:
        """What masks are told of this call."""
        return masks.Sizes(self.n_q, self.n_k, self.batch_shape, self.heads, *(self.part or ()))

    @property
    def first_query(self) -> int:
        """The number of the first query in the whole sequence."""
        return self.strip_start + (self.part.first_query if self.part else 0)

    @property
    def first_key(self) -> int:
        """The number of the first key in the whole sequence."""
        return self.part.first_key if self.part else 0

    @property
    def shift(self) -> int:
        """Where its first query stands among its own keys: queries are the last positions, unless a part says."""
        if self.part is None:
            return self.n_k - self.n_q
        return self.part.first_query + self.part.offset - self.part.first_key

    def own(self, x: np.ndarray, batch: tuple[int, ...], head: int) -> np.ndarray:
        """What belongs to one head of one batch entry, whatever axes x lacks or shares: x (…, a, b) → (a, b)"""
        lead = x.shape[:-2]
        if not lead:
            return x
        place = (*batch, head // (self.heads // lead[-1]))[-len(lead) :]
        return x[tuple(0 if size == 1 else i for i, size in zip(place, lead, strict=True))]

    def strips(self) -> Iterator[tuple[Call, slice]]:
        """This call as calls whose masks a kernel understands, each for some of the queries."""
        if self.rule is None:
            yield self, slice(None)
            return
        for start in range(0, self.n_q, STRIP):
            rows = slice(start, min(start + STRIP, self.n_q))
            at = masks.places(self.sizes, rows)
            allowed = self.rule.allows(at)
            if self.allowed is not None:
                allowed = allowed & _rows(self.allowed, rows)
            yield (
                replace(
                    self,
                    q=self.q[..., rows, :],
                    rule=None,
                    allowed=np.broadcast_to(allowed, (*allowed.shape[:-2], rows.stop - start, self.n_k)),
                    ranges=None if self.ranges is None else masks.Ranges(*(x[..., rows] for x in self.ranges)),
                    bias=None if self.bias is None else _rows(self.bias, rows),
                    table=None
                    if self.table is None
                    else self.table[..., start : start + (rows.stop - start) + self.n_k - 1],
                    strip_start=start,
                    phase=(self.phase + start) % self.period,
                ),
                rows,
            )


def prepare(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: masks.Mask | ArrayLike | None = None,
    bias: RelativeBias | ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | float | None = None,
    dropout: float = 0.0,
    seed: int | None = None,
    part: Part | tuple[int, ...] | None = None,
    among: HeadRun | None = None,
    lse: bool = False,
    again: bool = False,
) -> Call:
    """Check the arguments of `attention` and settle what they mean.

    `again`: they come here twice, and this time a bias of n × n numbers need not be looked through, nor doubts be said.
    """
    slow: list[str] = []
    q, k, v = (_array(name, x, slow) for name, x in (("q", q), ("k", k), ("v", v)))
    checks.same_width(q, k)
    checks.same_length(k, v)
    batch_shape, heads, kv_heads = leading_axes(q, k, v)
    n_q, n_k, d = q.shape[-2], k.shape[-2], q.shape[-1]
    has_heads = max(q.ndim, k.ndim, v.ndim) > 2
    scores_shape = (*batch_shape, heads, n_q, n_k) if has_heads else (n_q, n_k)

    if not (mask is None or isinstance(mask, masks.Mask)):
        mask = checks.mask_array(not_tensor("mask", mask), scores_shape, again=again)
        if mask.dtype != np.bool_:
            bias, mask = _sum_of_biases(bias, mask, scores_shape, slow), None
    part = None if part is None else checked_part(part)
    resolved = _settled(mask, masks.Sizes(n_q, n_k, batch_shape, heads, *(part or ())), scores_shape, slow)
    table: np.ndarray | None = None
    bias_shape: tuple[int, ...] = ()
    if isinstance(bias, RelativeBias):
        table, bias = _within(_table(bias, n_q, n_k, heads, part), q, k, v), None
    elif bias is not None:
        bias = _array("bias", bias, slow, ndim=0)
        bias = _within(bias if again else checks.additive("bias", bias, scores_shape), q, k, v)
        bias_shape = bias.shape
        bias = np.broadcast_to(bias, (*bias_shape[:-2], n_q, n_k))
    if sinks is not None:
        sinks = checks.sink_per_head(not_tensor("sinks", sinks), heads)
    rate, chosen = checked_dropout(dropout, seed) if dropout else (0.0, 0)
    call = Call(
        q, k, v, batch_shape, heads, kv_heads, has_heads,
        1 / math.sqrt(max(d, 1)) if scale is None else checks.number("scale", scale),
        0.0 if softcap is None else checks.number("softcap", softcap, above=0.0),
        resolved.ranges, resolved.allowed, resolved.rule, bias, table, sinks, rate, chosen, lse, bias_shape, part,
        period=resolved.period, phase=resolved.phase, among=among, slow=slow,
    )  # fmt: skip
    return call if len(batch_shape) <= MOST_BATCH_AXES else _with_one_batch_axis(call)


def _settled(
    mask: masks.Mask | np.ndarray | None, sizes: masks.Sizes, scores_shape: tuple[int, ...], slow: list[str]
) -> masks.Resolved:
    """What a mask allows in a call, its array as tall and wide as the scores."""
    resolved = masks.Resolved(allowed=mask) if isinstance(mask, np.ndarray) else masks.resolve(mask, sizes)
    if resolved.rule is not None:
        slow.append("the mask cannot be said in runs of keys, so NumPy works it out for each place, strip by strip")
    if resolved.allowed is None:
        return resolved
    allowed = checks.fits("mask", resolved.allowed, scores_shape)
    return resolved._replace(allowed=np.broadcast_to(allowed, (*allowed.shape[:-2], sizes.n_q, sizes.n_k)))


def _table(bias: RelativeBias, n_q: int, n_k: int, heads: int, part: Part | None) -> np.ndarray:
    """A relative bias as one number for each head, or one for all, and distance."""
    table = bias.table(n_q, n_k, *(part or ()))
    if table.shape[0] not in (1, heads):
        raise ValueError(f"the bias is for {table.shape[0]} heads but there are {heads}")
    return checks.additive("bias", table, table.shape)


def refuse_slow(reasons: Sequence[str]) -> None:
    """What `strict` means: a call that would take a slow way is refused, with the reason."""
    if reasons:
        raise ValueError(f"strict: this call would be slow: {'; '.join(reasons)}")


def checked_part(part: Part | tuple[int, ...]) -> Part:
    """The place of a call in a longer sequence."""
    if not isinstance(part, tuple) or not 2 <= len(part) <= 3:
        raise TypeError(
            f"part must be (first_query, first_key), or clearhead.Part with an offset besides, got {part!r}"
        )
    place = Part(*part)
    return Part(
        checks.count("first_query", place.first_query, least=0),
        checks.count("first_key", place.first_key, least=0),
        checks.count("offset", place.offset, least=None),
    )


def _array(name: str, value: ArrayLike, slow: list[str], ndim: int = 2) -> np.ndarray:
    array = checks.float_array(name, not_tensor(name, value), ndim=ndim)
    if not array.dtype.isnative:
        slow.append(f"{name} is stored in the byte order of another machine and was copied")
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def not_tensor(name: str, value: Any, beside: str = "q") -> Any:
    """Refuse a tensor beside an array."""
    if is_tensor(value):
        raise TypeError(
            f"{name} is a torch tensor and {beside} is not; give all of them as tensors, or as NumPy arrays "
            f"({name}.numpy() shares its memory)"
        )
    return value


def leading_axes(
    q: checks.Shaped,
    k: checks.Shaped,
    v: checks.Shaped,
    broadcast: Callable[..., tuple[int, ...]] = np.broadcast_shapes,
) -> tuple[tuple[int, ...], int, int]:
    """The batch axes all three broadcast to, the number of query heads, and that of key/value heads."""
    heads, of_keys, of_values = (x.shape[-3] if x.ndim > 2 else 1 for x in (q, k, v))
    kv_heads = max(of_keys, of_values) if 0 not in (of_keys, of_values) else 0
    if min(of_keys, of_values) not in (1, kv_heads):
        raise ValueError(f"keys have {of_keys} heads but values have {of_values}; both must have as many, or one")
    if heads == 1 and kv_heads > 1:
        heads = kv_heads
    if heads != kv_heads:
        checks.head_groups(heads, kv_heads, tuple(q.shape), tuple(k.shape))
    try:
        return tuple(broadcast(q.shape[:-3], k.shape[:-3], v.shape[:-3])), heads, kv_heads
    except ValueError:
        raise ValueError(
            f"the batch axes do not fit together: q {q.shape[:-3]}, k {k.shape[:-3]}, v {v.shape[:-3]} "
            "(the last three axes are heads, positions and width)"
        ) from None


def _sum_of_biases(
    bias: RelativeBias | ArrayLike | None, mask: np.ndarray, scores_shape: tuple[int, ...], slow: list[str]
) -> np.ndarray:
    """A float mask is a bias; with another bias beside it, their sum is."""
    if bias is None:
        return mask
    slow.append("the float mask and the bias were added up into one array")
    if isinstance(bias, RelativeBias):
        other = bias.array(*scores_shape[-2:])
        other = other[0] if len(scores_shape) == 2 and len(other) == 1 else other
    else:
        other = _array("bias", bias, slow, ndim=0)
    other = checks.additive("bias", other, scores_shape)
    return np.where(np.isneginf(mask), -np.inf, mask.astype(np.float64) + other)


def _within(bias: np.ndarray, *computed_with: np.ndarray) -> np.ndarray:
    """A bias whose finite numbers are finite in the type the scores have: only −inf may forbid a key."""
    kind = checks.compute_type(*(x.dtype for x in computed_with))
    limit = float(np.finfo(kind).max)
    if bias.dtype.itemsize <= kind.itemsize or not bias.size:
        return bias
    if bias.max() <= limit and bias.min(where=bias > -np.inf, initial=0) >= -limit:
        return bias
    return np.where(np.isneginf(bias), -np.inf, np.clip(bias, -limit, limit)).astype(kind)


def _with_one_batch_axis(call: Call) -> Call:
    """The same call with all batch axes in one. What does not lie in memory like that is copied."""
    call.slow.append(f"{len(call.batch_shape)} batch axes were made one, and what does not lie like that was copied")

    def one(x: np.ndarray) -> np.ndarray:
        *batch, a, b, c = (1,) * (4 - x.ndim) + x.shape
        if math.prod(batch) == 1:
            return x.reshape(1, a, b, c)
        return np.broadcast_to(x, (*call.batch_shape, a, b, c)).reshape(-1, a, b, c)

    return replace(
        call,
        q=one(call.q),
        k=one(call.k),
        v=one(call.v),
        ranges=None if call.ranges is None else masks.Ranges(*(one(x) for x in call.ranges)),
        allowed=None if call.allowed is None else one(call.allowed),
        rule=None if call.rule is None else _ManyAxes(call.rule, call.batch_shape),
        bias=None if call.bias is None else one(call.bias),
        batch_shape=(math.prod(call.batch_shape),),
        many_axes=call.batch_shape,
    )


@dataclass(frozen=True)
class _ManyAxes(masks.Mask):
    """A mask that still sees the batch axes that were made one."""

    rule: masks.Mask
    batch_shape: tuple[int, ...]

    def allows(self, at: masks.Where) -> np.ndarray:
        return self.rule.allows(at._replace(sizes=at.sizes._replace(batch_shape=self.batch_shape)))


def _rows(x: np.ndarray, rows: slice) -> np.ndarray:
    return x[..., rows, :]
