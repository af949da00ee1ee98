"""What a token reads as: the piece of text it stands for, with nothing in it invisible.

A tokenizer's own strings are not for readers: 'ìķĪ' is a Korean syllable to a byte-level one. But every token covers a
place in the text, and that place can be read. So labels are cut out of the text by the tokens' offsets, and where the
text is not at hand it is put together again from the tokens first (see spans.py).
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from numpy.typing import ArrayLike

from clearhead.text.clusters import clusters
from clearhead.text.spans import CONTINUES, Spans, checked_offsets, token_spans

SPACE, NOTHING = "␣", "∅"
BREAKS = str.maketrans({"\n": "⏎", "\r": "↵", "\t": "⇥"})
GOES_ON, WENT_ON = "›", "‹"  # a character that ends in the next token, or began in the one before
JOINERS = ("\u200c", "\u200d")


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
    return labels_of(token_spans(ids, tokenizer, text))


def labels_of(spans: Spans) -> list[str]:
    """One label for each token, from its place in the text and its name."""
    labels = labels_from_offsets(spans.text, spans.offsets)
    return [label if name is None else _named(name, label) for label, name in zip(labels, spans.names, strict=True)]


def labels_from_offsets(text: str, offsets: Sequence[Sequence[int]]) -> list[str]:
    """The piece of text each token stands for, as a label; a token that stands nowhere is ∅.

    offsets: (start, stop) for each token, in characters of the text, as tokenizers give them

    Tokens that share a character, as byte-level ones do, all show it, with › and ‹ as in `token_labels`.
    """
    spans = checked_offsets(text, offsets)
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


def _named(name: str, label: str) -> str:
    """A special token is its name; a word's continuation is marked, unless what it holds is marked already."""
    if name != CONTINUES:
        return name
    return label if label.startswith(WENT_ON) or label == NOTHING else name + label


def _escaped(text: str, i: int) -> str:
    """The i-th character, or what stands in for it."""
    c = text[i]
    category = unicodedata.category(c)
    styles = "\ufe00" <= c <= "\ufe0f"  # asks for a style of the character before, and is not one itself
    joins = c in JOINERS and 0 < i < len(text) - 1
    if (styles and i == 0) or (category[0] in "CZ" and c not in "\n " and not joins):
        return f"U+{ord(c):04X}"
    return "◌" + c if category[0] == "M" and i == 0 else c
