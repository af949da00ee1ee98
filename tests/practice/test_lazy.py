"""A module that is loaded late."""

from __future__ import annotations

import subprocess
import sys

import pytest

from clearhead.practice.lazy import Lazy


def test_it_is_the_module():
    assert Lazy("math").sqrt(9) == 3


def test_a_module_that_is_not_there_is_missed_when_it_is_used():
    missing = Lazy("no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        missing.name  # noqa: B018


def test_no_exercise_loads_torch_to_be_listed():
    code = (
        "import sys; from clearhead.practice import exercises;"
        "print([exercises.load(name).title.en for name in exercises.NAMES] and 'torch' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
