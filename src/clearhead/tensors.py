"""The edge between NumPy and torch: telling a tensor, and handing its memory over in either direction.

Nothing here loads torch: whoever holds a tensor has done that already.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np


def is_tensor(value: object) -> bool:
    """Whether this is a torch tensor; torch is not loaded to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def to_numpy(tensor: Any) -> np.ndarray:
    """A CPU tensor as an array over the same memory; bfloat16, which NumPy lacks, through ml_dtypes."""
    import torch

    tensor = tensor.detach()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.view(torch.int16).numpy().view(_bfloat16()))
    return np.asarray(tensor.numpy())


def on_host(value: Any) -> Any:
    """A tensor as an array, brought to the CPU if it is on another device; anything else as it is."""
    return to_numpy(value.detach().cpu()) if is_tensor(value) else value


def to_torch(array: np.ndarray) -> Any:
    """An array as a tensor over the same memory."""
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


@functools.cache
def numpy_type(kind: Any) -> np.dtype[Any]:
    """The type of the array that a tensor of floats of this type is."""
    return _bfloat16() if str(kind) == "torch.bfloat16" else np.dtype(str(kind).removeprefix("torch."))


def _bfloat16() -> np.dtype[Any]:
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)
