"""A call of the kernels as autograd sees it: computed, differentiated once, and refused where it cannot be.

torch knows two ways to write such a function. The one that torch.func can look into costs 100 µs a call, most of it for
binding arguments to names; so it is taken only where a transform of torch.func is at work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from clearhead import kernels, masks
from clearhead.call import Call, prepare
from clearhead.kernels.known import Known
from clearhead.tensors import to_numpy, to_torch
from clearhead.torch.biases import constant

Mask = masks.Mask | torch.Tensor

KINDS = {np.dtype(np.float32): torch.float32, np.dtype(np.float64): torch.float64}  # that are computed in


def differentiable(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    bias: torch.Tensor | None,
    table: torch.Tensor | None,
    sinks: torch.Tensor | None,
    mask: Mask | None,
    options: dict[str, Any],
    known: Known | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The output and the lse of a call, both of which gradients reach; `known` if one like it has been seen."""
    mask = masks.Once(mask) if isinstance(mask, masks.Mask) else mask  # what forward asks, backward need not
    inputs = (q, k, v, bias, table, sinks, mask, options, known)
    output, lse, *_ = (_Attention if transformed() else _Direct).apply(*inputs)
    return output, lse


def transformed() -> bool:
    """Whether a transform of torch.func is at work."""
    return bool(torch._C._are_functorch_transforms_active())


class _Attention(torch.autograd.Function):
    """One call of the kernels, and its derivative."""

    @staticmethod
    def forward(*inputs: Any) -> tuple[torch.Tensor, ...]:
        return computed(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        *tensors, mask, options, _ = inputs
        ctx.mark_non_differentiable(*output[2:])  # the sums, for the backward pass alone
        flags = mask if isinstance(mask, torch.Tensor) else None  # saved, so that torch notices if it is changed
        ctx.save_for_backward(*tensors, *output, flags)
        ctx.mask, ctx.options = None if flags is not None else mask, options
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(
        ctx: Any, gradient: torch.Tensor | None, lse_gradient: torch.Tensor | None, *_: None
    ) -> tuple[Any, ...]:
        if gradient is None and lse_gradient is None:
            return (None,) * 9
        wanted = tuple(ctx.needs_input_grad[:6])
        *saved, flags = ctx.saved_tensors
        mask = ctx.mask if flags is None else flags
        derivative = _Gradient if transformed() else _DirectGradient
        return *derivative.apply(*saved, gradient, lse_gradient, mask, ctx.options, wanted), None, None, None

    @staticmethod
    def vmap(*_: Any) -> Any:
        raise NotImplementedError(
            "clearhead.torch.attention does not run under torch.func.vmap; give it the whole batch instead: "
            "it takes any number of leading axes"
        )

    @staticmethod
    def jvp(*_: Any) -> Any:
        raise NotImplementedError(
            "clearhead.torch.attention has no forward-mode derivative; use backward, torch.autograd.grad or "
            "torch.func.vjp"
        )


class _Gradient(torch.autograd.Function):
    """The derivative of one call. A function of its own, so that torch.func sees plain tensors here too."""

    @staticmethod
    def forward(*inputs: Any) -> tuple[torch.Tensor | None, ...]:
        return derived(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Nothing is kept: there is no second derivative."""

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise NotImplementedError("clearhead.torch.attention can be differentiated once, not twice")

    vmap = _Attention.vmap
    jvp = _Attention.jvp  # type: ignore[assignment]


class _Direct(torch.autograd.Function):
    """`_Attention`, for where no transform of torch.func is at work."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[torch.Tensor, ...]:
        output = computed(*inputs)
        _Attention.setup_context(ctx, inputs, output)
        return output

    backward = _Attention.backward
    jvp = _Attention.jvp  # type: ignore[assignment]


class _DirectGradient(torch.autograd.Function):
    """`_Gradient`, for where no transform of torch.func is at work."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[torch.Tensor | None, ...]:
        return derived(*inputs)

    backward = _Gradient.backward
    jvp = _Attention.jvp  # type: ignore[assignment]


def computed(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    bias: torch.Tensor | None,
    table: torch.Tensor | None,
    sinks: torch.Tensor | None,
    mask: Mask | None,
    options: dict[str, Any],
    known: Known | None = None,
) -> tuple[torch.Tensor, ...]:
    """A call's output, its lse, and the two sums that its derivative needs."""
    if known is not None:
        return _filled(known, q, k, v)
    call = prepared(q, k, v, bias, table, sinks, mask, options)
    output, lse, sums = kernels.launch.compute_with_sums(call, heads_last=True)
    assert lse is not None
    assert sums is not None
    return to_torch(output), to_torch(lse), to_torch(sums.top), to_torch(sums.total)


def _filled(known: Known, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The output, the lse and the sums of a call like one before."""
    kind = KINDS[known.kind]
    output = q.new_empty_strided(known.output, known.strides)
    lse, top, total = (q.new_empty(shape, dtype=kind) for shape in (known.rows, known.sums, known.sums))
    known.fill(*(x.data_ptr() for x in (q, k, v, output, lse, top, total)))
    return output, lse, top, total


def derived(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    bias: torch.Tensor | None,
    table: torch.Tensor | None,
    sinks: torch.Tensor | None,
    output: torch.Tensor,
    lse: torch.Tensor,
    top: torch.Tensor,
    total: torch.Tensor,
    gradient: torch.Tensor | None,
    lse_gradient: torch.Tensor | None,
    mask: Mask | None,
    options: dict[str, Any],
    wanted: tuple[bool, ...],
) -> tuple[torch.Tensor | None, ...]:
    """The gradients of q, k, v, bias, table and sinks that are wanted, from those of the output and of the lse."""
    gradient = torch.zeros_like(output) if gradient is None else gradient
    found = kernels.gradients.gradients(
        prepared(q, k, v, bias, table, sinks, mask, options, again=True),
        to_numpy(output),
        to_numpy(lse),
        to_numpy(gradient),
        None if lse_gradient is None else to_numpy(lse_gradient),
        shapes=(tuple(q.shape), tuple(k.shape), tuple(v.shape)),
        of_bias=wanted[3] or wanted[4],
        sums=kernels.sums.Sums(to_numpy(top), to_numpy(total)),
    )
    inputs = (q, k, v, bias, table, sinks)
    return tuple(
        to_torch(np.require(g, requirements="C")).to(x.dtype) if need and g is not None and x is not None else None
        for g, x, need in zip(found, inputs, wanted, strict=True)
    )


def prepared(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    bias: torch.Tensor | None,
    table: torch.Tensor | None,
    sinks: torch.Tensor | None,
    mask: Mask | None,
    options: dict[str, Any],
    *,
    again: bool = False,
) -> Call:
    """The call the kernels get, over the tensors' own memory."""
    options = dict(options)
    relative, name = options.pop("relative", None), options.pop("additive")
    added = {"mask": to_numpy(mask) if isinstance(mask, torch.Tensor) else mask, "bias": relative}
    if table is not None:
        added["bias"] = constant(to_numpy(table))
    elif bias is not None:
        added["bias" if again else name] = to_numpy(bias)
    return prepare(
        to_numpy(q),
        to_numpy(k),
        to_numpy(v),
        sinks=None if sinks is None else to_numpy(sinks),
        lse=True,
        again=again,
        **added,
        **options,
    )
