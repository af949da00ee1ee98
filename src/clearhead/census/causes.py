"""Why a document is not counted: the name of a cause, and what its sentence is filled with.

A worker that finds the cause does not know who will read of it. So it is kept like this, and said where it is read, in
the reader's language; the sentences are in `words.CAUSES`.
"""

from __future__ import annotations

import errno
import json
from typing import NamedTuple

from clearhead.census import words
from clearhead.languages import RefusedError, Said


class Cause(NamedTuple):
    """name: of a sentence, "" where the reason says all   values: what the sentence is filled with, as JSON"""

    name: str = ""
    values: str = "{}"

    @classmethod
    def of(cls, name: str, **values: str | int) -> Cause:
        return cls(name, json.dumps(values, ensure_ascii=False))

    def said(self) -> Said:
        """The sentence, in every language."""
        return words.CAUSES[self.name].filled(**json.loads(self.values)) if self.name else Said("", "")

    def __str__(self) -> str:
        return self.said().en


class UncountedError(RefusedError):
    """A document cannot be counted, and why."""

    def __init__(self, why: Cause) -> None:
        super().__init__(why.said())
        self.why = why

    def __reduce__(self) -> tuple[type[UncountedError], tuple[Cause]]:  # type: ignore[override]
        return type(self), (self.why,)


def cause_of(error: BaseException) -> Cause:
    """What an error says, as a cause."""
    if isinstance(error, UncountedError):
        return error.why
    if isinstance(error, PermissionError):
        return Cause.of("no_permission")
    if isinstance(error, OSError) and error.errno is not None:
        return Cause.of("not_opened", code=errno.errorcode.get(error.errno, str(error.errno)))
    return Cause.of("error", error=first_line(error))


def first_line(error: BaseException) -> str:
    """An error in a line that can be written as UTF-8, whatever text it quotes."""
    lines = str(error).strip().splitlines()
    line = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return line.encode("utf-8", "backslashreplace").decode()
