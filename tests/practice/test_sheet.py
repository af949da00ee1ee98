"""The file that a learner finds: read by Python, in both languages, with examples that are right."""

from __future__ import annotations

import ast
import importlib.util

import numpy as np
import pytest

from clearhead.languages import LANGUAGES, speaking
from clearhead.practice import exercises
from clearhead.practice.exercise import Part
from clearhead.practice.grading import check
from clearhead.practice.sheet import sheet, stub

PRESENT = [name for name in exercises.NAMES if importlib.util.find_spec(f"clearhead.practice.exercises.{name}")]


@pytest.mark.parametrize("name", PRESENT)
def test_a_stub_is_answered_kindly(name, tmp_path):
    exercise = exercises.load(name)
    written = {language: sheet_in(exercise, language) for language in LANGUAGES}
    assert exercise.task("ko") in written["ko"]
    for text in written.values():
        defined = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
        assert defined >= {part.name for part in exercise.parts}
        assert f"practice check {name}" in text
    scope: dict = {}
    file = tmp_path / f"{name}.py"
    file.write_text(written["en"], encoding="utf-8")
    exec(compile(written["en"], str(file), "exec"), scope)
    verdict = check(exercise, {part.name: scope[part.name] for part in exercise.parts})
    assert not verdict.right
    assert verdict.kind != "exception", verdict.said
    for part in exercise.parts:
        if part.stub is None:
            assert check(exercise, {part.name: scope[part.name]}).kind == "unwritten"


def sheet_in(exercise, language):
    with speaking(language):
        return sheet(exercise)


def test_examples_show_what_the_solution_gives():
    assert ">>> softmax(np.array([0.0, 1.0, 2.0]))\n    array([0.09  , 0.2447, 0.6652])" in sheet(
        exercises.load("softmax")
    )


def test_a_stub_has_the_solutions_signature_without_its_annotations():
    def attend(x: np.ndarray, mask: np.ndarray | None = None, *, scale: float = 1.0) -> np.ndarray:
        return x

    assert stub(Part(solution=attend, judge=attend)) == "def attend(x, mask=None, *, scale=1.0):\n    ..."
    assert (
        stub(Part(solution=attend, judge=attend, stub="\ndef attend(x):\n    return x\n"))
        == "def attend(x):\n    return x"
    )
