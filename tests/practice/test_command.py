"""`clearhead practice`, run as a learner runs it: begin, get it wrong, take a hint, get it right."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import io
import json

import pytest
from rich.cells import cell_len

from clearhead import cli
from clearhead.practice import exercises, words

RIGHT = """
import numpy as np


def softmax(x, axis=-1):
    top = np.maximum(x.max(axis=axis, keepdims=True), -1e300)
    powers = np.exp(x - top)
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total == 0, 1, total)
"""
WRONG = RIGHT.replace("x - top", "x")


@pytest.fixture(autouse=True)
def three_exercises(monkeypatch, tmp_path):
    """A short course, in an empty folder."""
    monkeypatch.setattr(exercises, "NAMES", ("softmax", "weights_by_hand", "self_attention"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def practice(capsys):
    """The exit status of an action, and what it prints."""

    def run(*arguments):
        status = cli.main(["practice", *arguments])
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run


def test_the_first_start_lays_everything_down_and_introduces_the_first(practice, tmp_path):
    status, shown = practice()
    assert status == 0
    assert words.command.WELCOME.en.split("{")[0] in shown
    assert "1/3 softmax · Scores become shares" in shown
    assert "Write it in practice/softmax.py" in shown
    assert "clearhead practice check softmax" in shown
    assert {path.name for path in (tmp_path / "practice").iterdir()} == {
        "softmax.py", "weights_by_hand.py", "self_attention.py", "progress.json",
    }  # fmt: skip
    assert "Welcome" not in practice()[1]


def test_a_whole_exercise(practice, tmp_path):
    practice()
    file = tmp_path / "practice" / "softmax.py"
    status, shown = practice("check")
    assert (status, "○ softmax" in shown, "not written yet" in shown) == (1, True, True)
    file.write_text(WRONG)
    status, shown = practice("check", "softmax")
    assert status == 1
    assert "exp(1000) overflows" in shown
    assert "clearhead practice hint softmax" in shown
    hints = exercises.load("softmax").hints
    for count in (1, 2, 3, 3):
        status, shown = practice("hint")
        assert status == 0
        assert [" ".join(hint.en.split()) in " ".join(shown.split()) for hint in hints] == [i < count for i in range(3)]
    status, shown = practice("solution", "softmax")
    assert status == 1
    assert "is shown when yours is right" in shown
    file.write_text(RIGHT)
    status, shown = practice("check")
    assert (status, "✓ softmax" in shown, "the next exercise" in shown) == (0, True, True)
    status, shown = practice("solution", "softmax")
    assert (status, "powers / np.where(total == 0" in shown) == (0, True)
    assert "2/3 weights_by_hand" in practice()[1]
    assert json.loads((tmp_path / "practice" / "progress.json").read_text())["exercises"]["softmax"] == {
        "passed": True, "hints": 3, "attempts": 2,
    }  # fmt: skip


def test_the_list_shows_what_is_done_and_what_is_next(practice, tmp_path):
    practice()
    (tmp_path / "practice" / "softmax.py").write_text(RIGHT)
    practice("check")
    status, shown = practice("list")
    assert status == 0
    lines = [line.split()[:3] for line in shown.splitlines() if line.strip()]
    assert lines[:2] == [["✓", "1", "softmax"], ["→", "2", "weights_by_hand"]]
    assert "1 of 3 done." in shown


def test_another_file_can_be_checked(practice, tmp_path):
    (tmp_path / "mine.py").write_text(RIGHT)
    assert practice("check", "softmax", "--file", "mine.py")[0] == 0
    status, shown = practice("check", "softmax", "--file", "lost.py")
    assert (status, "There is no file lost.py" in shown) == (1, True)


@pytest.mark.parametrize("arguments", [("start", "self_attention"), ("self_attention",)])
def test_one_exercise_can_be_opened_by_its_name(practice, tmp_path, arguments):
    status, shown = practice(*arguments)
    assert (status, "3/3 self_attention" in shown) == (0, True)
    assert "Write it in practice/self_attention.py" in shown
    assert (tmp_path / "practice" / "self_attention.py").exists()
    assert "1/3 softmax" in practice()[1]  # what comes next is as before


def test_reset_keeps_a_copy(practice, tmp_path):
    practice()
    (tmp_path / "practice" / "softmax.py").write_text(WRONG)
    status, shown = practice("reset", "softmax")
    assert (status, "softmax.old1.py" in shown) == (0, True)
    assert (tmp_path / "practice" / "softmax.old1.py").read_text() == WRONG


def test_a_deleted_file_is_laid_down_again(practice, tmp_path):
    practice()
    (tmp_path / "practice" / "softmax.py").unlink()
    status, shown = practice("check", "softmax")
    assert (status, "not written yet" in shown) == (1, True)
    assert (tmp_path / "practice" / "softmax.py").exists()


def test_everything_is_checked_at_once(practice, tmp_path):
    practice()
    (tmp_path / "practice" / "softmax.py").write_text(RIGHT)
    (tmp_path / "practice" / "self_attention.py").write_text("def self_attention(*arguments): return 1\n")
    status, shown = practice("check-all")
    assert status == 1
    marks = {line.split()[1]: line[0] for line in shown.splitlines() if line[:1] in "✓✗○" and line}
    assert marks == {"softmax": "✓", "weights_by_hand": "○", "self_attention": "✗"}
    assert "1 of 3 done." in shown


def test_when_all_is_done(practice, tmp_path, monkeypatch):
    monkeypatch.setattr(exercises, "NAMES", ("softmax",))
    (tmp_path / "mine.py").write_text(RIGHT)
    assert "All 1 exercises are done" in practice("check", "--file", "mine.py")[1]
    assert "All 1 exercises are done" in practice()[1]
    assert practice("check", "--file", "mine.py")[0] == 0


def test_another_workspace_and_another_language(practice, tmp_path):
    status, shown = practice("--workspace", "연습", "--lang", "ko")
    assert status == 0
    assert "연습/softmax.py 파일에 답을 쓰세요" in shown
    assert "practice check softmax --workspace '연습'" in shown
    assert "점수를 비율로 바꾸세요" in (tmp_path / "연습" / "softmax.py").read_text(encoding="utf-8")
    assert "not written" not in practice("check", "--workspace", "연습", "--language", "ko")[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("check", "sofmax"), "there is no exercise sofmax; did you mean softmax?"),
        (("check", "zzz"), "there is no exercise zzz; `list` shows them all"),
        (("chekc",), "there is no action chekc; did you mean check?"),
        (("softmx",), "there is no action softmx; did you mean softmax?"),
        (("zzz",), "there is no action zzz; there are start, list, check, watch, hint, solution, reset, check-all."),
        (("list", "softmax"), "To open one: `clearhead practice start softmax`"),
        (("hint", "--file", "x.py"), "--file goes with check alone"),
        (("check", "--give-up"), "--give-up goes with solution alone"),
        (("--workspace", "taken"), "taken is a file, and a workspace is a folder"),
    ],
)
def test_wrong_usage(practice, tmp_path, arguments, says):
    (tmp_path / "taken").write_text("")
    status, shown = practice(*arguments)
    assert (status, says in shown) == (2, True), shown


def test_what_is_not_installed_is_said_with_the_command_that_installs_it(practice, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(exercises, "load", missing)
    status, shown = practice("hint", "softmax")
    assert status == 1
    assert "needs torch, which is not installed" in shown
    assert "[practice]" in shown


def test_one_can_begin_without_what_a_later_exercise_needs(practice, monkeypatch, tmp_path):
    module = importlib.import_module("clearhead.practice.exercises.self_attention")
    lacking = dataclasses.replace(module.EXERCISE, imports="import numpy as np\nimport torhc")
    monkeypatch.setattr(module, "EXERCISE", lacking)
    status, shown = practice()
    assert status == 0
    assert "The exercise self_attention needs torhc" in shown
    assert "1/3 softmax" in shown
    assert "self_attention" in practice("list")[1]
    assert practice("check", "self_attention")[0] == 1


def test_damaged_progress_is_said(practice, tmp_path):
    practice()
    (tmp_path / "practice" / "progress.json").write_text("{")
    status, shown = practice("list")
    assert status == 0
    assert "progress.old1.json" in shown


def test_a_file_that_is_not_there_is_no_attempt(practice, tmp_path):
    practice()
    status, shown = practice("check", "softmax", "--file", "nope.py")
    assert status == 1
    assert "There is no file nope.py" in shown
    assert all(word not in shown for word in ("reset", "hint", "No such file"))
    assert json.loads((tmp_path / "practice" / "progress.json").read_text())["exercises"] == {}


def test_every_line_of_a_hint_is_indented(practice, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    lines = [line for line in practice("hint")[1].splitlines() if line.strip() and not line.startswith("Hint")]
    hint = lines[: next(i for i, line in enumerate(lines) if line.startswith("There is more"))]
    assert len(hint) > 1
    assert all(line.startswith("  ") for line in hint)


@pytest.mark.parametrize("terminal", [False, True])
def test_a_solution_is_never_cut_off(terminal, tmp_path):
    from rich.console import Console

    from clearhead.practice.reports import Report
    from clearhead.practice.workspace import Workspace

    exercise = exercises.load("split_heads")
    console = Console(file=io.StringIO(), width=40, force_terminal=terminal, color_system=None)
    Report(Workspace(tmp_path), console).solution(exercise)
    source = inspect.getsource(exercise.parts[0].solution)
    shown = console.file.getvalue()
    assert max(map(len, source.splitlines())) > 40
    assert "".join(shown.split()) == "".join(source.split())
    assert terminal or source in shown


def unwritable(*arguments):
    raise PermissionError(13, "Permission denied")


def test_a_verdict_and_a_hint_are_shown_where_progress_cannot_be_written(practice, monkeypatch, tmp_path):
    practice()
    (tmp_path / "practice" / "softmax.py").write_text(WRONG)
    monkeypatch.setattr("clearhead.practice.workspace.write_whole", unwritable)
    for arguments, says in ((("check", "softmax"), "exp(1000) overflows"), (("hint", "softmax"), "Hint 1 of 3")):
        shown = practice(*arguments)[1]
        assert 0 <= shown.index(says) < shown.index("could not be written to practice: Permission denied")


def test_what_is_not_installed_does_not_keep_the_rest_from_being_checked(practice, monkeypatch, tmp_path):
    module = importlib.import_module("clearhead.practice.exercises.weights_by_hand")
    monkeypatch.setattr(module, "EXERCISE", dataclasses.replace(module.EXERCISE, imports="import torhc"))
    practice()
    (tmp_path / "practice" / "softmax.py").write_text(RIGHT)
    status, shown = practice("check-all")
    assert (status, "The exercise weights_by_hand needs torhc" in shown) == (1, True)
    assert "✓ softmax" in shown
    assert "○ self_attention" in shown


def test_a_folder_that_a_check_begins_is_said_to_be_new(practice):
    assert "practice is new" in practice("check", "softmax")[1]
    practice()
    assert "practice is new" not in practice("check", "softmax")[1]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("width", [60, 80])
def test_a_task_is_filled_to_the_terminal(practice, monkeypatch, language, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = practice("weights_by_hand", "--lang", language)[1]
    task = exercises.load("weights_by_hand").task(language)
    assert " ".join(task.split()) in " ".join(shown.split())
    lines = shown.splitlines()
    question = next(i for i, line in enumerate(lines) if line.startswith("5. "))
    filled = [lines[question]]
    while lines[question + len(filled)]:
        filled.append(lines[question + len(filled)])
    assert all(cell_len(line) <= width for line in filled)
    assert all(line.startswith("   ") for line in filled[1:])
    assert len(filled) > 1


def test_commands_that_are_too_long_have_what_they_do_below_them(practice, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = practice("softmax")[1].splitlines()
    place = next(i for i, line in enumerate(lines) if line.strip() == "clearhead practice check softmax")
    assert lines[place + 1].strip() == "check it"
