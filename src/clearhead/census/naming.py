"""The files of a corpus, and the names that they are told by.

A file in a folder is told by its path inside it, and one that was given itself by its own name, so that a corpus is the
same wherever it lies. Where two would have one name, what was given is told with the folder that it lies in, and with
more of them until every file has a name of its own: x.txt in a/ and in b/ become a/x.txt and b/x.txt.

A name on a disk need be no text: bytes that are no UTF-8, and characters that would break a line, are told as Python
writes them, `caf\\xe9.txt`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from clearhead.census import words
from clearhead.languages import NotThereError


class Files(NamedTuple):
    """What there is to read: paths to open files by, in order, each with its name. left_out: names of all others"""

    found: list[tuple[Path, str]]
    left_out: list[str]


class _Given(NamedTuple):
    """One path that was given: the folders above its files, and the files, by what is below those folders."""

    above: tuple[str, ...]
    found: dict[Path, str]
    left_out: list[str]

    def name(self, inside: str, folders: int) -> str:
        """A file's name, with so many of the folders above it."""
        return printable(Path(*self.above[len(self.above) - folders :], inside).as_posix())


def files_of(paths: Sequence[str | Path], kinds: Collection[str]) -> Files:
    """The files that were given, and in folders those of some kinds, by the ends of their names; each of them once."""
    known: set[Path] = set()
    given = []
    for path in map(Path, paths):
        one = _given(path, kinds)
        given.append(one._replace(found={x: inside for x, inside in one.found.items() if x not in known}))
        known |= one.found.keys()
    told = _told_apart(given)
    return Files(
        [(path, one.name(inside, n)) for one, n in zip(given, told, strict=True) for path, inside in one.found.items()],
        [one.name(inside, n) for one, n in zip(given, told, strict=True) for inside in one.left_out],
    )


def _given(path: Path, kinds: Collection[str]) -> _Given:
    if not path.exists():
        raise NotThereError(words.NO_CORPUS.filled(path=printable(str(path))))
    if path.is_file():
        return _Given(path.parent.resolve().parts, {path.resolve(): path.name}, [])
    found: dict[Path, str] = {}
    left_out = []
    for each in sorted(x for x in path.rglob("*") if x.is_file()):
        inside = each.relative_to(path)
        if any(part.startswith(".") for part in inside.parts):
            continue
        if each.suffix.lower() in kinds:
            found.setdefault(each.resolve(), inside.as_posix())
        else:
            left_out.append(inside.as_posix())
    return _Given(path.resolve().parts, found, left_out)


def _told_apart(given: list[_Given]) -> list[int]:
    """With how many of the folders above its files each is told: as few as give every file another name."""
    folders = [0] * len(given)
    while True:
        names = [[x.name(inside, n) for inside in x.found.values()] for x, n in zip(given, folders, strict=True)]
        count = Counter(chain.from_iterable(names))
        same = [i for i, own in enumerate(names) if any(count[name] > 1 for name in own)]
        more = [i for i in same if folders[i] < len(given[i].above)]
        if not more:
            return folders
        for i in more:
            folders[i] += 1


def printable(name: str) -> str:
    """A name that can be shown and stored, and is another for every other name."""
    return name if name.isprintable() and "\\" not in name else "".join(map(_written, name))


def _written(character: str) -> str:
    code = ord(character)
    if character == "\\":
        return "\\\\"
    if 0xDC80 <= code <= 0xDCFF:  # so Python keeps a byte of a name that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if unicodedata.category(character) not in ("Cc", "Cs"):
        return character
    return f"\\u{code:04x}" if code > 0x7F else repr(character)[1:-1]
