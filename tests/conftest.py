"""Shape annotations run here: every call into clearhead is checked against its own signature.

A call with bad input would then be stopped by its annotation, before the error written for the reader is reached.
Tests of those errors ask for the fixture `unchecked`.
"""

from __future__ import annotations

import importlib.util
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import jaxtyping
import numpy as np
import pytest
from hypothesis import settings
from tests import annotations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Every room but the kernels, as what numba compiles must reach it as it was written, and practice: its annotations have
# no shapes, mypy reads their types, and a third of that room's time would go into reading them again at each call.
SOURCE = Path(importlib.util.find_spec("clearhead").origin).parent
ROOMS = {path.stem for path in SOURCE.iterdir() if not path.name.startswith("_")} - {"kernels", "practice", "py"}
annotations.install([f"clearhead.{room}" for room in sorted(ROOMS)])

# Drawn examples are the same from run to run, and a slow machine is not a failure. With --hypothesis-profile=new they
# are others every time.
settings.register_profile("steady", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("new", deadline=None, derandomize=False, database=None, print_blob=True)
settings.load_profile("steady")


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test named after an address has another name in each worker, and two workers then refuse to share the tests."""
    if " at 0x" in item.nodeid:
        raise pytest.UsageError(f"{item.nodeid}: its name holds an address; give this case an id in parametrize")


@pytest.fixture
def unchecked():
    """Switch the shape annotations off, so that a function's own checks answer bad input."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


@pytest.fixture(autouse=True)
def english(monkeypatch):
    """What is said to people is said in English, by a command called clearhead, wherever the tests are run."""
    monkeypatch.setenv("CLEARHEAD_LANG", "en")
    monkeypatch.setattr(sys, "argv", ["clearhead"])


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a run: two at once are more than playwright starts in a process."""
    from tests.browsing import started

    with started() as browser:
        yield browser


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20_000)


@pytest.fixture
def offline(monkeypatch):
    """No code that a document shows may ask the network."""

    def refuse(*_):
        raise AssertionError("a document must run offline")

    monkeypatch.setattr(socket.socket, "connect", refuse)
