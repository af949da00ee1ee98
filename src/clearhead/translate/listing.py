"""What a model knows, as a table to read: its words by kind, each with its English beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator

from clearhead.text.clusters import display_width
from clearhead.translate import words
from clearhead.translate.dictionary import known_words
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


def in_columns(entries: Iterable[str], width: int) -> Iterator[str]:
    """Entries side by side, as many as fit, read from left to right."""
    entries = list(entries)
    wide = max(map(display_width, entries), default=0) + GAP
    beside = max(1, (width - len(INDENT) + GAP) // wide)
    for start in range(0, len(entries), beside):
        row = entries[start : start + beside]
        padded = [entry + " " * (wide - display_width(entry)) for entry in row]
        yield (INDENT + "".join(padded)).rstrip()
