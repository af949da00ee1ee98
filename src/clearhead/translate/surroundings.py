"""Where, from where, with what and with whom something is done, drawn at random."""

from __future__ import annotations

import functools
import random

from clearhead.translate.lexicon import MEANS, POSITIONS, Adjective, Noun, Place, Verb, nouns, places
from clearhead.translate.meaning import Clause, NounPhrase, Position, Site
from clearhead.translate.phrases import OWNED_BY_PRONOUNS, PEOPLE, chosen, dressed, likely, settled, suiting

BESIDE = nouns("furniture surface machine room opening site plant")
WITH_PETS = (*PEOPLE, *nouns("개 고양이 강아지 토끼") * 3)
SELF, YOU = set(nouns("나 저 우리 저희")), set(nouns("너 당신"))


def taken_by(mood: str, subjects: tuple[NounPhrase, ...]) -> set[Noun]:
    """Nobody meets himself: I saw me and we saw us are not said so. Where nobody is named, it is I, you or we."""
    if mood == "suggestion":
        return SELF | YOU
    if not subjects:
        return SELF if mood == "statement" else YOU
    taken = {one.noun for one in subjects}
    return taken | (SELF if taken & SELF else set()) | (YOU if taken & YOU else set())


def somewhere(generator: random.Random, clause: Clause, verb: Verb) -> Clause:
    """Where, from where, with what and with whom, but not all of them."""
    place: Place | Position | Site | None = None
    origin = means = companion = None
    along = False
    if verb.shape in ("to", "into") or (verb.shape == "in" and verb.places):
        place = some_place(generator, verb.places) if verb.shape == "into" or likely(generator, 0.88) else None
        if verb.stem.text in ("오", "돌아오") and likely(generator, 0.25):
            origin = generator.choice(places(verb.places))
            place = place if likely(generator, 0.15) and place != origin else None
    elif verb.along and likely(generator, 0.5):
        place, along = some_place(generator, verb.places), likely(generator, 0.6)
    elif verb.places and likely(generator, 0.26):
        place = some_place(generator, verb.places, beside=0.15 * (verb.shape != "weather"))
    while verb.shape == "into" and isinstance(place, Place) and place.korean == "집":
        place = some_place(generator, verb.places)
    if verb.means and likely(generator, 0.25):
        means = generator.choice([means for means in MEANS if means.korean in verb.means.split()])
    living = verb.english == "live"  # 고양이와 같이 산다
    active = not verb.lasting and verb.shape in ("", "to") and "person" in verb.takes[0][0]
    if (living or active) and means is None and likely(generator, 0.3 if living else 0.12):
        taken = taken_by(clause.mood, clause.subjects) | {one.noun for one in clause.objects}
        whom = WITH_PETS if verb.english in ("live", "play", "take a walk", "walk") and not clause.objects else PEOPLE
        companion = settled(dressed(generator, chosen(generator, whom, taken, []), 0.8 if living else 0.4))
        place = None if living and likely(generator, 0.5) else place
        companion = companion._replace(joiner=generator.choice(("and", "and", "하고", "or so")))
    split = clause.split and not along  # 공원을 산책을 하다 is not said
    return clause._replace(place=place, along=along, split=split, origin=origin, means=means, companion=companion)


def some_place(generator: random.Random, kinds: str, *, beside: float = 0.0) -> Place | Position | Site:
    """A place of these kinds, now and then with what belongs to it, or one beside a thing."""
    if likely(generator, beside):
        return Position(generator.choice(BESIDE), generator.choice(list(POSITIONS)))
    place = generator.choice(places(kinds))
    if place.at in ("", "in") or not likely(generator, 0.2):
        return place
    adjectives = _adjectives(place)
    kind = generator.choice(("pointer", "pointer", "owner", "adjective", "beside"))
    if kind == "beside":
        other = generator.choice([noun for noun in nouns("site 집 식당 가게") if noun.korean != place.korean])
        return Site(place, beside=Position(other, generator.choice(("옆", "옆", "앞", "뒤"))))
    if kind == "adjective" and adjectives:
        return Site(place, generator.choice(adjectives))
    if kind == "owner":
        return Site(place, owner=generator.choice(OWNED_BY_PRONOUNS))
    return Site(place, pointer=generator.choice("이그저"))


@functools.cache
def _adjectives(place: Place) -> tuple[Adjective, ...]:
    """What the place can be like, as the noun that it is."""
    return suiting(nouns(place.korean)[0])
