"""Between NumPy and torch: views compute with arrays, and what they give is of the kind that was looked at."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, runtime_checkable

import numpy as np

from clearhead import checks
from clearhead.call import Call
from clearhead.tensors import is_tensor, on_host, to_torch

Convert = Callable[[np.ndarray], Any]


@runtime_checkable
class Places(Protocol):
    """A way back to tensors that also has those that were looked at: see `clearhead.torch.elsewhere`."""

    def __call__(self, array: np.ndarray) -> Any: ...

    def placed(self, call: Call, *, own_values: bool) -> Call: ...


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

    With tensors, memory is shared and gradients are not tracked: to look is not to compute a loss. Tensors on a device
    without kernels stay there, and arrays of no memory stand in for them; `placed` puts them in their place.
    """
    if not is_tensor(q):
        return (q, k, v), options, np.asarray
    from clearhead.torch import elsewhere, function

    if function.has_kernels(q.device):
        return *function.as_arrays(q, k, v, **options), to_torch
    function.check_tensors(q=q, k=k, **({} if v is None else {"v": v}), **options)
    elsewhere.check_readable(q)
    q, k, values = function.autocast(q, k, k if v is None else v)
    there = elsewhere.Elsewhere(q.detach(), k.detach(), None if v is None else values.detach())
    return there.stand_ins(), elsewhere.options_on_host(q.shape[-2], k.shape[-2], **options), there


def placed(convert: Convert, call: Call, *, own_values: bool) -> Call:
    """A call with the tensors that arrays stood in for, if some did; its own values too, or those that it has."""
    return convert.placed(call, own_values=own_values) if isinstance(convert, Places) else call


def in_type(x: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    """An array in another type; one that takes no memory still takes none."""
    if x.dtype == kind:
        return x
    return x.astype(kind) if any(x.strides) else np.broadcast_to(x[(slice(0, 1),) * x.ndim].astype(kind), x.shape)


def floats(name: str, value: Any, *, ndim: int = 2) -> np.ndarray:
    """Floats as an array, from an array or a tensor."""
    return checks.float_array(name, on_host(value), ndim=ndim)
