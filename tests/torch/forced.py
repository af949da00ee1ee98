"""Attention by torch's own operations, on the CPU: the way that tensors on other devices take, forced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

from clearhead.torch import fallback, function


def without_kernels(call: Callable[..., Any] = function.attention) -> Callable[..., Any]:
    """A function of `clearhead.torch` on a machine whose tensors the kernels cannot read."""

    def forced(*arguments: Any, **options: Any) -> Any:
        with mock.patch.object(function, "has_kernels", return_value=False):
            return call(*arguments, **options)

    return forced


def in_chunks(*arguments: Any, **options: Any) -> Any:
    """The same, always in chunks, and with nothing computed twice: what that saves is measured in test_fallback.py."""
    with (
        mock.patch.object(fallback, "way", return_value="chunked"),
        mock.patch.object(fallback, "checkpoint", lambda part, *given, **_: part(*given)),
    ):
        return without_kernels()(*arguments, **options)
