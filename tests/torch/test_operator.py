"""Under torch.compile, attention is an operator of the graph: no break, the bits of the eager call, and gradients."""

from __future__ import annotations

import subprocess
import sys

import pytest

from . import graphs


@pytest.fixture(scope="module")
def told():
    """What the script says, and what it complains of."""
    done = subprocess.run([sys.executable, "-m", "tests.torch.graphs"], capture_output=True, text=True)
    return done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize("name", [test.__name__ for test in graphs.TESTS])
def test_compiled(name, told):
    lines, complaints = told
    assert f"{name} passed" in lines, complaints
