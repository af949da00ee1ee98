"""Attention as operators that torch.compile puts into its graphs: forward and backward, each with its shapes.

A graph holds tensors and numbers. A mask is neither, so it goes in as a number, under which the operator finds it when
the graph runs, and settles what it means for the sizes there are then. torch guards the mask that a number was given
for: called with another one, the function is compiled again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from clearhead import masks
from clearhead.biases import RelativeBias as NumpyRelativeBias
from clearhead.call import MOST_BATCH_AXES, leading_axes
from clearhead.masks.mask import of_terms
from clearhead.torch.biases import RelativeBias
from clearhead.torch.derivative import Mask, computed, derived

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


def _options(
    additive: str, scale: float | None, softcap: float | None, dropout: float, seed: int | None, part: list[int] | None
) -> dict[str, Any]:
    return {
        "additive": additive, "scale": scale, "softcap": softcap, "dropout": dropout, "seed": seed,
        "part": None if part is None else tuple(part),
    }  # fmt: skip


def _mask_of(flags: torch.Tensor | None, number: int) -> Mask | None:
    return flags if flags is not None else _numbered[number] if number else None


@torch.library.custom_op(
    "clearhead::attention", mutates_args=(), schema=f"({TENSORS}, {OPTIONS}) -> (Tensor, Tensor, Tensor, Tensor)"
)
def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    bias: torch.Tensor | None,
    sinks: torch.Tensor | None,
    flags: torch.Tensor | None,
    mask: int,
    additive: str,
    scale: float | None,
    softcap: float | None,
    dropout: float,
    seed: int | None,
    part: list[int] | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A call's output, its lse, and the two sums that its derivative needs."""
    options = _options(additive, scale, softcap, dropout, seed, part)
    output, lse, top, total = computed(q, k, v, bias, None, sinks, _mask_of(flags, mask), options)
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
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    bias: torch.Tensor | None,
    sinks: torch.Tensor | None,
    flags: torch.Tensor | None,
    output: torch.Tensor,
    lse: torch.Tensor,
    top: torch.Tensor,
    total: torch.Tensor,
    gradient: torch.Tensor,
    lse_gradient: torch.Tensor | None,
    mask: int,
    additive: str,
    scale: float | None,
    softcap: float | None,
    dropout: float,
    seed: int | None,
    part: list[int] | None,
    of_bias: bool,
    of_sinks: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of q, k and v, and of the bias and the sinks where they are wanted; empty where they are not."""
    options = _options(additive, scale, softcap, dropout, seed, part)
    wanted = (True, True, True, of_bias, False, of_sinks)
    found = derived(
        q, k, v, bias, None, sinks, output, lse, top, total, gradient, lse_gradient, _mask_of(flags, mask), options,
        wanted,
    )  # fmt: skip
    d_q, d_k, d_v, d_bias, _, d_sinks = (x if x is not None else q.new_empty(0) for x in found)
    return d_q, d_k, d_v, d_bias, d_sinks


@attention_backward.register_fake
def _gradient_shapes(*values: Any) -> tuple[torch.Tensor, ...]:
    q, k, v, bias, sinks, *_, of_bias, of_sinks = values
    d_bias, d_sinks = (
        x.new_empty(x.shape) if wanted else q.new_empty(0) for x, wanted in ((bias, of_bias), (sinks, of_sinks))
    )
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape), d_bias, d_sinks


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
