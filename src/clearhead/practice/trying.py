"""An answer tried on every probe and held to the judge: the first thing that is not right.

Where answers come from does not matter here: `Ask` hands over one outcome after the other, from a function of this
process or from a learner's file in another.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from clearhead.practice.answers import Failure, Outcome, outcome
from clearhead.practice.comparing import Difference, difference, same
from clearhead.practice.exercise import Mistake, Part
from clearhead.practice.probes import Probe, call_of, probes

Ask = Callable[[Part, Probe], Outcome]

KEPT = 64  # parts whose right answers are remembered, for whoever checks again after a change


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


def _file_of(function: Callable[..., Any]) -> str | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_filename if code else None
