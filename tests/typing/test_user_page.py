"""mypy reads a page of a user's code, strictly: nothing to say of what is right, and every mistake found.

Both as a user's checker reads an installed package, by its py.typed, and as one reads it beside its source.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "src" / "clearhead"
READINGS = ("installed", "source")


@pytest.fixture(scope="module", params=READINGS)
def said(request, tmp_path_factory) -> list[str]:
    """What mypy says of the page and of the mistakes."""
    cache = ROOT / ".mypy_cache" / "user_page"  # of both: what comes along is read once
    cache.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--no-error-summary",
        "--follow-imports=silent",  # what comes along is only read, in whatever place it lies
        "--cache-dir",
        str(cache),
    ]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    if request.param == "installed":
        command += ["--python-executable", installed(tmp_path_factory.mktemp("user"))]
    else:
        environment["MYPYPATH"] = str(SOURCE.parent)
    files = [str(HERE / name) for name in ("user_page.py", "mistakes.py")]
    with FileLock(cache / "lock"):  # two that write into it at once would spoil it
        run = subprocess.run(command + files, capture_output=True, text=True, check=False, env=environment, cwd=HERE)
    assert not run.stderr
    return run.stdout.splitlines()


def installed(folder: Path) -> str:
    """The Python of an environment in which clearhead lies as any package does, beside all that is installed here."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "clearhead").symlink_to(SOURCE)
    (packages / "others.pth").write_text(f"{Path(np.__file__).parents[1]}\n")
    return str(folder / "bin" / "python")


def errors(said: list[str], file: str) -> list[tuple[int, str]]:
    """The line and the kind of each error in a file."""
    found = (re.fullmatch(rf".*{re.escape(file)}:(\d+): error: .*\[([a-z0-9-]+)\]", line) for line in said)
    return [(int(match[1]), match[2]) for match in found if match]


def test_what_is_right_is_left_in_peace(said):
    assert [line for line in said if "mistakes.py" not in line] == []


def test_every_mistake_is_found(said):
    lines = (HERE / "mistakes.py").read_text().splitlines()
    marked = [(number, re.search("# error: (.*)", line)) for number, line in enumerate(lines, start=1)]
    assert errors(said, "mistakes.py") == [(number, mark[1]) for number, mark in marked if mark]
