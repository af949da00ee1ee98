"""Between NumPy and torch: views compute with arrays, and what they give is of the kind that was looked at."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from clearhead import checks
from clearhead.tensors import is_tensor, to_numpy, to_torch

Convert = Callable[[np.ndarray], Any]
Arguments = ParamSpec("Arguments")


def handed_back(method: Callable[Arguments, Any]) -> Callable[Arguments, Any]:
    """A method that computes an array, and gives a tensor if tensors were looked at: as the owner's `convert` does."""

    @functools.wraps(method)
    def answer(*arguments: Arguments.args, **options: Arguments.kwargs) -> Any:
        owner: Any = arguments[0]
        return owner.convert(method(*arguments, **options))

    return answer


def taken_in(q: Any, k: Any, v: Any, **options: Any) -> tuple[tuple[Any, Any, Any], dict[str, Any], Convert]:
    """q, k, v and the options as arrays, and what turns an array into the kind that came.

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
    return checks.float_array(name, to_numpy(value) if is_tensor(value) else value, ndim=ndim)
