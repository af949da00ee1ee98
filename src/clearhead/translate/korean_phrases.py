"""Noun phrases in Korean: owners, adjectives, numbers with their counters, and the particle of a role."""

from __future__ import annotations

from clearhead.translate import korean
from clearhead.translate.lexicon import Adjective, Noun
from clearhead.translate.meaning import NounPhrase
from clearhead.translate.parts import Part, Word, named

# Pronouns that change: 나는, but 내가 and 내 책.
BEFORE_SUBJECT_PARTICLE = {"나": "내", "저": "제", "너": "네"}
OWNING = {"나": "내", "저": "제", "너": "네", "우리": "우리", "저희": "저희"}


def joined_phrases(several: tuple[NounPhrase, ...], name: str, role: str) -> list[Word]:
    """고양이와 개가: all but the last are followed by "and"."""
    words = []
    for number, one in enumerate(several):
        last = number == len(several) - 1
        words += phrase(one, f"{name} {number}", role if last else one.joiner)
    return words


def phrase(one: NounPhrase, name: str, role: str) -> list[Word]:
    """내 큰 고양이 세 마리가: whose or which, adjective, noun, number, counter, and the particle of its role."""
    role = one.focus if one.focus and role in ("subject", "topic", "object") else role
    noun = one.noun.korean
    noun = BEFORE_SUBJECT_PARTICLE.get(noun, noun) if role == "subject" else noun
    words: list[Word] = [] if one.nameless else [[Part(noun, name)] + [Part("들")] * one.many]
    if one.title is not None:
        words.insert(0, [Part(one.title.korean, f"{name} title")])
    if one.adjective is not None:
        words.insert(0, modifier(one.adjective, f"{name} adjective"))
    if one.uncountered:
        words.insert(0, [Part(one.number, f"{name} number")])
    if one.pointer:
        words.insert(0, [Part(one.pointer, f"{name} pointer")])
    if one.owner is not None:
        words[:0] = [[Part("집")]] if one.housed else []
        words.insert(0, owner_in_korean(one.owner, f"{name} owner", close=one.close))
        words[:0] = [[Part(one.owner_pointer, f"{name} owner pointer")]] if one.owner_pointer else []
    if one.number and not (one.floating or one.uncountered):
        words = _counted(one, words, name)
    last = words[-1][-1].piece
    words[-1].append(Part(korean.particle(last, role) if role in korean.PARTICLES else role))
    return _counted(one, words, name) if one.floating else words


def _counted(one: NounPhrase, words: list[Word], name: str) -> list[Word]:
    """고양이 세 마리, 세 마리의 고양이, 사과 3개"""
    measured = name if one.nameless else f"{name} measure"  # 열 명 is ten people
    number, counter = Part(one.number, f"{name} number"), Part(one.noun.counter, measured)
    count: list[Word] = [[number, counter]] if one.number.isdecimal() else [[number], [counter]]
    if not one.counted_first:
        return words + count
    count[-1].append(Part("의"))
    return count + words


def modifier(adjective: Adjective, name: str) -> Word:
    return [Part(adjective.stem.text, name)] if adjective.whole else named(korean.modifier(adjective.stem), name)


def owner_in_korean(owner: Noun, name: str, *, close: bool = False) -> Word:
    """내, 우리, 그의, 선생님의; 선생님, if it is close"""
    korean = owner.korean
    return [Part(OWNING[korean], name)] if korean in OWNING else [Part(korean, name)] + [Part("의")] * (not close)
