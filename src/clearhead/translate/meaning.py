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
    `focus` is 도 or 만. `joiner` is the particle between two phrases, "and" or "하고". `close` leaves 의 out: 선생님
    가방. `title` is what a name is called by: 내 친구 민수. `nameless` people are only counted: 열 명, and
    `uncountered` ones have no counter: 한 아이. `housed` says 우리 집 개 for 우리 개. `relative` is the clause before
    it: 책을 읽는 소녀.
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
    close: bool = False
    title: Noun | None = None
    nameless: bool = False
    uncountered: bool = False
    housed: bool = False
    relative: Relative | None = None

    @property
    def plural(self) -> bool:
        several = "several" in self.noun.kinds.split() or (
            self.adjective is not None and self.adjective.english == "many"
        )
        return self.many or self.number not in ("", "한", "1") or several

    @property
    def definite(self) -> bool:
        """Whether it is one that is known: mine, this, Mom, he. There is no saying that there is one."""
        return bool(self.pointer or self.owner or self.noun.oblique or self.noun.article in ("my", "your", ""))


class Being(NamedTuple):
    """A noun as predicate, 학생이다; or a word that asks for one, 무엇입니까; or an hour, 세 시다."""

    complement: NounPhrase | None
    asked: str = ""
    hour: str = ""

    @property
    def counts(self) -> bool:
        """Whether it says how many there are: 우리 가족은 다섯 명이다."""
        return self.complement is not None and self.complement.nameless


class Existing(NamedTuple):
    """있다, to be somewhere, or 없다, not to be there; or to be there in great number, 많다 or 많이 있다."""

    absent: bool = False
    plenty: str = ""


class Position(NamedTuple):
    """A place beside something: 책상 위, with a word of POSITIONS."""

    noun: Noun
    position: str


class Site(NamedTuple):
    """A place with what belongs to it, at least one of these: 우리 학교, 저 집, 어두운 길, 은행 옆에 있는 약국."""

    place: Place
    adjective: Adjective | None = None
    pointer: str = ""
    owner: Noun | None = None
    beside: Position | None = None


class Asked(NamedTuple):
    """What a question asks for: a role or "why" or "how", and the Korean word with its particle.

    A subject is asked for by 누가, an object by 무엇을, an origin by 어디에서 before 오다, and an hour by 몇 시에.
    """

    role: str
    word: tuple[str, ...]


Predicate = Verb | Adjective | Being | Existing


class Clause(NamedTuple):
    """What is said, in no language. Subjects and objects are one noun phrase, or two joined by "and", or none.

    `tense` is "past", "present", "future" or "will", which English does not tell apart. `denial` is empty, 안, 않다, 못
    or 못하다. `modal` is empty, "doing" (-고 있다), "want" (-고 싶다), "can" (-ㄹ 수 있다), "must" (-아야 하다) or
    "try" (-아 보다). `mood` is "statement", "question", "command" or "suggestion"; `style` is "plain", "casual",
    "polite" or "formal".

    Only Korean shows `topic`, the role that has 은/는; `order`, the roles as they follow each other; `honoured`, -시-;
    `full`, the longer of two ways to write a form, and in commands the one that asks a favour, 열어 주세요; `bare`,
    which leaves a particle off right before the verb, or that of the subject before an adjective; `split`, which says
    공부를 하다 for 공부하다; `attached`, by which the time has no particle before its adverb, 아침 일찍; and `along`,
    by which the place is an object, 공원을 걷다. `also` is 도 behind the time, `degree` how much of the adverb: 아주
    빨리.
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
    attached: bool = False

    @property
    def past(self) -> bool:
        return self.tense == "past"

    @property
    def future(self) -> bool:
        """Also the present, if it is said of tomorrow: 내일 학교에 가요."""
        ahead = self.time is not None and self.time.tenses == "future" and not self.modal
        can = self.denial in ("못", "못하다")
        if self.tense == "will" and isinstance(self.predicate, Verb) and self.predicate.negative:  # 모르겠다
            return False
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


class Relative(NamedTuple):
    """A clause before a noun, which is its subject, 책을 읽는 소녀, or its object, 어제 산 옷: `role` says which."""

    clause: Clause
    role: str


class Sentence(NamedTuple):
    """One clause, or two joined by "고", "지만" or "서"; the second shares the subject of the first if it has none.

    `end` is the mark at its end: nothing, a full stop, a question mark. `called` is who is spoken to, of CALLS.
    """

    clauses: tuple[Clause, ...]
    joint: str = ""
    end: str = ""
    called: tuple[str, ...] = ()


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


HE = set(nouns("아버지 할아버지 형 오빠 남동생 남편 아들 아빠 남자 소년 왕 민수 철수 그"))
SHE = set(nouns("어머니 할머니 누나 언니 여동생 아내 딸 엄마 여자 소녀 영희 수진 그녀"))
PEOPLE = set(nouns("person"))


def pronoun(subjects: tuple[NounPhrase, ...]) -> Noun | None:
    """By what English speaks of them a second time: he, they, it. None where Korean does not tell he from she."""
    (first, *more) = subjects
    name = "they" if more or first.plural else "he" if first.noun in HE else "she" if first.noun in SHE else "it"
    if first.noun.english in ("I", "we", "you", "they"):
        name = first.noun.english if not more else "they"
    elif name == "it" and first.noun in PEOPLE:
        return None
    return IT if name == "it" else next(noun for noun in nouns("person") if noun.english == name)


def personal(adjective: Adjective) -> bool:
    """Whether it is first of all said of people."""
    return "person" in adjective.nouns.split()
