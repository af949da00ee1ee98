"""Which mistake of an exercise a wrong answer shows, if it shows exactly one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clearhead.languages import Said
from clearhead.practice.answers import Outcome
from clearhead.practice.comparing import leaves, same
from clearhead.practice.exercise import Mistake, Part


class Named(NamedTuple):
    """A mistake that an answer shows.

    alone   whether it explains all that the answer does; if not, something else is wrong with it besides
    """

    mistake: Mistake
    alone: bool


def named(
    part: Part,
    got: Sequence[Outcome],
    wrong: Iterable[tuple[Mistake, Sequence[Outcome]]],
    output: str = "",
    ordinary: Sequence[int] = (),
) -> Named | None:
    """The one mistake whose outcomes are the learner's on every call, or else on all calls of the ordinary kind.

    got        the learner's outcomes, call by call
    wrong      each mistake with its outcomes on the same calls
    output     where the learner's answer differs first. Of mistakes that each speak of some numbers of a dict, only
               those that speak of this one are asked.
    ordinary   which calls are enough to know a mistake by, where a second one shows in the others only: a learner who
               does not scale has rarely thought of a row without keys either
    """
    answers = list(wrong)
    found = [mistake for mistake, outcomes in answers if agree(part, got, outcomes, output)]
    if found or not ordinary:
        return Named(found[0], True) if len(found) == 1 else None
    some = [got[i] for i in ordinary]
    partly = [
        mistake
        for mistake, outcomes in answers
        if agree(part, some, [outcomes[i] for i in ordinary], output)
        and _messages(some) == _messages([outcomes[i] for i in ordinary])  # an error alone may have another cause
    ]
    told: set[Said] = {mistake.said for mistake in partly}
    return Named(partly[0], False) if len(told) == 1 else None


def agree(part: Part, got: Sequence[Outcome], wrong: Sequence[Outcome], output: str = "") -> bool:
    """Whether a learner's outcomes are those of a mistake, on every call."""
    same_everywhere = all(_outcomes_agree(part, a, b, output) for a, b in zip(got, wrong, strict=True))
    if not same_everywhere or any(a.failure is None for a in got):
        return same_everywhere
    # Where every call fails there is nothing but the errors' words to know a mistake by.
    return _messages(got) == _messages(wrong)


def _messages(outcomes: Sequence[Outcome]) -> list[str | None]:
    return [outcome.failure.message if outcome.failure else None for outcome in outcomes]


def _outcomes_agree(part: Part, got: Outcome, wrong: Outcome, output: str) -> bool:
    if got.failure is not None or wrong.failure is not None:
        return got.failure is not None and wrong.failure is not None and got.failure.name == wrong.failure.name
    if set(got.changed) != set(wrong.changed):
        return False
    mine, theirs = leaves(part, got.answer), leaves(part, wrong.answer)
    if mine is None or theirs is None:
        return same(got.answer, wrong.answer, part.tolerance)
    if isinstance(wrong.answer, dict) and output not in theirs:
        return False
    return all(name in mine and same(value, mine[name], part.tolerance) for name, value in theirs.items())
