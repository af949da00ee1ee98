"""Whether an answer is English, and says nothing twice that its source says once.

A model that is led astray often shows it in what it writes: a airplane, many mountain, two cats with two cats. Each
word of it may be probable. But the grammar never writes so, and neither do people; so such an answer is doubted.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict

from clearhead.languages import Said
from clearhead.translate import english, lexicon, words
from clearhead.translate.lexicon import Noun, Place, Time

ARTICLE = re.compile(r"\b(an?) ([A-Za-z]+)")
MANY = re.compile(r"\bmany ([A-Za-z]+)")
WORD = re.compile(r"[A-Za-z]+")
COUNTED = {"people": ("명", "분", "사람")}  # 열 명 is ten people


def slip(text: str, answer: str) -> Said | None:
    """What is wrong with an answer by itself, or beside its source; None if nothing is."""
    for article, following in ARTICLE.findall(answer):
        if article != english.indefinite(following):
            return words.NO_ENGLISH.filled(words=f"{article} {following}")
    for following in MANY.findall(answer):
        if following in _singulars():
            return words.NO_ENGLISH.filled(words=f"many {following}")
    said = Counter(WORD.findall(answer))
    for word, count in said.items():
        if count > 1 and word in _koreans() and count > sum(text.count(korean) for korean in _koreans()[word]):
            return words.SAID_TWICE.filled(word=word)
    return None


@functools.cache
def _singulars() -> frozenset[str]:
    """What is one, and not many: mountain, but neither fish nor clothes."""
    countable = [noun for noun in lexicon.NOUNS if noun.counter and not noun.measure and "several" not in noun.kinds]
    return frozenset(noun.english for noun in countable if noun.plural != noun.english and " " not in noun.english)


@functools.cache
def _koreans() -> dict[str, tuple[str, ...]]:
    """The Korean that an English noun, place or time may stand for, by its last word: station by 역."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    sites = [place for place in lexicon.PLACES if place.at]  # without here and there
    entries: list[Noun | Place | Time] = [*lexicon.NOUNS, *sites, *lexicon.TIMES]
    for entry in entries:
        *_, last = entry.english.split() or [""]
        for form in {last, getattr(entry, "plural", "") or "".join(english.with_s(last))} if last else ():
            found[form].update(entry.korean.split()[-1:])
    for word, koreans in COUNTED.items():
        found[word].update(koreans)
    pronouns = {form for noun in lexicon.PRONOUNS for form in (noun.english, noun.oblique)}
    return {word: tuple(sorted(koreans)) for word, koreans in found.items() if word not in pronouns}
