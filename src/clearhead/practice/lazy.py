"""A module that is loaded when something of it is first used.

An exercise about torch is listed, and its task read, where torch is not installed, and without waiting for it.
"""

from __future__ import annotations

import importlib
from typing import Any


class Lazy:
    """Stands for a module by its name: `torch = Lazy("torch")`, and `torch.eye` loads it."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._module), name)
