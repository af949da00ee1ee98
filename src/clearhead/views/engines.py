"""Who answers about a call: the kernels, or torch's operations where a call's tensors are on a device without kernels.

The functions are those of the kernels, and mean the same either way; what they return is on the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearhead import kernels
from clearhead.call import Call
from clearhead.kernels.observation import Watched
from clearhead.kernels.sums import Sums
from clearhead.matrices import Pooled


def observe(call: Call, **options: Any) -> Watched:
    """See `clearhead.kernels.observation.observe`."""
    if has_kernels(call):
        return kernels.observation.observe(call, **options)
    return _elsewhere().observe(call, **options)


def compute(call: Call) -> tuple[np.ndarray, Any]:
    """See `clearhead.kernels.launch.compute`."""
    return kernels.launch.compute(call) if has_kernels(call) else _elsewhere().compute(call)


def compute_with_sums(call: Call) -> tuple[np.ndarray, np.ndarray | None, Sums | None]:
    """See `clearhead.kernels.launch.compute_with_sums`."""
    return kernels.launch.compute_with_sums(call) if has_kernels(call) else _elsewhere().compute_with_sums(call)


def sums_of(call: Call) -> Sums:
    """See `clearhead.kernels.launch.sums_of`."""
    return kernels.launch.sums_of(call) if has_kernels(call) else _elsewhere().sums_of(call)


def weights(call: Call, sums: Sums, rows: Any = slice(None), cols: Any = slice(None)) -> np.ndarray:
    """See `clearhead.kernels.recompute.weights`."""
    if has_kernels(call):
        return kernels.recompute.weights(call, sums, rows, cols)
    return _elsewhere().weights(call, sums, rows, cols)


def pooled(call: Call, sums: Sums, rows: slice, cols: slice, query_bits: int, key_bits: int) -> Pooled:
    """See `clearhead.kernels.recompute.pooled`."""
    if has_kernels(call):
        return kernels.recompute.pooled(call, sums, rows, cols, query_bits, key_bits)
    return _elsewhere().pooled(call, sums, rows, cols, query_bits, key_bits)


def has_kernels(call: Call) -> bool:
    """Whether the kernels can read what a call holds."""
    return isinstance(call.q, np.ndarray)


def taken(x: Any, order: np.ndarray) -> Any:
    """Rows of an array or a tensor in another order: x (…, n, d), order (…, n, 1) with as many axes"""
    if isinstance(x, np.ndarray):
        return np.take_along_axis(x, order, axis=-2)
    import torch

    return torch.take_along_dim(x, torch.from_numpy(order).to(x.device), dim=-2)


def _elsewhere() -> Any:
    from clearhead.torch import looking  # loads torch, which whoever has such a call has done

    return looking
