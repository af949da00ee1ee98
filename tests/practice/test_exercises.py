"""Every exercise keeps its promises: its solution is right, and each of its mistakes is caught under its own name."""

from __future__ import annotations

import functools
import importlib.util
import itertools
from pathlib import Path

import pytest

from clearhead.languages import LANGUAGES
from clearhead.practice import exercises, explaining
from clearhead.practice.comparing import difference
from clearhead.practice.exercise import Exercise, Part
from clearhead.practice.grading import check
from clearhead.practice.naming import agree
from clearhead.practice.probes import probes
from clearhead.practice.trying import mistaken, theirs, trials

FOLDER = Path(exercises.__file__).parent
RIGHT, WRONG = Path(__file__).parent / "right", Path(__file__).parent / "wrong"
PRESENT = [name for name in exercises.NAMES if (FOLDER / f"{name}.py").exists() or (FOLDER / name).is_dir()]
LOADED = {name: exercises.load(name) for name in PRESENT}
PARTS = [pytest.param(e, part, id=f"{name}-{part.name}") for name, e in LOADED.items() for part in e.parts]
MISTAKES = [
    pytest.param(e, part, mistake, id=f"{name}-{part.name}-{mistake.name}")
    for name, e in LOADED.items()
    for part in e.parts
    for mistake in part.mistakes
]


def rights(name):
    """The right answers that are written otherwise, by function."""
    return module(RIGHT / f"{name}.py").RIGHT


def learners(name, mistake):
    """A mistake as a learner makes it with tensors, where ours is worked out with arrays."""
    return getattr(module(WRONG / f"{name}.py"), mistake.name)


@functools.cache
def module(path):
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize("name", PRESENT)
def test_it_has_the_name_of_its_file(name):
    assert LOADED[name].name == name


@pytest.mark.parametrize(("exercise", "part"), PARTS)
def test_judge_and_solution_agree_wherever_they_are_asked(exercise: Exercise, part: Part):
    """A probe on which they do not agree is no trial; other sizes, which not every draw can take, may be none."""
    agreed = {trial.probe for trial in trials(part)}
    asked = {p for p in probes(part) if p.further is not None or p.sizes == tuple(part.sizes.items())}
    assert asked - agreed == set()


@pytest.mark.parametrize(("exercise", "part"), PARTS)
def test_a_solution_that_is_asked_otherwise_than_the_judge_agrees_too(exercise: Exercise, part: Part):
    if part.adapt:
        for trial in trials(part):
            came = theirs(part, part.solution, trial.probe)
            assert came.failure is None, came.failure
            assert difference(part, trial.expected, trial.model, came.answer) is None, trial.probe


@pytest.mark.parametrize(("exercise", "part"), PARTS)
def test_the_solution_is_right(exercise: Exercise, part: Part):
    verdict = check(exercise, {part.name: part.solution})
    assert verdict.right, (verdict.kind, verdict.said)


@pytest.mark.parametrize(("exercise", "part"), PARTS)
def test_right_answers_written_otherwise_are_right(exercise: Exercise, part: Part):
    answers = rights(exercise.name)[part.name]
    assert len(answers) >= 2
    for answer in answers:
        verdict = check(exercise, {part.name: answer})
        assert verdict.right, (answer.__name__, verdict.kind, verdict.said)


@pytest.mark.parametrize(("exercise", "part", "mistake"), MISTAKES)
def test_each_mistake_is_caught_and_named(exercise: Exercise, part: Part, mistake, monkeypatch):
    monkeypatch.setattr(explaining, "EXPLAINING", 0)  # the smallest counterexample is another test's
    monkeypatch.setattr(explaining, "NAMING", 60)  # a machine may be busy
    wrong = learners(exercise.name, mistake) if part.adapt else mistake.wrong
    verdict = check(exercise, {part.name: completed(part, mistake) if answers_a_dict(part) else wrong})
    assert (verdict.right, verdict.mistake) == (False, mistake.name), (verdict.kind, verdict.said)
    for language in LANGUAGES:
        assert verdict.said[0](language) == mistake.said(language)


def answers_a_dict(part: Part) -> bool:
    return isinstance(trials(part)[0].expected, dict)


def completed(part: Part, mistake):
    """A mistake that gives some numbers of a dict, with the right ones for the rest."""
    return lambda *arguments, **keywords: part.solution(*arguments, **keywords) | mistake.wrong(*arguments, **keywords)


@pytest.mark.parametrize(("exercise", "part"), PARTS)
def test_mistakes_can_be_told_apart(exercise: Exercise, part: Part):
    outcomes = {mistake.name: answers for mistake, answers in mistaken(part)}
    assert len(outcomes) == len(part.mistakes), "two mistakes have one name"
    for a, b in itertools.combinations(outcomes, 2):
        told = outcomes[a][0].answer, outcomes[b][0].answer
        if all(isinstance(answer, dict) for answer in told) and not told[0].keys() & told[1].keys():
            continue  # each speaks of other numbers
        name = next(iter(told[0].keys() & told[1].keys())) if isinstance(told[0], dict) else ""
        assert not agree(part, outcomes[a], outcomes[b], name), f"{a} and {b} answer alike on every probe"


def test_every_exercise_is_there():
    assert [name for name in exercises.NAMES if name not in PRESENT] == []
