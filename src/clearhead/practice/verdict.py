"""What is said of an answer: right, or the first thing that is not, as data that terminal and notebook both show."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clearhead.languages import Said
from clearhead.practice import showing
from clearhead.practice.examples import Example
from clearhead.practice.exercise import Exercise, Part, Section
from clearhead.practice.probes import Probe
from clearhead.practice.traces import Trace


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict:
    """The outcome of a check.

    kind      "right", a kind of FOUND in words.py, or "accident"
    said      what to tell the learner, sentence by sentence
    mistake   the name of the mistake that the answer shows, if it shows exactly one
    explained where in the notes; by default the exercise's own section
    trace     the learner's lines that led to an exception, or hold what is spoken of
    example   the smallest call that shows it
    probe     the name of that call
    printed   the beginning of what the learner's code printed, in that call
    remarks   what else was seen
    """

    exercise: Exercise
    kind: str
    said: tuple[Said, ...]
    part: Part | None = None
    mistake: str | None = None
    explained: Section | None = None
    trace: Trace = ()
    example: Example | None = None
    probe: Probe | None = None
    printed: str = ""
    remarks: tuple[Said, ...] = ()

    @property
    def right(self) -> bool:
        return self.kind == "right"

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return showing.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return showing.html(self)

    def with_remarks(self, printed: str, remarks: tuple[Said, ...]) -> Verdict:
        return replace(self, printed=printed, remarks=(*self.remarks, *remarks))
