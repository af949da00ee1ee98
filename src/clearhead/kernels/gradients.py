"""From a checked call and the gradient of its output to the gradients of what went in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels import backward
from clearhead.kernels.description import Description
from clearhead.kernels.formats import BFLOAT16, stored_kind
from clearhead.kernels.gemm import WIDEST
from clearhead.kernels.job import ABSENT, Strided
from clearhead.kernels.launch import launch_packed, operations
from clearhead.kernels.plan import backward_plan, computed_as, shape_of
from clearhead.kernels.structs import PAIRS, pack
from clearhead.kernels.sums import Sums
from clearhead.kernels.target import TARGET
from clearhead.kernels.tile import LOG2E


class Gradients(NamedTuple):
    """Of queries, keys and values, and of the bias, relative bias and sinks, if there were any and they are wanted."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    bias: np.ndarray | None
    table: np.ndarray | None
    sinks: np.ndarray | None


def gradients(
    call: Call,
    output: np.ndarray,
    lse: np.ndarray,
    gradient: np.ndarray,
    lse_gradient: np.ndarray | None = None,
    *,
    sums: Sums,
    shapes: Sequence[tuple[int, ...]],
    of_bias: bool = False,
) -> Gradients:
    """Differentiate a call: `gradient` is that of the output; `output`, `lse` and `sums` are what the call gave.

    Each gradient has the shape of what it belongs to, `shapes` for q, k and v, and the type that was computed in; where
    an input was broadcast, it is summed over what it was broadcast to.
    """
    if call.many_axes is not None:
        return _with_many_axes(call, output, lse, gradient, lse_gradient, sums=sums, shapes=shapes, of_bias=of_bias)
    kind = call.kind
    delta = np.einsum("...d,...d->...", gradient.astype(kind, copy=False), output.astype(kind, copy=False))
    if lse_gradient is not None:  # ∂lse/∂S is P, so the lse's gradient joins dS where Δ is taken away
        delta = delta - np.where(np.isneginf(lse), 0, lse_gradient)
    d_bias: np.ndarray | None = None
    d_table = np.zeros(call.table.shape if call.table is not None else (), kind)
    of_queries, d_k, d_v = [], None, None
    for strip, rows in call.strips():
        part = _Pass(strip, sums.of((..., rows)), gradient[..., rows, :], delta[..., rows], of_bias)
        part.run()
        of_queries.append(part.queries_gradient())
        d_k = part.d_k if d_k is None else d_k + part.d_k
        d_v = part.d_v if d_v is None else d_v + part.d_v
        if of_bias and call.bias is not None:
            d_bias = _with_strip(d_bias, part.bias_gradient(), call, rows)
        if of_bias and call.table is not None:
            start = strip.strip_start
            d_table[:, start : start + strip.n_q + call.n_k - 1] += part.bias_gradient()
    if d_k is None or d_v is None:  # no queries, and a mask that is worked out query by query
        d_q, d_k, d_v = (np.zeros(shape, kind) for shape in shapes)
        d_bias = np.zeros(call.bias_shape, kind)
    else:
        d_q = of_queries[0] if len(of_queries) == 1 else np.concatenate(of_queries, axis=-2)
    return Gradients(
        _summed(d_q, shapes[0]),
        _summed(d_k, shapes[1]),
        _summed(d_v, shapes[2]),
        d_bias.reshape(call.bias_shape) if of_bias and call.bias is not None and d_bias is not None else None,
        d_table if of_bias and call.table is not None else None,
        _of_sinks(call, lse, delta, sums),
    )


def _with_strip(whole: np.ndarray | None, part: np.ndarray, call: Call, rows: slice) -> np.ndarray:
    """The bias's gradient with what a strip of queries adds to it: as it is, where that strip is all there is."""
    if rows == slice(None):
        return part
    whole = np.zeros(_at_least_2d(call.bias_shape), call.kind) if whole is None else whole
    whole[..., rows if whole.shape[-2] == call.n_q else slice(None), :] += part
    return whole


def _with_many_axes(
    call: Call,
    output: np.ndarray,
    lse: np.ndarray,
    gradient: np.ndarray,
    lse_gradient: np.ndarray | None,
    *,
    sums: Sums,
    shapes: Sequence[tuple[int, ...]],
    of_bias: bool,
) -> Gradients:
    """The gradients of a call whose batch axes were made one: with that one axis, then with all of them again."""
    assert call.many_axes is not None
    axes = call.many_axes

    def one(x: np.ndarray) -> np.ndarray:
        return x.reshape(*call.batch_shape, *x.shape[len(axes) :])

    def many(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return _summed(x.reshape(*(axes if x.shape[0] == call.batch_shape[0] else ()), *x.shape[1:]), shape)

    bias_shape = () if call.bias is None else (*call.bias.shape[:-2], *_at_least_2d(call.bias_shape)[-2:])
    found = gradients(
        replace(call, many_axes=None, bias_shape=bias_shape),
        one(output),
        one(lse),
        one(gradient),
        None if lse_gradient is None else one(lse_gradient),
        sums=sums,
        shapes=[(*call.batch_shape, *x.shape[-3:]) for x in (call.q, call.k, call.v)],
        of_bias=of_bias,
    )
    d_q, d_k, d_v = (many(x, shape) for x, shape in zip((found.q, found.k, found.v), shapes, strict=True))
    return found._replace(
        q=d_q, k=d_k, v=d_v, bias=None if found.bias is None else many(found.bias, call.bias_shape)
    )  # fmt: skip


class _Pass:
    """The backward kernel on one strip of a call, and the arrays it fills."""

    def __init__(self, call: Call, sums: Sums, gradient: np.ndarray, delta: np.ndarray, of_bias: bool) -> None:
        self.call, kind = call, call.kind
        shared = of_bias and call.bias is not None and self._is_shared()
        self.plan = plan = backward_plan(shape_of(call), shared)
        self.sums, self.gradient, self.delta = sums, gradient, delta
        lead = (*call.batch_shape, call.kv_heads) if call.has_heads else ()
        self.d_q = np.empty((plan.splits, *(call.lead or (1,)), call.n_q, call.q.shape[-1]), kind)
        self.d_k = np.empty((*lead, call.n_k, call.k.shape[-1]), kind)
        self.d_v = np.empty((*lead, call.n_k, call.d_v), kind)
        self.d_bias = self._room_for_bias(shared) if of_bias else None

    def run(self) -> None:
        call, plan = self.call, self.plan
        described = Description(call, plan)
        block, panel = backward.scratch_for(call.kind.itemsize, plan.width, call.q.shape[-1], call.d_v)
        description = backward.Backward(
            job=described.job(self.gradient, None, self.sums),
            gradient=described.matrix(self.gradient),
            delta=described.column(self.delta),
            d_query=described.matrix(self.d_q),
            d_key=described.matrix(self.d_k, of_keys=True),
            d_value=described.matrix(self.d_v, of_keys=True),
            d_bias=ABSENT if self.d_bias is None else self._strided_bias(described, self.d_bias),
            block=block,
            panel=panel,
            panel_size=panel.end,
        )
        room = plan.scratch.end + block.end + plan.panels * panel.end
        paired = computed_as(call) == PAIRS and stored_kind(self.gradient.dtype) == BFLOAT16
        kind = PAIRS if paired else call.kind
        launch_packed(backward.run, pack(description), kind, plan.tasks, room, 2.5 * operations(call))

    def queries_gradient(self) -> np.ndarray:
        """Summed over the parts of the keys, in order."""
        whole = self.d_q[0] if self.plan.splits == 1 else self.d_q.sum(axis=0)
        return whole if self.call.lead else whole[0]

    def _bias_shape(self) -> tuple[int, ...]:
        """The shape of the bias's gradient: that of the bias as it was given, for this strip's queries."""
        *lead, n_q, n_k = _at_least_2d(self.call.bias_shape)
        return (*lead, 1 if n_q == 1 else self.call.n_q, n_k)

    def _is_shared(self) -> bool:
        """Whether several heads add to the same large gradient, so that they must take turns."""
        *lead, n_q, n_k = self._bias_shape()
        return math.prod(lead) < math.prod(self.call.lead) and n_q > 1 and n_k > 1

    def _room_for_bias(self, shared: bool) -> np.ndarray | None:
        """Where dS is added up: no two tasks may add to the same number."""
        call, kind = self.call, self.call.kind
        lead = call.lead or (1,)
        if call.table is not None:
            return np.zeros((self.plan.splits, *lead, call.table.shape[1] + WIDEST * TARGET.vector_bytes), kind)
        if call.bias is None:
            return None
        *own, n_q, n_k = self._bias_shape()
        if shared:
            return np.zeros((*own, n_q, n_k), kind)
        return np.zeros((self.plan.splits if n_k == 1 else 1, *lead, n_q, n_k), kind)

    def _strided_bias(self, described: Description, x: np.ndarray) -> Strided:
        if self.call.table is not None:
            return described.strided(x[..., self.call.n_k - 1 :], x.shape[:-1], x.itemsize, -x.itemsize)
        steps = [stride if size > 1 else 0 for size, stride in zip(x.shape[-2:], x.strides[-2:], strict=True)]
        return described.strided(x, x.shape[:-2], steps[0], steps[1])

    def bias_gradient(self) -> np.ndarray:
        """The gradient summed down to the shape of the bias, or of its table of distances."""
        x = self.d_bias
        assert x is not None
        if self.call.table is not None:
            x = x[..., : self.call.table.shape[1]]
            x = x.sum(axis=tuple(range(x.ndim - 2)))
            return x if self.call.table.shape[0] > 1 else x.sum(axis=0, keepdims=True)
        shape = self._bias_shape()
        if x.shape == shape:
            return x
        x = x[0] if len(x) == 1 else x.sum(axis=0)
        return _summed(x.reshape(*self.call.lead, *x.shape[-2:]), shape)


def _at_least_2d(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (1,) * (2 - len(shape)) + shape


def _of_sinks(call: Call, lse: np.ndarray, delta: np.ndarray, sums: Sums) -> np.ndarray | None:
    """A sink takes weight and gives nothing: more of it takes away from what the output was worth."""
    if call.sinks is None:
        return None
    sinks = np.broadcast_to(call.sinks.astype(call.kind), (call.heads,))
    with np.errstate(invalid="ignore"):
        # in powers of two, rounded as they were when the sums began with them
        exponent = (sinks.astype(np.float64) * LOG2E).astype(call.kind)[:, None] - sums.top
        weight = (np.exp2(exponent) / sums.total).reshape(lse.shape)
    each = -np.where(np.isneginf(lse), 0, weight * delta).sum(axis=-1, dtype=np.float64)
    each = each.reshape(math.prod(call.batch_shape), call.heads).sum(axis=0)
    return _summed(each, call.sinks.shape).astype(call.kind)


def _summed(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """x summed over the axes that `shape` has not, or has only once."""
    extra = x.ndim - len(shape)
    if extra:
        x = x.sum(axis=tuple(range(extra)))
    over = tuple(axis for axis, (a, b) in enumerate(zip(x.shape, shape, strict=True)) if a != b)
    return x.sum(axis=over, keepdims=True) if over else x
