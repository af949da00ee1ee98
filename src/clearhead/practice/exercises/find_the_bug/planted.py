"""A bug as the learner finds it, and what is said while it is still there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from clearhead.languages import Said
from clearhead.practice.exercise import Mistake


def as_found(buggy: Callable[..., Any], name: str) -> str:
    """The source of a buggy function under the name that the learner finds it by."""
    return inspect.getsource(buggy).replace(f"def {buggy.__name__}(", f"def {name}(", 1)


def unchanged(buggy: Callable[..., Any], en: str, ko: str) -> Mistake:
    """The bug as it was planted, with an experiment that shows it."""
    return Mistake(name="unchanged", wrong=buggy, said=Said(en, ko))
