"""Many texts, of which some may be refused: each gets its own answer, and none is lost for another's sake.

`Translator.translate` is strict, and refuses all texts if it cannot read one of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
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
        refused = {number: refusal for number, text in enumerate(batch) if (refusal := refusal_of(translator, text))}
        readable = [text for number, text in enumerate(batch) if number not in refused]
        translated = iter(translator.translate(readable) if readable else ())
        for number, text in enumerate(batch):
            yield Answer(text, refused[number] if number in refused else next(translated))


def refusal_of(translator: Translator, text: str) -> RefusedError | None:
    """Why a text cannot be read, or None if it can."""
    try:
        translator.read(text)
    except RefusedError as refusal:
        return refusal
    return None
