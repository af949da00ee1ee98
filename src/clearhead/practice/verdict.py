"""What is said of an answer: right, or the first thing that is not, as data that terminal and notebook both show."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    printed   the beginning of what the learner's code printed
    remarks   what else was seen
    """

    exercise: Exercise
    kind: str
    said: tuple[Said, ...]
    part: Part | None = None
    mistake: str | None = None
    trace: Trace = ()
    printed: str = ""
    remarks: tuple[Said, ...] = ()

    @property
    def right(self) -> bool:
        return self.kind == "right"

    def with_remarks(self, printed: str, remarks: tuple[Said, ...]) -> Verdict:
        return replace(self, printed=printed, remarks=(*self.remarks, *remarks))
