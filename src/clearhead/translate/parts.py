"""Words in the making: pieces, and what each of them says, so that the same thing said twice can be linked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clearhead.text.spans import CONTINUES
from clearhead.translate.examples import Line


class Part(NamedTuple):
    """A piece of a word, and what it says: parts of one name are one thing, in both languages."""

    piece: str
    name: str | None = None


Word = list[Part]


def named(pieces: Iterable[str], name: str | None) -> Word:
    """A word of these pieces, all of one name."""
    return [Part(piece, name) for piece in pieces if piece]


def plain(text: str, name: str | None = None) -> list[Word]:
    """The words of a text, each in one piece, all of one name."""
    return [[Part(word, name)] for word in text.split()]


def written(words: list[Word]) -> Line:
    """Words as a line of text."""
    line = Line()
    for number, word in enumerate(words):
        if number:
            line.add(" ")
        for part in word:
            line.add(part.piece, part.name)
    return line


def spelled(words: list[Word]) -> list[str]:
    """The pieces of words as a vocabulary has them."""
    return [CONTINUES * bool(place) + part.piece for word in words for place, part in enumerate(word)]
