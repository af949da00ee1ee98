"""Noun phrases and places in English: articles, owners, numbers, and the words before a place."""

from __future__ import annotations

from clearhead.translate import english
from clearhead.translate.lexicon import NUMBERS, POSITIONS, Place, Verb
from clearhead.translate.meaning import IT, Clause, NounPhrase, Position, Site
from clearhead.translate.parts import Word, named, plain

POINTERS = {"이": ("this", "these"), "그": ("that", "those"), "저": ("that", "those")}


def noun_phrases(several: tuple[NounPhrase, ...], name: str, role: str = "subject") -> list[Word]:
    words: list[Word] = []
    for number, one in enumerate(several):
        words += plain("and") * bool(number) + noun_phrase(one, f"{name} {number}", role)
    return words


def noun_phrase(one: NounPhrase, name: str, role: str) -> list[Word]:
    """my big cat, three big cats, two cups of cold coffee; I, but me where it is not the subject

    `role` is "subject", "object", "a" for a noun that is one of many, or "none", without an article.
    """
    noun = one.noun
    only = plain("only" if one.focus == "만" else "")
    if noun.oblique:
        return only + plain(noun.english if role == "subject" else noun.oblique, None if noun == IT else name)
    words: list[Word] = []
    if one.number:
        number = NUMBERS.get(one.number, one.number)
        words += plain(number, f"{name} number")
        if noun.measure:
            measure = english.with_s(noun.measure) if one.plural else (noun.measure,)
            words += [named(measure, f"{name} measure"), *plain("of")]
    if one.adjective is not None:
        words += plain(one.adjective.english, f"{name} adjective")
    words += _noun(one, name)
    return only + _determiner(one, name, role, words[0][0].piece) + words


def _noun(one: NounPhrase, name: str) -> list[Word]:
    noun = one.noun
    text = noun.english.lower() if one.owner is not None and "kin" in noun.kinds.split() else noun.english
    if not one.plural or noun.measure or "several" in noun.kinds.split():
        return plain(text, name)
    if noun.plural:
        return plain(noun.plural, name)
    *before, last = text.split()
    return [*plain(" ".join(before), name), named(english.with_s(last), name)]


def _determiner(one: NounPhrase, name: str, role: str, following: str) -> list[Word]:
    """Whose, which, or an article."""
    if one.owner is not None:
        return _owner(one, f"{name} owner") + _title(one, f"{name} title")
    if one.pointer:
        return plain(POINTERS[one.pointer][one.plural], f"{name} pointer")
    article = one.noun.article
    if one.number or not article or role == "none" or (one.adjective is not None and one.adjective.english == "many"):
        return []
    if article in ("my", "your") and role != "a":
        return plain(article)
    if role == "a":
        return plain("" if one.plural or article == "mass" else english.indefinite(following))
    if role == "object" and article == "mass":
        return []
    if role == "object" and article == "a":
        return plain("" if one.plural else english.indefinite(following))
    return plain("the")


def _title(one: NounPhrase, name: str) -> list[Word]:
    """my friend Minsu"""
    return [] if one.title is None else plain(one.title.english, name)


def _owner(one: NounPhrase, name: str) -> list[Word]:
    """my, the teacher's, that teacher's, Minsu's; 우리 before one's family is my"""
    owner = one.owner
    assert owner is not None
    if owner.possessive:
        called = one.title or one.noun
        kin = "kin" in called.kinds.split() and "several" in owner.kinds.split() and owner.english == "we"
        return plain("my" if kin else owner.possessive, name)
    article = "" if not owner.article else owner.article if owner.article in ("my", "your") else "the"
    which = plain(article)
    if one.owner_pointer:
        which = plain(POINTERS[one.owner_pointer][False], f"{name} pointer")
    *before, last = owner.english.split()
    return [*which, *plain(" ".join(before), name), named((last, "'s"), name)]


def article_of(place: Place) -> list[Word]:
    return plain("the" if place.at.endswith("the") else "")


def place_in_english(clause: Clause, names: str) -> list[Word]:
    """at school, into the room, on the desk"""
    place, predicate = clause.place, clause.predicate
    if place is None:
        return []
    shape = predicate.shape if isinstance(predicate, Verb) else ""
    if isinstance(place, Site):
        return _site(place, shape, names)
    if isinstance(place, Position):
        return _beside(place, f"{names}place", f"{names}position")
    if shape == "into":
        return article_of(place) + plain(place.english, f"{names}place")
    return plain(place.to if shape == "to" else place.at) + plain(place.english, f"{names}place")


def _site(site: Site, shape: str, names: str) -> list[Word]:
    """in that house, to our school, on the dark road"""
    home = site.place.english == "home"
    before = "" if shape == "into" else "to" if shape == "to" else "in" if home else site.place.at.split()[0]
    which = plain("the")
    if site.owner is not None:
        which = plain(site.owner.possessive, f"{names}place owner")
    elif site.pointer:
        which = plain(POINTERS[site.pointer][False], f"{names}place pointer")
    adjective = [] if site.adjective is None else plain(site.adjective.english, f"{names}place adjective")
    words = plain(before) + which + adjective + plain("house" if home else site.place.english, f"{names}place")
    return (
        words if site.beside is None else words + _beside(site.beside, f"{names}place beside", f"{names}place position")
    )


def _beside(position: Position, name: str, position_name: str) -> list[Word]:
    """next to the bank"""
    return [*plain(POSITIONS[position.position], position_name), *plain("the"), *plain(position.noun.english, name)]
