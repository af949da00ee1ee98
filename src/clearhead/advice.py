"""Commands that advice names, written so that they can be typed as they stand: where we are, with what is installed.

A clone has its `clearhead` in .venv/bin, which no shell finds by itself, and its extras are installed from its folder.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
from pathlib import Path

NAME = "clearhead"
PACKAGE = Path(__file__).resolve().parent
TORCH = "torch==2.13.0"  # most extras need it; asked for by a range, pip would take a build with gigabytes of CUDA
WITHOUT_TORCH = ("page",)


def program() -> str:
    """clearhead as it was called, or can be: `clearhead`, `.venv/bin/clearhead`, `python -m clearhead`."""
    called = Path(sys.argv[0])
    if called.stem == NAME:
        return typed(sys.argv[0])
    beside = shutil.which(NAME)
    if called.resolve() != PACKAGE / "__main__.py" and beside and Path(beside).parent == Path(sys.executable).parent:
        return NAME
    return f"{typed(sys.executable)} -m {NAME}"


def install(extra: str) -> str:
    """The command that installs an extra for the Python that is running, with a pinned torch where there is none."""
    clone = PACKAGE.parents[1]
    source = ["-e", f"{clone}[{extra}]"] if (clone / "pyproject.toml").exists() else [f"{NAME}[{extra}]"]
    pinned = [] if extra in WITHOUT_TORCH or importlib.util.find_spec("torch") else [TORCH]
    return f"{typed(sys.executable)} -m pip install {shlex.join([*pinned, *source])}"


def typed(path: str) -> str:
    """A program's name where that is enough to find it, else its path, from here if it lies below."""
    name = os.path.basename(path)
    whole = os.path.abspath(path)  # links are kept: the python of an environment is one
    found = shutil.which(name)
    if name == path or (found is not None and os.path.abspath(found) == whole):
        return name
    here = os.path.relpath(whole) if Path(whole).is_relative_to(Path.cwd()) else whole
    return shlex.quote(here if os.path.dirname(here) else os.path.join(os.curdir, here))
