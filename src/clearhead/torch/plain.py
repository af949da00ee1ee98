"""Which calls on tensors are plain: those of which all but the addresses is told by shapes, strides, types and options.

Plain tensors are those that the kernels may read as they are: of no subclass, dense, on a CPU, no view with its signs
turned, not zeros without memory; and nothing of torch's is at work that would have to see what becomes of them.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from torch.autograd import forward_ad

from clearhead.kernels.known import plain


def key_of(q: Any, k: Any, v: Any, mask: Any, scale: Any, softcap: Any, wanted: Hashable) -> Hashable | None:
    """What tells plain calls on tensors apart, and what is wanted of one; None for a call that is not plain."""
    if not plain(mask, scale, softcap) or watched() or not (is_plain(q) and is_plain(k) and is_plain(v)):
        return None
    return (
        q.shape, q.stride(), q.dtype, k.shape, k.stride(), k.dtype, v.shape, v.stride(), v.dtype,
        mask, scale, softcap, wanted,
    )  # fmt: skip


def is_plain(x: Any) -> bool:
    """Whether the kernels may read a tensor as it is."""
    return type(x) is torch.Tensor and x.is_cpu and x.layout is torch.strided and not (x.is_neg() or x._is_zerotensor())


def transformed() -> bool:
    """Whether a transform of torch.func is at work."""
    return bool(torch._C._are_functorch_transforms_active())


def watched() -> bool:
    """Whether a transform, forward mode, a dispatch mode or autocast is at work."""
    return (
        transformed()
        or forward_ad._current_level >= 0
        or torch._C._len_torch_dispatch_stack() > 0
        or torch.is_autocast_enabled("cpu")
    )
