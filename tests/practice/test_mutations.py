"""Random small edits of the solutions are caught; `python -m tests.practice.mutations` tries many more."""

from __future__ import annotations

import ast

import pytest

from clearhead.practice import exercises, explaining

from .mutations import changes_an_answer, edits, tally

EDITS = 2  # of each function: the suite has little time
SLOW = ("train_a_copier",)  # each answer takes seconds of training
PARTS = [
    pytest.param(exercise, part, id=f"{exercise.name}-{part.name}")
    for exercise in (exercises.load(name) for name in exercises.NAMES if name not in SLOW)
    for part in exercise.parts
]


@pytest.mark.parametrize(("exercise", "part"), PARTS)
def test_edits_that_change_an_answer_are_caught(exercise, part, monkeypatch):
    monkeypatch.setattr(explaining, "EXPLAINING", 0)
    assert tally(exercise, part, EDITS).escaped == ()


def test_the_edits_of_softmax():
    (part,) = exercises.load("softmax").parts
    made = list(edits(part))
    sources = {ast.unparse(ast.parse(edit.source).body[0].body[-1]) for edit in made}
    assert "return powers * np.where(total == 0, 1, total)" in sources
    assert "return powers / np.where(total != 0, 1, total)" in sources
    assert "return np.where(total == 0, 1, total) / powers" in sources
    assert not changes_an_answer(part, part.solution)
    assert any(changes_an_answer(part, edit.function) for edit in made)
