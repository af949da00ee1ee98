"""Noun phrases drawn at random: what may stand beside a noun, and how often it does.

Mostly a noun is one that its verb goes with. One time in five it is any noun at all, so that a model has to believe
the particle and not what is likely: 쥐가 고양이를 잡았다 is not what cats and mice do, and says what it says.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable, Sequence

from clearhead.translate.lexicon import ADJECTIVES, NOUNS, NUMBERS, PRONOUNS, Adjective, Noun, nouns
from clearhead.translate.meaning import NounPhrase

FREE = 0.2
AMBIGUOUS = set(
    nouns("차 meal weather season pointed several humble day dated hobby")
)  # what they mean depends on the verb, or more
POINTED = set(nouns("pointed"))
LIVING = set(nouns("person baby animal prey")) - set(PRONOUNS)
PEOPLE = nouns("person")
# With everything that may be said of them at random.
ANYONE = [noun for noun in nouns("person baby animal prey") if noun not in AMBIGUOUS]
ANYTHING = [noun for noun in NOUNS if noun not in AMBIGUOUS]
NAMELESS = {noun for noun in NOUNS if not noun.oblique and "name" not in noun.kinds.split()}
OWNERS = [noun for noun in PEOPLE if noun.possessive or (not noun.oblique and "several" not in noun.kinds.split())]
OWNED_BY_PRONOUNS = [noun for noun in OWNERS if noun.possessive]
MANY = next(adjective for adjective in ADJECTIVES if adjective.english == "many")
OFTEN_MANY = set(nouns(MANY.nouns))
TITLES = {  # by which names are called, 내 친구 민수
    **{noun: nouns("친구 동생 형 오빠 남동생") for noun in nouns("민수 철수")},
    **{noun: nouns("친구 동생 누나 언니 여동생") for noun in nouns("영희 수진")},
}
# What belongs to things and places, and is said so: 문제의 답, 가게 옷.
BELONGS = {
    "답": "문제 질문 시험",
    "이름": "책 영화 노래 가게 식당 학교 개 고양이 꽃 도시",
    "문": "방 집 교실 가게",
    "창문": "방 집 교실 차",
    **dict.fromkeys(("음식", "커피", "빵"), "식당 카페 호텔 가게"),
    **dict.fromkeys(("옷", "신발", "모자", "가방"), "가게 백화점 시장"),
    **dict.fromkeys(("선생님", "학생", "친구"), "학교 도서관 교회"),
    **dict.fromkeys(("의사", "간호사"), "병원"),
}
UNCOUNTERED = set(nouns("사람 아이 친구 학생 소녀 소년 여자 남자"))
HOUSED = set(nouns("개 고양이 강아지 토끼"))
POINTED_AT = set(nouns("person animal")) & NAMELESS - set(nouns("kin"))  # as owners: 그 사람의 이름


def likely(generator: random.Random, chance: float) -> bool:
    return generator.random() < chance


def chosen(generator: random.Random, choices: Iterable[Noun], taken: set[Noun], free: Sequence[Noun]) -> Noun:
    """One of the choices that is not taken, or now and then any of `free`."""
    if free and likely(generator, FREE):
        choices = free
    possible = [noun for noun in choices if noun not in taken]
    return generator.choice(possible)


def uncounted(one: NounPhrase) -> NounPhrase:
    """The same without a number."""
    adjective = None if one.adjective is not None and one.adjective.english == "many" else one.adjective
    return one._replace(
        adjective=adjective, number="", counted_first=False, floating=False, nameless=False, uncountered=False
    )


def settled(one: NounPhrase) -> NounPhrase:
    """Only subjects and objects let their number float."""
    return one._replace(floating=False)


def dressed(generator: random.Random, noun: Noun, plenty: float = 1.0) -> NounPhrase:
    """A noun with, perhaps, an adjective, a number or 들, whose it is or which."""
    if noun.oblique:
        return NounPhrase(noun)
    kinds = noun.kinds.split()
    if "name" in kinds and likely(generator, 0.12 * plenty):
        owner = generator.choice(nouns("나 나 저 우리"))
        return NounPhrase(noun, title=generator.choice(TITLES[noun]), owner=owner)
    if noun in HOUSED and likely(generator, 0.05 * plenty):  # 우리 집 개
        return NounPhrase(noun, owner=nouns("우리")[0], housed=True)
    if noun.korean in BELONGS and likely(generator, 0.15 * plenty):
        return _belonging(generator, noun)
    adjective = None
    if noun in NAMELESS and noun.article and "kin" not in kinds and likely(generator, 0.16 * plenty):
        adjective = (
            generator.choice(suiting(noun) or ADJECTIVES) if likely(generator, 0.85) else generator.choice(ADJECTIVES)
        )
    if noun in OFTEN_MANY and likely(generator, 0.03 * plenty):
        adjective = MANY
    elif adjective == MANY and noun not in OFTEN_MANY:
        adjective = None
    phrase = NounPhrase(noun, adjective)
    phrase = phrase if phrase.plural else _counted(generator, phrase, plenty)
    determined = noun in NAMELESS and noun.article and not (noun.measure and phrase.number) and adjective != MANY
    if "kin" in kinds and likely(generator, 0.35) and "name" not in kinds:
        return _owned(generator, phrase)
    if determined and likely(generator, 0.26 * plenty):
        if likely(generator, 0.5) or "kin" in kinds:
            return _owned(generator, phrase)
        return phrase._replace(pointer=generator.choice("이그그저"), counted_first=False)
    return phrase


def _counted(generator: random.Random, phrase: NounPhrase, plenty: float) -> NounPhrase:
    noun = phrase.noun
    if noun in UNCOUNTERED and likely(generator, 0.05 * plenty):  # 한 아이; but 네 아이 is your child
        return phrase._replace(number=generator.choice(("한", "두", "세", "다섯")), uncountered=True)
    if noun.counter and likely(generator, 0.13 * plenty):
        if likely(generator, 0.2):
            return phrase._replace(number=str(generator.randrange(1, generator.choice((10, 100)))))
        first = phrase.adjective is None and likely(generator, 0.15)
        floating = not first and likely(generator, 0.35)
        return phrase._replace(number=generator.choice(list(NUMBERS)), counted_first=first, floating=floating)
    if may_be_many(noun) and likely(generator, (0.08 if noun in LIVING else 0.02) * plenty):
        return phrase._replace(many=True)
    return phrase


def may_be_many(noun: Noun) -> bool:
    """Whether 들 can follow it."""
    return bool(noun.counter) and not noun.measure and "several" not in noun.kinds.split()


def _owned(generator: random.Random, phrase: NounPhrase) -> NounPhrase:
    """Whose it is, mostly a pronoun's, and now and then that one's."""
    owners = OWNED_BY_PRONOUNS if likely(generator, 0.6) else OWNERS
    owner = generator.choice([owner for owner in owners if owner != phrase.noun])
    pointer = generator.choice("이그그저") if owner in POINTED_AT and likely(generator, 0.3) else ""
    close = phrase.adjective is None and owner in NAMELESS | set(TITLES) and likely(generator, 0.4)
    return phrase._replace(owner=owner, owner_pointer=pointer, counted_first=False, close=close)


def _belonging(generator: random.Random, noun: Noun) -> NounPhrase:
    """그 문제의 답, 그 가게 옷"""
    owner = generator.choice([one for one in nouns(BELONGS[noun.korean]) if one.english != "tea"])
    pointer = generator.choice(("", "", "이", "그", "그", "저"))
    return NounPhrase(noun, owner=owner, owner_pointer=pointer, close=likely(generator, 0.6))


@functools.cache
def suiting(noun: Noun) -> tuple[Adjective, ...]:
    """The adjectives that can stand before a noun; none before a pronoun."""
    return tuple(adjective for adjective in ADJECTIVES if noun in nouns(adjective.nouns) and not noun.oblique)
