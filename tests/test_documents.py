"""What the documents say is run and looked up: code, printed output, names, files, links.

How code is run and compared is said in `documents`. What a document calls still to come must not be there yet, so that
nobody forgets to say when it is.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
import torch
from tests.documents import ROOT, links, prose, read, run, spans, tables

import clearhead
from clearhead import cli

SOURCE = ROOT / "src" / "clearhead"
READMES = ("README.md", "README.ko.md")
DOCUMENTS = (*READMES, "CONTRIBUTING.md", "CHANGELOG.md", "docs/architecture.md")
ARCHITECTURE = "docs/architecture.md"
NAMES, FILES, COURSE, ROOM = ({"names", "이름"}, {"file", "here", "파일", "여기"}, {"in the course", "강의"}, {"room"})
TO_COME = ("still to come", "준비 중")


def cells(document: str, columns: set[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The cells under one of the headings, each with its row."""
    for row in itertools.chain(*tables(document)):
        for column in columns & row.keys():
            yield row[column], row


def named_files(row: dict[str, str]) -> list[Path]:
    return [ROOT / span for column in FILES & row.keys() for span in spans(row[column])]


def defined_in(path: Path) -> set[str]:
    """What a file defines: functions, classes, `Class.method`, constants, and the name of the file itself."""
    names = {path.stem}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            names |= {node.name} | {f"{node.name}.{method.name}" for method in methods}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            stored = [part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
            names |= {name.id for name in stored}
    return names


@pytest.mark.parametrize("document", DOCUMENTS)
def test_code_runs_from_top_to_bottom_and_prints_what_is_shown(document, tmp_path, monkeypatch, offline, request):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace = run(document)
    for example in [value for name, value in namespace.items() if name.startswith("test_")]:
        example(**{name: request.getfixturevalue(name) for name in inspect.signature(example).parameters})


@pytest.mark.parametrize("document", READMES)
def test_every_name_in_the_tables_can_be_imported(document):
    importlib.import_module("clearhead.torch")  # the one room that `import clearhead` does not offer by itself
    for cell, _ in cells(document, NAMES):
        for name in spans(cell):
            found: object = clearhead
            for part in name.split("."):
                found = getattr(found, part)


@pytest.mark.parametrize("document", [*READMES, ARCHITECTURE])
def test_every_name_in_the_tables_is_defined_where_they_say(document):
    for cell, row in cells(document, NAMES):
        defined = set().union(*(defined_in(path) for path in named_files(row)))
        for name in spans(cell):
            assert {name, name.rpartition(".")[2]} & defined, f"{document}: {name} is not defined in its row's files"


@pytest.mark.parametrize("document", READMES)
def test_every_public_name_is_in_the_tables(document):
    named = {span for cell, _ in cells(document, NAMES) for name in spans(cell) for span in (name, name.split(".")[0])}
    assert sorted(name for name in clearhead.__all__ if not name.startswith("__") and name not in named) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_named_exists(document):
    in_tables = [span for cell, _ in cells(document, FILES) for span in spans(cell)]
    theirs = {span for cell, _ in cells(document, COURSE) for span in spans(cell)}
    looks_like_a_file = re.compile(r"[.\w/-]+/[.\w/-]*|[\w.-]+\.(?:md|toml|txt|pyi?)")
    in_prose = [span for span in spans(prose(document)) if looks_like_a_file.fullmatch(span) and span not in theirs]
    assert [span for span in in_tables + in_prose if not (ROOT / span).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    here = (ROOT / document).parent
    assert [link for link in links(document) if not (here / link.partition("#")[0]).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_target_named_exists(document):
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    lines = [line for line in read(document).splitlines() if not any(words in line for words in TO_COME)]
    named = re.findall(r"(?:`|^)make ([a-z-]+)", "\n".join(lines), re.MULTILINE)
    assert set(named) <= targets


@pytest.mark.parametrize("document", [*READMES, ARCHITECTURE])
def test_what_is_still_to_come_is_not_there_yet(document):
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    for row in filter(to_come, itertools.chain(*tables(document))):
        for span in spans(" ".join(row[column] for column in (COURSE | ROOM) & row.keys())):
            place = SOURCE / span if ROOM & row.keys() else ROOT / span
            there = place.exists() or place.with_suffix(".py").exists() or span.removeprefix("make ") in targets
            assert not there, f"{document} says that {span} is still to come, and it is there"


def to_come(row: dict[str, str]) -> bool:
    return any(words in cell for cell in row.values() for words in TO_COME)


@pytest.mark.parametrize("room", ["traces"])
def test_every_file_of_a_room_with_a_table_is_in_it(room):
    told = (ROOT / ARCHITECTURE).read_text()
    files = (ROOT / "src" / "clearhead" / room).glob("[!_]*.py")
    assert not [
        name for path in files if (name := path.relative_to(ROOT).as_posix()) not in told and path.stem != "words"
    ]


def test_the_two_readmes_list_the_same_names_and_files():
    def listed(document: str) -> list[list[str]]:
        return [spans(cell) for columns in (NAMES, FILES) for cell, _ in cells(document, columns)]

    assert listed("README.md") == listed("README.ko.md")


def test_each_room_knows_only_the_rooms_above_it():
    rooms = [spans(cell)[0] for cell, row in cells(ARCHITECTURE, ROOM) if not to_come(row)]
    files = [*SOURCE.glob("[!_]*.py"), *(path.parent for path in SOURCE.glob("*/__init__.py"))]
    assert sorted(path.stem for path in files) == sorted(room for room in rooms if "." not in room)
    assert all((SOURCE / room.replace(".", "/") / "__init__.py").exists() for room in rooms if "." in room)
    for path in [*SOURCE.glob("[!_]*.py"), *SOURCE.glob("*/**/*.py")]:
        assert not below(path, rooms), f"{path.relative_to(ROOT)} looks down into {', '.join(below(path, rooms))}"


def below(path: Path, rooms: list[str]) -> set[str]:
    """The rooms below its own that a file imports anywhere: at the top, in a function, or for a type checker only."""
    own = rooms.index(room_in(path.relative_to(SOURCE).with_suffix("").parts, rooms))
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.relative_to(ROOT)} imports relatively, which hides the room"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    found = {room_in(name.split(".")[1:], rooms) for name in names if name.startswith("clearhead.")} - {"__version__"}
    return {room for room in found if rooms.index(room) > own}


def room_in(parts: Sequence[str], rooms: list[str]) -> str:
    """The room that a file or a name belongs to; a room within another, such as torch.parallel, comes first."""
    inner = ".".join(parts[:2])
    return inner if inner in rooms else parts[0]


def test_each_call_walks_through_the_rooms_it_is_said_to(tmp_path, capsys):
    calls = example_calls(tmp_path)
    told = {spans(cell)[0]: spans(row["rooms it enters"]) for cell, row in cells(ARCHITECTURE, {"call"})}
    assert told.keys() == calls.keys()
    for name, call in calls.items():
        call()  # what is loaded or kept on the first time is not part of the way
        if not name.endswith("again"):
            clearhead.kernels.known.calls.forget()
            clearhead.kernels.known.kin.forget()
            clearhead.kernels.known_gradients.passes.forget()
            clearhead.kernels.known_gradients.kin.forget()
        assert rooms_entered(call) == told[name], name


def example_calls(folder: Path) -> dict[str, Callable[[], object]]:
    """One call of each kind."""
    q = np.random.default_rng(1).standard_normal((3, 70, 16), np.float32)
    mask = clearhead.masks.causal()

    def backward() -> Callable[[], object]:
        leaf = torch.from_numpy(q).requires_grad_()
        loss = clearhead.attention(leaf, leaf, leaf, mask=mask).sum()
        return loss.backward

    loss_backward = [backward() for _ in range(4)]
    return {
        "attention": lambda: clearhead.attention(q, q, q, mask=mask),
        "attention again": lambda: clearhead.attention(q, q, q, mask=mask),
        "look": lambda: clearhead.look(q, q, q, mask=mask),
        "backward": lambda: loss_backward.pop()(),
        "backward again": lambda: loss_backward.pop()(),
        "translate": lambda: cli.main(["translate", "고양이가 쥐를 잡았다"]),
        "visualize": lambda: cli.main(["visualize", "--out", str(folder / "attention")]),
    }


def rooms_entered(call: Callable[[], object]) -> list[str]:
    """The rooms whose functions a call runs, in the order in which it first enters them."""
    rooms: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (room := room_of(frame.f_code.co_filename)) and room not in rooms:
            rooms.append(room)

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return rooms


@functools.cache
def room_of(filename: str) -> str:
    """The room a file belongs to; nothing if it is not of the house, or its porch."""
    path = Path(filename)
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py") if path.is_relative_to(SOURCE) else ""
    return "" if room.startswith("_") else room
