"""What a function answered, as plain data: numbers, arrays, text, and what went wrong instead.

Answers are compared, and cross from one process to another, in this form alone; so nothing of a learner's own classes
ever reaches the grader.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearhead import tensors
from clearhead.languages import Said
from clearhead.practice.exercise import Call, Part
from clearhead.practice.traces import Trace, trace_of


@dataclass(frozen=True, eq=False)
class Tensor:
    """A torch tensor's numbers: a learner's, or those that one of ours says are to be a tensor."""

    array: np.ndarray


@dataclass(frozen=True)
class Foreign:
    """An object that is no number, array or text: only the name of its class is known."""

    name: str


class Failure(NamedTuple):
    """An exception: the name of its class, its message, and the learner's lines that led to it."""

    name: str
    message: str
    trace: Trace


class AccidentError(Exception):
    """Something happened to the learner's process that is no answer."""

    def __init__(self, kind: str, said: Said, trace: Trace = ()) -> None:
        super().__init__(said.en)
        self.kind, self.said, self.trace = kind, said, trace


class Outcome(NamedTuple):
    """What became of one call: an answer, or a failure; and which arguments were written into."""

    answer: Any = None
    failure: Failure | None = None
    changed: tuple[str, ...] = ()


NUMBERS_AND_TEXT: tuple[tuple[tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((bool, np.bool_), bool),
    ((int, np.integer), int),
    ((float, np.floating), float),
    ((complex, np.complexfloating), complex),
    ((str,), str),
)


def plain(value: Any) -> Any:
    """An answer as data: None, bool, int, float, complex, str, ndarray, Tensor, Foreign, and tuples and dicts of them.

    `...`, which stands for a blank in a stub, becomes None.
    """
    if value is None or value is Ellipsis:
        return None
    if isinstance(value, Tensor):
        return value
    for kinds, kind in NUMBERS_AND_TEXT:
        if isinstance(value, kinds):
            return kind(value)
    if isinstance(value, np.ndarray):
        return np.array(value) if value.dtype.kind in "biufcUS" else Foreign(f"ndarray[{value.dtype}]")
    if tensors.is_tensor(value):
        return Tensor(np.array(tensors.to_numpy(value.cpu())))
    if isinstance(value, (tuple, list)):
        return tuple(plain(item) for item in value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    return Foreign(type(value).__name__)


def outcome(part: Part, function: Callable[..., Any], make: Callable[[], Call], file: str | None = None) -> Outcome:
    """Ask a function for its answer to a call; whatever it raises, exit() included, becomes a Failure.

    make   gives the same call each time, so that what was written into can be seen.
    file   where the learner's lines stand, for the trace.
    """
    call = make()
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = plain(part.answer(function, call))
    except (Exception, SystemExit) as error:
        return Outcome(failure=Failure(type(error).__name__, str(error), trace_of(error, file)))
    return Outcome(answer, changed=changed(part, call, make()))


def changed(part: Part, after: Call, before: Call) -> tuple[str, ...]:
    """The names of the arguments that are no longer what they were, but for those that may change."""
    names = [*part.signature.parameters]
    pairs = [
        *zip(names, after.arguments, before.arguments, strict=False),
        *((name, after.keywords[name], before.keywords[name]) for name in before.keywords),
    ]
    return tuple(name for name, a, b in pairs if name not in part.may_change and not _alike(plain(a), plain(b)))


def _alike(a: Any, b: Any) -> bool:
    """Whether two values are the same to the last bit; what is foreign is not looked into."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_alike(a[name], b[name]) for name in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, Tensor):
        return _alike(a.array, b.array)
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    return isinstance(a, Foreign) or a == b or (a != a and b != b)
