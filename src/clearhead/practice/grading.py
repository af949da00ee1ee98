"""Is an answer right, and if not, what is the first thing to say about it?

An answer is tried on every probe and held to the judge, loop by loop. Where it comes from does not matter here: `Ask`
hands over one outcome after the other, from a function of this process or from a learner's file in another.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from clearhead.languages import Said
from clearhead.practice import words
from clearhead.practice.answers import Failure, Outcome, outcome
from clearhead.practice.comparing import Difference, difference, same
from clearhead.practice.exercise import Exercise, Mistake, Part
from clearhead.practice.loops import Loop, first_loop, is_stub
from clearhead.practice.naming import named
from clearhead.practice.probes import Probe, call_of, probes
from clearhead.practice.telling import sentence
from clearhead.practice.traces import Trace
from clearhead.practice.verdict import Verdict

Ask = Callable[[Part, Probe], Outcome]


class Trial(NamedTuple):
    """A probe, and what is right there: the judge's answer, and the solution's, whose types are the model."""

    probe: Probe
    expected: Any
    model: Any


class Finding(NamedTuple):
    """The first thing that is not right: a kind of words.FOUND, the trial it was found in, and what was found."""

    kind: str
    trial: Trial
    outcome: Outcome
    difference: Difference | None = None


def check(exercise: Exercise, functions: Callable[..., Any] | dict[str, Callable[..., Any]]) -> Verdict:
    """The verdict on functions of this process, by name; one function will do where an exercise has one part."""
    given = functions if isinstance(functions, dict) else {exercise.parts[0].name: functions}

    def ask(part: Part, probe: Probe) -> Outcome:
        function = given[part.name]
        return outcome(part, function, lambda: call_of(part, probe), _file_of(function))

    parts = [part for part in exercise.parts if part.name in given]
    return grade(exercise, ask, {part.name: _source_of(given[part.name]) for part in parts}, parts)


def grade(exercise: Exercise, ask: Ask, sources: dict[str, str], parts: Sequence[Part] | None = None) -> Verdict:
    """The verdict on the answers that `ask` gives, part by part, with the first that is not right.

    sources   the source text that each part's function stands in, as far as it is known
    """
    for part in exercise.parts if parts is None else parts:
        verdict = grade_part(exercise, part, ask, sources.get(part.name, ""))
        if not verdict.right:
            return verdict
    return Verdict(exercise=exercise, kind="right", said=(words.RIGHT,))


def grade_part(exercise: Exercise, part: Part, ask: Ask, source: str) -> Verdict:
    tried = list(trials(part))
    finding = first_finding(part, tried, ask)
    if finding is None:
        return _manners(exercise, part, source)
    kind = finding.kind
    mistake = None if kind == "random" else name_mistake(part, tried, ask, finding)
    if kind == "nothing" and is_stub(source, part.name):
        return Verdict(
            exercise=exercise, part=part, kind="unwritten", said=(words.FOUND["unwritten"].filled(name=part.name),)
        )
    said = (mistake.said,) if mistake else (sentence(part, finding.kind, finding.outcome, finding.difference),)
    trace: Trace = finding.outcome.failure.trace if finding.outcome.failure else ()
    return Verdict(
        exercise=exercise, part=part, kind=kind, said=said, mistake=mistake.name if mistake else None, trace=trace
    )


def trials(part: Part) -> Iterator[Trial]:
    """Every probe with what is right there. Sizes that the part's own solution cannot take are left out."""
    for probe in probes(part):
        trial = trial_of(part, probe)
        if trial is not None:
            yield trial


def trial_of(part: Part, probe: Probe) -> Trial | None:
    """A probe with what is right there; None if judge and solution do not both answer, and alike."""
    model, expected = (ours(part, function, probe) for function in (part.solution, part.judge))
    if model.failure or expected.failure or difference(part, expected.answer, model.answer, model.answer):
        return None
    return Trial(probe, expected.answer, model.answer)


def ours(part: Part, function: Callable[..., Any], probe: Probe) -> Outcome:
    """What a function of the exercise itself answers; a probe that cannot be drawn is a failure too."""
    try:
        call_of(part, probe)
    except Exception as error:
        return Outcome(failure=Failure(type(error).__name__, str(error), ()))
    return outcome(part, function, lambda: call_of(part, probe))


def first_finding(part: Part, tried: Sequence[Trial], ask: Ask) -> Finding | None:
    """The first thing that is not right, trial by trial; last of all, whether the same call gives the same answer."""
    for trial in tried:
        if finding := judged(part, trial, ask(part, trial.probe)):
            return finding
    again = ask(part, tried[0].probe)
    if judged(part, tried[0], again) or not same(again.answer, ask(part, tried[0].probe).answer, part.tolerance):
        return Finding("random", tried[0], again)
    return None


def judged(part: Part, trial: Trial, came: Outcome) -> Finding | None:
    """What is not right about one outcome."""
    if came.failure:
        return Finding("exception", trial, came)
    found = difference(part, trial.expected, trial.model, came.answer)
    if found:
        return Finding(found.kind, trial, came, found)
    return Finding("changed", trial, came) if came.changed else None


def name_mistake(part: Part, tried: Sequence[Trial], ask: Ask, finding: Finding) -> Mistake | None:
    """The one mistake that explains all that the learner's function does."""
    if not part.mistakes or finding.kind == "nothing":
        return None
    got = [ask(part, trial.probe) for trial in tried]
    wrong = [(mistake, [ours(part, mistake.wrong, trial.probe) for trial in tried]) for mistake in part.mistakes]
    return named(part, got, wrong, finding.difference.output if finding.difference else "")


def _manners(exercise: Exercise, part: Part, source: str) -> Verdict:
    """The verdict on an answer whose numbers are right: how it was got may still be against the task."""
    loop: Loop | None = None if part.loops else first_loop(source, part.name)
    if loop is None:
        return Verdict(exercise=exercise, part=part, kind="right", said=(words.RIGHT,))
    said: Said = words.FOUND["loop"].filled(line=loop.line, loop=loop.text)
    return Verdict(exercise=exercise, part=part, kind="loop", said=(said,))


def _file_of(function: Callable[..., Any]) -> str | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_filename if code else None


def _source_of(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed in where no source is kept, or compiled
        return ""
