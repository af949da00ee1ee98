"""Is an answer right, and if not, what is the first thing to say about it?

An answer is tried on every probe and held to the judge, loop by loop. Where it comes from does not matter here: `Ask`
hands over one outcome after the other, from a function of this process or from a learner's file in another.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from clearhead.languages import Said
from clearhead.practice import words
from clearhead.practice.answers import AccidentError, Failure, Outcome, outcome
from clearhead.practice.comparing import Difference, difference, same
from clearhead.practice.describing import described, probed
from clearhead.practice.examples import Example, example, shapes
from clearhead.practice.exercise import Exercise, Mistake, Part
from clearhead.practice.loops import Loop, first_loop, is_stub
from clearhead.practice.naming import agree, named
from clearhead.practice.probes import DRAWS, Probe, call_of, probes
from clearhead.practice.shrinking import smallest
from clearhead.practice.telling import about_axes, is_blank, not_yet, sentence
from clearhead.practice.verdict import Verdict

Ask = Callable[[Part, Probe], Outcome]

KEPT = 64  # parts whose right answers are remembered, for whoever checks again after a change
EXPLAINING = 0.5  # seconds: a learner waits for the answer
NAMING = 0.2  # of the time that a check may take, to find the mistake that explains an answer


class Trial(NamedTuple):
    """A probe, and what is right there: the judge's answer, and the solution's, whose types are the model.

    Of a part that is adapted the judge's answer is both.

    seconds   how long it took to find out
    """

    probe: Probe
    expected: Any
    model: Any
    seconds: float = 0.0


class Finding(NamedTuple):
    """The first thing that is not right: a kind of words.found.FOUND, the trial it was found in, and what was found."""

    kind: str
    trial: Trial
    outcome: Outcome
    difference: Difference | None = None


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
    mistake = None if finding.kind in ("nothing", "random") else name_mistake(part, ask, finding, got, exercise)
    shown = shrunk(part, finding, mistake, ask)
    if mistake is None:
        said = told(part, finding, ask, shown.trial.probe)
    elif isinstance(finding.trial.model, dict):  # of several answers, which one
        said = (mistake.said, sentence(part, finding.kind, finding.outcome, finding.difference))
    else:
        said = (mistake.said,)
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


@functools.lru_cache(KEPT)
def trials(part: Part) -> tuple[Trial, ...]:
    """Every probe with what is right there. Sizes that the part's own solution cannot take are left out."""
    return tuple(filter(None, (trial_of(part, probe) for probe in probes(part))))


def mistaken(part: Part, in_time: Callable[[], bool] = lambda: True) -> Iterator[tuple[Mistake, tuple[Outcome, ...]]]:
    """Every mistake of a part with what it answers, trial by trial; as many as there is time for."""
    for mistake in part.mistakes:
        if not in_time():
            return
        yield mistake, _answers(part, mistake)


@functools.lru_cache(16 * KEPT)
def _answers(part: Part, mistake: Mistake) -> tuple[Outcome, ...]:
    return tuple(ours(part, mistake.wrong, trial.probe) for trial in trials(part))


def trial_of(part: Part, probe: Probe) -> Trial | None:
    """A probe with what is right there; None if judge and solution do not both answer, and alike."""
    began = time.monotonic()
    expected = ours(part, part.judge, probe)
    model = ours(part, part.solution, probe) if part.adapt is None else expected
    if model.failure or expected.failure or difference(part, expected.answer, model.answer, model.answer):
        return None
    return Trial(probe, expected.answer, model.answer, time.monotonic() - began)


def ours(part: Part, function: Callable[..., Any], probe: Probe) -> Outcome:
    """What a function of the exercise itself answers; a probe that cannot be drawn is a failure too."""
    try:
        call_of(part, probe)
    except Exception as error:
        return Outcome(failure=Failure(type(error).__name__, str(error), ()))
    return outcome(part, function, lambda: call_of(part, probe))


def theirs(part: Part, function: Callable[..., Any], probe: Probe) -> Outcome:
    """What a learner's function answers in this process."""
    return outcome(part, part.adapted(function), lambda: call_of(part, probe), _file_of(function))


def first_finding(part: Part, tried: Sequence[Trial], ask: Ask, got: list[Outcome]) -> Finding | None:
    """The first thing that is not right, trial by trial; last of all, whether the same call gives the same answer.

    got   what was asked for on the way is left here
    """
    for trial in tried:
        got.append(ask(part, trial.probe))
        if finding := judged(part, trial, got[-1]):
            return finding
    if not part.again:
        return None
    again = ask(part, tried[0].probe)
    if judged(part, tried[0], again) or not same(got[0].answer, again.answer, part.tolerance):
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


def name_mistake(part: Part, ask: Ask, finding: Finding, got: Sequence[Outcome], exercise: Exercise) -> Mistake | None:
    """The one mistake that explains all that the learner's function does. `got` is what it answered so far.

    None too where the learner's function takes too long to be asked everything, or an accident befalls it on the way:
    what was found before stands.
    """
    if not part.mistakes:
        return None
    in_time = clock(NAMING * exercise.seconds)
    outcomes = list(got)
    for trial in trials(part)[len(got) :]:
        if not in_time():
            return None
        try:
            outcomes.append(ask(part, trial.probe))
        except AccidentError:
            return None
    return named(part, outcomes, mistaken(part, in_time), finding.difference.output if finding.difference else "")


def shrunk(part: Part, finding: Finding, mistake: Mistake | None, ask: Ask) -> Finding:
    """The same finding in the smallest call that shows it, where its numbers are what is shown."""
    if finding.kind not in ("values", "nan") or finding.trial.seconds > EXPLAINING:
        return finding
    found = {finding.trial.probe: finding}
    in_time = clock(EXPLAINING)

    def still_fails(probe: Probe) -> bool:
        trial = trial_of(part, probe) if in_time() else None
        if trial is None:
            return False
        try:
            smaller = judged(part, trial, ask(part, probe))
        except AccidentError:
            return False
        if smaller is None or _kind(smaller) != _kind(finding):
            return False
        if mistake and not agree(part, [smaller.outcome], [ours(part, mistake.wrong, probe)], _kind(finding)[1]):
            return False
        found[probe] = smaller
        return True

    return found[smallest(part, finding.trial.probe, still_fails)]


def _kind(finding: Finding) -> tuple[str, str]:
    return finding.kind, finding.difference.output if finding.difference else ""


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


def told(part: Part, finding: Finding, ask: Ask, shown: Probe) -> tuple[Said, ...]:
    """What is said of a finding that no mistake explains: what was found, and what else can be seen of it.

    shown   the call that is shown beside it
    """
    found = finding.difference
    said = sentence(part, finding.kind, finding.outcome, found)
    if found is None or finding.kind not in ("shape", "values", "nan"):
        return (said,)
    if finding.kind == "shape":
        return (said, *about_axes(part, found))
    in_time = clock(EXPLAINING if finding.trial.seconds <= EXPLAINING else 0.0)

    def right_at(probe: Probe) -> bool:
        """At several draws: one may be right by luck, as a sum along an axis of 1 is."""
        drawn = [trial_of(part, probe._replace(seed=seed)) if in_time() else None for seed in range(DRAWS)]
        try:
            return all(trial and not judged(part, trial, ask(part, trial.probe)) for trial in drawn)
        except AccidentError:
            return False

    seen = described(part, found.output, found.expected, found.got) + probed(part, finding.trial.probe, shown, right_at)
    if not seen and finding.trial.probe.further is not None and part.sizes:
        seen = (words.seen.ONLY_FURTHER,)
    return (said, *seen)


def clock(seconds: float) -> Callable[[], bool]:
    """Whether there is still time to ask on for the sake of a better explanation."""
    began = time.monotonic()
    return lambda: time.monotonic() - began < seconds


def _manners(exercise: Exercise, part: Part, source: str) -> Verdict:
    """The verdict on an answer whose numbers are right: how it was got may still be against the task."""
    loop: Loop | None = None if part.loops else first_loop(source, part.name)
    if loop is None:
        return Verdict(exercise=exercise, part=part, kind="right", said=(words.found.RIGHT,))
    said: Said = words.found.FOUND["loop"].filled(line=loop.line, loop=loop.text)
    return Verdict(exercise=exercise, part=part, kind="loop", said=(said,))


def _file_of(function: Callable[..., Any]) -> str | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_filename if code else None


def _source_of(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed in where no source is kept, or compiled
        return ""
