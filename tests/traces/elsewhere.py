"""A machine whose models live on another device, played on the CPU: who mixes up the two is caught.

Tensors made without a device, or handed over by `cpu()`, are on the CPU; all others are elsewhere. Reading one that is
elsewhere as an array, or computing with one of each, is the error that it would be.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock
from weakref import ref

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from clearhead.torch import function

READING = {torch.Tensor.numpy, torch.Tensor.__array__, torch.Tensor.data_ptr}
MADE = {
    torch.zeros, torch.ones, torch.empty, torch.full, torch.arange, torch.tensor, torch.as_tensor, torch.rand,
    torch.randn, torch.randint, torch.linspace,
}  # fmt: skip
MOVING = {torch.Tensor.to, torch.Tensor.type_as}


class OtherDevice(TorchFunctionMode):
    """Knows which tensors are on the CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.here: dict[int, ref[torch.Tensor]] = {}
        self.crossings = 0

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        here = [id(x) in self.here and self.here[id(x)]() is x for x in given]
        if func in READING and not all(here):
            raise AssertionError(f"{func.__name__} of a tensor that is on another device")
        with torch._C.DisableTorchFunction():
            found = func(*args, **kwargs)
        if func is torch.Tensor.cpu or func is torch.from_numpy or (func in MADE and kwargs.get("device") is None):
            self.crossings += func is torch.Tensor.cpu
            return self._here(found.clone() if func is torch.Tensor.cpu else found)
        if func in MOVING and len(args) > 1 and (isinstance(args[1], torch.Tensor | torch.device) or args[1] == "cpu"):
            return self._here(found) if args[1] == "cpu" else found.clone()
        whole = [on for x, on in zip(given, here, strict=True) if x.ndim]  # single numbers may be anywhere
        if whole and any(whole) and not all(whole):
            raise AssertionError(f"{getattr(func, '__name__', func)} of tensors on two devices")
        return self._here(found) if whole and all(whole) else found

    def _here(self, found: Any) -> Any:
        for x in pytree.tree_leaves(found):
            if isinstance(x, torch.Tensor):
                self.here[id(x)] = ref(x)
        return found


@contextlib.contextmanager
def elsewhere() -> Iterator[OtherDevice]:
    """Until the block ends, tensors are on a device without kernels."""
    with mock.patch.object(function, "has_kernels", return_value=False), OtherDevice() as device:
        yield device
