"""Attention on torch tensors, differentiable.

`clearhead.attention` and its backward kernel under autograd. CPU tensors are read where they lie; tensors on another
device, for which there are no kernels, take the way in `fallback`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, Unpack, overload

import numpy as np
import torch
from jaxtyping import Bool, Float

from clearhead import checks, kernels, masks, names
from clearhead.biases import RelativeBias as NumpyRelativeBias
from clearhead.call import Options, Part, checked_part, refuse_slow
from clearhead.kernels.explanation import Explanation
from clearhead.kernels.known_call import LSE, OUTPUT, SUMS
from clearhead.tensors import to_numpy
from clearhead.torch import fallback
from clearhead.torch.biases import RelativeBias, constant
from clearhead.torch.derivative import Inputs, Mask, differentiable
from clearhead.torch.known import attend, differentiated
from clearhead.torch.padding import warn_of_float_flags
from clearhead.torch.plain import key_of

Bias = RelativeBias | NumpyRelativeBias | torch.Tensor

FLOAT_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
STRUCTURES: dict[str, tuple[type, ...]] = {
    "mask": (masks.Mask,),
    "bias": (RelativeBias, NumpyRelativeBias),
    "sinks": (int, float),
}


@overload
def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Mask | None = None,
    *,
    return_lse: Literal[False] = False,
    **options: Unpack[Options],
) -> torch.Tensor: ...
@overload
def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Mask | None = None,
    *,
    return_lse: Literal[True],
    **options: Unpack[Options],
) -> tuple[torch.Tensor, torch.Tensor]: ...
@overload
def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Mask | None = None,
    *,
    return_lse: bool,
    **options: Unpack[Options],
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]: ...
@names.own_options
def attention(
    q: Float[torch.Tensor, "... n_q d"],
    k: Float[torch.Tensor, "... n_k d"],
    v: Float[torch.Tensor, "... n_k d_v"],
    mask: masks.Mask | Bool[torch.Tensor, ...] | Float[torch.Tensor, ...] | None = None,
    *,
    bias: Bias | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Float[torch.Tensor, "*h"] | float | None = None,
    dropout: float = 0.0,
    seed: int | None = None,
    part: Part | tuple[int, ...] | None = None,
    return_lse: bool = False,
    strict: bool = False,
) -> Float[torch.Tensor, "... n_q d_v"] | tuple[Float[torch.Tensor, "... n_q d_v"], Float[torch.Tensor, "... n_q"]]:
    """Exact attention in O(n) memory, forward and backward.

    q (…, h, n_q, d)  k (…, h_kv, n_k, d)  v (…, h_kv, n_k, d_v) → output (…, h, n_q, d_v), in q's type

    Takes and means what `clearhead.attention` does, on tensors. Gradients reach q, k, v, a bias, a float mask, sinks,
    and the slopes or table of a bias from `clearhead.torch.biases`; that of a query with no key left is 0. With
    return_lse the lse is differentiable too. Under autocast, q, k and v are taken in autocast's type, as torch does.
    Under torch.compile a call is an operator of the graph, unless it has a bias by distance; torch 2.13 cannot follow
    `~` on a mask, so make such a mask outside of what is compiled.

    Raises:
        TypeError: a tensor is not of floats, or the mask is neither a mask nor boolean nor float.
        ValueError: shapes do not fit together, or `strict` and the call would be slow.
        NotImplementedError: called under torch.func.vmap, differentiated twice, or in forward mode.
    """
    compiling = torch.compiler.is_compiling()
    if compiling:
        from clearhead.torch import operator  # here, since it loads torch's compiler

        if strict or not operator.fits_a_graph(q, k, v, bias) or not has_kernels(q.device):
            return operator.outside_a_graph(
                attention, q, k, v, mask, bias=bias, scale=scale, softcap=softcap, sinks=sinks, dropout=dropout,
                seed=seed, part=part, return_lse=return_lse, strict=strict,
            )  # fmt: skip
    key, wanted = None, SUMS if differentiated(q, k, v) else LSE if return_lse else OUTPUT
    if not compiling and bias is None and sinks is None and part is None and not dropout:
        key = key_of(q, k, v, mask, scale, softcap, wanted)
        if key is not None and has_kernels(q.device) and (known := kernels.known.find(key)) is not None:
            output, lse = attend(known, q, k, v, mask, scale, softcap, wanted)
            return (output, lse) if return_lse and lse is not None else output
    options: dict[str, Any] = {
        "bias": bias, "scale": scale, "softcap": softcap, "sinks": sinks, "dropout": dropout, "seed": seed,
        "part": part, "return_lse": return_lse,
    }  # fmt: skip
    check_tensors(q=q, k=k, v=v, mask=mask, bias=bias, sinks=sinks)
    if strict:
        refuse_slow(_explained(q, k, v, mask=mask, again=True, **options).slow)
    output, lse = checked_attention(q, k, v, mask, remembered_as=None if key is None else (key, wanted), **options)
    return (output, lse) if return_lse and lse is not None else output


def checked_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Mask | None,
    *,
    bias: Bias | None,
    sinks: torch.Tensor | float | None,
    part: Part | tuple[int, ...] | None,
    return_lse: bool,
    remembered_as: tuple[Hashable, int] | None = None,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The output of a call whose arguments are of the right types, and its lse, which is there if it is wanted."""
    q, k, v = autocast(q, k, v)
    if isinstance(sinks, (int, float)):
        sinks = torch.tensor(float(sinks), dtype=_widest(q.device), device=q.device)
    options["part"] = part = None if part is None else checked_part(part)
    name = "bias"
    if isinstance(mask, torch.Tensor) and mask.is_floating_point():
        name = "mask" if bias is None else "bias"
        bias, mask = mask if bias is None else _sum(bias, mask, q, k, v, part), None
    if not has_kernels(q.device):
        return fallback.attention(q, k, v, mask=mask, bias=bias, sinks=sinks, lse=return_lse, **options)
    table = bias.table(q.shape[-2], k.shape[-2], *(part or ())) if isinstance(bias, RelativeBias) else None
    if isinstance(bias, NumpyRelativeBias):
        options["relative"] = bias
    options["additive"] = name  # what errors call it
    full = bias if isinstance(bias, torch.Tensor) else None
    if torch.compiler.is_compiling():
        from clearhead.torch import operator

        return operator.in_a_graph(q, k, v, mask, bias=full, sinks=sinks, **options)
    return differentiable(Inputs(q, k, v, full, table, sinks, mask, options, None, remembered_as))


@names.own_options
def explain(
    q: Float[torch.Tensor, "... n_q d"],
    k: Float[torch.Tensor, "... n_k d"],
    v: Float[torch.Tensor, "... n_k d_v"],
    mask: masks.Mask | Bool[torch.Tensor, ...] | Float[torch.Tensor, ...] | None = None,
    *,
    bias: Bias | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Float[torch.Tensor, "*h"] | float | None = None,
    dropout: float = 0.0,
    seed: int | None = None,
    part: Part | tuple[int, ...] | None = None,
    return_lse: bool = False,
    strict: bool = False,
    of: str = "attention",
    top_k: int = 8,
    map_size: int = 512,
) -> Explanation:
    """What `clearhead.explain` tells, of tensors: the kernels' plan, or which of torch's ways is taken."""
    check_tensors(q=q, k=k, v=v, mask=mask, bias=bias, sinks=sinks)
    options: dict[str, Any] = {
        "mask": mask, "bias": bias, "scale": scale, "softcap": softcap, "sinks": sinks, "dropout": dropout,
        "seed": seed, "part": part, "return_lse": return_lse, "top_k": top_k, "map_size": map_size, "of": of,
    }  # fmt: skip
    return _explained(q, k, v, **options)


def _explained(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any) -> Explanation:
    """The explanation of tensors that are checked; with again=True nothing is said that the call itself will say."""
    if not has_kernels(q.device):
        return fallback.explain(q, k, v, **options)
    arrays, options = as_arrays(q, k, v, **options)
    return kernels.forecast.explain(*arrays, **options)


def as_arrays(q: Any, k: Any, v: Any, **options: Any) -> tuple[tuple[Any, Any, Any], dict[str, Any]]:
    """Tensors and options as the arrays the kernels read, over the same memory, once they are checked; v may be None.

    For what is not differentiated: an explanation, a look.
    """
    check_tensors(q=q, k=k, **({} if v is None else {"v": v}), **{n: options.get(n) for n in STRUCTURES})
    q, k, values = autocast(q, k, k if v is None else v)
    if isinstance(bias := options.get("bias"), RelativeBias):
        options["bias"] = constant(to_numpy(bias.table(q.shape[-2], k.shape[-2], *(options.get("part") or ()))))
    taken = {name: to_numpy(x) if isinstance(x, torch.Tensor) else x for name, x in options.items()}
    return (to_numpy(q), to_numpy(k), None if v is None else to_numpy(values)), taken


def has_kernels(device: torch.device) -> bool:
    """Whether the kernels can read tensors of a device."""
    return device.type == "cpu"


def check_tensors(**values: Any) -> None:
    """q, k and v must be tensors, the rest may be; none may be an array, and all must be on one device."""
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            _check_type(name, value)
        elif isinstance(value, np.ndarray):
            hint = "clearhead.attention takes NumPy arrays" if name in "qkv" else f"torch.from_numpy({name}) makes one"
            raise TypeError(f"{name} must be a torch tensor here, got a NumPy array ({hint})")
        elif name in "qkv" or not (value is None or isinstance(value, STRUCTURES.get(name, ()))):
            kinds = {
                "mask": "a mask from clearhead.masks or a torch tensor",
                "bias": "a torch tensor or a relative bias",
            }
            wanted = kinds.get(name, "a torch tensor")
            raise TypeError(f"{name} must be {wanted}, got {type(value).__name__} (torch.tensor({name}) may make one)")
    tensors = {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}
    if len({str(t.device) for t in tensors.values()}) > 1:
        places = ", ".join(f"{name} on {t.device}" for name, t in tensors.items())
        raise ValueError(f"all tensors must be on one device, got {places}")


def _check_type(name: str, tensor: torch.Tensor) -> None:
    """Floats, or booleans for a mask."""
    if tensor.dtype in FLOAT_TYPES or (name == "mask" and tensor.dtype == torch.bool):
        return
    got, fix = str(tensor.dtype).removeprefix("torch."), f"{name}.float() makes it a float tensor"
    if name == "mask":
        raise TypeError(
            f"mask must be boolean (True = may attend) or float (added to the scores), got {got} "
            "(mask.bool() turns 0 and 1 into a boolean mask)"
        )
    if name in "qkv" and not tensor.is_floating_point():
        fix = f"did you pass token ids? {fix}"
    raise TypeError(f"{name} must be float16, bfloat16, float32 or float64, got {got} ({fix})")


def autocast(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Under autocast, attention runs in its lower precision, as torch's own does; float64 stays."""
    device = q.device.type
    if not (torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)):
        return q, k, v
    kind = torch.get_autocast_dtype(device)
    return tuple(x.to(kind) if x.dtype in FLOAT_TYPES[:3] else x for x in (q, k, v))  # type: ignore[return-value]


def _widest(device: torch.device) -> torch.dtype:
    return torch.float32 if device.type == "mps" else torch.float64  # MPS has no float64


def _sum(
    bias: Bias, mask: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, part: Part | None
) -> torch.Tensor:
    """A bias and a float mask in one tensor; in float64, in which two of the lowest float32 numbers are no −inf."""
    warn_of_float_flags("mask", mask, "mask.bool() lets the ones attend; add it to bias if it is one")
    n_q, n_k = q.shape[-2], k.shape[-2]
    kind = _widest(q.device)
    if isinstance(bias, torch.Tensor):
        other = bias.to(kind)
    else:
        table = fallback.table_of(bias, n_q, n_k, part).to(q.device, kind)
        other = table[:, fallback.distances(slice(0, n_q), n_k, q.device)]
        other = other[0] if len(other) == 1 else other
    shape = fallback.scores_shape(q, k, v)
    for name, x in (("mask", mask), ("bias", other)):
        checks.fits(name, np.broadcast_to(np.False_, tuple(x.shape)), shape)
    return other + mask
