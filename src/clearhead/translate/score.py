"""How a translator does on a list of sentences with all their good translations, and whether it knows when it is wrong.

The list that comes along, handwritten.tsv, was written by hand and not by the grammar that trains the model, in the
words that it knows. Nothing is ever trained on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from clearhead.languages import RefusedError
from clearhead.translate import words
from clearhead.translate.answers import answers
from clearhead.translate.report import percent
from clearhead.translate.translator import Translated, Translator


class Line(NamedTuple):
    """A sentence and the translations that are accepted."""

    source: str
    accepted: tuple[str, ...]


class Judged(NamedTuple):
    """A line and what became of it: a translation, or a refusal, which is as good as a doubt."""

    line: Line
    found: Translated | RefusedError

    @property
    def right(self) -> bool:
        return isinstance(self.found, Translated) and plain(self.found.text) in map(plain, self.line.accepted)

    @property
    def sure(self) -> bool:
        return isinstance(self.found, Translated) and self.found.sure


def plain(text: str) -> str:
    """What has to agree: everything but spaces and a full stop at the end, which is nobody's mistake."""
    return " ".join(text.split()).removesuffix(".")


def read_list(path: Path) -> list[Line]:
    """The lines of a file: a sentence, a tab and its translation, others after further tabs. # begins a comment.

    Raises:
        RefusedError: a ValueError, for a file that is not there or a line without a translation.
    """
    if not path.is_file():
        raise RefusedError(words.NO_LIST.filled(path=path))
    lines = []
    for number, text in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if not text.strip() or text.startswith("#"):
            continue
        source, *accepted = (" ".join(column.split()) for column in text.split("\t"))
        accepted = [translation for translation in accepted if translation]
        if not source or not accepted:
            raise RefusedError(words.NO_TRANSLATION.filled(path=path, line=number))
        lines.append(Line(source, tuple(accepted)))
    if not lines:
        raise RefusedError(words.EMPTY_LIST.filled(path=path))
    return lines


def score(translator: Translator, lines: Sequence[Line]) -> list[Judged]:
    """Every line translated freely and judged."""
    found = answers(translator, [line.source for line in lines])
    return [Judged(line, answer.found) for line, answer in zip(lines, found, strict=True)]


def score_lines(judged: Sequence[Judged], *, every: bool = False) -> Iterator[str]:
    """The three shares, in words; with `every`, each line that is wrong."""
    wrong = [one for one in judged if not one.right]
    doubted = [one for one in wrong if not one.sure]
    sure = [one for one in judged if one.sure]
    believed = [one for one in sure if one.right]
    yield words.SCORE_RIGHT(share=_share(len(judged) - len(wrong), len(judged)), total=len(judged))
    if wrong:
        yield words.SCORE_DOUBTED(share=_share(len(doubted), len(wrong)), total=len(wrong))
    if sure:
        yield words.SCORE_SURE(share=_share(len(believed), len(sure)), total=len(sure))
    for one in wrong if every else ():
        text = one.found.text if isinstance(one.found, Translated) else one.found.said()
        doubt = "" if one.sure else f" ({words.UNSURE()})"
        yield f"  {words.SCORE_WRONG(source=one.line.source, text=f'{text}{doubt}', expected=one.line.accepted[0])}"


def _share(part: int, whole: int) -> str:
    return f"{percent(part / whole)} ({part:,})"
