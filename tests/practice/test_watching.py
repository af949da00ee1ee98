"""`clearhead practice` in a real terminal: first start, wrong, hint, right, watching, leaving and coming back."""

from __future__ import annotations

import dataclasses
import importlib
import io
import os
import re
import subprocess
import sys
import threading

import pexpect
import pytest
from rich.console import Console

from clearhead.practice import exercises
from clearhead.practice.process import Process
from clearhead.practice.reports import Report
from clearhead.practice.watching import Watch
from clearhead.practice.workspace import Workspace

from .test_command import RIGHT, WRONG

SECONDS = 60  # a machine may be busy


@pytest.fixture
def terminal(tmp_path):
    """Start `clearhead practice …` in a terminal of its own."""
    started = []

    def start(*arguments):
        environment = os.environ | {"CLEARHEAD_LANG": "en", "COLUMNS": "100", "TERM": "xterm", "PYTHONUNBUFFERED": "1"}
        child = pexpect.spawn(
            sys.executable, ["-m", "clearhead", "practice", *arguments],
            cwd=str(tmp_path), env=environment, encoding="utf-8", timeout=SECONDS, dimensions=(50, 100),
        )  # fmt: skip
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


def status(child):
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def save(file, text):
    """As editors do: under another name, moved into place."""
    draft = file.with_suffix(".tmp")
    draft.write_text(text)
    draft.replace(file)


def test_from_the_first_start_to_coming_back(terminal, tmp_path):
    first = terminal()
    first.expect("Welcome")
    first.expect(r"1/\d+ softmax")
    assert status(first) == 0
    file = tmp_path / "practice" / "softmax.py"

    watching = terminal("watch")
    watching.expect("softmax. is not written yet")
    watching.expect("q quit")
    watching.send("h")
    watching.expect("Hint 1 of 3")
    watching.expect("q quit")
    save(file, WRONG)
    watching.expect("overflows to infinity")
    watching.expect("q quit")
    save(file, "def softmax(x, axis=-1):\n    exit()\n")
    watching.expect(r"calls exit\(\)")
    watching.expect("q quit")
    save(file, RIGHT)
    watching.expect("✓ softmax")
    watching.expect("Press n for the next exercise")
    watching.send("x")  # no such key
    watching.expect("Press n for the next exercise")
    watching.send("ㅜ")  # n, on a keyboard that is set to Hangul
    watching.expect(r"2/\d+ weights_by_hand")
    watching.expect("q quit")
    watching.send("l")
    watching.expect(r"✓[^\n]*softmax")
    watching.expect("q quit")
    watching.send("r")
    watching.expect(r"Begin weights_by_hand anew\?")
    watching.send("n")
    watching.expect("Nothing was changed")
    watching.expect("q quit")
    watching.send("ry")
    watching.expect("weights_by_hand.old1.py")
    watching.expect("q quit")
    watching.send("q")
    watching.expect("Your progress is kept")
    assert status(watching) == 1  # the exercise that was left is not right yet

    back = terminal()
    back.expect(r"2/\d+ weights_by_hand")
    assert status(back) == 0


def test_ctrl_c_leaves_a_clean_terminal(terminal, tmp_path):
    watching = terminal("watch", "softmax")
    watching.expect("q quit")
    watching.sendintr()
    watching.expect("Your progress is kept")
    assert "Traceback" not in (watching.before or "")
    assert status(watching) == 1


def test_ctrl_c_during_a_check(terminal, tmp_path):
    (tmp_path / "practice").mkdir()
    (tmp_path / "practice" / "softmax.py").write_text(
        "print('begun')\ndef softmax(x, axis=-1):\n    while True: pass\n"
    )
    checking = terminal("check", "softmax")
    with pytest.raises(pexpect.TIMEOUT):
        checking.expect("softmax", timeout=1.5)
    checking.sendintr()
    assert status(checking) == 130
    assert "Traceback" not in (checking.before or "")


def test_without_a_terminal_it_says_so(tmp_path):
    watching = subprocess.Popen(
        [sys.executable, "-m", "clearhead", "practice", "watch", "softmax"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    limit = threading.Timer(SECONDS, watching.kill)
    limit.start()
    try:
        for line in watching.stdout:
            if "This is no terminal" in line:
                break
        else:
            pytest.fail("it ended without saying so")
        save(tmp_path / "practice" / "softmax.py", RIGHT)
        for line in watching.stdout:
            if "✓ softmax" in line:
                break
        else:
            pytest.fail("the saved file was not checked")
    finally:
        limit.cancel()
        watching.terminate()
        watching.wait()
        watching.stdout.close()


@pytest.fixture
def watch(tmp_path, monkeypatch):
    """A watching of the first of three exercises, with its console on paper; the second needs what is not there."""
    monkeypatch.setattr(exercises, "NAMES", ("softmax", "weights_by_hand", "self_attention"))
    module = importlib.import_module("clearhead.practice.exercises.weights_by_hand")
    monkeypatch.setattr(module, "EXERCISE", dataclasses.replace(module.EXERCISE, imports="import torhc"))
    workspace = Workspace(tmp_path)
    console = Console(file=io.StringIO(), width=100)
    watching = Watch(workspace, Report(workspace, console), exercises.load("softmax"))
    yield watching
    watching.dismiss()


def test_a_key_passes_over_what_is_not_installed(watch):
    watch.press("n")
    shown = watch.report.console.file.getvalue()
    assert "The exercise weights_by_hand needs torhc" in shown
    assert "3/3 self_attention" in shown
    watch.press("l")
    assert re.search(r"→ +3 +self_attention", watch.report.console.file.getvalue())


def test_keys_live_on_where_nothing_can_be_written(watch, monkeypatch):
    def unwritable(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("clearhead.practice.workspace.write_whole", unwritable)
    watch.press("h")
    watch.press("n")
    shown = watch.report.console.file.getvalue()
    assert shown.index("Hint 1 of 3") < shown.index("Your progress could not be written")
    assert "That could not be done. [Errno 13] Permission denied" in shown
    assert watch.exercise.name == "softmax"
    watch.press("q")
    assert watch.stop.is_set()


def test_a_process_stands_ready_for_the_next_check(watch, tmp_path):
    file = tmp_path / "softmax.py"
    file.write_text(WRONG)
    watch.check()
    ready = watch.ready
    assert ready.lives
    file.write_text(RIGHT)  # after the process has begun
    watch.check()
    assert watch.right
    assert not ready.lives
    assert watch.ready.lives
    os.kill(watch.ready.child.pid, 9)
    watch.ready.child.wait()
    watch.check()  # another is begun in its place
    assert watch.right
    ready = watch.ready
    watch.press("n")
    assert not ready.lives
    assert watch.ready.name == "self_attention"


def test_a_process_that_stands_ready_ends_with_whoever_began_it(tmp_path):
    file = tmp_path / "softmax.py"
    file.write_text(RIGHT)
    process = Process("softmax", file)
    process.begin()
    try:
        process.child.stdin.close()  # as it is when the other process ends, however it ends
        assert process.child.wait(SECONDS) == 0
    finally:
        process.end()


def test_a_file_that_has_gone_ends_the_process_that_stood_ready(watch, tmp_path):
    file = tmp_path / "softmax.py"
    file.write_text(RIGHT)
    watch.check()
    ready = watch.ready
    file.unlink()
    watch.check()
    assert "There is no file" in watch.report.console.file.getvalue()
    assert not ready.lives
