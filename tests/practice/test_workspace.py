"""The learner's folder: files that are never overwritten, and progress that survives damage."""

from __future__ import annotations

import json

import pytest

from clearhead.practice import exercises
from clearhead.practice.workspace import Standing, Workspace

SOFTMAX = exercises.load("softmax")


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "practice")


def again(workspace):
    return Workspace(workspace.folder)


def test_a_file_is_laid_down_once(workspace):
    file = workspace.lay_down(SOFTMAX)
    assert "def softmax(x, axis=-1):" in file.read_text(encoding="utf-8")
    file.write_text("mine")
    assert workspace.lay_down(SOFTMAX).read_text() == "mine"


def test_progress_is_kept(workspace):
    assert workspace.is_new
    assert workspace.current() == "softmax"
    workspace.note_attempt("softmax", False)
    workspace.note_attempt("softmax", True)
    workspace.note_attempt("softmax", False)  # what was passed stays so
    later = again(workspace)
    assert not later.is_new
    assert later.standing("softmax") == Standing(passed=True, hints=0, attempts=3)
    assert later.current() == exercises.NAMES[1]
    content = json.loads((workspace.folder / "progress.json").read_text())
    assert content == {
        "version": 1,
        "language": "en",
        "exercises": {"softmax": {"passed": True, "hints": 0, "attempts": 3}},
    }


def test_hints_come_one_by_one(workspace):
    assert [workspace.next_hint("softmax") for _ in range(4)] == [1, 2, 3, 3]
    assert again(workspace).standing("softmax").hints == 3


def test_the_following_exercise_is_one_not_passed(workspace):
    first, second, third, *_ = exercises.NAMES
    workspace.note_attempt(second, True)
    assert workspace.following(first) == third
    for name in exercises.NAMES[1:]:
        workspace.note_attempt(name, True)
    assert workspace.following(third) == first
    workspace.note_attempt(first, True)
    assert workspace.following(third) is None
    assert workspace.current() is None


def test_reset_keeps_a_copy_of_each(workspace):
    file = workspace.lay_down(SOFTMAX)
    workspace.note_attempt("softmax", True)
    for number, text in enumerate(("first", "second"), 1):
        file.write_text(text)
        kept = workspace.reset(SOFTMAX)
        assert (kept.name, kept.read_text()) == (f"softmax.old{number}.py", text)
        assert "def softmax" in file.read_text(encoding="utf-8")
    assert again(workspace).standing("softmax") == Standing()
    file.unlink()
    assert workspace.reset(SOFTMAX) is None
    assert file.exists()


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "3", '{"version": 2, "exercises": {}}', '{"version": 1}', '{"version": 1, "exercises": []}',
        '{"version": 1, "exercises": {"softmax": {"passed": "yes"}}}', '{"version": 1, "exercises": {"softmax": 1}}',
        '{"version": 1, "exercises": {"softmax": {"won": true}}}', "\udcff",
    ],
)  # fmt: skip
def test_a_damaged_file_is_set_aside_and_said(workspace, content):
    workspace.folder.mkdir()
    written = content.encode(errors="surrogateescape")
    (workspace.folder / "progress.json").write_bytes(written)
    found = again(workspace)
    (warning,) = found.warnings
    assert "progress.old1.json" in warning.en
    assert "progress.old1.json" in warning.ko
    assert (workspace.folder / "progress.old1.json").read_bytes() == written
    assert found.current() == "softmax"
    assert again(workspace).warnings == []


def test_an_exercise_of_another_version_is_kept(workspace):
    workspace.folder.mkdir()
    kept = {"passed": True, "hints": 1, "attempts": 2}
    text = json.dumps({"version": 1, "language": "ko", "exercises": {"to_come": kept}})
    (workspace.folder / "progress.json").write_text(text)
    found = again(workspace)
    found.note_attempt("softmax", True)
    assert json.loads((workspace.folder / "progress.json").read_text())["exercises"]["to_come"] == kept
