"""Whether the words of a Korean sentence go together as the lexicon says they do.

A model is sure of 컴퓨터를 썼다, I wrote the computer: each word is probable by itself. But of 쓰다 the lexicon says
that texts are written and hats worn, and of computers nothing. So a sentence is doubted if its object is none that its
verb goes with, if an adverb goes with other predicates only, if it stops before a second clause, or if it has no
predicate at all. A verb that goes with
very many things, as 사다 does, is no wonder with one more.

Words are told apart by their beginnings, from the lexicon's lists alone; where that tells nothing, nothing is doubted.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Sequence

from clearhead.languages import Said
from clearhead.translate import korean, lexicon, words
from clearhead.translate.dictionary import known_words, stem_forms
from clearhead.translate.korean import Stem
from clearhead.translate.lexicon import Adjective, Noun, Verb
from clearhead.translate.manner import FEELING, LIKING
from clearhead.translate.phrases import LIVING, POINTED
from clearhead.translate.to_korean import APART

SIGNS = ".,!?"
OBJECT, TOPIC, FOCUS = korean.PARTICLES["object"], korean.PARTICLES["topic"], ("도", "만")
SUBJECT = korean.PARTICLES["subject"]
THERE = {Stem("있"), Stem("없")}
PARTICLES = {form for forms in korean.PARTICLES.values() for form in forms}
PARTICLES |= {"에", "에서", "서", "에게", "한테", "께", "께서", "의", "도", "만", "하고", "들"}
INFLECTED = ("verbs", "adjectives")
AFTER_STEMS = re.compile("수[가는도]?|거[다야니예].*|것[이입].*|겁니.*")  # ways to say can and will; not 수업
NOT = ("안", "못")
FROM = ("come", "come back")  # of which it is asked from where
GIVING = ("주", "줘", "줬", "줄", "준", "줍")
MANY = 60  # objects from which on a verb goes with any
VERBAL_NOUNS = {verb.stem.text.removesuffix("하") for verb in lexicon.VERBS if verb.nominal}


def unusual(text: str) -> Said | None:
    """What speaks against a sentence by the way its words go together; None if nothing does."""
    said = words_of(text)
    if said and all(map(_no_predicate, said)):
        return words.NO_PREDICATE
    if said and said[-1] in _unfinished():
        return words.CUT_OFF.filled(word=said[-1])
    stems = predicates(said)
    if (pair := _two_subjects(said, stems)) is not None:
        return words.TWO_SUBJECTS.filled(first=pair[0], second=pair[1])
    verbs = [[verb for verb in verbs_of(found) if verb.shape not in ("double", "weather")] for found in stems]
    for place, word in enumerate(said):
        if (predicate := _out_of_place(said, stems, place)) is not None:
            return words.NOT_TOGETHER.filled(object=word, verb=predicate)
        if (verb := _from_where(said, verbs, place)) is not None:
            return words.NOT_TOGETHER.filled(object=word, verb=verb)
        its = next((later for later in range(place + 1, len(said)) if verbs[later]), None)
        if its is None:
            continue
        noun = object_of(said[: place + 1]) or _topic_alone(said, place, its, verbs[its])
        if noun and not _together(noun, verbs[its]):
            return words.NOT_TOGETHER.filled(object=word, verb=said[its])
    return None


@functools.cache
def _unfinished() -> frozenset[str]:
    """Every verb and adjective as it stands before a second clause, and never at the end: 먹고, 먹었지만, 먹어서."""
    adjectives = [adjective.stem for adjective in lexicon.ADJECTIVES if not adjective.whole]
    found: set[str] = set()
    for stem in (*(verb.stem for verb in lexicon.VERBS), *adjectives, *THERE):
        for joint in ("고", "지만"):
            found |= {"".join(korean.joined(stem, joint)), "".join(korean.past(stem)) + joint}
        found.add("".join(korean.since(stem)))
    return frozenset(found)


def words_of(text: str) -> list[str]:
    """The words of a text without signs."""
    return [word for word in (one.strip(SIGNS) for one in text.split()) if word]


def predicates(said: Sequence[str]) -> list[frozenset[Stem]]:
    """The stems that each word may be of; of words that are no predicates, none."""
    return [_stems(word, said[place + 1] if place + 1 < len(said) else "") for place, word in enumerate(said)]


def verbs_of(stems: frozenset[Stem]) -> list[Verb]:
    """Every verb that one of these stems is of."""
    return [verb for verb in lexicon.VERBS if verb.stem in stems]


def adjectives_of(stems: frozenset[Stem]) -> list[Adjective]:
    return [adjective for adjective in lexicon.ADJECTIVES if adjective.stem in stems]


def _two_subjects(said: Sequence[str], stems: Sequence[frozenset[Stem]]) -> tuple[str, str] | None:
    """Two words with 이/가 before a verb that one does: 고양이가 쥐가 잡았다. Before 크다 there may be two."""
    waiting: list[str] = []
    for place, word in enumerate(said):
        if stems[place] and word not in _nouns():
            taken = verbs_of(stems[place])
            one = bool(taken) and not adjectives_of(stems[place]) and not stems[place] & THERE
            if one and all(verb.shape not in ("double", "weather") for verb in taken) and len(waiting) > 1:
                return waiting[-2], waiting[-1]
            waiting = []
        elif word.endswith(SUBJECT) and without_particles(word[:-1]) in _nouns():
            waiting.append(word)
    return None


def _out_of_place(said: Sequence[str], stems: Sequence[frozenset[Stem]], place: int) -> str | None:
    """The predicate that an adverb stands before though it only goes with others: 많이 아프다. 아주 빨리 is no such."""
    adverbs = [adverb for adverb in lexicon.ADVERBS if adverb.korean == said[place]]
    its = next((later for later in range(place + 1, len(said)) if stems[later]), None)
    if not adverbs or its is None or any(adverb.korean == said[place + 1] for adverb in lexicon.ADVERBS):
        return None
    kinds = {"verb"} if verbs_of(stems[its]) else set()
    kinds |= {"adjective"} if adjectives_of(stems[its]) else set()
    kinds |= {"liking"} if any(verb.english in LIKING for verb in verbs_of(stems[its])) else set()
    kinds |= {"feeling"} if any(one.english in FEELING for one in adjectives_of(stems[its])) else set()
    kinds |= {"all"} if "verb" in kinds else set()
    if stems[its] & THERE and any(map(is_place, said[:its])):
        kinds = {"verb"} if said[place] == "많이" else set()
    return None if any(kinds & set(adverb.goes.split()) for adverb in adverbs) else said[its]


def _from_where(said: Sequence[str], verbs: Sequence[Sequence[Verb]], place: int) -> str | None:
    """The verb of going behind 어디에서, which then asks from where, as the grammar only does of 오다."""
    its = next((later for later in range(place + 1, len(said)) if verbs[later]), None)
    if its is None or said[place] not in ("어디에서", "어디서"):
        return None
    return said[its] if all(verb.shape == "to" and verb.english not in FROM for verb in verbs[its]) else None


def _topic_alone(said: Sequence[str], place: int, its: int, verbs: Sequence[Verb]) -> str | None:
    """A thing with 은/는 to which it may be done, since it does not do it and no object is there: 백화점은 열어요."""
    word = said[place]
    noun = without_particles(word[:-1]) if word.endswith(TOPIC) else None
    things = [one for one in lexicon.NOUNS if one.korean == noun and one not in LIVING and not one.oblique]
    things = [] if any(predicates(said)[place + 1 : its]) else things
    others = [one for one in said[place + 1 : its] if one.endswith((*OBJECT, *FOCUS)) and without_particles(one)]
    if not things or others or not all(objects for verb in verbs for _, objects in verb.takes):
        return None
    doing = {one for verb in verbs for subjects, _ in verb.takes for one in lexicon.nouns(subjects)}
    return None if doing & set(things) else noun


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
    """The stems of verbs and adjectives that may begin in each way: 걸 may be 걷, and 잡니다 is of 자 as well."""
    found: defaultdict[str, set[Stem]] = defaultdict(set)
    adjectives = [adjective.stem for adjective in lexicon.ADJECTIVES if not adjective.whole]
    for stem in (*(verb.stem for verb in lexicon.VERBS), *adjectives):
        formal = [korean.with_final(stem.text, "ㅂ")] if korean.letters(stem.text[-1]).final in ("", "ㄹ") else []
        for form in (*stem_forms(stem), *formal):
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
    if word.startswith("아니"):  # which is of 아니다 and hardly ever of 알다
        return frozenset()
    if after.startswith(GIVING) and f"{word}주" in APART:  # 보여 주다
        return frozenset({Stem(f"{word}주")})
    if word in VERBAL_NOUNS:  # 요리 안 했다
        return frozenset({Stem(f"{word}하")})
    form = _form(word)
    if form == word and AFTER_STEMS.fullmatch(after):  # 열 수 없다, where 열 is not ten
        return _by_form()[form]
    noun = max((word[:stop] for stop in range(len(word) + 1) if word[:stop] in _uninflected()), key=len, default="")
    if not form or word in _before_nouns() or _no_predicate(word) or len(noun) > len(form):
        return frozenset()
    return _by_form()[form]


def object_of(before: Sequence[str]) -> str | None:
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


def is_place(word: str) -> bool:
    """Whether a word says where, by its particle."""
    return word.endswith(("에", "로")) or word.startswith("어디")


def objects_of(verb: Verb) -> set[Noun]:
    """The nouns a verb goes with; one that may be done to someone living may be done to all of them."""
    found: set[Noun] = set()
    for _, kinds in verb.takes:
        taken = set(lexicon.nouns(kinds))
        if not verb.strict and verb.shape != "double" and kinds:
            taken |= POINTED | (LIVING if taken & LIVING else set())
        found |= taken
    return found


def _objects(verbs: Sequence[Verb]) -> set[str]:
    """What any of these verbs goes with, as it is written."""
    found: set[str] = set()
    for verb in verbs:
        found |= {noun.korean for noun in objects_of(verb)}
        if verb.along:
            found |= {place.korean for place in lexicon.PLACES}
        if verb.stem.text == "하":
            found |= VERBAL_NOUNS
    return found
