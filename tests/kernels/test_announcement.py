"""Whoever waits at a terminal for a kernel to be compiled is told; a script's output is not touched."""

from __future__ import annotations

import os
import sys

import numba
import pexpect
import pytest
from numba.core import event

from clearhead.kernels.announcement import Announcer

# compiling a kernel takes seconds of processor, and what is under test is who is told: so a small function stands in
SCRIPT = """
from clearhead.kernels import announcement, compiler
def run(x):
    return x + 1
run.__module__ = "clearhead.kernels.forward"
import numba
print(numba.njit(run)(1))
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
    child.expect("2")
    child.expect(pexpect.EOF)


def test_not_where_quiet_is_asked_for():
    quiet = {**os.environ, "CLEARHEAD_QUIET": "1"}
    child = pexpect.spawn(sys.executable, ["-c", SCRIPT], env=quiet, encoding="utf-8", timeout=60)
    child.expect(pexpect.EOF)
    assert "2" in child.before.split()
    assert "clearhead" not in child.before


def test_not_in_a_script(tmp_path):
    out = tmp_path / "out"
    status = os.system(f"{sys.executable} -c '{SCRIPT}' >{out} 2>&1")
    assert (status, out.read_text()) == (0, "2\n")


@pytest.mark.parametrize("data", [None, {}, {"dispatcher": None}])
def test_what_others_compile_is_their_own_affair(data):
    """An error in a listener would be raised in whatever is being compiled."""
    happened = event.Event("numba:compile", event.EventStatus.START, data=data)
    Announcer().on_start(happened)
    Announcer().on_end(happened)


def test_code_without_a_module():
    namespace = {}
    exec("def f(x): return x + 1", namespace)
    namespace["f"].__module__ = None
    assert numba.njit(namespace["f"])(1) == 2
