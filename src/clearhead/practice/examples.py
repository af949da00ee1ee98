"""A counterexample as it is shown: the call, and what was expected beside what came, cell by cell.

Everything here is text and truths, so that a terminal and a notebook show the same thing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clearhead import tensors
from clearhead.practice.comparing import bare, differing
from clearhead.practice.exercise import Call, Part

ROWS, COLUMNS = 6, 8  # of a grid, at most
CELLS = 48  # of an argument that is shown number by number, at most
DIGITS = (3, 4, 6, 9, 17)  # significant ones: as few as tell different numbers apart
WHOLE = 1e6  # below it a number is written with all digits before its point: 1001, not 1e+03


class Cell(NamedTuple):
    """A number as text, and whether it is not what it should be."""

    text: str
    differs: bool


Grid = tuple[tuple[Cell, ...], ...]


class Example(NamedTuple):
    """A call, and two grids of one shape.

    arguments   the name and the text of each argument
    output      which part of which output the grids show, as one would index it: weights[0, 1]
    column      the number of the grids' first column there
    """

    arguments: tuple[tuple[str, str], ...]
    output: str
    expected: Grid
    got: Grid
    column: int = 0


def example(part: Part, call: Call, output: str, expected: Any, got: Any) -> Example:
    """A call and an output of it, as they are shown.

    expected, got   two values of one kind; arrays of any number of axes, of which the two last are shown, where the
                    first difference is
    """
    a, b = bare(expected), bare(got)
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape):
        return Example(arguments(part, call), output, ((Cell(plainly(a), False),),), ((Cell(plainly(b), True),),))
    wrong = differing(a, b, part.tolerance)
    place, window = _where(wrong)
    label = f"{output or part.name}[{', '.join(map(str, place))}]" if place else output
    a, b, wrong = (np.atleast_2d(array[place])[window] for array in (a, b, wrong))
    texts = lettered(a, b, wrong)
    grids = _grid(texts[0], np.zeros_like(wrong)), _grid(texts[1], wrong)
    return Example(arguments(part, call), label, *grids, column=window[1].start)


def arguments(part: Part, call: Call) -> tuple[tuple[str, str], ...]:
    """The arguments of a call, each by its name and as text."""
    given = [*zip(part.signature.parameters, call.arguments, strict=False), *call.keywords.items()]
    return tuple((name, plainly(value)) for name, value in given)


def shapes(part: Part, call: Call) -> Example:
    """A call alone, arrays by their shapes: what helps with an exception."""
    given = [*zip(part.signature.parameters, call.arguments, strict=False), *call.keywords.items()]
    return Example(tuple((name, _shape(value)) for name, value in given), "", (), ())


def _shape(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__} {tuple(shape)}" if shape is not None else plainly(value)


def plainly(value: Any) -> str:
    """A value as one would write it down; a large array by its shape."""
    if tensors.is_tensor(value):
        value = tensors.to_numpy(value.detach().cpu())
    if isinstance(value, np.ndarray):
        if value.size > CELLS:
            return f"{value.dtype.name} {value.shape}"
        digits = next(d for d in DIGITS if d == DIGITS[-1] or _are_told_apart(value, d))
        shown = {"float": lambda number: _number(number, digits)}
        return np.array2string(value, separator=", ", max_line_width=70, formatter=shown)  # type: ignore[arg-type]
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {plainly(item)}" for name, item in value.items()) + "}"
    if type(value) in (tuple, list):
        ends = "()" if isinstance(value, tuple) else "[]"
        return ends[0] + ", ".join(map(plainly, value)) + ends[1]
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def lettered(a: np.ndarray, b: np.ndarray, wrong: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays as text, with as few digits as tell the differing cells apart."""
    for digits in DIGITS:
        texts = tuple(
            np.vectorize(lambda cell, digits=digits: _number(cell, digits), otypes=[object])(x) for x in (a, b)
        )
        if (texts[0] != texts[1])[wrong].all():
            break
    return texts[0], texts[1]


def _number(cell: Any, digits: int) -> str:
    if not isinstance(cell, (float, np.floating)):
        return str(cell)
    number = float(cell)
    before_the_point = len(f"{abs(number):.0f}") if math.isfinite(number) and abs(number) < WHOLE else 0
    return f"{number:.{max(digits, before_the_point)}g}"


def _are_told_apart(array: np.ndarray, digits: int) -> bool:
    """Whether different numbers of an array look different with so many digits."""
    return len({_number(cell, digits) for cell in array.flat}) >= np.unique(array).size


def _grid(texts: np.ndarray, wrong: np.ndarray) -> Grid:
    return tuple(
        tuple(Cell(str(t), bool(w)) for t, w in zip(*row, strict=True)) for row in zip(texts, wrong, strict=True)
    )


def _where(wrong: np.ndarray) -> tuple[tuple[int, ...], tuple[slice, slice]]:
    """The leading place of the first differing cell, and the window of the last two axes that shows it."""
    first = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.any() else (0,) * wrong.ndim
    place, rest = first[: max(wrong.ndim - 2, 0)], (0, 0, *first)[-2:]
    row, column = (max(0, at - most + 1) for at, most in zip(rest, (ROWS, COLUMNS), strict=True))
    return place, (slice(row, row + ROWS), slice(column, column + COLUMNS))
