"""What comes in, as arrays; what goes out, in the kind that came: NumPy for NumPy, torch for torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.tensors import is_tensor, to_numpy, to_torch

Give = Callable[[np.ndarray], Any]


def entering(q: Any, k: Any, v: Any, **options: Any) -> tuple[tuple[Any, Any, Any], dict[str, Any], Give]:
    """q, k, v and the options as arrays, and how to hand results back.

    With tensors, memory is shared and gradients are not tracked: to look is not to compute a loss.
    """
    if not is_tensor(q):
        return (q, k, v), options, np.asarray
    from clearhead.torch import function

    if not function.has_kernels(q.device):
        raise ValueError(f"look reads tensors on the CPU, got q on {q.device} (q.cpu() brings it there)")
    return *function.as_arrays(q, k, v, **options), to_torch


def floats(name: str, value: Any, *, ndim: int = 2) -> np.ndarray:
    """Floats as an array, from an array or a tensor."""
    if is_tensor(value):
        value = to_numpy(value)
    return checks.float_array(name, value, ndim=ndim)


def numbers(name: str, value: ArrayLike) -> np.ndarray:
    """Whole numbers as an array: token ids, groups, positions; from a list, an array or a tensor."""
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers, got {array.dtype.name} of shape {array.shape}")
    return array.astype(np.int64)


def chosen(name: str, value: Any, size: int) -> tuple[slice | np.ndarray, bool]:
    """Which of `size` things are meant, and whether it is one, whose axis is dropped.

    One number, counted from the end if negative; a slice; or a sequence of numbers. `...` means all.
    """
    if value is Ellipsis:
        return slice(None), False
    if isinstance(value, slice):
        if value.step is not None and checks.count(f"the step of {name}", value.step, least=None) == 0:
            raise ValueError(f"the step of {name} must not be 0")
        return value, False
    if np.ndim(value):
        places = np.asarray(value) if len(value) else np.zeros(0, np.int64)
        if places.ndim != 1 or places.dtype.kind not in "iu":
            raise TypeError(
                f"{name} must be a number, a slice or a sequence of numbers, got {places.dtype.name} "
                f"of shape {places.shape}"
            )
    else:
        places = np.array([checks.count(name, value, least=None)])
    outside = places[(places < -size) | (places >= size)]
    if outside.size:
        there = f"0 … {size - 1}" if size else "none at all"
        raise ValueError(f"{name} {outside[0]} is out of range; there are {size}: {there}")
    return places % max(size, 1), not np.ndim(value)
