"""What a word is, which word or sentence each token belongs to, and how the tokens of one read together.

There is one definition of a word for views, figures and translators. What lies between two spaces is something else:
with its full stop and its brackets, it is what tokenizers begin with.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.text.clusters import clusters
from clearhead.text.labels import GOES_ON, SPACE, WENT_ON
from clearhead.text.spans import CONTINUES, Span, checked_offsets

GROUPINGS = ("word", "sentence")
INSIDE_WORDS = ("'", "’", "-")
# Over the kinds of characters: l letter, n number, c Chinese character, j may join, s space, o anything else.
WORD = re.compile(r"n+(?:l+(?:jl+)*)?|l[ln]*(?:j[ln]+)*|[cjo]")
SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'”’」』)\]]*(?:\n|(?=\s|$))|\n")


def word_spans(text: str) -> list[Span]:
    """Where the words of a text begin and end.

    A word is a run of letters, digits and marks, with apostrophes and hyphens inside it; Chinese characters and all
    other signs stand alone. A number is a word with the letters after it and no further digits, so 2028년12월7일 has
    three words, and 12/7 has three with its stroke.
    """
    return [match.span() for match in WORD.finditer("".join(map(_kind, text)))]


def word_groups(text: str, offsets: Sequence[Sequence[int]], by: str = "word") -> Int[np.ndarray, " n"]:
    """The number of the word, or with by="sentence" of the sentence, that each token belongs to: (n), from 0 on.

    offsets: (start, stop) for each token, in characters of the text, as tokenizers give them

    What a word is, `clearhead.text.words.word_spans` says. A sentence ends with . ! ? or … before a space, or with its
    line. A token that reaches over several words belongs to the first, a token of spaces to the word after it, a line
    break to the sentence it ends. One that stands nowhere, as special tokens do, is a word of its own.
    """
    checks.choice("by", by, GROUPINGS)
    spans = checked_offsets(text, offsets)
    ends = [stop for _, stop in word_spans(text)] if by == "word" else [m.end() for m in SENTENCE_END.finditer(text)]
    numbers: list[int] = []
    last: object = None
    for i, (start, stop) in enumerate(spans):
        signs = text[start:stop].lstrip()
        place = stop - len(signs) if signs or by == "word" else start
        word: object = ("nowhere", i) if start == stop else bisect_right(ends, place)
        numbers.append(numbers[-1] + (word != last) if numbers else 0)
        last = word
    return np.asarray(numbers, dtype=np.int64)


def group_spans(offsets: Sequence[Span], groups: Int[np.ndarray, " n"]) -> list[Span]:
    """Where each group of tokens begins and ends: from the start of its first to the stop of its last."""
    spans: dict[int, Span] = {}
    for (start, stop), group in zip(offsets, groups.tolist(), strict=True):
        first, last = spans.get(group, (start, stop))
        spans[group] = min(first, start), max(last, stop)
    return [spans[group] for group in range(int(groups.max(initial=-1)) + 1)]


def group_labels(labels: Sequence[str], groups: ArrayLike) -> list[str]:
    """One label for each group of neighbouring tokens: theirs, joined, without spaces at the ends or marks inside.

    groups: from 0 on; a token of group −1 is in none, and its label is left out.
    """
    joined = [""] * (int(np.max(groups, initial=-1)) + 1)
    for label, group in zip(labels, np.asarray(groups), strict=True):
        if group < 0:
            continue
        if label.startswith(WENT_ON) and joined[group].endswith(GOES_ON):
            shared = next(reversed(list(clusters(joined[group][:-1]))), "")
            label = label[1:].removeprefix(shared)
            joined[group] = joined[group][:-1]
        joined[group] += label.removeprefix(CONTINUES) if joined[group] else label
    return [label.strip(SPACE) or label for label in joined]


class Run(NamedTuple):
    """What lies between two spaces, in normal form C, and for each of its letters where it starts and stops."""

    letters: str
    starts: Sequence[int]
    stops: Sequence[int]


def between_spaces(text: str) -> Iterator[Run]:
    """The runs of a text between spaces, line breaks and the like.

    Korean typed on some systems arrives as single letters: ㄱ, ㅏ and ㄱ become one 각, whose place is all three.
    """
    if unicodedata.is_normalized("NFC", text):  # as nearly all texts are: a letter is a character
        for found in re.finditer(r"\S+", text):
            start, stop = found.span()
            yield Run(found.group(), range(start, stop), range(start + 1, stop + 1))
        return
    parts = list(clusters(text))
    places = zip(parts, accumulate(map(len, parts), initial=0), strict=False)
    for space, group in groupby(places, key=lambda place: place[0].isspace()):
        if not space:
            letters = [
                (letter, start, start + len(part))
                for part, start in group
                for letter in unicodedata.normalize("NFC", part)
            ]
            together, starts, stops = zip(*letters, strict=True)
            yield Run("".join(together), starts, stops)


def _kind(c: str) -> str:
    """The kind of a character, as WORD spells it."""
    if c in INSIDE_WORDS:
        return "j"
    category = unicodedata.category(c)[0]
    if category == "N":
        return "n"
    if category in "LM":
        return "c" if unicodedata.name(c, "").startswith("CJK") else "l"
    return "s" if c.isspace() else "o"
