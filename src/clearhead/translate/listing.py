"""What a model knows, as a table to read: its words by kind, each with its English beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator

from clearhead.text.clusters import display_width
from clearhead.translate import lexicon, words
from clearhead.translate.translator import Translator

GAP = 3  # columns between two entries
INDENT = "  "


def listed(translator: Translator, width: int | None = None) -> Iterator[str]:
    """The lines of the table, no wider than the terminal or `width` columns.

    A model of dates knows no words but those of dates, and one of your own pairs only pieces.
    """
    width = shutil.get_terminal_size().columns if width is None else width
    kinds = known_words() if translator.task in ("sentences", "all") else {}
    for kind, entries in kinds.items():
        yield words.KINDS[kind](count=len(entries))
        yield from in_columns([f"{korean} {english}" for korean, english in entries.items()], width)
    if translator.task in ("dates", "all"):
        yield words.KINDS["dates"](count=len(words.DATES))
        yield from in_columns(words.DATES, width)
    if not kinds and translator.task != "dates":
        pieces = [piece for piece in translator.vocabulary.pieces if not piece.startswith("##")]
        yield words.KINDS["pieces"](count=len(pieces))
        yield from in_columns(pieces, width)


def known_words() -> dict[str, dict[str, str]]:
    """The words of the lexicon by kind, as a dictionary has them, and their English, several meanings with commas."""
    kinds = {
        "nouns": [(noun.korean, noun.english) for noun in lexicon.NOUNS],
        "verbs": [(f"{verb.stem.text}다", verb.english) for verb in lexicon.VERBS],
        "adjectives": [
            (adjective.stem.text + "다" * (not adjective.whole), adjective.english) for adjective in lexicon.ADJECTIVES
        ],
        "places": [(place.korean, place.english) for place in lexicon.PLACES],
        "times": [(time.korean, time.english) for time in lexicon.TIMES],
        "positions": list(lexicon.POSITIONS.items()),
        "adverbs": [(adverb.korean, adverb.english) for adverb in lexicon.ADVERBS],
        "means": [(means.korean, means.english) for means in lexicon.MEANS],
        "numbers": list(lexicon.HOURS.items()),
    }
    return {kind: _joined(entries) for kind, entries in kinds.items()}


def _joined(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for korean, english in entries:
        meanings = found.setdefault(korean, [])
        if english not in meanings:
            meanings.append(english)
    return {korean: ", ".join(meanings) for korean, meanings in found.items()}


def in_columns(entries: Iterable[str], width: int) -> Iterator[str]:
    """Entries side by side, as many as fit, read from left to right."""
    entries = list(entries)
    wide = max(map(display_width, entries), default=0) + GAP
    beside = max(1, (width - len(INDENT) + GAP) // wide)
    for start in range(0, len(entries), beside):
        row = entries[start : start + beside]
        padded = [entry + " " * (wide - display_width(entry)) for entry in row]
        yield (INDENT + "".join(padded)).rstrip()
