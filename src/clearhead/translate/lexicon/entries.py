"""What is known of a word, by its kind: its Korean, its English, and what it goes with."""

from __future__ import annotations

from typing import NamedTuple

from clearhead.translate.korean import Stem


class Noun(NamedTuple):
    """A noun in both languages.

    `counter` is what Korean counts it with, empty where it is not counted; `measure` is what English counts it with,
    cups of coffee, empty where it counts the thing itself. `plural` is only given where a rule would get it wrong.

    `article` says what English puts before it when nothing else stands there: "the"; "a", which is the as a subject
    and a elsewhere, a friend; "mass", which is the as a subject and nothing elsewhere, coffee; "my" for one's family,
    your in questions and commands;
    empty for names and for what is one of a kind, Mom and math. A pronoun has an `oblique` form for all but the
    subject, me, and a `possessive`, my. `honoured` ones take 께서 and -시-.
    """

    korean: str
    english: str
    kinds: str
    counter: str = ""
    plural: str = ""
    measure: str = ""
    article: str = "the"
    oblique: str = ""
    possessive: str = ""
    honoured: bool = False


class Verb(NamedTuple):
    """A verb, and what it goes with.

    `takes` has pairs of subjects and objects, empty where it has no object. `past` is only given where a rule would
    get it wrong. `places` are where it happens, in kinds of places. `shape` says what else belongs to it:

        "to"       a place one goes to               학교에 가다      go to school
        "into"     a place, with the verb's own word 방에 들어가다     go into the room
        "in"       a place that has to be there      서울에 살다      live in Seoul
        "give"     someone who gets the object       친구에게 주다     give to a friend
        "address"  someone, and no object            친구에게 전화하다  call a friend
        "double"   an object marked as a subject     시간이 필요하다   need time
        "weather"  a subject that English has not    비가 오다        rain

    `lasting` ones happen at no particular time and are never under way; 안 does not stand before those that are a noun
    with 하다 (`nominal`). A `strict` one means something else with other objects: 타다 is to ride a horse but to take
    a bus. A `negative` one says not by itself: 모르다. One that goes `along` its place may take it as an object: 공원을
    걷다.
    """

    stem: Stem
    english: str
    past: str
    takes: tuple[tuple[str, str], ...]
    places: str = "any riding"
    means: str = ""
    shape: str = ""
    lasting: bool = False
    nominal: bool = False
    strict: bool = False
    negative: bool = False
    along: bool = False


class Adjective(NamedTuple):
    """An adjective and the nouns it suits.

    `predicate` tells whether it can be said of them in a sentence of its own; `whole` is a word that stands before a
    noun as it is, 새 책.
    """

    stem: Stem
    english: str
    nouns: str
    predicate: bool = True
    whole: bool = False


class Place(NamedTuple):
    """Where something happens, with the English words before it: in the park, to the park."""

    korean: str
    english: str
    at: str
    to: str
    kinds: str = "any"


class Time(NamedTuple):
    """When something happens: the words, their particle, the English words before it, and the tenses it goes with.

    `habit` is what happens again and again: every day.
    """

    korean: str
    particle: str
    english: str
    before: str
    tenses: str
    habit: bool = False


class Adverb(NamedTuple):
    """How or how often: where English puts it, and what it goes with.

    `position` is "middle", before the verb; "close", after its object, study hard at school; "end"; or "all", which
    English says with a noun: all the milk. `goes` is "verb", "adjective", or both; "liking", verbs of how one likes
    something; "feeling", adjectives of how one is; "all", what can be done to all of something, or by all.
    """

    korean: str
    english: str
    position: str
    goes: str = "verb"
    habit: bool = False


class Means(NamedTuple):
    """What something is done with: by bus, with a pencil."""

    korean: str
    english: str
    before: str
