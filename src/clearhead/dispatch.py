"""The one door to exact attention: arguments are checked here, and here it is decided how a call will run.

`attention` and `explain` prepare a call in the same way; one runs it and the other tells what would run. The kernels
behind this door check nothing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks, masks
from clearhead.biases import RelativeBias
from clearhead.kernels.explanation import Explanation
from clearhead.textbook.dropout import checked_dropout

MOST_BATCH_AXES = 5  # that the kernels walk over; more are made one
STRIP = 256  # queries whose mask is written out at a time when it cannot be said in ranges


def attention(
    q: Float[Any, "... n_q d"],
    k: Float[Any, "... n_k d"],
    v: Float[Any, "... n_k d_v"],
    *,
    mask: masks.Mask | ArrayLike | None = None,
    bias: RelativeBias | ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | float | None = None,
    dropout: float = 0.0,
    seed: int | None = None,
    return_lse: bool = False,
    strict: bool = False,
) -> Float[Any, "... n_q d_v"] | tuple[Float[Any, "... n_q d_v"], Float[Any, "... n_q"]]:
    """Exact attention in O(n) memory. NumPy in, NumPy out; torch in, torch out.

    q (…, h, n_q, d)  k (…, h_kv, n_k, d)  v (…, h_kv, n_k, d_v) → output (…, h, n_q, d_v), in q's type

    Means what `clearhead.scaled_dot_product_attention` means, without the weights: scale → softcap → bias → mask →
    sinks → softmax → dropout, with query head i using key head i // (h / h_kv).

    Args:
        mask: a mask from `clearhead.masks`, a boolean array (True = may attend) or a float array (added to the
            scores), broadcasting to (…, h, n_q, n_k). A query with no key left gets zeros.
        bias: an array added to the scores, or a structure from `clearhead.biases`, which is never written out.
        scale: 1/√d unless given; 0.0 means zero.
        softcap: scores become softcap · tanh(score / softcap).
        sinks: one score per head (h,) that takes weight and gives no value.
        dropout, seed: drop weights with this probability; the same seed drops the same ones.
        return_lse: also return log Σ exp(score) of each query (…, h, n_q), sinks included, in float32 or float64.
            With it parts over different keys are joined exactly by `merge`.
        strict: refuse a call that would take a slow way, with the reason, instead of taking it.

    Raises:
        TypeError: an array is not of floats, or the mask is neither a mask, boolean nor float.
        ValueError: shapes do not fit together, or `strict` and the call would be slow.
    """
    if is_tensor(q):
        return _on_tensors(
            q, k, v, strict=strict, mask=mask, bias=bias, scale=scale, softcap=softcap, sinks=sinks, dropout=dropout,
            seed=seed, return_lse=return_lse,
        )  # fmt: skip
    call = prepare(
        q, k, v, mask=mask, bias=bias, scale=scale, softcap=softcap, sinks=sinks, dropout=dropout, seed=seed,
        lse=return_lse,
    )  # fmt: skip
    if strict and call.slow:
        raise ValueError(f"strict: this call would be slow: {'; '.join(call.slow)}")
    output, lse = call.run()
    return output if lse is None else (output, lse)


def merge(
    parts: Sequence[tuple[Float[np.ndarray, "*lead n_q d_v"], Float[np.ndarray, "*lead n_q"]]],
) -> tuple[Float[np.ndarray, "*lead n_q d_v"], Float[np.ndarray, "*lead n_q"]]:
    """Join attention over parts of the keys into attention over all of them, exactly.

    parts [(output (…, n_q, d_v), lse (…, n_q)), …] → (output, lse). A part that saw no key (lse −inf) changes
    nothing. Sinks belong to one of the parts only.
    """
    if not parts:
        raise ValueError("merge needs at least one (output, lse) pair, got none")
    outputs = [checks.float_array(f"output {n}", part[0], ndim=2) for n, part in enumerate(parts)]
    sums = [checks.float_array(f"lse {n}", part[1], ndim=1) for n, part in enumerate(parts)]
    for n, (output, lse) in enumerate(zip(outputs, sums, strict=True)):
        if output.shape != outputs[0].shape or lse.shape != output.shape[:-1]:
            raise ValueError(
                f"part {n} has an output of shape {output.shape} and an lse of shape {lse.shape}; "
                f"expected {outputs[0].shape} and {outputs[0].shape[:-1]}, as in part 0"
            )
    kind = checks.compute_type(*(x.dtype for x in (*outputs, *sums)))
    stacked = np.stack([x.astype(kind) for x in sums])
    top = stacked.max(axis=0)
    top = np.where(np.isneginf(top), 0, top)
    shares = np.exp(stacked - top)
    total = shares.sum(axis=0)
    mixed = sum(s[..., None] * x.astype(kind) for s, x in zip(shares, outputs, strict=True))
    with np.errstate(divide="ignore"):  # log 0 = −inf: no part saw a key
        lse = np.log(total) + top
    output = mixed / np.where(total == 0, 1, total)[..., None]
    return output.astype(outputs[0].dtype), lse.astype(sums[0].dtype)


def explain(q: Any, k: Any, v: Any, *, return_lse: bool = False, **options: Any) -> Explanation:
    """What `attention` would do with the same arguments: which path, why, tiles skipped, memory. Nothing is run."""
    options.pop("strict", None)
    if is_tensor(q):
        import clearhead.torch

        return clearhead.torch.explain(q, k, v, return_lse=return_lse, **options)
    return prepare(q, k, v, lse=return_lse, **options).explain()


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
    first_query: int = 0
    many_axes: tuple[int, ...] | None = (
        None  # the batch axes, where there are so many that batch_shape is their product
    )
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
        return masks.Sizes(self.n_q, self.n_k, self.batch_shape, self.heads)

    def run(self) -> tuple[np.ndarray, np.ndarray | None]:
        output = np.empty((*self.lead, self.n_q, self.d_v), self.q.dtype)
        lse = np.empty((*self.lead, self.n_q), self.kind) if self.lse else None
        if output.size or (lse is not None and lse.size):
            from clearhead.kernels import launch

            for strip, rows in self.strips():
                launch.run(strip, output[..., rows, :], None if lse is None else lse[..., rows])
        if not self.has_heads:
            return output[0], None if lse is None else lse[0]
        if self.many_axes is not None:
            output = output.reshape(*self.many_axes, *output.shape[1:])
            lse = None if lse is None else lse.reshape(*self.many_axes, *lse.shape[1:])
        return output, lse

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
                    first_query=start,
                ),
                rows,
            )

    def explain(self) -> Explanation:
        from clearhead.kernels import launch

        return launch.explain(self)


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
    lse: bool = False,
    seen: bool = False,
) -> Call:
    """Check the arguments of `attention` and settle what they mean.

    `seen`: they have been here before, so that a bias of n × n numbers need not be looked through again.
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
        mask = checks.mask_array(_not_torch("mask", mask), scores_shape)
        if mask.dtype != np.bool_:
            bias, mask = _sum_of_biases(bias, mask, scores_shape, slow), None
    sizes = masks.Sizes(n_q, n_k, batch_shape, heads)
    resolved = _without_period(
        masks.Resolved(allowed=mask) if isinstance(mask, np.ndarray) else masks.resolve(mask, sizes)
    )
    allowed = resolved.allowed
    if allowed is not None:
        allowed = checks.fits("mask", allowed, scores_shape)
        allowed = np.broadcast_to(allowed, (*allowed.shape[:-2], n_q, n_k))
    if resolved.rule is not None:
        slow.append("the mask cannot be said in runs of keys, so NumPy works it out for each place, strip by strip")

    table: np.ndarray | None = None
    bias_shape: tuple[int, ...] = ()
    if isinstance(bias, RelativeBias):
        table = bias.table(n_q, n_k)
        if table.shape[0] not in (1, heads):
            raise ValueError(f"the bias is for {table.shape[0]} heads but there are {heads}")
        table, bias = _within(checks.additive("bias", table, table.shape), q, k, v), None
    elif bias is not None:
        bias = _array("bias", bias, slow, ndim=0)
        bias = _within(bias if seen else checks.additive("bias", bias, scores_shape), q, k, v)
        bias_shape = bias.shape
        bias = np.broadcast_to(bias, (*bias_shape[:-2], n_q, n_k))
    if sinks is not None:
        sinks = checks.sink_per_head(sinks, heads)
    rate, chosen = checked_dropout(dropout, seed) if dropout else (0.0, 0)
    call = Call(
        q, k, v, batch_shape, heads, kv_heads, has_heads,
        1 / math.sqrt(max(d, 1)) if scale is None else checks.number("scale", scale),
        0.0 if softcap is None else checks.number("softcap", softcap, above=0.0),
        resolved.ranges, allowed, resolved.rule, bias, table, sinks, rate, chosen, lse, bias_shape, slow=slow,
    )  # fmt: skip
    return call if len(batch_shape) <= MOST_BATCH_AXES else _with_one_batch_axis(call)


def _array(name: str, value: ArrayLike, slow: list[str], ndim: int = 2) -> np.ndarray:
    array = checks.float_array(name, _not_torch(name, value), ndim=ndim)
    if not array.dtype.isnative:
        slow.append(f"{name} is stored in the byte order of another machine and was copied")
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def is_tensor(value: object) -> bool:
    """Whether this is a torch tensor; torch is not loaded to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _on_tensors(q: Any, k: Any, v: Any, *, strict: bool, **options: Any) -> Any:
    """torch in, torch out. That room lies below this one and is entered only when a tensor comes to the door."""
    import clearhead.torch

    if strict:
        plan = clearhead.torch.explain(q, k, v, **options)
        if isinstance(plan, Explanation) and plan.slow:
            raise ValueError(f"strict: this call would be slow: {'; '.join(plan.slow)}")
    return clearhead.torch.attention(q, k, v, **options)


def _not_torch(name: str, value: ArrayLike) -> ArrayLike:
    if is_tensor(value):
        raise TypeError(
            f"{name} is a torch tensor and q is not; give all of them as tensors, or as NumPy arrays "
            f"({name}.numpy() shares its memory)"
        )
    return value


def leading_axes(q: checks.Shaped, k: checks.Shaped, v: checks.Shaped) -> tuple[tuple[int, ...], int, int]:
    """The batch axes all three broadcast to, the number of query heads, and that of key/value heads."""
    heads, of_keys, of_values = (x.shape[-3] if x.ndim > 2 else 1 for x in (q, k, v))
    kv_heads = max(of_keys, of_values) if 0 not in (of_keys, of_values) else 0
    if min(of_keys, of_values) not in (1, kv_heads):
        raise ValueError(f"keys have {of_keys} heads but values have {of_values}; both must have as many, or one")
    if heads == 1 and kv_heads > 1:
        heads = kv_heads
    if heads != kv_heads:
        checks.head_groups(heads, kv_heads)
    try:
        return np.broadcast_shapes(q.shape[:-3], k.shape[:-3], v.shape[:-3]), heads, kv_heads
    except ValueError:
        raise ValueError(
            f"the batch axes do not fit together: q {q.shape[:-3]}, k {k.shape[:-3]}, v {v.shape[:-3]} "
            "(the last three axes are heads, positions and width)"
        ) from None


def _without_period(resolved: masks.Resolved) -> masks.Resolved:
    """A period as a rule, as the kernels know no periods."""
    if resolved.period == 1:
        return resolved
    period = masks.dilated(resolved.period)
    return resolved._replace(period=1, phase=0, rule=period if resolved.rule is None else period & resolved.rule)


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
