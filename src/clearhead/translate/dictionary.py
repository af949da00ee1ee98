"""The words that the grammar knows, as a dictionary has them, and the forms by which each begins."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from clearhead.translate import korean, lexicon
from clearhead.translate.korean import Stem

QUESTIONS = {
    "누구": "who",
    "누가": "who",
    "무엇": "what",
    "뭐": "what",
    "어디": "where",
    "언제": "when",
    "왜": "why",
    "어떻게": "how",
    "얼마": "how much",
}
SMALL = {
    "이": "this",
    "그": "that",
    "저": "that (over there)",
    "안": "not",
    "못": "cannot",
    "도": "too",
    "만": "only",
    "와, 과, 하고": "and, with",
    "이다": "be",
    "아니다": "not be",
}


def known_words() -> dict[str, dict[str, str]]:
    """The words of the grammar by kind, as a dictionary has them, and their English, several meanings with commas."""
    kinds = {
        "nouns": [(noun.korean, noun.english) for noun in lexicon.NOUNS],
        "verbs": [*_verbs(), ("있다", "be (somewhere)"), ("없다", "not be (somewhere)")],
        "adjectives": [
            (adjective.stem.text + "다" * (not adjective.whole), adjective.english) for adjective in lexicon.ADJECTIVES
        ],
        "places": [(place.korean, place.english) for place in lexicon.PLACES],
        "times": [(time.korean, time.english) for time in lexicon.TIMES],
        "positions": list(lexicon.POSITIONS.items()),
        "adverbs": [(adverb.korean, adverb.english) for adverb in lexicon.ADVERBS],
        "means": [(means.korean, means.english) for means in lexicon.MEANS],
        "numbers": list(lexicon.HOURS.items()),
        "counters": list(lexicon.COUNTERS.items()),
        "questions": list(QUESTIONS.items()),
        "small": list(SMALL.items()),
    }
    return {kind: _joined(entries) for kind, entries in kinds.items()}


def _verbs() -> Iterator[tuple[str, str]]:
    """모르다 is not to know, and to rain is 비가 오다."""
    for verb in lexicon.VERBS:
        noun = verb.takes[0][0]
        subject = f"{noun}{korean.particle(noun, 'subject')} " if verb.shape == "weather" else ""
        yield f"{subject}{verb.stem.text}다", f"not {verb.english}" if verb.negative else verb.english


def _joined(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for word, english in entries:
        meanings = found.setdefault(word, [])
        if english not in meanings:
            meanings.append(english)
    return {word: ", ".join(meanings) for word, meanings in found.items()}


@functools.cache
def beginnings() -> dict[str, str]:
    """What a word may begin with, without its particle or ending, and the word of the dictionary: 마셔 is of 마시다."""
    found: dict[str, str] = {}
    for kind, entries in known_words().items():
        if kind not in ("verbs", "adjectives"):
            found |= {word: word for word in entries if " " not in word and "," not in word}
    stems = [verb.stem for verb in lexicon.VERBS if verb.shape != "weather"]
    for stem in (*stems, *(adjective.stem for adjective in lexicon.ADJECTIVES if not adjective.whole)):
        for form in stem_forms(stem):
            found.setdefault(form, f"{stem.text}다")
    return found


@functools.cache
def stems() -> dict[str, str]:
    """Verbs and adjectives without an ending, 오 and 와, that are no other word, and their dictionary form, 오다."""
    others = {word for word, listed in beginnings().items() if word == listed}
    entries = [verb.stem for verb in lexicon.VERBS]
    entries += [adjective.stem for adjective in lexicon.ADJECTIVES if not adjective.whole]
    told = {"".join(korean.infinitive(stem)): f"{stem.text}다" for stem in entries}
    found = told | {stem.text: f"{stem.text}다" for stem in entries}
    return {form: word for form, word in found.items() if form not in others}


def stem_forms(stem: Stem) -> Iterator[str]:
    """What is left of a stem before its endings: 돕, 도우, 도와, 도왔, 도운, 도울."""
    yield stem.text
    yield "".join(korean.infinitive(stem))
    yield "".join(korean.past(stem))
    yield from ("".join(korean.closed(stem, final)) for final in "ㄴㄹ")
    yield "".join(korean.with_eu(stem, ""))
