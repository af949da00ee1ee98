"""Attention by torch's own operations, on the CPU: the way that tensors on other devices take, forced."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

from clearhead.tensors import on_host, to_numpy, to_torch
from clearhead.torch import fallback, function, streaming
from clearhead.views import look

from . import plain


def without_kernels(call: Callable[..., Any] = function.attention) -> Callable[..., Any]:
    """A function of `clearhead.torch` on a machine whose tensors the kernels cannot read."""

    def forced(*arguments: Any, **options: Any) -> Any:
        with mock.patch.object(function, "has_kernels", return_value=False):
            return call(*arguments, **options)

    return forced


def in_plain_torch(*arguments: Any, **options: Any) -> Any:
    """The judge of both: the whole matrix in torch's own operations, and autograd through them."""
    with mock.patch.object(fallback, "attention", plain.attention):
        return without_kernels()(*arguments, **options)


@contextlib.contextmanager
def small_blocks(most: int = 2**13) -> Iterator[None]:
    """A machine without kernels, and blocks so small that there are many."""
    with (
        mock.patch.object(function, "has_kernels", return_value=False),
        mock.patch.object(streaming, "PLACES", most),
    ):
        yield


def in_blocks(*arguments: Any, **options: Any) -> Any:
    """The way of other devices in small blocks, also where torch's own attention would do."""
    with small_blocks(), mock.patch.object(fallback, "way", return_value="chunked"):
        return function.attention(*arguments, **options)


def arrays_in_blocks(*arrays: np.ndarray, **options: Any) -> Any:
    """The same on arrays, which become tensors on the way."""
    return on_arrays(in_blocks(*map(tensor, arrays), **{name: tensor(x) for name, x in options.items()}))


def look_elsewhere(*arrays: np.ndarray, **options: Any) -> Any:
    """A view of tensors on a machine without kernels, made of arrays and answering in arrays."""
    with small_blocks():
        return _InBlocks(look(*map(tensor, arrays), **{name: tensor(x) for name, x in options.items()}))


class _InBlocks:
    """A view that computes all that it is asked in small blocks."""

    def __init__(self, view: Any) -> None:
        self.view = view

    def __getattr__(self, name: str) -> Any:
        with small_blocks():
            found = getattr(self.view, name)
        if not callable(found):
            return on_arrays(found)

        def answer(*arguments: Any, **options: Any) -> Any:
            with small_blocks():
                return on_arrays(found(*arguments, **options))

        return answer


def tensor(x: Any) -> Any:
    """An array as a tensor, its memory copied where torch could not write to it or it runs backwards."""
    if not isinstance(x, (np.ndarray, np.generic)):
        return x
    kind = np.asarray(x).dtype.newbyteorder("=")
    forwards = np.ndim(x) and min(x.strides) >= 0
    return to_torch(np.require(x, kind, ["W"]) if forwards else np.array(x, kind))


def on_arrays(found: Any) -> Any:
    """Tensors as arrays, also those of a tuple."""
    return tuple(map(to_numpy, found)) if isinstance(found, tuple) else on_host(found)
