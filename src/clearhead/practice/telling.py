"""The sentence that says what was found, with the outputs by name and the axes by letter."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from clearhead.languages import Said
from clearhead.practice import words
from clearhead.practice.answers import Failure, Foreign, Outcome
from clearhead.practice.comparing import Difference, bare, differing, kind_of
from clearhead.practice.exercise import Part
from clearhead.practice.probes import Probe


def sentence(part: Part, kind: str, came: Outcome, found: Difference | None) -> Said:
    """What to say of a finding that is no mistake with a name."""
    if came.failure:
        return failed(words.accidents.CALLED, part.name, came.failure)
    if found is None:
        arguments = ", ".join(f"`{name}`" for name in came.changed)
        return words.found.FOUND[kind].filled(name=part.name, arguments=arguments)
    tell = TELL.get(kind)
    return tell(part, found) if tell else words.found.FOUND[kind].filled(name=part.name, output=_output(found))


def failed(what: Said, name: str, failure: Failure) -> Said:
    """What to say of an exception, in a function or at the loading of a file."""
    error = f"{failure.name}: {failure.message}" if failure.message else failure.name
    said = words.accidents.FAILURES.get(failure.name, words.accidents.FAILURES[""])
    return said.filled(what=what.filled(name=name), error=error)


def sizes_in(message: str, probe: Probe) -> tuple[Said, ...]:
    """An error speaks of sizes as numbers; which letters those are in this call, where each is one letter's alone."""
    numbers = {int(number) for number in re.findall(r"\d+", message)}
    sizes = [size for _, size in probe.sizes]
    letters = [f"{letter} = {size}" for letter, size in probe.sizes if size in numbers and sizes.count(size) == 1]
    return (words.found.SIZES.filled(letters=", ".join(letters)),) if letters else ()


def is_blank(part: Part, found: Difference | None) -> bool:
    """Whether a number of several is missing that the part's own stub leaves blank."""
    return bool(found and found.kind == "nothing" and found.output and part.stub)


def not_yet(part: Part, found: Difference | None) -> Said:
    """What to say of a function that is still empty, or of the first blank that is."""
    if found and is_blank(part, found):
        return words.found.FOUND["blank"].filled(output=_output(found))
    return words.found.FOUND["unwritten"].filled(name=part.name)


def _nothing(part: Part, found: Difference) -> Said:
    kind = "nothing_there" if found.output else "nothing"
    return words.found.FOUND[kind].filled(name=part.name, output=_output(found))


def _count(part: Part, found: Difference) -> Said:
    names = ", ".join(f"`{name}`" for name in part.outputs)
    count = _how_many(len(part.outputs))
    if isinstance(found.got, tuple):
        return words.found.COUNT.filled(name=part.name, names=names, count=count, got=_how_many(len(found.got)))
    return words.found.ONE_THING.filled(name=part.name, names=names, count=count, got=described(found.got))


def _how_many(count: int) -> Said:
    return words.found.HOW_MANY.get(count, Said(str(count), str(count)))


def _type(part: Part, found: Difference) -> Said:
    return words.found.FOUND["type"].filled(
        output=_output(found), expected=described(found.expected), got=described(found.got)
    )


def _shape(part: Part, found: Difference) -> Said:
    expected, got = np.shape(bare(found.expected)), np.shape(bare(found.got))
    letters = part.outputs.get(found.output, "").split()
    named = lettered(letters, expected) if len(letters) == len(expected) else str(expected)
    return words.found.FOUND["shape"].filled(output=_output(found), expected=named, got=got)


def about_axes(part: Part, found: Difference) -> tuple[Said, ...]:
    """What happened to the axes of an output whose shape is wrong, where their sizes tell."""
    expected, got = np.shape(bare(found.expected)), np.shape(bare(found.got))
    letters = part.outputs.get(found.output, "").split()
    if len(letters) != len(expected) or len(set(expected)) < len(expected):
        return ()
    of_size = dict(zip(expected, letters, strict=True))
    if sorted(expected) == sorted(got):
        return (words.seen.AXES_TURNED.filled(got=lettered([of_size[size] for size in got], got)),)
    missing = [size for size in expected if size not in got]
    if [size for size in expected if size in got] == list(got):
        return (words.seen.AXIS_MISSING.filled(letters=", ".join(f"{of_size[size]} = {size}" for size in missing)),)
    added = [size for size in got if size not in of_size]
    if not missing and len(added) == 1:
        return (words.seen.AXIS_ADDED.filled(size=added[0]),)
    return ()


def _dtype(part: Part, found: Difference) -> Said:
    expected, got = (_dtype_of(np.asarray(bare(value)).dtype) for value in (found.expected, found.got))
    return words.found.FOUND["dtype"].filled(output=_output(found), expected=expected, got=got)


def _nan(part: Part, found: Difference) -> Said:
    got = np.asarray(bare(found.got))
    return words.found.FOUND["nan"].filled(output=_output(found), strange="NaN" if np.isnan(got).any() else "inf")


def _values(part: Part, found: Difference) -> Said:
    expected, got = bare(found.expected), bare(found.got)
    if not isinstance(got, np.ndarray):
        return words.found.FOUND["value"].filled(output=_output(found))
    wrong = int(differing(np.asarray(expected), got, part.tolerance).sum())
    return words.found.FOUND["values"].filled(output=_output(found), wrong=wrong, total=got.size)


TELL = {
    "nothing": _nothing,
    "count": _count,
    "type": _type,
    "shape": _shape,
    "dtype": _dtype,
    "nan": _nan,
    "values": _values,
}


def lettered(letters: list[str], shape: tuple[int, ...]) -> str:
    """A shape with its axes named: (n_q = 3, n_k = 5)."""
    return "(" + ", ".join(f"{letter} = {size}" for letter, size in zip(letters, shape, strict=True)) + ")"


def described(value: Any) -> Said:
    """A value by its kind: an array, a number, a tuple or list."""
    if isinstance(value, Foreign):
        return Said(f"`{value.name}`", f"`{value.name}` 객체")
    return words.found.KINDS[kind_of(value)]


def _output(found: Difference) -> Said:
    return words.found.OUTPUT.filled(name=found.output) if found.output else words.found.THE_OUTPUT


def _dtype_of(dtype: np.dtype[Any]) -> Said:
    kind = "i" if dtype.kind == "u" else dtype.kind
    said = words.found.DTYPES.get(kind, words.found.DTYPES["f"])
    return said.filled(name=dtype.name)
