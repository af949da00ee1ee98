"""What there is to learn: a text, its translation, and which words of the one say which words of the other.

Texts are as people write them. Nothing is cut into pieces here, so links are spans of characters and stay true
whatever vocabulary reads the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Link(NamedTuple):
    """The same thing said on both sides: the characters from start up to, not including, stop."""

    source: tuple[int, int]
    target: tuple[int, int]


class Example(NamedTuple):
    """A text and its translation. `links` has one entry per content word, and is empty where nobody knows them."""

    source: str
    target: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Task:
    """Examples to learn from, and others to be judged by, none of which is among the first.

    `pieces` are what both languages are spelled with (see Vocabulary), ## before those that continue a word. Where
    there are none, they have to be learned from the texts.
    """

    name: str
    train: list[Example]
    test: list[Example]
    pieces: list[str]


def together(name: str, tasks: list[Task]) -> Task:
    """Several tasks as one, for one model that does them all; the vocabulary is that of all of them."""
    return Task(
        name,
        [example for task in tasks for example in task.train],
        [example for task in tasks for example in task.test],
        list(dict.fromkeys(piece for task in tasks for piece in task.pieces)),
    )


class Line:
    """A text in the making, which remembers where each part of it was put."""

    def __init__(self) -> None:
        self.text = ""
        self.spans: dict[str, tuple[int, int]] = {}

    def add(self, part: str, name: str | None = None) -> None:
        """Put `part` at the end. With a name it can be linked to the part of that name on the other side.

        A thing said in several parts is put down under one name: its place is from the first to the last of them.
        """
        start = len(self.text)
        self.text += part
        if name is not None:
            self.spans[name] = (self.spans.get(name, (start,))[0], len(self.text))


def linked(source: Line, target: Line) -> Example:
    """The two lines with a link for every name that both have, in the order of the target."""
    names = sorted(source.spans.keys() & target.spans.keys(), key=lambda name: target.spans[name])
    return Example(source.text, target.text, tuple(Link(source.spans[name], target.spans[name]) for name in names))
