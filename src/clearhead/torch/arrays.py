"""Tensors as NumPy arrays and back, sharing memory."""

from __future__ import annotations

import numpy as np
import torch


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """A CPU tensor as an array over the same memory; bfloat16, which NumPy lacks, through ml_dtypes."""
    tensor = tensor.detach()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(_bfloat16())
    return tensor.numpy()


def to_torch(array: np.ndarray) -> torch.Tensor:
    """An array as a tensor over the same memory."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _bfloat16() -> np.dtype:
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)
