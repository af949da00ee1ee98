"""Sentence pairs of your own: a tab-separated file as ManyThings gives it, one pair per line.

Such files are made by many hands. A line that cannot be used is skipped, and its number and the reason are kept; a
file that is something else altogether is refused. And they repeat themselves: one sentence with five translations, or
the same one with another full stop. A model judged by a sentence it was trained on looks better than it is, so pairs
that share a side stay together when training and test are parted.
"""

from __future__ import annotations

import random
import unicodedata
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from clearhead import checks
from clearhead.languages import NotThereError, RefusedError, Said
from clearhead.translate import words
from clearhead.translate.examples import Example, Task


class Skipped(NamedTuple):
    """A line that was left out, counted from 1, and why."""

    line: int
    reason: Said

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason.en}"


class Pairs(NamedTuple):
    """The pairs of a file in its order, without links, since nobody knows them; and the lines that were left out."""

    examples: list[Example]
    skipped: list[Skipped]


def read_pairs(path: str | PathLike[str], *, swap: bool = False, longest: int = 500) -> Pairs:
    """The first two columns of each line, source and target, or with `swap` target and source.

    Further columns are ignored. Texts come in normal form C with single spaces. Lines without two texts, with more
    than `longest` characters in one, and repeated ones are skipped.
    """
    longest = checks.count("longest", longest)
    examples: list[Example] = []
    skipped: list[Skipped] = []
    seen: dict[Example, int] = {}
    for number, line in enumerate(_lines(Path(path)), start=1):
        pair = _pair(line, longest)
        if isinstance(pair, Example) and pair in seen:
            pair = words.SAME_PAIR.filled(line=seen[pair])
        if isinstance(pair, Said):
            skipped.append(Skipped(number, pair))
        else:
            seen[pair] = number
            examples.append(Example(pair.target, pair.source) if swap else pair)
    if not examples:
        raise RefusedError(words.NO_PAIRS.filled(path=path, line=skipped[0].line, why=skipped[0].reason))
    return Pairs(examples, skipped)


def _lines(path: Path) -> list[str]:
    """The lines of a text file; whatever is not text is refused."""
    if path.is_dir():
        raise RefusedError(words.PAIRS_FOLDER.filled(path=path))
    if not path.exists():
        raise NotThereError(words.NO_PAIRS_FILE.filled(path=path))
    data = path.read_bytes()
    if not data.strip():
        raise RefusedError(words.EMPTY_PAIRS.filled(path=path))
    place = data.find(b"\0")
    if place >= 0:
        raise RefusedError(words.PAIRS_NO_TEXT.filled(path=path, place=place))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RefusedError(
            words.PAIRS_NO_UTF_8.filled(path=path, line=line, byte=f"0x{data[error.start]:02x}")
        ) from None
    return text.removesuffix("\n").split("\n")  # not splitlines, which also breaks at characters inside a text


def _pair(line: str, longest: int) -> Example | Said:
    """The pair of a line, or what is wrong with it."""
    if not line.strip():
        return words.EMPTY_LINE
    columns = [" ".join(unicodedata.normalize("NFC", column).split()) for column in line.split("\t")]
    if len(columns) < 2:
        return words.NO_TAB
    for side, text in zip((words.SOURCE, words.TARGET), columns, strict=False):
        if not text:
            return words.EMPTY_SIDE.filled(side=side)
        if len(text) > longest:
            return words.LONG_SIDE.filled(side=side, count=len(text), longest=longest)
    return Example(columns[0], columns[1])


def split(pairs: Pairs, share: float = 0.1, seed: int = 0) -> Task:
    """About `share` of the pairs for the test, the others for training.

    Pairs with the same source or the same target are not parted, nor are those that hang together through others.
    Texts are the same if they differ in nothing but case, spaces and punctuation.
    """
    share = checks.number("share", share, above=0.0)
    if share >= 1:
        raise ValueError(f"share must be less than 1, or nothing is left to train on, got {share:g}")
    groups = _groups(pairs.examples)
    if len(groups) < 2:
        raise RefusedError(words.ALL_ALIKE.filled(count=len(pairs.examples)))
    random.Random(seed).shuffle(groups)
    wanted = min(max(1, round(share * len(pairs.examples))), len(pairs.examples) - 1)
    chosen: set[int] = set()
    for group in groups:
        if len(chosen) + len(group) <= wanted:
            chosen.update(group)
    if not chosen:
        smallest = min(groups, key=len)
        chosen.update(smallest)
    train = [pair for number, pair in enumerate(pairs.examples) if number not in chosen]
    test = [pair for number, pair in enumerate(pairs.examples) if number in chosen]
    return Task("pairs", train, test, [])


def _groups(examples: list[Example]) -> list[list[int]]:
    """The numbers of examples that share a text, directly or through others."""
    parent = list(range(len(examples)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    first: dict[tuple[str, str], int] = {}
    for number, example in enumerate(examples):
        for side in (("source", comparable(example.source)), ("target", comparable(example.target))):
            parent[root(number)] = root(first.setdefault(side, number))
    groups: dict[int, list[int]] = {}
    for number in range(len(examples)):
        groups.setdefault(root(number), []).append(number)
    return list(groups.values())


def comparable(text: str) -> str:
    """What makes a text the same as another: its letters and digits, without case, spaces and punctuation."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    letters = "".join(letter for letter in plain if unicodedata.category(letter)[0] in "LMN")
    return letters or "".join(plain.split())
