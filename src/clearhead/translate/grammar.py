"""One sentence, said in Korean and in English, and which of its words say the same.

A sentence is a meaning (`meaning`). Each language is a function that puts it into words in its own order, `to_korean`
and `to_english`, and names the words that carry meaning, so that what is said on both sides can be linked. The rules by
which English settles what Korean leaves open are written there.
"""

from __future__ import annotations

from clearhead.translate.examples import Example, linked
from clearhead.translate.meaning import Sentence
from clearhead.translate.parts import written
from clearhead.translate.to_english import in_english
from clearhead.translate.to_korean import in_korean


def said(sentence: Sentence) -> Example:
    """The sentence in Korean and in English, its content words linked."""
    return linked(written(in_korean(sentence)), written(in_english(sentence)))
