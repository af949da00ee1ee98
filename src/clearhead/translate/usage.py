"""Whether the words of a Korean sentence go together as the lexicon says they do.

A model is sure of 컴퓨터를 썼다, I wrote the computer: each word is probable by itself. But of 쓰다 the lexicon says
that texts are written and hats worn, and of computers nothing. So a sentence is doubted if its object is none that its
verb goes with, if it has no predicate at all, or if its verb needs a place and has none. A verb that goes with very
many things, as 사다 does, is no wonder with one more.

Words are told apart by their beginnings, from the lexicon's lists alone; where that tells nothing, nothing is doubted.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence

from clearhead.languages import Said
from clearhead.translate import korean, lexicon, words
from clearhead.translate.dictionary import known_words, stem_forms
from clearhead.translate.korean import Stem
from clearhead.translate.lexicon import Verb
from clearhead.translate.phrases import LIVING, POINTED

SIGNS = ".,!?"
OBJECT = korean.PARTICLES["object"]
PARTICLES = {form for forms in korean.PARTICLES.values() for form in forms}
PARTICLES |= {"에", "에서", "서", "에게", "한테", "께", "께서", "의", "도", "만", "하고", "들"}
INFLECTED = ("verbs", "adjectives")
AFTER_STEMS = ("수", "거", "것", "겁")  # ways to say can and will
NOT = ("안", "못")
MANY = 60  # objects from which on a verb goes with any
VERBAL_NOUNS = {verb.stem.text.removesuffix("하") for verb in lexicon.VERBS if verb.nominal}


def unusual(text: str) -> Said | None:
    """What speaks against a sentence by the way its words go together; None if nothing does."""
    said = [word.strip(SIGNS) for word in text.split()]
    if said and all(map(_no_predicate, said)):
        return words.NO_PREDICATE
    verbs = [_verbs(word, after) for word, after in zip(said, [*said[1:], ""], strict=True)]
    for place, word in enumerate(said):
        if any(verb.shape == "into" for verb in verbs[place]) and not any(map(_is_place, said[:place])):
            return words.NO_PLACE.filled(verb=word)
        its = next((later for later in range(place + 1, len(said)) if verbs[later]), None)
        if its is not None and (noun := _object(said[: place + 1])) and not _together(noun, verbs[its]):
            return words.NOT_TOGETHER.filled(object=word, verb=said[its])
    return None


def _together(noun: str, verbs: Sequence[Verb]) -> bool:
    objects = _objects(verbs)
    return noun in objects or len(objects) >= MANY


@functools.cache
def _uninflected() -> frozenset[str]:
    """Every word that is no verb and no adjective: nouns, places, times, adverbs, numbers …"""
    kinds = known_words()
    listed = {word for kind, entries in kinds.items() if kind not in (*INFLECTED, "small") for word in entries}
    whole = {adjective.stem.text for adjective in lexicon.ADJECTIVES if adjective.whole}
    small = {"이", "그", "저", "내", "제", "네", *NOT}
    return frozenset({part for word in listed for part in word.split()} | whole | small | VERBAL_NOUNS)


@functools.cache
def _by_form() -> dict[str, frozenset[Stem]]:
    """The stems of verbs and adjectives that may begin in each way: 걸 may be 걷."""
    found: defaultdict[str, set[Stem]] = defaultdict(set)
    adjectives = [adjective.stem for adjective in lexicon.ADJECTIVES if not adjective.whole]
    for stem in (*(verb.stem for verb in lexicon.VERBS), *adjectives):
        for form in stem_forms(stem):
            found[form].add(stem)
    return {form: frozenset(stems) for form, stems in found.items()}


@functools.cache
def _before_nouns() -> frozenset[str]:
    """Adjectives as they stand before a noun: 좋은."""
    stems = [adjective.stem for adjective in lexicon.ADJECTIVES if not adjective.whole]
    return frozenset({"".join(korean.closed(stem, "ㄴ")) for stem in stems} | {f"{stem.text}는" for stem in stems})


def without_particles(word: str) -> str | None:
    """What is left of a word that is no verb: 고양이 of 고양이들에게; None if it is none that is known."""
    for stop in range(len(word), 0, -1):
        if word[:stop] in _uninflected() and _only_particles(word[stop:]):
            return word[:stop]
    return None


def _only_particles(rest: str) -> bool:
    return not rest or any(
        rest.startswith(particle) and _only_particles(rest[len(particle) :]) for particle in PARTICLES
    )


@functools.cache
def _told() -> frozenset[str]:
    """Verbs without any ending, of which some are nouns as well: 차."""
    return frozenset("".join(korean.infinitive(verb.stem)) for verb in lexicon.VERBS)


def _no_predicate(word: str) -> bool:
    noun = without_particles(word)
    return word.isdecimal() or (noun is not None and len(_form(word)) <= len(noun) and word not in _told())


def _form(word: str) -> str:
    """The longest form of a verb or an adjective that a word begins with."""
    return next((word[:stop] for stop in range(len(word), 0, -1) if word[:stop] in _by_form()), "")


def _stems(word: str, after: str) -> frozenset[Stem]:
    """The stems that a word may be of, before the next one: none if it rather is a noun, as 사람 is, though not 사."""
    if word in VERBAL_NOUNS:  # 요리 안 했다
        return frozenset({Stem(f"{word}하")})
    form = _form(word)
    if form == word and after.startswith(AFTER_STEMS):  # 열 수 없다, where 열 is not ten
        return _by_form()[form]
    noun = max((word[:stop] for stop in range(len(word) + 1) if word[:stop] in _uninflected()), key=len, default="")
    if not form or word in _before_nouns() or _no_predicate(word) or len(noun) > len(form):
        return frozenset()
    return _by_form()[form]


def _verbs(word: str, after: str) -> list[Verb]:
    """The verbs that a word may be of, but for those that never take an object with 을."""
    stems = _stems(word, after)
    return [verb for verb in lexicon.VERBS if verb.stem in stems and verb.shape not in ("double", "weather")]


def _object(before: Sequence[str]) -> str | None:
    """The noun that the last of these words has for an object, or that it counts: 책 in 책 두 권을."""
    *others, word = before
    noun = word[:-1] if word.endswith(OBJECT) and without_particles(word) is not None else None
    noun = noun and without_particles(noun)
    if noun in lexicon.COUNTERS and others and _number(others[-1]):
        noun = without_particles(others[-2]) if len(others) > 1 else None
    return noun if noun in _nouns() else None


def _number(word: str) -> bool:
    return word.isdecimal() or word in lexicon.HOURS


@functools.cache
def _nouns() -> frozenset[str]:
    nouns, places = ({entry.korean for entry in lexicon.NOUNS}, {entry.korean for entry in lexicon.PLACES})
    return frozenset(nouns | places | VERBAL_NOUNS)


def _is_place(word: str) -> bool:
    return word.endswith(("에", "로")) or word.startswith("어디")


def _objects(verbs: Sequence[Verb]) -> set[str]:
    """What any of these verbs goes with; one that may be done to someone living may be done to all of them."""
    found: set[str] = set()
    for verb in verbs:
        for _, kinds in verb.takes:
            taken = set(lexicon.nouns(kinds))
            if not verb.strict and kinds:
                taken |= POINTED | (LIVING if taken & LIVING else set())
            found |= {noun.korean for noun in taken}
        if verb.along:
            found |= {place.korean for place in lexicon.PLACES}
        if verb.stem.text == "하":
            found |= VERBAL_NOUNS
    return found
