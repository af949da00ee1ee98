"""Plain calls on tensors: which they are, and what is known of one like a call before: see `kernels.known`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from torch.autograd import forward_ad

from clearhead import kernels
from clearhead.kernels.known import LSE, OUTPUT, SUMS, Known, plain
from clearhead.tensors import numpy_type, to_torch
from clearhead.torch.derivative import KINDS, Mask, differentiable, prepared


def key_of(q: Any, k: Any, v: Any, mask: Any, scale: Any, softcap: Any, wanted: int) -> Hashable | None:
    """What tells plain calls on tensors apart, or None for a call that is not.

    Plain tensors are those that the kernels may read as they are: of no subclass, dense, on a CPU, no view with its
    signs turned, not zeros without memory; and nothing of torch's is at work that would have to see what becomes of
    them.
    """
    if not (type(q) is type(k) is type(v) is torch.Tensor and plain(mask, scale, softcap)) or watched():
        return None
    if not (q.is_cpu and k.is_cpu and v.is_cpu and q.layout is k.layout is v.layout is torch.strided):
        return None
    if q.is_neg() or k.is_neg() or v.is_neg() or q._is_zerotensor() or k._is_zerotensor() or v._is_zerotensor():
        return None
    return (
        q.shape, q.stride(), q.dtype, k.shape, k.stride(), k.dtype, v.shape, v.stride(), v.dtype,
        mask, scale, softcap, wanted,
    )  # fmt: skip


def watched() -> bool:
    """Whether a transform, forward mode, a dispatch mode or autocast is at work."""
    return (
        torch._C._are_functorch_transforms_active()
        or forward_ad._current_level >= 0
        or torch._C._len_torch_dispatch_stack() > 0
        or torch.is_autocast_enabled("cpu")
    )


def differentiated(*tensors: Any) -> bool:
    """Whether a gradient may be asked for with respect to one of these."""
    if torch.is_grad_enabled():
        for x in tensors:
            if getattr(x, "requires_grad", False):
                return True
    return False


def attend(
    known: Known,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Mask | None,
    scale: float | None,
    softcap: float | None,
    wanted: int,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The output of a call, and its lse if it is wanted or comes for nothing."""
    if wanted == SUMS:
        return differentiable(q, k, v, None, None, None, mask, _options(scale, softcap), known)
    places = q.data_ptr(), k.data_ptr(), v.data_ptr()
    if known.splits > 1:
        joined, of_rows = kernels.known.attend(known, *places, numpy_type(q.dtype), wanted)
        return to_torch(joined), None if of_rows is None else to_torch(of_rows)
    output = q.new_empty_strided(known.output, known.strides)  # making a tensor of an array would take 3 µs
    lse = q.new_empty(known.rows, dtype=KINDS[known.kind]) if wanted == LSE else None
    known.fill(*places, output.data_ptr(), 0 if lse is None else lse.data_ptr())
    return output, lse


def recalled(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Mask | None,
    scale: float | None,
    softcap: float | None,
) -> torch.Tensor | None:
    """The output (…, n_q, h, d_v) of a plain call like one before, of which no gradient is wanted; else None.

    For modules, which call in the middle of a model: there most of what Python touches has to come from memory, and
    the checks and the names that `attention` has for its users take longer than a small call.
    """
    if differentiated(q, k, v):
        return None
    key = key_of(q, k, v, mask, scale, softcap, OUTPUT)
    known = None if key is None else kernels.known.calls.get(key)
    if known is None or known.splits > 1 or not known.heads_last:
        return None
    *lead, heads, n_q, d_v = known.output
    rows = q.new_empty((*lead, n_q, heads, d_v))
    known.fill(q.data_ptr(), k.data_ptr(), v.data_ptr(), rows.data_ptr())
    return rows


def remember(
    key: Hashable,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Any,
    scale: float | None,
    softcap: float | None,
    wanted: int,
) -> None:
    """Know a call from now on, if it is one that can be."""
    call = prepared(q, k, v, None, None, None, mask, _options(scale, softcap))
    kernels.known.remember(key, call, wanted, heads_last=True)


def _options(scale: float | None, softcap: float | None) -> dict[str, Any]:
    """What a plain call has of options."""
    return {"scale": scale, "softcap": softcap, "additive": "bias"}
