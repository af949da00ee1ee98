"""Attention as operators that torch.compile puts into its graphs: forward and backward, each with its shapes.

A graph holds tensors and numbers. A mask is neither, so it goes in as a number, under which the operator finds it when
the graph runs, and settles what it means for the sizes there are then. torch guards the mask that a number was given
for: called with another one, the function is compiled again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from clearhead import masks
from clearhead.biases import RelativeBias as NumpyRelativeBias
from clearhead.call import MOST_BATCH_AXES, leading_axes
from clearhead.kernels.layout import lies_heads_last
from clearhead.masks.mask import of_terms
from clearhead.torch.biases import RelativeBias
from clearhead.torch.derivative import Given, Inputs, Mask, Results, computed, derived

TENSORS = "Tensor q, Tensor k, Tensor v, Tensor? bias, Tensor? sinks, Tensor? flags"
OPTIONS = "int mask, str additive, float? scale, float? softcap, float dropout, SymInt? seed, SymInt[]? part"

_numbered: dict[int, masks.Mask] = {}  # a graph may run as long as the process does


def fits_a_graph(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: Any) -> bool:
    """Whether a call can be an operator's. A bias by distance is worked out in Python, call by call."""
    axes = max(q.ndim, k.ndim, v.ndim) - 3
    return not isinstance(bias, (RelativeBias, NumpyRelativeBias)) and axes <= MOST_BATCH_AXES


@torch.compiler.disable(reason="clearhead works this call out in Python")
def outside_a_graph(call: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    """What a call gives, between two graphs."""
    return call(*inputs, **options)


def in_a_graph(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Mask | None,
    *,
    bias: torch.Tensor | None,
    sinks: torch.Tensor | None,
    additive: str,
    scale: float | None,
    softcap: float | None,
    dropout: float,
    seed: int | None,
    part: tuple[int, ...] | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The output and the lse of a call, as an operator of the graph that is being made."""
    flags = mask if isinstance(mask, torch.Tensor) else None
    number = 0
    if isinstance(mask, masks.Mask):  # torch knows the object only if it was made outside the graph
        terms = mask.terms()
        number = number_of(mask) if terms is None else number_of_terms(terms)
    output, lse, _, _ = attention(
        q, k, v, bias, sinks, flags, number, additive, scale, softcap, dropout, seed, None if part is None else [*part]
    )
    return output, lse


@torch.compiler.assume_constant_result
def number_of_terms(terms: tuple[Any, ...]) -> int:
    """The number of the mask that these terms make."""
    return number_of(of_terms(terms))


@torch.compiler.assume_constant_result
def number_of(mask: masks.Mask) -> int:
    """The number of a mask; masks that mean the same share one."""
    for number, other in _numbered.items():
        if mask is other or (mask.terms() is not None and mask.terms() == other.terms()):
            return number
    _numbered[len(_numbered) + 1] = mask
    return len(_numbered)


class Settings(NamedTuple):
    """What an operator takes beside tensors, in the order of OPTIONS."""

    mask: int  # the number of one, or 0
    additive: str
    scale: float | None
    softcap: float | None
    dropout: float
    seed: int | None
    part: list[int] | None

    def inputs(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        bias: torch.Tensor | None,
        sinks: torch.Tensor | None,
        flags: torch.Tensor | None,
    ) -> Inputs:
        """The call, of the operator's tensors."""
        mask = flags if flags is not None else _numbered[self.mask] if self.mask else None
        options = self._asdict() | {"part": None if self.part is None else tuple(self.part)}
        del options["mask"]
        return Inputs(q, k, v, bias, None, sinks, mask, options)


@torch.library.custom_op(
    "clearhead::attention", mutates_args=(), schema=f"({TENSORS}, {OPTIONS}) -> (Tensor, Tensor, Tensor, Tensor)"
)
def attention(*values: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A call's output, its lse, and the two sums that its derivative needs."""
    output, lse, top, total = computed(Settings(*values[6:]).inputs(*values[:6]))
    return output, lse, top, total


@attention.register_fake
def _shapes(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *options: Any) -> tuple[torch.Tensor, ...]:
    batch, heads, _ = leading_axes(q, k, v, torch.broadcast_shapes)
    lead = (*batch, heads) if max(q.ndim, k.ndim, v.ndim) > 2 else ()
    kind = torch.float64 if torch.float64 in (q.dtype, k.dtype, v.dtype) else torch.float32
    rows = (*batch, heads, q.shape[-2])
    output = q.new_empty((*batch, q.shape[-2], heads, v.shape[-1])).transpose(-3, -2)  # as `empty_output` lays it
    return (
        output if lead else output[0],
        q.new_empty((*lead, q.shape[-2]), dtype=kind),
        q.new_empty(rows, dtype=kind),
        q.new_empty(rows, dtype=kind),
    )


@torch.library.custom_op(
    "clearhead::attention_backward",
    mutates_args=(),
    schema=f"({TENSORS}, Tensor output, Tensor lse, Tensor top, Tensor total, Tensor gradient, Tensor? lse_gradient, "
    f"{OPTIONS}, bool of_bias, bool of_sinks) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)
def attention_backward(
    *values: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of q, k and v, and of the bias and the sinks where they are wanted; empty where they are not."""
    *settings, of_bias, of_sinks = values[12:]
    inputs, wanted = Settings(*settings).inputs(*values[:6]), (True, True, True, of_bias, False, of_sinks)
    found = derived(inputs, Results(*values[6:10]), Given(values[10], values[11], wanted))
    d_q, d_k, d_v, d_bias, _, d_sinks = (x if x is not None else inputs.q.new_empty(0) for x in found)
    return d_q, d_k, d_v, d_bias, d_sinks


@attention_backward.register_fake
def _gradient_shapes(*values: Any) -> tuple[torch.Tensor, ...]:
    q, k, v, bias, sinks, *_, of_bias, of_sinks = values
    d_bias, d_sinks = (
        x.new_empty(x.shape) if wanted else q.new_empty(0) for x, wanted in ((bias, of_bias), (sinks, of_sinks))
    )
    return *(_laid_like(x) for x in (q, k, v)), d_bias, d_sinks


def _laid_like(x: torch.Tensor) -> torch.Tensor:
    """A gradient of x, as `derived` lays it."""
    if not lies_heads_last(x.stride()):
        return x.new_empty(x.shape)
    return x.new_empty(x.transpose(-3, -2).shape).transpose(-3, -2)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
    tensors, ctx.numbers = inputs[:6], inputs[6:]
    ctx.save_for_backward(*tensors, *output)
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(*output[2:])


def _backward(ctx: Any, gradient: torch.Tensor | None, lse_gradient: torch.Tensor | None, *_: Any) -> tuple[Any, ...]:
    nothing = (None,) * (1 + len(ctx.numbers))
    if gradient is None and lse_gradient is None:
        return (None,) * 5 + nothing
    q, k, v, bias, sinks, flags, output, lse, top, total = ctx.saved_tensors
    wanted = ctx.needs_input_grad[3], ctx.needs_input_grad[4]
    gradient = torch.zeros_like(output) if gradient is None else gradient
    *found, d_bias, d_sinks = attention_backward(
        q, k, v, bias, sinks, flags, output, lse, top, total, gradient, lse_gradient, *ctx.numbers, *wanted
    )
    return (*found, d_bias if wanted[0] else None, d_sinks if wanted[1] else None, *nothing)


attention.register_autograd(_backward, setup_context=_keep)
