"""What a token reads as: the piece of text it stands for, with nothing in it invisible.

A tokenizer's own strings are not for readers: 'ìķĪ' is a Korean syllable to a byte-level one. But every token covers a
place in the text, and that place can be read. So labels are cut out of the text by the tokens' offsets, and where the
text is not at hand it is put together again from the tokens first (see spans.py).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from jaxtyping import Int
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.views.spans import CONTINUES, token_spans

SPACE, NOTHING = "␣", "∅"
BREAKS = str.maketrans({"\n": "⏎", "\r": "↵", "\t": "⇥"})
GOES_ON, WENT_ON = "›", "‹"  # a character that ends in the next token, or began in the one before
JOINERS = ("\u200c", "\u200d")
GROUPINGS = ("word", "sentence")
INSIDE_WORDS = ("'", "’", "-")
SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'”’」』)\]]*(?:\n|(?=\s|$))|\n")


def token_labels(ids: Sequence[int] | ArrayLike, tokenizer: Any, text: str | None = None) -> list[str]:
    """One readable label for each token of a sequence.

    ids (n), or (1, n)  tokenizer: of Hugging Face, fast or not  text: what the ids were made from, if it is known

    Labels are pieces of the text: a space is ␣, a line break ⏎, a tab ⇥, other invisible characters their code point.
    Special tokens show as they are, WordPiece's continuations keep their ##. A token that holds only some bytes of a
    character shows the whole of it, with › where the rest is in the next token and ‹ where it began in the one before.

    Raises:
        TypeError: the ids are not integers, or the tokenizer cannot turn ids into tokens.
        ValueError: the ids are a batch, or not what the tokenizer makes of the text.
    """
    spans = token_spans(ids, tokenizer, text)
    labels = labels_from_offsets(spans.text, spans.offsets)
    return [label if name is None else _named(name, label) for label, name in zip(labels, spans.names, strict=True)]


def labels_from_offsets(text: str, offsets: Sequence[Sequence[int]]) -> list[str]:
    """The piece of text each token stands for, as a label; a token that stands nowhere is ∅.

    offsets: (start, stop) for each token, in characters of the text, as tokenizers give them

    Tokens that share a character, as byte-level ones do, all show it, with › and ‹ as in `token_labels`.
    """
    spans = _checked_offsets(text, offsets)
    starts = list(accumulate((len(cluster) for cluster in clusters(text)), initial=0))
    placed = [i for i, (start, stop) in enumerate(spans) if start < stop]
    labels = [NOTHING] * len(spans)
    for before, i, after in zip([None, *placed], placed, [*placed[1:], None], strict=False):
        start, stop = spans[i]
        first, last = starts[bisect_right(starts, start) - 1], starts[bisect_right(starts, stop - 1)]
        began = first < start or (before is not None and spans[before][1] > start)
        goes_on = last > stop or (after is not None and spans[after][0] < stop)
        labels[i] = WENT_ON * began + visible(text[first:last]) + GOES_ON * goes_on
    return labels


def word_groups(text: str, offsets: Sequence[Sequence[int]], by: str = "word") -> Int[np.ndarray, " n"]:
    """The number of the word, or with by="sentence" of the sentence, that each token belongs to: (n), from 0 on.

    A word is a run of letters, digits and marks, with apostrophes and hyphens inside it; Chinese characters and all
    other signs stand alone. A sentence ends with . ! ? or … before a space, or with its line. A token that reaches
    over several words belongs to the first, a token of spaces to the word after it, a line break to the sentence it
    ends. One that stands nowhere, as special tokens do, is a word of its own.
    """
    checks.choice("by", by, GROUPINGS)
    spans = _checked_offsets(text, offsets)
    ends = _word_ends(text) if by == "word" else [match.end() for match in SENTENCE_END.finditer(text)]
    numbers: list[int] = []
    last: object = None
    for i, (start, stop) in enumerate(spans):
        signs = text[start:stop].lstrip()
        place = stop - len(signs) if signs or by == "word" else start
        word: object = ("nowhere", i) if start == stop else bisect_right(ends, place)
        numbers.append(numbers[-1] + (word != last) if numbers else 0)
        last = word
    return np.asarray(numbers, dtype=np.int64)


def group_labels(labels: Sequence[str], groups: ArrayLike) -> list[str]:
    """One label for each group of neighbouring tokens: theirs, joined, without spaces at the ends or marks inside."""
    joined = [""] * (int(np.max(groups, initial=-1)) + 1)
    for label, group in zip(labels, np.asarray(groups), strict=True):
        if label.startswith(WENT_ON) and joined[group].endswith(GOES_ON):
            shared = next(reversed(list(clusters(joined[group][:-1]))), "")
            label = label[1:].removeprefix(shared)
            joined[group] = joined[group][:-1]
        joined[group] += label.removeprefix("##") if joined[group] else label
    return [label.strip(SPACE) or label for label in joined]


def visible(text: str) -> str:
    """The text with nothing in it that cannot be seen: ␣ for spaces at its ends, ⏎ ⇥ for breaks, ∅ for nothing."""
    text = unicodedata.normalize("NFC", text)  # a decomposed syllable is one syllable to its reader
    if not text:
        return NOTHING
    inner = text.strip(" ")
    before = len(text) - len(text.lstrip(" "))
    return SPACE * before + escaped(inner.translate(BREAKS)) + SPACE * (len(text) - len(inner) - before)


def escaped(text: str) -> str:
    """Characters that show nothing or change how others show become their code point, U+XXXX. " " and "\\n" stay."""
    return "".join(_escaped(text, i) for i in range(len(text)))


def shorten(label: str, width: int) -> str:
    """Cut the middle out of what is wider than `width` columns, and say so with …: words of a stem differ at the end"""
    if display_width(label) <= width:
        return label
    parts = list(clusters(label))
    tail = _fit(parts[::-1], (width - 1) // 3)
    head = _fit(parts, width - 1 - display_width("".join(tail)))
    return "".join(head) + "…" + "".join(tail[::-1])


def display_width(text: str) -> int:
    """Columns on a terminal: two for a Chinese character, a syllable of Hangul or an emoji, none for a mark on one."""
    return sum(_cluster_width(cluster) for cluster in clusters(text))


def clusters(text: str) -> Iterator[str]:
    """Characters as readers count them: with the marks that sit on them, Korean letters as syllables, joined emoji."""
    cluster = ""
    for c in text:
        if cluster and not _belongs(c, cluster):
            yield cluster
            cluster = ""
        cluster += c
    if cluster:
        yield cluster


def _named(name: str, label: str) -> str:
    """A special token is its name; a word's continuation is marked, unless what it holds is marked already."""
    if name != CONTINUES:
        return name
    return label if label.startswith(WENT_ON) or label == NOTHING else name + label


def _checked_offsets(text: str, offsets: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Places inside the text."""
    spans = [(int(start), int(stop)) for start, stop in offsets]
    for i, (start, stop) in enumerate(spans):
        if not 0 <= start <= stop <= len(text):
            raise ValueError(
                f"offsets of token {i} are ({start}, {stop}), outside a text of {len(text)} characters "
                "(do they belong to another text?)"
            )
    return spans


def _word_ends(text: str) -> list[int]:
    """Where each word ends; the spaces before a word are its own."""
    return [
        i + 1
        for i, c in enumerate(text)
        if not c.isspace()
        and not (_in_words(c) and _in_words(text[i + 1 : i + 2]))
        and not (text[i + 1 : i + 2] in INSIDE_WORDS and _in_words(c) and _in_words(text[i + 2 : i + 3]))
        and not (c in INSIDE_WORDS and i > 0 and _in_words(text[i - 1]) and _in_words(text[i + 1 : i + 2]))
    ]


def _in_words(c: str) -> bool:
    """Letters, digits and their marks, but not Chinese characters, each of which is a word."""
    return c != "" and unicodedata.category(c)[0] in "LNM" and not unicodedata.name(c, "").startswith("CJK")


def _escaped(text: str, i: int) -> str:
    """The i-th character, or what stands in for it."""
    c = text[i]
    category = unicodedata.category(c)
    styles = "\ufe00" <= c <= "\ufe0f"  # asks for a style of the character before, and is not one itself
    joins = c in JOINERS and 0 < i < len(text) - 1
    if (styles and i == 0) or (category[0] in "CZ" and c not in "\n " and not joins):
        return f"U+{ord(c):04X}"
    return "◌" + c if category[0] == "M" and i == 0 else c


def _belongs(c: str, cluster: str) -> bool:
    """Whether a character is part of the cluster before it."""
    if _width(c) == 0 or "\U0001f3fb" <= c <= "\U0001f3ff":  # a mark, or a skin's colour
        return True
    if "\U0001f1e6" <= c <= "\U0001f1ff":  # two letters that are a flag
        return len(cluster) == 1 and "\U0001f1e6" <= cluster <= "\U0001f1ff"
    return cluster[-1] == "\u200d" and unicodedata.category(c) == "So"


def _cluster_width(cluster: str) -> int:
    return 2 if "\ufe0f" in cluster[1:] else min(sum(map(_width, cluster)), 2)


def _width(c: str) -> int:
    if unicodedata.category(c) in ("Mn", "Me", "Cf") or "\u1160" <= c <= "\u11ff" or "\ud7b0" <= c <= "\ud7ff":
        return 0  # vowels and finals among them, which stand under the first letter of their syllable
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _fit(parts: list[str], width: int) -> list[str]:
    """As many clusters from the front as `width` columns hold."""
    taken: list[str] = []
    for part in parts:
        width -= _cluster_width(part)
        if width < 0:
            break
        taken.append(part)
    return taken
