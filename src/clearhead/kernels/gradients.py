"""From a checked call and the gradient of its output to the gradients of what went in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels.backward_pass import Pass, at_least_2d, summed
from clearhead.kernels.job import LOG2E
from clearhead.kernels.sums import Sums


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
    delta: np.ndarray | None = None
    if lse_gradient is not None:  # ∂lse/∂S is P, so the lse's gradient joins dS where Δ is taken away
        delta = np.negative(np.where(np.isneginf(lse), 0, lse_gradient), dtype=kind)
    d_bias: np.ndarray | None = None
    d_table = np.zeros(call.table.shape if call.table is not None else (), kind)
    of_queries, d_k, d_v = [], None, None
    for strip, rows in call.strips():
        part = Pass(
            strip, sums.of((..., rows)), output[..., rows, :], gradient[..., rows, :],
            delta=None if delta is None else delta[..., rows], of_bias=of_bias,
        )  # fmt: skip
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
        summed(d_q, shapes[0]),
        summed(d_k, shapes[1]),
        summed(d_v, shapes[2]),
        d_bias.reshape(call.bias_shape) if of_bias and call.bias is not None and d_bias is not None else None,
        d_table if of_bias and call.table is not None else None,
        None if call.sinks is None else _of_sinks(call, lse, _whole_delta(gradient, output, delta, kind), sums),
    )


def _whole_delta(gradient: np.ndarray, output: np.ndarray, added: np.ndarray | None, kind: np.dtype[Any]) -> np.ndarray:
    """Σ dO ∘ O of each query, and what is added to it: (…, n_q)"""
    whole = np.einsum("...d,...d->...", gradient.astype(kind, copy=False), output.astype(kind, copy=False))
    return whole if added is None else whole + added


def _with_strip(whole: np.ndarray | None, part: np.ndarray, call: Call, rows: slice) -> np.ndarray:
    """The bias's gradient with what a strip of queries adds to it: as it is, where that strip is all there is."""
    if rows == slice(None):
        return part
    whole = np.zeros(at_least_2d(call.bias_shape), call.kind) if whole is None else whole
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
        return summed(x.reshape(*(axes if x.shape[0] == call.batch_shape[0] else ()), *x.shape[1:]), shape)

    bias_shape = () if call.bias is None else (*call.bias.shape[:-2], *at_least_2d(call.bias_shape)[-2:])
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


def _of_sinks(call: Call, lse: np.ndarray, delta: np.ndarray, sums: Sums) -> np.ndarray:
    """A sink takes weight and gives nothing: more of it takes away from what the output was worth."""
    assert call.sinks is not None
    sinks = np.broadcast_to(call.sinks.astype(call.kind), (call.heads,))
    with np.errstate(invalid="ignore"):
        # in powers of two, rounded as they were when the sums began with them
        exponent = (sinks.astype(np.float64) * LOG2E).astype(call.kind)[:, None] - sums.top
        weight = (np.exp2(exponent) / sums.total).reshape(lse.shape)
    each = -np.where(np.isneginf(lse), 0, weight * delta).sum(axis=-1, dtype=np.float64)
    each = each.reshape(math.prod(call.batch_shape), call.heads).sum(axis=0)
    return np.asarray(summed(each, call.sinks.shape), call.kind)
