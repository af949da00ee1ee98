"""Is an answer right, and if not, what is the first thing to say about it?

An answer is tried on every probe (trying.py); of the first thing that is not right, more is found out (explaining.py);
and the verdict is put together here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from clearhead.languages import Said
from clearhead.practice import words
from clearhead.practice.answers import Outcome
from clearhead.practice.examples import Example, example, shapes
from clearhead.practice.exercise import Exercise, Part
from clearhead.practice.explaining import name_mistake, shrunk, told
from clearhead.practice.loops import Loop, first_loop, is_stub
from clearhead.practice.probes import Probe, call_of, probes
from clearhead.practice.telling import is_blank, not_yet, sentence
from clearhead.practice.trying import Ask, Finding, first_finding, theirs, trials
from clearhead.practice.verdict import Verdict


def check(exercise: Exercise, functions: Callable[..., Any] | dict[str, Callable[..., Any]]) -> Verdict:
    """The verdict on functions of this process, by name; one function will do where an exercise has one part."""
    given = functions if isinstance(functions, dict) else {exercise.parts[0].name: functions}

    def ask(part: Part, probe: Probe) -> Outcome:
        return theirs(part, given[part.name], probe)

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
    return Verdict(exercise=exercise, kind="right", said=(words.found.RIGHT,))


def grade_part(exercise: Exercise, part: Part, ask: Ask, source: str) -> Verdict:
    unwritten = is_stub(source, part.name)
    if unwritten and ask(part, probes(part)[0]).answer is None:  # without waiting for what is right
        return Verdict(exercise=exercise, part=part, kind="unwritten", said=(not_yet(part, None),))
    got: list[Outcome] = []
    finding = first_finding(part, trials(part), ask, got)
    if finding is None:
        return _manners(exercise, part, source)
    if unwritten or is_blank(part, finding.difference):
        return Verdict(exercise=exercise, part=part, kind="unwritten", said=(not_yet(part, finding.difference),))
    known = None if finding.kind in ("nothing", "random") else name_mistake(part, ask, finding, got, exercise)
    mistake = known.mistake if known else None
    shown = shrunk(part, finding, mistake, ask)
    if mistake is None:
        said = told(part, finding, ask, shown.trial.probe)
    elif isinstance(finding.trial.model, dict):  # of several answers, which one
        said = (mistake.said, sentence(part, finding.kind, finding.outcome, finding.difference))
    else:
        said = (mistake.said,) if known and known.alone else (mistake.said, words.seen.NOT_ALONE)
    return Verdict(
        exercise=exercise,
        part=part,
        kind=finding.kind,
        said=said,
        mistake=mistake.name if mistake else None,
        explained=mistake.explained if mistake else None,
        trace=finding.outcome.failure.trace if finding.outcome.failure else (),
        example=_example(part, shown),
        probe=shown.trial.probe,
    )


def _example(part: Part, finding: Finding) -> Example | None:
    """What is shown of a call: its arguments, and if numbers differ, expected and got.

    Nothing of a dict of named numbers: what was expected there is the whole answer.
    """
    call = call_of(part, finding.trial.probe)
    if finding.kind == "exception":
        return shapes(part, call)
    if not finding.difference or finding.kind not in ("values", "nan") or isinstance(finding.trial.model, dict):
        return None
    return example(part, call, finding.difference.output, finding.difference.expected, finding.difference.got)


def _manners(exercise: Exercise, part: Part, source: str) -> Verdict:
    """The verdict on an answer whose numbers are right: how it was got may still be against the task."""
    loop: Loop | None = None if part.loops else first_loop(source, part.name)
    if loop is None:
        return Verdict(exercise=exercise, part=part, kind="right", said=(words.found.RIGHT,))
    said: Said = words.found.FOUND["loop"].filled(line=loop.line, loop=loop.text)
    return Verdict(exercise=exercise, part=part, kind="loop", said=(said,))


def _source_of(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed in where no source is kept, or compiled
        return ""
