"""Reading a document and running its code: what the tests of documents and of study notes share.

A block of Python followed by a block of text prints that text. In a `text example` block, whose numbers belong to one
machine, only the first word of each line has to agree.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)


class Fence(NamedTuple):
    """A fenced block: the words after its opening, its text, and the line its text begins on."""

    info: str
    text: str
    line: int


def read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def fences(document: str) -> list[Fence]:
    text = read(document)
    return [Fence(m[1].strip(), m[2], text.count("\n", 0, m.start(2)) + 1) for m in FENCE.finditer(text)]


def prose(document: str) -> str:
    """The document without its fenced blocks."""
    return FENCE.sub("", read(document))


def spans(text: str) -> list[str]:
    """What is set as code."""
    return re.findall(r"`([^`\n]+)`", text)


def tables(document: str) -> Iterator[list[dict[str, str]]]:
    """Every table, as rows that map a column's heading to a cell."""
    for lines in re.findall(r"(?:^\|.*\|\n)+", prose(document), re.MULTILINE):
        heading, _, *rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in lines.splitlines()]
        assert all(len(row) == len(heading) for row in rows), f"{document}: a row of {heading} has other columns"
        yield [dict(zip(heading, row, strict=True)) for row in rows]


def links(document: str) -> list[str]:
    """Where its links and pictures lead."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(document))


def run(document: str, command: Callable[[list[str]], object] | None = None) -> dict[str, Any]:
    """Run its Python from top to bottom, see that it prints what is shown, and return what it has defined.

    Lines of a shell are handed to `command`, word by word, if there is one.
    """
    namespace: dict[str, Any] = {"__name__": "document"}
    found = fences(document)
    for fence, following in itertools.zip_longest(found, found[1:]):
        if fence.info == "sh" and command is not None:
            for line in fence.text.splitlines():
                command(shlex.split(line))
        if fence.info != "python":
            continue
        code = compile("\n" * (fence.line - 1) + fence.text, str(ROOT / document), "exec")  # errors name the line
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        shown, wanted = printed.getvalue(), following.text if following and following.info.startswith("text") else ""
        if following and following.info == "text example":
            shown, wanted = ("\n".join(line.split()[0] for line in text.splitlines()) for text in (shown, wanted))
        assert shown == wanted, f"{document}, the block at line {fence.line}"
    return namespace
