"""More of a finding: the mistake that explains it, the smallest call that shows it, what the output depends on.

All of it asks the learner's function further, so all of it has a clock: a learner waits for the answer.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Sequence

from clearhead.languages import Said
from clearhead.practice import words
from clearhead.practice.answers import AccidentError, Outcome
from clearhead.practice.comparing import leaves, same
from clearhead.practice.depending import Both, dependence
from clearhead.practice.describing import MOST, described, probed
from clearhead.practice.exercise import Exercise, Mistake, Part
from clearhead.practice.naming import Named, agree, named
from clearhead.practice.probes import DRAWS, Probe
from clearhead.practice.shrinking import smallest
from clearhead.practice.telling import about_axes, sentence, sizes_in
from clearhead.practice.trying import Ask, Finding, judged, mistaken, ours, trial_of, trials

EXPLAINING = 0.5  # seconds
NAMING = 0.2  # of the time that a check may take, to find the mistake that explains an answer


def name_mistake(part: Part, ask: Ask, finding: Finding, got: Sequence[Outcome], exercise: Exercise) -> Named | None:
    """The one mistake that explains what the learner's function does. `got` is what it answered so far.

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
    output = finding.difference.output if finding.difference else ""
    return named(part, outcomes, mistaken(part, in_time), output, ordinary(part, len(got)))


def ordinary(part: Part, tried: int) -> list[int]:
    """The trials that a mistake must explain, if it cannot explain all: the drawn ones, and those tried so far."""
    return [i for i, trial in enumerate(trials(part)) if trial.probe.further is None or i < tried]


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


def told(part: Part, finding: Finding, ask: Ask, shown: Probe) -> tuple[Said, ...]:
    """What is said of a finding that no mistake explains: what was found, and what else can be seen of it.

    shown   the call that is shown beside it
    """
    found = finding.difference
    said = sentence(part, finding.kind, finding.outcome, found)
    if finding.outcome.failure:
        return (said, *sizes_in(finding.outcome.failure.message, finding.trial.probe))
    if found is None or finding.kind not in ("shape", "values", "nan"):
        return (said,)
    if turned := in_another_order(part, finding):
        return (said, turned)
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

    def both(probe: Probe) -> Both | None:
        trial = trial_of(part, probe) if in_time() else None
        came = ask(part, probe) if trial else None
        if trial is None or came is None or came.failure:
            return None
        answers = [leaves(part, answer) for answer in (trial.expected, came.answer)]
        return Both(*(a[found.output] for a in answers if a)) if all(a and found.output in a for a in answers) else None

    seen = described(part, found.output, found.expected, found.got) + probed(part, finding.trial.probe, shown, right_at)
    if len(seen) < MOST:
        seen += right_besides(part, finding)
    with contextlib.suppress(AccidentError):
        if len(seen) < MOST:
            seen += tuple(itertools.islice(dependence(part, finding.trial.probe, found.output, both), 1))
    if not seen and finding.trial.probe.further is not None and part.sizes:
        seen = (words.seen.ONLY_FURTHER,)
    return (said, *seen)


def in_another_order(part: Part, finding: Finding) -> Said | None:
    """Whether all outputs are right, and only handed back in another order."""
    got, expected = finding.outcome.answer, leaves(part, finding.trial.expected)
    if not expected or len(part.outputs) < 2 or not isinstance(got, tuple) or len(got) != len(expected):
        return None
    for names in itertools.permutations(expected):
        if all(same(expected[name], came, part.tolerance) for name, came in zip(names, got, strict=True)):
            listed = (", ".join(f"`{name}`" for name in order) for order in (names, expected))
            return words.seen.OTHER_ORDER.filled(**dict(zip(("got", "expected"), listed, strict=True)))
    return None


def right_besides(part: Part, finding: Finding) -> tuple[Said, ...]:
    """Of several outputs, those before the wrong one that are right."""
    assert finding.difference
    expected, got = leaves(part, finding.trial.expected), leaves(part, finding.outcome.answer)
    if not part.weights or not expected or not got or finding.difference.output == part.weights:
        return ()
    right = same(expected[part.weights], got[part.weights], part.tolerance)
    return (words.seen.OTHERS_RIGHT.filled(names=f"`{part.weights}`"),) if right else ()


def clock(seconds: float) -> Callable[[], bool]:
    """Whether there is still time to ask on for the sake of a better explanation."""
    began = time.monotonic()
    return lambda: time.monotonic() - began < seconds
