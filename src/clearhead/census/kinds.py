"""What kind of token a position holds: a partition, so that what the kinds receive adds up to all attention.

special        what the tokenizer adds, such as [CLS] and <s>
punctuation    . , ! ? and line breaks
digit          numbers
word           a token that begins a word
piece          one that goes on with a word
other          whatever is left: symbols, spaces
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from jaxtyping import Int

from clearhead.text.spans import Spans
from clearhead.text.words import word_groups
from clearhead.textbook.token_kinds import is_punctuation

KINDS = ("special", "punctuation", "digit", "word", "piece", "other")


def token_kinds(
    ids: Sequence[int], labels: Sequence[str], spans: Spans, special: Collection[int]
) -> Int[np.ndarray, " n"]:
    """The number of each token's kind, by KINDS. special: the ids of special tokens."""
    words = word_groups(spans.text, spans.offsets).tolist()
    found = [
        KINDS.index(_kind(number in special, label, spans.text[slice(*place)], i > 0 and words[i] == words[i - 1]))
        for i, (number, label, place) in enumerate(zip(ids, labels, spans.offsets, strict=True))
    ]
    return np.asarray(found, np.int64)


def _kind(special: bool, label: str, text: str, goes_on: bool) -> str:
    text = text.strip()
    if special:
        return "special"
    if is_punctuation(label):
        return "punctuation"
    if text and all(c.isnumeric() for c in text):
        return "digit"
    if any(c.isalpha() for c in text):
        return "piece" if goes_on else "word"
    return "other"
