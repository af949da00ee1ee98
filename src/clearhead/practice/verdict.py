"""What is said of an answer: right, or the first thing that is not, as data that terminal and notebook both show."""

from __future__ import annotations

from dataclasses import dataclass

from clearhead.languages import Said
from clearhead.practice.exercise import Exercise, Part
from clearhead.practice.traces import Trace


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The outcome of a check.

    kind      "right", a kind of FOUND in words.py, or "accident"
    said      what to tell the learner, sentence by sentence
    mistake   the name of the mistake that the answer shows, if it shows exactly one
    trace     the learner's lines that led to an exception, or hold what is spoken of
    """

    exercise: Exercise
    kind: str
    said: tuple[Said, ...]
    part: Part | None = None
    mistake: str | None = None
    trace: Trace = ()

    @property
    def right(self) -> bool:
        return self.kind == "right"
