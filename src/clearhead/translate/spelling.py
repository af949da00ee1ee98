"""What both languages are spelled with: every form of every word, cut into stems, particles and endings.

The forms are found by saying sentences, not all of them sensible, in which each occurs.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

from clearhead.translate.lexicon import (
    ADJECTIVES,
    ADVERBS,
    CALLS,
    HOURS,
    MEANS,
    NOUNS,
    NUMBERS,
    PLACES,
    POSITIONS,
    TIMES,
    VERBS,
    Adjective,
    Verb,
    nouns,
)
from clearhead.translate.meaning import (
    Asked,
    Being,
    Clause,
    Existing,
    NounPhrase,
    Position,
    Predicate,
    Relative,
    Sentence,
    Site,
)
from clearhead.translate.parts import Word, spelled
from clearhead.translate.to_english import in_english
from clearhead.translate.to_korean import in_korean

TENSES = ("past", "present", "future", "will")
STYLES = ("plain", "casual", "polite", "formal")
SOMEONE, SOMETHING = NounPhrase(nouns("학생")[0]), NounPhrase(nouns("책")[0])
HE, ME = NounPhrase(nouns("그")[0]), NounPhrase(nouns("나")[0])
MANY = SOMEONE._replace(many=True)
EAT = next(verb for verb in VERBS if verb.english == "eat")
GO = next(verb for verb in VERBS if verb.shape == "to")
PREDICATES: list[Predicate] = [*VERBS, *(adjective for adjective in ADJECTIVES if adjective.predicate)]
PREDICATES += [Being(SOMEONE), Being(NounPhrase(nouns("의사")[0])), Existing(), Existing(absent=True)]
PREDICATES += [Existing(plenty="많"), Existing(plenty="많이")]
TEN = NounPhrase(nouns("사람")[0], number="열", nameless=True)
LARGEST = 100  # numbers in digits are less


def sentence_pieces() -> list[str]:
    """What both languages are spelled with: 잡, ##았 and ##다, catch and ##es."""
    return list(_pieces())


@functools.cache
def _pieces() -> tuple[str, ...]:
    shown = (*_predicates(), *_moods(), *_phrases(), *_relatives(), *_adjuncts(), *_questions())
    sides = itertools.chain(_joined(), (side for clause in shown for side in _said(clause)))
    digits = {str(number) for number in range(1, LARGEST)}
    return tuple(sorted({piece for side in sides for piece in spelled(side)} | digits))


def _said(clause: Clause) -> Iterator[list[Word]]:
    """In both languages; in English, which has no styles, only what is plain or told."""
    end = "?" if clause.mood == "question" else "!" if clause.mood == "command" else "."
    sentence = Sentence((clause,), end=end)
    yield in_korean(sentence)
    if clause.style == "plain" or clause.mood in ("command", "suggestion"):
        yield in_english(sentence)
    if clause.mood == "command" or (clause.style == "plain" and (clause.mood != "statement" or not clause.subjects)):
        yield in_english(sentence._replace(called=("엄마",)))  # Mom, where …, and not Where


def _joined() -> Iterator[list[Word]]:
    """Every predicate with what joins it to the next."""
    after = Clause(EAT, (SOMEONE,))
    for predicate, joint, tense in itertools.product(PREDICATES, ("고", "지만", "서"), ("past", "present")):
        for honoured, denial in ((False, ""), (True, ""), (False, "않다")):
            clause = Clause(predicate, (SOMEONE,), tense=tense, honoured=honoured, denial=denial, full=True)
            yield in_korean(Sentence((clause, after), joint))
    yield from (in_english(Sentence((after, after), joint)) for joint in ("고", "지만", "서"))
    for modal, denial in itertools.product(("doing", "want", "can", "must"), ("", "않다")):
        yield in_korean(Sentence((Clause(EAT, (ME,), modal=modal, denial=denial), after), "서"))
    for call in CALLS:
        yield from (side(Sentence((after,), called=call)) for side in (in_korean, in_english))


def _predicates() -> Iterator[Clause]:
    """Every predicate in every tense and style, asked, denied and honoured, of one and of many."""
    for predicate, tense, style in itertools.product(PREDICATES, TENSES, STYLES):
        if tense == "will" and isinstance(predicate, Being):
            continue
        clause = Clause(predicate, (SOMEONE,), tense=tense, style=style)
        yield clause
        yield clause._replace(full=True, subjects=(MANY,))
        yield clause._replace(mood="question")
        yield from (clause._replace(denial=denial) for denial in ("안", "않다"))
        if isinstance(predicate, Verb | Adjective | Existing) and not (isinstance(predicate, Verb) and predicate.shape):
            yield from (clause._replace(honoured=True, mood=mood, full=True) for mood in ("statement", "question"))


def _moods() -> Iterator[Clause]:
    """Every verb with every modal, and as a command and a suggestion."""
    modals = ("doing", "want", "can", "must", "try")
    for who, modal, tense, style in itertools.product((HE, ME), modals, ("past", "present", "future"), STYLES):
        clause = Clause(EAT, (who,), modal=modal, tense=tense, style=style)
        for mood, denial in itertools.product(("statement", "question"), ("", "않다")):
            yield clause._replace(mood=mood, denial=denial)
            yield clause._replace(mood=mood, denial=denial, honoured=True)
    yield from (Clause(verb, (HE,), modal=modal, tense="present") for verb in VERBS for modal in modals)
    for verb, style in itertools.product(VERBS, STYLES):
        yield from (Clause(verb, denial=d, style=style, tense=t) for d in ("못", "못하다") for t in ("past", "present"))
        told = Clause(verb, style=style, tense="present")
        yield from (told._replace(mood="command", denial=d, full=f) for d in ("", "않다") for f in (False, True))
        yield from (Clause(verb, split=True, denial=d) for d in ("", "안") if verb.nominal)
        yield told._replace(mood="command", modal="try")
        if style in ("plain", "formal"):
            yield from (told._replace(mood="suggestion", denial=d) for d in ("", "않다"))
            yield told._replace(mood="suggestion", modal="try")


def _phrases() -> Iterator[Clause]:
    """Every noun in every role, as one and as two; every adjective, number, owner and pointer."""
    phrases = [NounPhrase(noun, adjective) for adjective in ADJECTIVES for noun in nouns(adjective.nouns)[:1]]
    phrases += [SOMETHING._replace(number=number) for number in (*NUMBERS, "1", "2")]
    for noun in NOUNS:
        phrases.append(NounPhrase(noun))
        phrases += [NounPhrase(noun, number=number) for number in ("한", "두", "2") if noun.counter]
        phrases += [NounPhrase(noun, number="두", counted_first=True)] if noun.counter else []
        phrases += [NounPhrase(noun, number="두", floating=True)] if noun.counter else []
        phrases += [NounPhrase(noun, many=True)] if noun.counter and not noun.measure else []
        phrases += [NounPhrase(noun, owner=HE.noun)] if not noun.oblique else []
        if "person" in noun.kinds.split():
            phrases += [SOMETHING._replace(owner=noun), NounPhrase(nouns("형")[0], owner=noun)]
    phrases += [one._replace(pointer=pointer) for pointer in "이그저" for one in (SOMETHING, MANY)]
    for phrase in phrases:
        yield Clause(EAT, (SOMEONE,), (phrase, SOMETHING))
        yield Clause(EAT, (SOMEONE,), (phrase._replace(joiner="하고"), phrase))
        yield Clause(EAT, (phrase,), recipient=phrase, companion=phrase, topic="subject")
        yield from (Clause(EAT, (phrase._replace(focus=focus),)) for focus in "도만")
        if phrase.number or phrase.owner:
            continue
        yield Clause(EAT, (phrase,), recipient=phrase, companion=phrase._replace(joiner="or so"), style="polite")
        yield Clause(EAT, (phrase,), (phrase,), recipient=phrase, topic="subject", full=True, honoured=True)
        yield Clause(Being(phrase), (phrase,), tense="past")
        yield Clause(Existing(), (phrase,), place=PLACES[0], mood="question", tense="present")
        yield Clause(Existing(), (phrase,), asked=Asked("place", ("어디",)), mood="question", tense="present")
    for denial in ("", "안"):
        yield from (Clause(EAT, (HE,), (SOMEONE._replace(focus=focus),), denial=denial) for focus in "도만")
    yield Clause(Existing(absent=True), (SOMETHING,), place=PLACES[0])


def _relatives() -> Iterator[Clause]:
    """Every verb before a noun, which does it or to which it is done; and people who are only counted."""
    for verb, tense in itertools.product(VERBS, ("past", "present", "future")):
        for role, one in itertools.product(("subject", "object"), (SOMEONE, SOMETHING)):
            yield Clause(EAT, (HE,), (one._replace(relative=Relative(Clause(verb, tense=tense), role)),))
    there = Relative(Clause(Existing(), place=PLACES[0], tense="present"), "subject")
    yield Clause(EAT, (HE,), (SOMETHING._replace(relative=there),))
    yield Clause(EAT, (TEN,), tense="present")
    yield Clause(EAT, place=Site(PLACES[0], beside=Position(nouns("은행")[0], "옆")))
    for style, tense in itertools.product(STYLES, TENSES[:3]):
        yield Clause(Being(TEN), (HE,), style=style, tense=tense)
        yield from (Clause(Being(None, hour=hour), style=style, tense=tense) for hour in HOURS)


def _adjuncts() -> Iterator[Clause]:
    """Every place, means, time, hour and adverb."""
    going = [next(verb for verb in VERBS if verb.shape == shape) for shape in ("to", "into", "in", "weather")]
    for place, verb, topic in itertools.product(PLACES, (EAT, *going), ("", "place")):
        yield Clause(verb, (SOMEONE,), place=place, topic=topic)
        yield Clause(verb, (SOMEONE,), origin=place)
        yield Clause(verb, (SOMEONE,), place=place, along=True)
    for noun, position in itertools.product(nouns("furniture surface machine room opening site plant"), POSITIONS):
        yield from (Clause(EAT, (SOMEONE,), place=Position(noun, position), topic=topic) for topic in ("", "place"))
    yield from (Clause(EAT, (SOMEONE,), means=means) for means in MEANS)
    yield from (Clause(EAT, (SOMEONE,), time=time, topic=topic) for time in TIMES for topic in ("", "time"))
    yield from (Clause(EAT, (SOMEONE,), time=time, also=True) for time in TIMES)
    yield from (Clause(EAT, (SOMEONE,), hour=hour, topic=topic) for hour in HOURS for topic in ("", "time"))
    yield from (
        Clause(predicate, (SOMEONE,), adverb=adverb) for predicate in (EAT, ADJECTIVES[0]) for adverb in ADVERBS
    )
    yield from (Clause(EAT, (SOMEONE,), (SOMETHING,), adverb=adverb, degree=ADVERBS[0]) for adverb in ADVERBS)
    yield from (Clause(EAT, companion=SOMEONE, together=together) for together in ("함께", "같이"))


def _questions() -> Iterator[Clause]:
    """Every word that asks, and all whom a question can begin with."""
    words = [
        "누가",
        "무엇 이",
        "뭐 가",
        "누구 를",
        "무엇 을",
        "뭐 를",
        "뭘",
        "뭐",
        "누구 에게",
        "누구 한테",
        "어디 에",
        "어디",
    ]
    words += ["어디 에서", "어디 서", "언제", "왜", "어떻게", "어디 에서", "몇 시 에"]
    roles = (
        ["subject"] * 3 + ["object"] * 5 + ["recipient"] * 2 + ["place"] * 4 + ["time", "why", "how", "origin", "hour"]
    )
    for role, word in zip(roles, words, strict=True):
        subjects = () if role == "subject" else (SOMEONE,)
        for denial, tense in itertools.product(("", "못"), ("past", "present", "future")):
            asked = Asked(role, tuple(word.split()))
            yield Clause(EAT, subjects, asked=asked, mood="question", denial=denial, tense=tense)
    for word, style in itertools.product(("무엇", "뭐", "누구", "어디", "얼마", "몇 시"), STYLES):
        yield from (
            Clause(Being(None, word), (one,), mood="question", tense="present", style=style) for one in (HE, MANY)
        )
    for noun, tense, denial in itertools.product(nouns("나 너 그 우리"), TENSES, ("", "못")):
        for predicate in (EAT, ADJECTIVES[0]):
            yield Clause(predicate, (NounPhrase(noun),), mood="question", tense=tense, denial=denial)
    for predicate, tense in itertools.product((ADJECTIVES[0], ADJECTIVES[6], Being(SOMETHING)), TENSES[:3]):
        yield from (Clause(predicate, tense=tense, mood=mood) for mood in ("statement", "question"))
