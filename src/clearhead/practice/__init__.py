"""Exercises whose failures name the mistake: `clearhead practice` in a terminal, `check` in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clearhead.practice.exercises import NAMES
from clearhead.practice.verdict import Verdict

__all__ = ["NAMES", "Verdict", "check"]


def check(name: str, *functions: Callable[..., Any]) -> Verdict:
    """Is this function right, and if not, what went wrong? Shown as text, or as HTML in a notebook.

    Args:
        name: one of NAMES.
        functions: yours, under any name; of an exercise with several parts, any of those parts, under their names.

    Raises:
        ValueError: there is no such exercise, or no such part of it.
        TypeError: something that cannot be called was given.
    """
    import difflib

    from clearhead import checks
    from clearhead.practice import exercises, grading

    near = () if name in NAMES else difflib.get_close_matches(str(name), NAMES, n=1, cutoff=0.5)
    if near:
        raise ValueError(f"there is no exercise {name!r}; did you mean {near[0]!r}?")
    exercise = exercises.load(checks.choice("name", name, NAMES))
    parts = tuple(part.name for part in exercise.parts)
    for function in functions:
        if not callable(function):
            raise TypeError(
                f"check takes functions, got {type(function).__name__}: hand over {name} itself, not its result"
            )
    if not functions:
        raise TypeError(f'check needs the function to check: check("{name}", {parts[0]})')
    if len(parts) == 1:
        if len(functions) > 1:
            raise ValueError(f"{name} asks for one function, got {len(functions)}")
        return grading.check(exercise, {parts[0]: functions[0]})
    given = {checks.choice("function", getattr(f, "__name__", repr(f)), parts): f for f in functions}
    return grading.check(exercise, given)
