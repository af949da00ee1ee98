"""Where in the learner's own lines an exception came from."""

from __future__ import annotations

import linecache
from types import TracebackType
from typing import NamedTuple


class Line(NamedTuple):
    """A line of the learner's: its number, its text, and whether it is one that led to the exception."""

    number: int
    text: str
    marked: bool


Trace = tuple[Line, ...]

AROUND = 2  # lines shown before and after the innermost one
CALLS = 3  # of the learner's own calls, how many are marked at most


def trace_of(error: BaseException, file: str | None) -> Trace:
    """The learner's lines around where an exception was raised, those that led there marked.

    file   the learner's file; of an exception that did not pass through it there is nothing to show.
    """
    if file is None:
        return ()
    if isinstance(error, SyntaxError) and error.filename == file and error.lineno:
        return around([error.lineno], file)
    numbers = _numbers(error.__traceback__, file)
    return around(numbers[-CALLS:], file) if numbers else ()


def around(numbers: list[int], file: str) -> Trace:
    """Lines of a file: the last of some numbers with those around it, and the others alone, in order."""
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    last = numbers[-1]
    shown = {*numbers, *range(max(1, last - AROUND), min(len(lines), last + AROUND) + 1)}
    return tuple(
        Line(number, lines[number - 1].rstrip("\n"), number in numbers)
        for number in sorted(shown)
        if number <= len(lines)
    )


def _numbers(traceback: TracebackType | None, file: str) -> list[int]:
    numbers: list[int] = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file and traceback.tb_lineno not in numbers[-1:]:
            numbers.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    return numbers
