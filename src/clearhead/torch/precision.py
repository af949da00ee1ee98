"""Full float32 products: what torch may take a shortcut in, such as TF32, is off for a while and then as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

EXACT = ("none", "ieee")  # what torch calls a product whose float32 numbers are not shortened


@contextlib.contextmanager
def full_products(device: torch.device) -> Iterator[None]:
    """Products of float32 numbers are those of float32 numbers: no TF32, no bfloat16, no autocast.

    torch keeps these settings for the whole process, so where one has to be changed, other threads see that too.
    """
    autocast = torch.autocast(device.type, enabled=False) if _has_autocast(device) else contextlib.nullcontext()
    with autocast, _exact_matmul():
        yield


@contextlib.contextmanager
def _exact_matmul() -> Iterator[None]:
    """torch has two ways to say it, an older one for all devices and one for each library; both are put back."""
    every: tuple[Any, ...] = (torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None))
    by_library = [x for x in every if hasattr(x, "fp32_precision")]  # torch 2.8 has the older way alone
    before, older = [x.fp32_precision for x in by_library], _older_setting()
    if older in ("highest", None) and all(value in EXACT for value in before):
        yield
        return
    if older is not None:
        torch.set_float32_matmul_precision("highest")
    for library in by_library:
        library.fp32_precision = "ieee"
    try:
        yield
    finally:
        if older is not None:
            torch.set_float32_matmul_precision(older)
        for library, value in zip(by_library, before, strict=True):
            library.fp32_precision = "none"  # what torch.backends.fp32_precision says, unless it said something else
            if library.fp32_precision != value:
                library.fp32_precision = value


def _older_setting() -> str | None:
    """What was said for all devices; None where a library was told something else, which torch refuses to compare."""
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        return None


def _has_autocast(device: torch.device) -> bool:
    return torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)
