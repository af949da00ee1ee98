"""What a token is for, told by its label: to part texts, to punctuate, to fill up a batch.

separator      [CLS] [SEP] <s> </s> <|endoftext|> …    what a tokenizer adds to part texts, and so not [MASK], [UNK],
                                                       <extra_id_0>, which stand for text, and no tag such as <br>
punctuation    . , ! ? 。 「 … and line breaks          whatever marks a tokenizer puts before a word
padding        [PAD] <pad> <|padding|> …
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection

import numpy as np
from jaxtyping import Bool

SPECIAL = re.compile(r"\[[A-Z_]+\d*\]|<(?!0x)[^<>\s]+>")  # <0x0A> is a byte
STANDS_FOR_TEXT = re.compile(r"(?i)\W*(mask|unk|unknown|unused\w*|extra_id_\d+)\W*")
TAG = re.compile(  # of HTML, in the text itself; <s> is one too, but as a rule a tokenizer's
    r"(?i)</?(a|b|blockquote|body|br|center|code|dd|div|dl|dt|em|font|h[1-6]|head|hr|html|i|img|li|ol|p|pre|ref|small|"
    r"span|strong|sub|sup|table|tbody|td|th|thead|title|tr|tt|u|ul)/?>"
)
PADDING = re.compile(r"(?i)(.*[\W_])?pad(ding)?([\W_].*)?")
SPACES = "▁Ġ␣ "  # as tokenizers write them
WORD_MARKS = SPACES + "#‹›"  # that tokenizers, and our own labels, put before or after a piece of a word
BREAKS = ("\n", "⏎", "Ċ")


def is_separator(label: str) -> bool:
    """Whether a label is that of a token that begins, ends or parts texts."""
    special = SPECIAL.fullmatch(label) is not None and TAG.fullmatch(label) is None
    return special and not is_padding(label) and STANDS_FOR_TEXT.fullmatch(label) is None


def is_punctuation(label: str) -> bool:
    """Whether a label is punctuation and nothing else."""
    if label.strip(" ") in BREAKS:
        return True
    marks = label.strip(WORD_MARKS) or label.strip(SPACES)  # a mark by itself is a sign like others
    return bool(marks) and not SPECIAL.fullmatch(label) and all(unicodedata.category(x)[0] == "P" for x in marks)


def is_padding(label: str) -> bool:
    """Whether a label is that of a token that only fills up a batch."""
    return SPECIAL.fullmatch(label) is not None and PADDING.fullmatch(label) is not None


def are(kind: Callable[[str], bool], tokens: np.ndarray) -> Bool[np.ndarray, "*tokens"]:
    """Which labels are of a kind: each is asked once, however often it comes back."""
    labels, place = np.unique(tokens, return_inverse=True)
    return np.array([kind(str(label)) for label in labels], np.bool_)[place].reshape(tokens.shape)


def of_kind(
    name: str, tokens: np.ndarray, given: Collection[object] | None, kind: Callable[[str], bool]
) -> Bool[np.ndarray, "*tokens"] | None:
    """Which tokens are of a kind: those `given`, by id or label, else what labels say; None where nothing does."""
    is_text = tokens.dtype.kind == "U"
    if given is None:
        return are(kind, tokens) if is_text else None
    chosen = np.asarray(list(given))
    if chosen.size and (chosen.dtype.kind == "U") != is_text:
        what = ("labels", "ids") if is_text else ("ids", "labels")
        raise TypeError(f"{name} must be {what[0]}, as the tokens are, got {what[1]}: {chosen.tolist()[:4]}")
    return np.isin(tokens, chosen)
