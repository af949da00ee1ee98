"""Clauses before a noun, drawn at random: 책을 읽는 소녀, 어제 산 옷, 책상 위에 있는 책.

What stands before such a clause could belong to it as well. So a noun only has one where nothing stands before it but,
at most, a topic; and who did it is left out only where it is the speaker.
"""

from __future__ import annotations

import functools
import random

from clearhead.translate.lexicon import POSITIONS, TIMES, VERBS, Noun, Place, Verb, nouns, places
from clearhead.translate.manner import filled_roles
from clearhead.translate.meaning import Being, Clause, Existing, NounPhrase, Position, Relative
from clearhead.translate.phrases import AMBIGUOUS, NAMELESS, POINTED, dressed, likely, uncounted
from clearhead.translate.surroundings import BESIDE

DOERS = nouns("나 나 너 그 그녀 person -several -humble -당신")
SPEAKER = set(nouns("나 저"))
THERE = set(nouns("goods person animal small dish text food plant site -kin"))
PAST = [time for time in TIMES if time.tenses == "past"]
MOST_ROLES = 3


def with_relative(generator: random.Random, clause: Clause) -> Clause | None:
    """The same with a clause before one of its nouns, or nothing if none can have one."""
    roles = filled_roles(clause)
    if clause.mood not in ("statement", "question") or len(roles) > MOST_ROLES or clause.honoured:
        return None
    if isinstance(clause.predicate, Existing) and clause.predicate.plenty:
        return None
    behind_topic = roles[:1] == ["subject"] and clause.topic == "subject"
    for role, several in (("object", clause.objects), ("subject", clause.subjects)):
        first = roles[:1] == [role] or (behind_topic and roles[1:2] == [role])
        if first and len(several) == 1 and _may_have_one(several[0]) and (role == "object" or not clause.split):
            found = _drawn(generator, several[0], clause)
            if found is None:
                return None
            one = several[0]._replace(relative=found)
            return clause._replace(objects=(one,)) if role == "object" else clause._replace(subjects=(one,))
    predicate = clause.predicate
    if isinstance(predicate, Being) and predicate.complement is not None and behind_topic and roles == ["subject"]:
        found = _drawn(generator, predicate.complement, clause) if _may_have_one(predicate.complement) else None
        if found is not None:
            return clause._replace(predicate=Being(predicate.complement._replace(relative=found)))
    return None


def _may_have_one(one: NounPhrase) -> bool:
    plain = not (one.owner or one.pointer or one.number or one.nameless or one.adjective)
    fitting = one.noun in NAMELESS and one.noun not in AMBIGUOUS and bool(one.noun.article)
    return plain and fitting and "kin" not in one.noun.kinds.split()


def _drawn(generator: random.Random, one: NounPhrase, clause: Clause) -> Relative | None:
    """A clause of which the noun is the subject or the object, or that says where it is."""
    noun = one.noun
    doing, done = _verbs(noun)
    there = noun in THERE and not isinstance(clause.predicate, Existing)
    if "person" in noun.kinds.split() and likely(generator, 0.05):  # 한국에서 온 학생
        come = next(verb for verb in doing if verb.stem.text == "오" and verb.shape == "to")
        return Relative(Clause(come, origin=generator.choice(places(come.places)), tense="past"), "subject")
    kinds = ["there"] * there + ["subject"] * 2 * bool(doing) + ["object"] * 2 * bool(done)
    kind = generator.choice(kinds) if kinds else ""
    if kind == "there":
        return _there(generator, noun)
    if kind == "subject":
        return Relative(_of_subject(generator, noun, generator.choice(doing)), "subject")
    return Relative(_of_object(generator, noun, generator.choice(done), clause), "object") if kind else None


@functools.cache
def _verbs(noun: Noun) -> tuple[tuple[Verb, ...], tuple[Verb, ...]]:
    """What the noun does, and what is done to it."""
    verbs = [verb for verb in VERBS if verb.shape in ("", "to", "in") and verb.english not in ("die", "do it")]
    doing = tuple(verb for verb in verbs if any(noun in nouns(subjects) for subjects, _ in verb.takes))
    taking = [verb for verb in verbs if not verb.lasting or verb.english in ("like", "know", "wear", "love")]
    done = tuple(verb for verb in taking if any(noun in nouns(objects) for _, objects in verb.takes if objects))
    return doing, tuple(verb for verb in done if "person" in verb.takes[-1][0].split() and not verb.negative)


def _there(generator: random.Random, noun: Noun) -> Relative | None:
    place: Place | Position = generator.choice(places("any container"))
    if likely(generator, 0.5):
        place = Position(generator.choice(BESIDE), generator.choice(list(POSITIONS)))
    there = place.noun if isinstance(place, Position) else place
    if there.korean == noun.korean:
        return None
    return Relative(Clause(Existing(), place=place, tense="present"), "subject")


def _of_subject(generator: random.Random, noun: Noun, verb: Verb) -> Clause:
    """책을 읽는, 한국에서 온, 모자를 쓴"""
    tense = "present" if verb.lasting else generator.choice(("past", "past", "present", "present", "present", "future"))
    tense = "past" if verb.english == "wear" else tense
    clause = Clause(verb, tense=tense)
    pairs = [objects for subjects, objects in verb.takes if noun in nouns(subjects)]
    kinds = generator.choice(pairs)
    if kinds:
        clause = clause._replace(objects=(_thing(generator, kinds, noun),))
    elif verb.stem.text in ("오", "돌아오") and verb.shape == "to" and likely(generator, 0.6):
        return clause._replace(origin=generator.choice(places(verb.places)))
    if verb.places and (verb.shape in ("to", "in") or likely(generator, 0.25 if kinds else 0.6)):
        clause = clause._replace(place=generator.choice(places(verb.places)))
    return _at_a_time(generator, clause)


def _of_object(generator: random.Random, noun: Noun, verb: Verb, main: Clause) -> Clause:
    """어제 산, 내가 만든, 시장에서 산"""
    tense = "present" if verb.lasting else generator.choice(("past", "past", "past", "present", "future"))
    named = {one.noun for one in main.subjects}
    own = main.mood == "statement" and (not main.subjects or bool(named & SPEAKER))
    doers = [one for one in DOERS if one != noun and one not in named and not (one in SPEAKER and named & SPEAKER)]
    subjects = () if own and likely(generator, 0.6) else (NounPhrase(generator.choice(doers)),)
    clause = Clause(verb, subjects, tense=tense)
    if verb.places and likely(generator, 0.3):
        clause = clause._replace(place=generator.choice(places(verb.places)))
    return _at_a_time(generator, clause)


def _thing(generator: random.Random, kinds: str, noun: Noun) -> NounPhrase:
    possible = [one for one in nouns(kinds) if one != noun and one not in POINTED and not one.oblique]
    return uncounted(dressed(generator, generator.choice(possible), 0.4))


def _at_a_time(generator: random.Random, clause: Clause) -> Clause:
    fitting = clause.tense == "past" and isinstance(clause.predicate, Verb) and not clause.predicate.lasting
    return clause._replace(time=generator.choice(PAST)) if fitting and likely(generator, 0.3) else clause
