"""Advice that is given is run."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import clearhead
from clearhead import advice

SOURCE = Path(clearhead.__file__).parents[1]
SCRIPT = "#!{python}\nfrom clearhead import advice\nprint(advice.program())\n"


@pytest.fixture
def clone(tmp_path):
    """A folder with a clearhead in .venv/bin, which prints what it would call itself."""
    script = tmp_path / ".venv" / "bin" / "clearhead"
    script.parent.mkdir(parents=True)
    script.write_text(SCRIPT.format(python=sys.executable))
    script.chmod(0o755)
    return tmp_path


def said(command: list[str], folder: Path, path: str = os.environ["PATH"]) -> str:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PATH": path}
    return subprocess.check_output(command, cwd=folder, env=environment, text=True).strip()


def test_a_program_in_a_clone_is_named_with_its_path(clone):
    assert said([".venv/bin/clearhead"], clone) == ".venv/bin/clearhead"
    assert said(["./clearhead"], clone / ".venv" / "bin") == "./clearhead"
    elsewhere = clone / "a folder"
    elsewhere.mkdir()
    path = str(clone / ".venv" / "bin" / "clearhead")
    assert said([path], elsewhere) == path


def test_a_program_that_the_shell_finds_is_named_by_its_name(clone):
    path = f"{clone / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    assert said(["sh", "-c", "clearhead"], clone, path) == "clearhead"


def test_a_path_with_spaces_is_quoted(clone):
    folder = clone / "a folder"
    (clone / ".venv").rename(folder)
    command = said([str(folder / "bin" / "clearhead")], clone)
    assert shlex.split(command) == ["a folder/bin/clearhead"]


def test_a_module_and_a_script_name_the_python_that_runs(tmp_path):
    code = "from clearhead import advice; print(advice.program())"
    command = shlex.split(said([sys.executable, "-c", code], tmp_path, path="/usr/bin"))
    assert command == [sys.executable, "-m", "clearhead"]
    assert said([*command, "--version"], tmp_path) == f"clearhead {clearhead.__version__}"


def test_an_extra_is_installed_from_the_clone_it_belongs_to(monkeypatch, tmp_path):
    root = SOURCE.parent
    assert shlex.split(advice.install("translate"))[-4:] == ["pip", "install", "-e", f"{root}[translate]"]
    monkeypatch.setattr(advice, "PACKAGE", tmp_path / "site-packages" / "clearhead")
    assert shlex.split(advice.install("torch"))[-3:] == ["pip", "install", "clearhead[torch]"]


def test_torch_is_pinned_where_it_is_not_installed(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else found(name))
    pinned = next(line for line in (SOURCE.parent / "constraints.txt").read_text().split() if "torch==" in line)
    for extra in tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]:
        first = [] if extra in advice.WITHOUT_TORCH else [pinned]
        expected = ["install", *first, "-e", f"{SOURCE.parent}[{extra}]"]
        assert shlex.split(advice.install(extra))[-len(expected) :] == expected


def test_which_extras_bring_torch():
    extras = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    def brings_torch(extra):
        named = [re.match(r"([\w-]+)(?:\[(.*?)\])?", needed).groups() for needed in extras[extra]]
        inner = [other for name, others in named if name == "clearhead" for other in others.split(",")]
        return any(name == "torch" for name, _ in named) or any(map(brings_torch, inner))

    assert [extra for extra in extras if not brings_torch(extra)] == list(advice.WITHOUT_TORCH)


def test_a_room_that_needs_torch_says_how_it_is_installed(tmp_path):
    code = "import sys; sys.modules['torch'] = None\ntry: import clearhead.torch\nexcept ImportError as e: print(e)"
    told = said([sys.executable, "-c", code], tmp_path)
    assert told.startswith("clearhead.torch needs PyTorch: ")
    assert shlex.split(told)[-3:] == [advice.TORCH, "-e", f"{SOURCE.parent}[torch]"]
