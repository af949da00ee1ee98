"""A module that is loaded when something of it is first used.

An exercise about torch is listed, and its task read, where torch is not installed, and without waiting for it.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any


class Lazy:
    """Stands for a module by its name: `torch = Lazy("torch")`, and `torch.eye` loads it."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._module), name)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch, if it is there, work in one thread, as a learner's process does: for small arrays more are slower."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
