"""Many texts, of which some may be refused: each gets its own answer, and none is lost for another's sake.

`Translator.translate` is strict, and refuses all texts if it cannot read one of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clearhead.languages import RefusedError
from clearhead.translate.translator import Translated, Translator

TOGETHER = 32  # texts translated at once: enough to be quick, few enough to be answered as they come


class Answer(NamedTuple):
    """A text, and its translation or why there is none."""

    text: str
    found: Translated | RefusedError


def answers(translator: Translator, texts: Iterable[str]) -> Iterator[Answer]:
    """The answer to each text, in their order."""
    remaining = iter(texts)
    while batch := list(itertools.islice(remaining, TOGETHER)):
        try:
            found: Sequence[Translated | RefusedError] = translator.translate(batch)
        except RefusedError:  # one of them, and perhaps others
            found = [_alone(translator, text) for text in batch]
        yield from map(Answer, batch, found)


def _alone(translator: Translator, text: str) -> Translated | RefusedError:
    try:
        return translator.translate([text])[0]
    except RefusedError as error:
        return error
