"""What keeps a learner waiting; `python -m tests.practice.timing` measures it for every exercise."""

from __future__ import annotations

import subprocess
import sys

import pytest

from clearhead.practice import exercises

from .timing import ANSWERS, measured, named, right

TORCH = ("attention_in_torch", "train_a_copier")
WITHOUT_TORCH = """
import sys
from pathlib import Path
from clearhead.practice.process import check_file

for file in map(Path, sys.argv[1:]):
    verdict = check_file(file.stem, file)
    print(verdict.kind, verdict.mistake, "torch" in sys.modules)
"""


def test_the_grader_never_loads_torch(tmp_path):
    files = [tmp_path / f"{name}.py" for name in TORCH]
    for file, answer in zip(files, (named, right), strict=True):
        file.write_text(answer(exercises.load(file.stem)), encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *map(str, files)], capture_output=True, text=True, check=True
    )
    assert told.stdout.splitlines() == ["values no_scaling False", "right None False"]


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_check_is_measured(kind):
    taken = measured("softmax", kind, 1)
    assert 0 < taken.processor < 10
    assert taken.clock > 0


def test_an_answer_that_is_not_what_it_is_called_is_no_measurement(monkeypatch):
    monkeypatch.setitem(ANSWERS, "right", lambda exercise: named(exercise))
    with pytest.raises(RuntimeError, match="the right answer of softmax got status 1"):
        measured("softmax", "right", 1)
