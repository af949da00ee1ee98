"""torch's optimisers without torch's compiler, which a learner's process would otherwise wait for.

torch.optim loads torch._dynamo, only to tell it that an optimiser's steps are not to be compiled: 1.25 s of the 1.5 s
that training a small model takes. A learner's process gets this module in its place, until something else of it is
asked for, as torch.compile does; then the real one is loaded.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

COMPILER = "torch._dynamo"


class Uncompiled(types.ModuleType):
    """Answers what optimisers ask of the compiler, as it would answer where nothing is compiled."""

    @staticmethod
    def disable(function: Callable[..., Any], *_: Any, **__: Any) -> Callable[..., Any]:
        return function

    @staticmethod
    def graph_break(*_: Any, **__: Any) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(COMPILER) is self:
            del sys.modules[COMPILER]
        return getattr(importlib.import_module(COMPILER), name)


def leave_the_compiler_out() -> None:
    """Where torch is loaded and its compiler is not, let that stay so until it is needed."""
    if "torch" in sys.modules and COMPILER not in sys.modules:
        sys.modules[COMPILER] = Uncompiled(COMPILER)
