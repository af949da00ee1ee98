"""A call of the kernels as autograd sees it: computed, differentiated once, and refused where it cannot be.

torch knows two ways to write such a function. The one that torch.func can look into costs 100 µs a call, most of it for
binding arguments to names; so it is taken only where a transform of torch.func is at work.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import torch

from clearhead import kernels, masks
from clearhead.call import Call, prepare
from clearhead.kernels.known_call import Known
from clearhead.kernels.known_gradients import Addresses, KnownGradients
from clearhead.kernels.layout import lies_heads_last
from clearhead.tensors import to_numpy, to_torch
from clearhead.torch.biases import constant
from clearhead.torch.plain import is_plain, key_of, transformed

Mask = masks.Mask | torch.Tensor

KINDS = {np.dtype(np.float32): torch.float32, np.dtype(np.float64): torch.float64}  # that are computed in


class Inputs(NamedTuple):
    """What goes into a call; `known` if one like it has been seen. Gradients reach all that comes before the mask."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    bias: torch.Tensor | None = None
    table: torch.Tensor | None = None
    sinks: torch.Tensor | None = None
    mask: Mask | None = None
    options: dict[str, Any] = {}  # noqa: RUF012, never written to
    known: Known | None = None
    remembered_as: tuple[Hashable, int] | None = None  # the key of a plain call that is new, and what is wanted of it

    @property
    def tensors(self) -> tuple[torch.Tensor | None, ...]:
        return self.q, self.k, self.v, self.bias, self.table, self.sinks


TENSORS = Inputs._fields.index("mask")  # how many gradients can be wanted
BIAS = Inputs._fields.index("bias")  # what comes before it has heads, rows and columns


class Results(NamedTuple):
    """What comes out: the output, its lse, and the two sums that its derivative needs."""

    output: torch.Tensor
    lse: torch.Tensor
    top: torch.Tensor
    total: torch.Tensor


class Given(NamedTuple):
    """What a derivative is given: the gradients of the output and of the lse, and which of the inputs' are wanted."""

    gradient: torch.Tensor | None
    lse_gradient: torch.Tensor | None
    wanted: tuple[bool, ...]  # of q, k, v, bias, table and sinks


def differentiable(inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
    """The output and the lse of a call, both of which gradients reach."""
    if isinstance(inputs.mask, masks.Mask):  # what forward asks, backward need not
        inputs = inputs._replace(mask=masks.Once(inputs.mask))
    output, lse, *_ = (_Attention if transformed() else _Direct).apply(*inputs)  # autograd sees only what is apart
    return output, lse


class _Attention(torch.autograd.Function):
    """One call of the kernels, and its derivative."""

    @staticmethod
    def forward(*inputs: Any) -> Results:
        return computed(Inputs(*inputs))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        given, results = Inputs(*inputs), Results(*output)
        ctx.mark_non_differentiable(results.top, results.total)  # for the backward pass alone
        flags = given.mask if isinstance(given.mask, torch.Tensor) else None  # saved: torch notices if it is changed
        ctx.save_for_backward(*given.tensors, flags, *results)
        ctx.mask, ctx.options = None if flags is not None else given.mask, given.options
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(
        ctx: Any, gradient: torch.Tensor | None, lse_gradient: torch.Tensor | None, *_: None
    ) -> tuple[Any, ...]:
        if gradient is None and lse_gradient is None:
            return (None,) * len(Inputs._fields)
        given = Given(gradient, lse_gradient, ctx.needs_input_grad[:TENSORS])
        saved = ctx.saved_tensors
        flags, results = saved[TENSORS], Results(*saved[TENSORS + 1 :])
        inputs = Inputs._make((*saved[:TENSORS], ctx.mask if flags is None else flags, ctx.options, None, None))
        if torch.is_grad_enabled() or transformed():  # somebody may want to differentiate what comes out
            found = (_Gradient if transformed() else _DirectGradient).apply(*inputs, *results, *given)
        else:
            found = derived(inputs, results, given)
        return (*found, *(None,) * (len(Inputs._fields) - TENSORS))

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
    def forward(*values: Any) -> tuple[torch.Tensor | None, ...]:
        return derived(*_told_apart(values))

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
    def forward(ctx: Any, *inputs: Any) -> Results:
        output = computed(Inputs(*inputs))
        _Attention.setup_context(ctx, inputs, output)
        return output

    backward = _Attention.backward
    jvp = _Attention.jvp  # type: ignore[assignment]


class _DirectGradient(torch.autograd.Function):
    """`_Gradient`, for where no transform of torch.func is at work."""

    @staticmethod
    def forward(ctx: Any, *values: Any) -> tuple[torch.Tensor | None, ...]:
        return derived(*_told_apart(values))

    backward = _Gradient.backward
    jvp = _Attention.jvp  # type: ignore[assignment]


def _told_apart(values: tuple[Any, ...]) -> tuple[Inputs, Results, Given]:
    """What `_Gradient` is applied to, which autograd wants in a row."""
    ends = len(Inputs._fields), len(Inputs._fields) + len(Results._fields)
    return Inputs(*values[: ends[0]]), Results(*values[ends[0] : ends[1]]), Given(*values[ends[1] :])


def computed(inputs: Inputs) -> Results:
    """A call's output, its lse, and the two sums that its derivative needs."""
    if inputs.known is not None:
        return _filled(inputs.known, inputs)
    call = prepared(inputs)
    output, lse, sums = kernels.launch.compute_with_sums(call, heads_last=True)
    if inputs.remembered_as is not None:
        key, wanted = inputs.remembered_as
        kernels.known.remember(key, call, wanted, heads_last=True)
    assert lse is not None
    assert sums is not None
    return Results(to_torch(output), to_torch(lse), to_torch(sums.top), to_torch(sums.total))


def _filled(known: Known, inputs: Inputs) -> Results:
    """The results of a call like one before."""
    q, k, v, kind = inputs.q, inputs.k, inputs.v, KINDS[known.kind]
    output = q.new_empty_strided(known.output, known.strides)
    like = q if q.dtype == kind else q.new_empty((), dtype=kind)  # naming a type takes a microsecond
    lse, top, total = (like.new_empty(shape) for shape in (known.rows, known.sums, known.sums))
    known.fill(*(x.data_ptr() for x in (q, k, v, output, lse, top, total)))
    return Results(output, lse, top, total)


def derived(inputs: Inputs, results: Results, given: Given) -> tuple[torch.Tensor | None, ...]:
    """The gradients of q, k, v, bias, table and sinks that are wanted, from those of the output and of the lse."""
    gradient = torch.zeros_like(results.output) if given.gradient is None else given.gradient
    key = _key_of(inputs, results, gradient) if given.lse_gradient is None else None
    if key is not None and (known := kernels.known_gradients.find(key)) is not None:
        filled = _filled_gradients(known, inputs, results, gradient)
        return *(x if need else None for x, need in zip(filled, given.wanted, strict=False)), None, None, None
    call, sums = prepared(inputs, again=True), kernels.sums.Sums(to_numpy(results.top), to_numpy(results.total))
    found = kernels.gradients.gradients(
        call,
        to_numpy(results.output),
        to_numpy(results.lse),
        to_numpy(gradient),
        None if given.lse_gradient is None else to_numpy(given.lse_gradient),
        shapes=(tuple(inputs.q.shape), tuple(inputs.k.shape), tuple(inputs.v.shape)),
        of_bias=given.wanted[3] or given.wanted[4],
        sums=sums,
    )
    if key is not None:
        kernels.known_gradients.remember(key, call, sums, to_numpy(results.output), to_numpy(gradient))
    return tuple(
        _tensor(g, heads_last=n < BIAS and lies_heads_last(x.stride())).to(x.dtype)
        if need and g is not None and x is not None
        else None
        for n, (g, x, need) in enumerate(zip(found, inputs.tensors, given.wanted, strict=True))
    )


def _tensor(gradient: np.ndarray, *, heads_last: bool) -> torch.Tensor:
    """A gradient as a tensor, dense, with the heads of each row side by side in memory or not."""
    if not heads_last:
        return to_torch(np.require(gradient, requirements="C"))
    return to_torch(np.require(gradient.swapaxes(-3, -2), requirements="C")).transpose(-3, -2)


def _key_of(inputs: Inputs, results: Results, gradient: torch.Tensor) -> Hashable | None:
    """What tells the derivatives of plain calls apart, or None for one of another call.

    What was saved may come back from somebody's hooks, and then lie elsewhere than it did.
    """
    options, mask = inputs.options, inputs.mask
    more = inputs.bias, inputs.table, inputs.sinks, options.get("relative"), options.get("part")
    if any(x is not None for x in more) or options.get("dropout") or not is_plain(gradient):
        return None
    if not (results.top.is_contiguous() and results.total.is_contiguous()):
        return None
    wanted = gradient.stride(), gradient.dtype, results.output.stride()
    mask = mask.mask if isinstance(mask, masks.Once) else mask
    return key_of(inputs.q, inputs.k, inputs.v, mask, options["scale"], options["softcap"], wanted)


def _filled_gradients(
    known: KnownGradients, inputs: Inputs, results: Results, gradient: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """The gradients of q, k and v, of a call like one before."""
    q, k, v, kind = inputs.q, inputs.k, inputs.v, KINDS[known.kind]
    same = q.dtype == kind == k.dtype == v.dtype
    like = q if same else q.new_empty((), dtype=kind)
    d_q, d_k, d_v = (
        like.new_empty_strided(x.shape, strides[-x.ndim :]) for x, strides in zip((q, k, v), known.strides, strict=True)
    )
    parts = d_q
    if known.splits > 1:
        apart, *own = known.strides[0]
        parts = like.new_empty_strided((known.splits, *q.shape), (apart, *own[-q.ndim :]))
    tensors = q, k, v, results.top, results.total, results.output, gradient, parts, d_k, d_v
    known.fill(Addresses._make([x.data_ptr() for x in tensors]))
    if known.splits > 1:
        np.sum(parts.numpy(), axis=0, out=d_q.numpy())  # in the order in which a new pass sums
    return (d_q, d_k, d_v) if same else (d_q.to(q.dtype), d_k.to(k.dtype), d_v.to(v.dtype))


def prepared(inputs: Inputs, *, again: bool = False) -> Call:
    """The call the kernels get, over the tensors' own memory."""
    q, k, v, bias, table, sinks, mask, options, *_ = inputs
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
