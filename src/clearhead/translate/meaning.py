"""What a sentence says, before any language says it: who does what to whom, where, when, and whether it is asked.

Some of it only one language shows. Korean has styles, topics and an order that is free; English shows none of these,
and so many Korean sentences have one translation.
"""

from __future__ import annotations

from typing import NamedTuple

from clearhead.translate.lexicon import Adjective, Adverb, Means, Noun, Place, Time, Verb, nouns

# What a constituent does in its clause, in the order that Korean prefers. An order is any row of these.
ROLES = ("time", "subject", "companion", "origin", "means", "place", "recipient", "object", "asked", "adverb")


class NounPhrase(NamedTuple):
    """A noun with what belongs to it.

    `number` is a word of NUMBERS, digits, or empty; `counted_first` says 세 마리의 고양이 instead of 고양이 세 마리,
    and with `floating` the number stands behind the particle: 고양이가 세 마리. `many` is 들, several and not counted.
    `pointer` is 이, 그 or 저 before it, `owner` whose it is, and `owner_pointer` which of those: 그 사람의 이름.
    `focus` is 도 or 만. `joiner` is the particle between two phrases, "and" or "하고".
    """

    noun: Noun
    adjective: Adjective | None = None
    number: str = ""
    many: bool = False
    pointer: str = ""
    owner: Noun | None = None
    owner_pointer: str = ""
    focus: str = ""
    counted_first: bool = False
    floating: bool = False
    joiner: str = "and"

    @property
    def plural(self) -> bool:
        return self.many or self.number not in ("", "한", "1") or "several" in self.noun.kinds.split()

    @property
    def definite(self) -> bool:
        """Whether it is one that is known: mine, this, Mom, he. There is no saying that there is one."""
        return bool(self.pointer or self.owner or self.noun.oblique or self.noun.article in ("my", "your", ""))


class Being(NamedTuple):
    """A noun as predicate, 학생이다; or a word that asks for one, 무엇입니까."""

    complement: NounPhrase | None
    asked: str = ""


class Existing(NamedTuple):
    """있다, to be somewhere, or 없다, not to be there."""

    absent: bool = False


class Position(NamedTuple):
    """A place beside something: 책상 위, with a word of POSITIONS."""

    noun: Noun
    position: str


class Site(NamedTuple):
    """A place with what belongs to it, at least one of these: 우리 학교, 저 집, 어두운 길."""

    place: Place
    adjective: Adjective | None = None
    pointer: str = ""
    owner: Noun | None = None


class Asked(NamedTuple):
    """What a question asks for: a role or "why" or "how", and the Korean word with its particle."""

    role: str
    word: tuple[str, ...]


Predicate = Verb | Adjective | Being | Existing


class Clause(NamedTuple):
    """What is said, in no language. Subjects and objects are one noun phrase, or two joined by "and", or none.

    `tense` is "past", "present", "future" or "will", which English does not tell apart. `denial` is empty, 안, 않다, 못
    or 못하다. `modal` is empty, "doing" (-고 있다), "want" (-고 싶다), "can" (-ㄹ 수 있다) or "must" (-아야 하다).
    `mood` is "statement", "question", "command" or "suggestion". `style` is "plain", "casual", "polite" or "formal".

    Only Korean shows `topic`, the role that has 은/는; `order`, the roles as they follow each other; `honoured`, -시-;
    `full`, the longer of two ways to write a form, and in commands the one that asks a favour, 열어 주세요; `bare`,
    which leaves a particle off right before the verb; `split`, which says 공부를 하다 for 공부하다; and `along`, by
    which the place is an object, 공원을 걷다. `also` is 도 behind the time, `degree` how much of the adverb: 아주 빨리.
    """

    predicate: Predicate
    subjects: tuple[NounPhrase, ...] = ()
    objects: tuple[NounPhrase, ...] = ()
    recipient: NounPhrase | None = None
    companion: NounPhrase | None = None
    together: str = "함께"
    place: Place | Position | Site | None = None
    along: bool = False
    origin: Place | None = None
    means: Means | None = None
    time: Time | None = None
    hour: str = ""
    also: bool = False
    adverb: Adverb | None = None
    degree: Adverb | None = None
    asked: Asked | None = None
    tense: str = "past"
    denial: str = ""
    modal: str = ""
    mood: str = "statement"
    style: str = "plain"
    topic: str = ""
    order: tuple[str, ...] = ROLES
    honoured: bool = False
    full: bool = False
    bare: bool = False
    split: bool = False

    @property
    def past(self) -> bool:
        return self.tense == "past"

    @property
    def future(self) -> bool:
        """Also the present, if it is said of tomorrow: 내일 학교에 가요."""
        ahead = self.time is not None and self.time.tenses == "future" and not self.modal
        can = self.denial in ("못", "못하다")
        return self.tense in ("future", "will") or (self.tense == "present" and ahead and not can)

    @property
    def kindly(self) -> bool:
        """Whether a command says please: 여세요, 열어 줘, 도와줘."""
        giving = isinstance(self.predicate, Verb) and self.predicate.stem.text.endswith("주")
        return self.style in ("polite", "formal") or (
            self.style == "casual" and not self.denial and (self.full or giving)
        )

    @property
    def phrases(self) -> tuple[NounPhrase, ...]:
        """All noun phrases, whatever their role."""
        others = (self.recipient, self.companion)
        complement = (self.predicate.complement,) if isinstance(self.predicate, Being) else ()
        return (*self.subjects, *self.objects, *(one for one in (*others, *complement) if one is not None))


class Sentence(NamedTuple):
    """One clause, or two joined by "고" or "지만"; the second shares the subject of the first if it has none.

    `end` is the mark at its end: nothing, a full stop, a question mark.
    """

    clauses: tuple[Clause, ...]
    joint: str = ""
    end: str = ""


ME, YOU = nouns("나")[0], nouns("너")[0]
IT = Noun("", "it", "", article="", oblique="it")


def implied(clause: Clause) -> Noun:
    """Who is meant where Korean names nobody: I, or you in a question; it, where only things are so.

    It is a thing if the predicate is an adjective that is not said of people, or a noun that is no person.
    """
    predicate = clause.predicate
    if isinstance(predicate, Adjective) and not personal(predicate):
        return IT
    if isinstance(predicate, Being):
        complement = predicate.complement
        if complement is None or "person" not in complement.noun.kinds.split():
            return IT
    if isinstance(predicate, Verb) and predicate.shape == "weather":
        return IT
    return YOU if clause.mood == "question" else ME


def personal(adjective: Adjective) -> bool:
    """Whether it is first of all said of people."""
    return "person" in adjective.nouns.split()
