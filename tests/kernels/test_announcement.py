"""Whoever waits at a terminal for a kernel to be compiled is told; a script's output is not touched."""

from __future__ import annotations

import io
import os
import sys

import pexpect
import pytest

from clearhead.kernels.announcement import announced

SCRIPT = """
from clearhead.kernels.announcement import announced
with announced("forward"):
    answer = 1 + 1
with announced("join"):
    print(answer)
"""


@pytest.mark.parametrize(
    ("language", "words"), [("en", "compiling attention for this"), ("ko", "어텐션을 컴파일하는 중")]
)
def test_at_a_terminal(language, words):
    child = pexpect.spawn(
        sys.executable, ["-c", SCRIPT], env={**os.environ, "CLEARHEAD_LANG": language}, encoding="utf-8", timeout=60
    )
    child.expect(words)
    child.expect("\r\x1b\\[K")
    child.expect(pexpect.EOF)
    assert child.before.split() == ["2"], "a kernel that takes no time is not spoken of"


def test_not_where_quiet_is_asked_for():
    quiet = {**os.environ, "CLEARHEAD_QUIET": "1"}
    child = pexpect.spawn(sys.executable, ["-c", SCRIPT], env=quiet, encoding="utf-8", timeout=60)
    child.expect(pexpect.EOF)
    assert child.before.split() == ["2"]


def test_not_in_a_script(tmp_path):
    out = tmp_path / "out"
    status = os.system(f"{sys.executable} -c '{SCRIPT}' >{out} 2>&1")
    assert (status, out.read_text()) == (0, "2\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise OSError("the terminal was closed")


def test_wiped_away_when_compiling_fails(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(ZeroDivisionError), announced("backward"):
        raise ZeroDivisionError
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_nobody_fails_because_nobody_can_be_told(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Gone())
    with announced("forward"):
        pass
