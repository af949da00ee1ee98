"""Clauses drawn at random: any that the grammar can say, the common ones more often.

A clause is drawn in three steps: its predicate with those it needs, what else there is to say, where, when and how, and
how it is said, in which mood, tense, style and order.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence

from clearhead.translate.lexicon import ADJECTIVES, HOURS, NUMBERS, TIMES, VERBS, Noun, Verb, nouns
from clearhead.translate.manner import finished
from clearhead.translate.meaning import Asked, Being, Clause, Existing, NounPhrase, Position, Site, personal
from clearhead.translate.phrases import (
    ANYONE,
    ANYTHING,
    LIVING,
    PEOPLE,
    POINTED,
    chosen,
    dressed,
    likely,
    may_be_many,
    settled,
    suiting,
    uncounted,
)
from clearhead.translate.surroundings import some_place, somewhere, taken_by

PREDICATIVE = [adjective for adjective in ADJECTIVES if adjective.predicate]
WEATHER = [verb for verb in VERBS if verb.shape == "weather"]
GOING = [verb for verb in VERBS if verb.shape == "to"]
SPEAKERS = nouns("나 저 우리 너 당신")
FAMILIAR = [nouns("나")[0], nouns("저")[0], nouns("우리")[0], nouns("그")[0], nouns("그녀")[0], nouns("너")[0]]
THERE = "goods person animal small dish text site food drink need prey plant land town"
SKY = set(nouns("달 별 구름 새 나비 비행기"))
NAMED = nouns("나 저 너 당신 그 그녀 아이 친구 동생 형 누나 언니 오빠 여동생 남동생 딸 아들 개 고양이 강아지")
COUNTRIES = [
    adjective for adjective in ADJECTIVES if adjective.english in ("Korean", "American", "Japanese", "Chinese")
]
US, TEA, PERSON = nouns("우리")[0], nouns("tea")[0], nouns("사람")[0]
AFRAID = next(verb for verb in VERBS if verb.english == "be afraid of")
# What is simply there, and not had: 손님이 없다. Of 돈이 없다 it is said that one has none.
SIMPLY = nouns(
    "person plant food drink animal air 문제 -kin -친구 -아이 -pet -나 -저 -너 -당신 -그 -그녀 -그들 -우리 -저희"
)
SIMPLY = tuple(noun for noun in SIMPLY if not noun.oblique and "name" not in noun.kinds.split())
HOT = [adjective for adjective in ADJECTIVES if "tea" in adjective.nouns.split()]  # what tea is, and no car
OF_THE_DAY = [adjective for adjective in PREDICATIVE if {"climate", "season"} <= set(adjective.nouns.split())]
NOW = next(time for time in TIMES if time.english == "now")


def drawn_clause(generator: random.Random, mood: str) -> Clause:
    """Any clause of a mood."""
    if mood == "command" and likely(generator, 0.02):  # 개를 무서워하지 마세요
        return finished(generator, _with_verb(generator, Clause(AFRAID, mood=mood, denial="않다")))
    if mood in ("command", "suggestion"):
        return finished(generator, _with_verb(generator, Clause(_active(generator), mood=mood)))
    [kind] = generator.choices(("verb", "adjective", "being", "existing"), (64, 18, 9, 9))
    if kind == "verb":
        verb = generator.choice(VERBS)
        verb = generator.choice(WEATHER) if likely(generator, 0.05) else verb
        verb = generator.choice(GOING) if likely(generator, 0.08) else verb
        return finished(generator, _with_verb(generator, Clause(verb, mood=mood)))
    make = {"adjective": _with_adjective, "being": _with_being, "existing": _existing}[kind]
    return finished(generator, make(generator, mood))


def _active(generator: random.Random) -> Verb:
    """A verb that someone can be told to do."""
    while True:
        verb = generator.choice(VERBS)
        person = any("person" in subjects.split() for subjects, _ in verb.takes)
        if person and not verb.lasting and verb.shape not in ("double", "weather") and verb.stem.text != "죽":
            return verb


def _subjects(
    generator: random.Random, choices: Sequence[Noun], free: Sequence[Noun], *, dropped: float
) -> tuple[NounPhrase, ...]:
    """One noun phrase, now and then two bare nouns, or nobody."""
    if likely(generator, dropped):
        return ()
    if set(FAMILIAR) <= set(choices) and likely(generator, 0.25):
        return (NounPhrase(generator.choice(FAMILIAR)),)
    if PERSON in choices and likely(generator, 0.02):  # 열 명이
        return (NounPhrase(PERSON, number=generator.choice([*NUMBERS, "3", "5", "20"]), nameless=True),)
    return _phrases(generator, choices, set(), free)


def _phrases(
    generator: random.Random, choices: Sequence[Noun], taken: set[Noun], free: Sequence[Noun]
) -> tuple[NounPhrase, ...]:
    """One noun phrase, or two bare nouns; with an adjective nobody could tell whose it is."""
    joined = [noun for noun in choices if noun not in taken and not noun.oblique]
    if len(joined) > 1 and likely(generator, 0.06):
        joiner = generator.choice(("and", "and", "하고"))
        first, second = generator.sample(joined, 2)
        if (first in LIVING) == (second in LIVING):  # 친구와 버스를 would be: the bus, with a friend
            return _two(generator, NounPhrase(first, joiner=joiner), NounPhrase(second))
    return (dressed(generator, chosen(generator, choices, taken, free)),)


def _two(generator: random.Random, first: NounPhrase, second: NounPhrase) -> tuple[NounPhrase, NounPhrase]:
    """개 한 마리와 고양이 두 마리, 선생님과 학생들; mostly bare"""
    if first.noun.counter and second.noun.counter and likely(generator, 0.3):
        numbers = [generator.choice(list(NUMBERS)[: generator.choice((3, 10))]) for _ in range(2)]
        return first._replace(number=numbers[0]), second._replace(number=numbers[1])
    return first, second._replace(many=may_be_many(second.noun) and likely(generator, 0.15))


def _with_verb(generator: random.Random, clause: Clause) -> Clause:
    """Who and what, and what is asked for."""
    verb = clause.predicate
    assert isinstance(verb, Verb)
    told = clause.mood in ("command", "suggestion")
    kinds, object_kinds = generator.choice([pair for pair in verb.takes if not told or "person" in pair[0].split()])
    free = [] if verb.strict or verb.shape in ("weather", "double", "to") else ANYONE
    if verb.shape == "weather":
        subjects: tuple[NounPhrase, ...] = (NounPhrase(nouns(kinds)[0]),)
    elif clause.mood == "suggestion":
        subjects = (NounPhrase(US),) if likely(generator, 0.25) else ()
    else:
        dropped = 1.0 if told else 0.45 if clause.mood == "question" else 0.16
        dropped = dropped if "person" in kinds.split() and verb.stem.text != "좋" else 0.0  # 커피가 좋다: it is good
        subjects = _subjects(generator, nouns(kinds), free if "person" in kinds.split() else [], dropped=dropped)
    taken = taken_by(clause.mood, subjects)
    objects: tuple[NounPhrase, ...] = ()
    if object_kinds:
        things = [] if verb.strict or verb.shape == "double" else _anything(verb)
        possible = [noun for noun in nouns(object_kinds) if noun not in POINTED]
        if likely(generator, 0.03) and not verb.strict and verb.shape != "double":
            possible = sorted(POINTED)
        objects = _phrases(generator, possible, taken, things)
        if "drink" in object_kinds.split() and not verb.lasting and likely(generator, 0.05):
            objects = (_tea(generator),)
        elif "tea" in object_kinds.split() and likely(generator, 0.06):  # nobody likes a car so
            objects = (NounPhrase(TEA),)
        if verb.stem.text == "많":
            objects = (NounPhrase(objects[0].noun),)
        if verb.english == "know" and likely(generator, 0.25):
            objects, subjects = (), _knowing(generator, subjects)
    recipient = None
    if verb.shape == "address" or (verb.shape == "give" and likely(generator, 0.85)):
        recipient = settled(dressed(generator, chosen(generator, PEOPLE, taken, []), 0.5))
    split = (
        verb.nominal and not objects and verb.shape != "double" and verb.english != "work" and likely(generator, 0.3)
    )
    clause = clause._replace(subjects=subjects, objects=objects, recipient=recipient, split=split)
    clause = _modal(generator, clause, verb)
    clause = somewhere(generator, clause, verb)
    return _asking(generator, clause, verb) if clause.mood == "question" and likely(generator, 0.5) else clause


def _tea(generator: random.Random) -> NounPhrase:
    """차 두 잔, 뜨거운 차: only its counter and what it is like tell it from a car"""
    if likely(generator, 0.5):
        return NounPhrase(TEA, number=generator.choice(list(NUMBERS)))
    return NounPhrase(TEA, generator.choice(HOT))


def _knowing(generator: random.Random, subjects: tuple[NounPhrase, ...]) -> tuple[NounPhrase, ...]:
    """Who knows, where it is not said what: I mostly. 민수도 알아요 could as well be: I know Minsu too."""
    if subjects and subjects[0].noun.oblique:
        return subjects
    return (NounPhrase(generator.choice(FAMILIAR)),) if likely(generator, 0.6) else ()


@functools.cache
def _anything(verb: Verb) -> list[Noun]:
    """Any object at all, but for those with which the verb means something else: 약을 먹다 is not to eat medicine."""
    others = [one for one in VERBS if one.stem == verb.stem and one.english != verb.english]
    meant = {noun for one in others for _, objects in one.takes for noun in nouns(objects)}
    return [noun for noun in ANYTHING if noun not in meant]


def _modal(generator: random.Random, clause: Clause, verb: Verb) -> Clause:
    """Is doing, wants, can, has to; and not, in the ways that go with it."""
    told = clause.mood in ("command", "suggestion")
    tried = verb.shape == "" and verb.stem.text not in ("보", "죽") and "person" in verb.takes[0][0].split()
    if told:
        denial = "않다" if clause.denial or likely(generator, 0.25) else ""
        return clause._replace(denial=denial, modal="try" if tried and not denial and likely(generator, 0.1) else "")
    active = not verb.lasting and (verb.shape not in ("double", "weather") or verb.english == "become")
    person = not clause.subjects or clause.subjects[0].noun in PEOPLE
    modal = ""
    if verb.shape == "weather" or active:
        modal = "doing" if likely(generator, 0.09) else ""
    if active and person and not modal:
        speaker = not clause.subjects or clause.subjects[0].noun in SPEAKERS
        asked = clause.mood == "question"
        modals = ("want", "want", "can", "must", *["try"] * (3 if tried and asked else tried))
        modal = generator.choice(modals) if likely(generator, 0.18 if speaker else 0.1) else ""
    denials: tuple[str, ...] = ()
    if not (verb.negative or verb.stem.text == "있" or modal == "must"):
        denials = ("안", "않다") if modal in ("", "try") else ("않다",)
        if active and not modal and person:
            denials = ("안", "않다", "못", "못하다")
    denial = generator.choice(denials) if denials and likely(generator, 0.2) else ""
    return clause._replace(modal=modal, denial=denial)


def _asking(generator: random.Random, clause: Clause, verb: Verb) -> Clause:
    """A question for one of those who belong to the verb, or for where, when, why and how."""
    if verb.shape == "weather":
        return clause._replace(asked=Asked("time", ("언제",)))
    roles = ["subject", "why", "time"]
    if verb.shape != "double" and verb.places:
        roles += ["place", "place"] * (1 + (verb.shape in ("to", "in")))
    if clause.objects and verb.shape != "double" and _first_sense(verb):
        roles += ["object", "object", "object"]
    if clause.recipient is not None:
        roles += ["recipient"]
    if verb.shape == "to" or verb.means:
        roles += ["how"]
    if verb.stem.text in ("오", "돌아오") and verb.shape == "to":
        roles += ["origin"] * 6
    if not verb.lasting and verb.shape != "double":
        roles += ["hour"]
    role = generator.choice(roles)
    if role == "origin":
        particle = generator.choice(("에서", "서"))
        return clause._replace(place=None, origin=None, asked=Asked("origin", ("어디", particle)))
    if role == "hour":
        return clause._replace(asked=Asked("hour", ("몇", "시", "에")))
    if role == "subject":
        if "person" not in verb.takes[0][0].split() or verb.shape == "double":
            return clause
        modal = "" if clause.modal == "want" else clause.modal
        return clause._replace(asked=Asked("subject", ("누가",)), modal=modal, subjects=())
    if role == "object":
        person = clause.objects[0].noun in PEOPLE
        word = ("누구", "를") if person else generator.choice((("무엇", "을"), ("뭐", "를"), ("뭘",), ("뭐",)))
        return clause._replace(objects=(), asked=Asked("object", word))
    if role == "recipient":
        return clause._replace(recipient=None, asked=Asked("recipient", ("누구", generator.choice(("에게", "한테")))))
    if role == "place":
        to = verb.shape in ("to", "into", "in")
        words = (("어디", "에"), ("어디", "에"), ("어디",)) if to else (("어디", "에서"), ("어디", "서"))
        return clause._replace(place=None, origin=None, asked=Asked("place", generator.choice(words)))
    words_of = {"why": ("왜",), "time": ("언제",), "how": ("어떻게",)}
    means = None if role == "how" else clause.means
    return clause._replace(asked=Asked(role, words_of[role]), means=means)


def _first_sense(verb: Verb) -> bool:
    """Whether 무엇을 can only be taken for this verb, or is by rule: 무엇을 해요 is What do you do."""
    return (
        verb == next(one for one in VERBS if one.stem == verb.stem and one.shape == verb.shape)
        and verb.english != "speak"
    ) or verb.english == "call"


def _with_adjective(generator: random.Random, mood: str) -> Clause:
    adjective = generator.choice(PREDICATIVE)
    dropped = (0.4 if mood == "question" else 0.2) if adjective.english != "good" else 0.1
    dropped = 0.5 if adjective in OF_THE_DAY else dropped  # 오늘은 덥다
    fitting = [noun for noun in nouns(adjective.nouns) if noun not in POINTED]
    subjects = _subjects(generator, fitting, ANYTHING, dropped=dropped)
    if subjects and likely(generator, 0.04) and not personal(adjective):
        subjects = (NounPhrase(generator.choice(sorted(POINTED))),)
    subjects = tuple(one._replace(adjective=None) for one in subjects)
    denial = generator.choice(("안", "않다", "않다")) if likely(generator, 0.16) else ""
    clause = Clause(adjective, subjects, mood=mood, denial=denial)
    if mood == "question" and likely(generator, 0.2):
        role = generator.choice(("subject", "why"))
        if role == "why":
            return clause._replace(asked=Asked("why", ("왜",)))
        word = ("누가",) if personal(adjective) else generator.choice((("무엇", "이"), ("뭐", "가")))
        return clause._replace(subjects=(), asked=Asked("subject", word))
    return clause


def _with_being(generator: random.Random, mood: str) -> Clause:
    """He is a student; this is my book; what is this?"""
    if mood == "question" and likely(generator, 0.5):
        return _asking_being(generator)
    denial = "않다" if likely(generator, 0.2) else ""
    if likely(generator, 0.12):
        return _dated(generator, Clause(Being(None), mood=mood, denial=denial))
    if likely(generator, 0.1):
        return _named_or_from(generator, Clause(Being(None), mood=mood, denial=denial))
    if likely(generator, 0.6):
        noun = generator.choice(nouns("role young") if likely(generator, 0.8) else nouns("kin grown"))
        phrase = uncounted(dressed(generator, noun))._replace(many=False)
        people = [one for one in PEOPLE if one != noun]
        subjects = _subjects(generator, people, [], dropped=0.4 if mood == "question" else 0.2)
        subjects = tuple(uncounted(one)._replace(many=one.many and likely(generator, 0.3)) for one in subjects)
        return Clause(Being(phrase), subjects, mood=mood, denial=denial)
    if likely(generator, 0.2):
        return _same_kind(generator, Clause(Being(None), mood=mood, denial=denial))
    noun = generator.choice(nouns("goods pet text small food drink plant art"))
    phrase = uncounted(dressed(generator, noun, 1.5))._replace(many=False)
    subjects = () if likely(generator, 0.15) else (NounPhrase(generator.choice(sorted(POINTED))),)
    return Clause(Being(phrase), subjects, mood=mood, denial=denial)


def _dated(generator: random.Random, clause: Clause) -> Clause:
    """Today is Monday; it is three o'clock now; my family has five people."""
    kind = generator.choice(("day", "day", "hour", "family"))
    if kind == "day":
        subject = NounPhrase(generator.choice(nouns("dated")))
        return clause._replace(predicate=Being(NounPhrase(generator.choice(nouns("day")))), subjects=(subject,))
    if kind == "hour":
        time = NOW if likely(generator, 0.7) else None
        return clause._replace(predicate=Being(None, hour=generator.choice(list(HOURS))), time=time, denial="")
    owner = generator.choice(nouns("나 저 우리 우리 너 그 그녀 민수 선생님"))
    people = NounPhrase(PERSON, number=generator.choice([*list(NUMBERS)[1:], "5", "4"]), nameless=True)
    return clause._replace(predicate=Being(people), subjects=(NounPhrase(nouns("가족")[0], owner=owner),), denial="")


def _named_or_from(generator: random.Random, clause: Clause) -> Clause:
    """My name is Sujin; those people are Chinese."""
    if likely(generator, 0.5):
        name = generator.choice(nouns("name"))
        owner = NounPhrase(nouns("이름")[0], owner=generator.choice(NAMED), close=likely(generator, 0.5))
        return clause._replace(predicate=Being(NounPhrase(name)), subjects=(owner,))
    subjects = _subjects(generator, PEOPLE, [], dropped=0.4 if clause.mood == "question" else 0.2)
    subjects = tuple(uncounted(one) for one in subjects)
    return clause._replace(predicate=Being(NounPhrase(PERSON, generator.choice(COUNTRIES))), subjects=subjects)


def _same_kind(generator: random.Random, clause: Clause) -> Clause:
    """This song is an old song."""
    noun = generator.choice([one for one in nouns("goods pet text small plant art 노래 집 식당 영화") if suiting(one)])
    named = NounPhrase(noun, pointer=generator.choice("이그저"))
    what = NounPhrase(noun, generator.choice(suiting(noun)))
    return clause._replace(predicate=Being(what), subjects=(named,))


def _asking_being(generator: random.Random) -> Clause:
    word = generator.choice(("무엇", "뭐", "누구", "어디", "얼마", "몇 시"))
    if word == "몇 시":
        return Clause(Being(None, word), time=NOW if likely(generator, 0.5) else None, mood="question", tense="present")
    if word in ("무엇", "뭐"):
        named = dressed(generator, nouns("이름")[0])._replace(adjective=None)
        subject = named if likely(generator, 0.3) else NounPhrase(generator.choice(sorted(POINTED)))
    elif word == "누구":
        subject = dressed(generator, generator.choice(PEOPLE))
    elif word == "어디":
        subject = dressed(generator, generator.choice(nouns("site 집 교실")), 0.5)
    else:
        subject = dressed(generator, generator.choice(nouns("goods food drink")), 1.5)
    subject = uncounted(subject)._replace(many=False)
    return Clause(Being(None, word), (subject,), mood="question", tense="present")


def _existing(generator: random.Random, mood: str) -> Clause:
    """There is a cat in the room; the cat is in the room; where is the cat?"""
    if likely(generator, 0.25):
        return _simply_there(generator, mood)
    free = [noun for noun in ANYTHING if "region" not in noun.kinds]
    subjects = _subjects(generator, nouns(THERE), free, dropped=0.0)
    if likely(generator, 0.08):  # 집에 있어요
        subjects = ()
    predicate = Existing(absent=likely(generator, 0.3))
    if predicate.absent:
        subjects = tuple(uncounted(one) for one in subjects)
    if mood == "question" and likely(generator, 0.4):
        word = generator.choice((("어디", "에"), ("어디", "에"), ("어디",)))
        if likely(generator, 0.3):  # 내 지갑 어디 있어?
            subjects = (dressed(generator, generator.choice(nouns("goods small kin pet")), 3.0),)
        subjects = tuple(uncounted(one) for one in subjects)
        return Clause(Existing(), subjects, mood=mood, asked=Asked("place", word))
    sky = bool(subjects) and subjects[0].noun in SKY
    place = some_place(generator, "any container" + " sky" * sky if subjects else "any", beside=0.5 * bool(subjects))
    there = place.noun if isinstance(place, Position) else place.place if isinstance(place, Site) else place
    if any(one.noun.korean == there.korean for one in subjects):
        return _existing(generator, mood)
    if subjects and _many(subjects) and not predicate.absent and likely(generator, 0.12):
        predicate = Existing(plenty=generator.choice(("많", "많", "많이")))
        subjects = (NounPhrase(subjects[0].noun),)
    return Clause(predicate, subjects, place=place, mood=mood)


def _many(subjects: tuple[NounPhrase, ...]) -> bool:
    """Whether there may be many of it, or much."""
    noun = subjects[0].noun
    named = noun.oblique or noun.article in ("my", "")  # 형이 많다 would be: I have many
    return len(subjects) == 1 and not named and (bool(noun.counter) or noun.article == "mass")


def _simply_there(generator: random.Random, mood: str) -> Clause:
    """There is no guest; there are two students; there are many people"""
    if likely(generator, 0.06):
        return Clause(Existing(), (NounPhrase(TEA, generator.choice(HOT)),), mood=mood)
    one = dressed(generator, generator.choice(SIMPLY))
    if one.definite:
        one = NounPhrase(one.noun)
    if _many((one,)) and likely(generator, 0.15):
        return Clause(Existing(plenty=generator.choice(("많", "많", "많이"))), (NounPhrase(one.noun),), mood=mood)
    absent = likely(generator, 0.5)
    return Clause(Existing(absent=absent), (uncounted(one) if absent else one,), mood=mood)
