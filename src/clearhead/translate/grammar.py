"""One sentence, said in Korean and in English.

A sentence is a meaning: who, what, where, when. Each language is a function that puts it into words in its own order,
고양이가 쥐를 잡았다 and The cat caught the mouse, and names the words that carry meaning, so that the same thing said
twice can be linked. What Korean leaves open is settled by rules: a noun that is not counted is "the", and the present
is the simple present.
"""

from __future__ import annotations

from typing import NamedTuple

from clearhead import checks
from clearhead.text.spans import CONTINUES
from clearhead.translate import english, korean
from clearhead.translate.examples import Example, Line, linked
from clearhead.translate.lexicon import NUMBERS, Adjective, Means, Noun, Place, Time, Verb


class NounPhrase(NamedTuple):
    """A noun with what belongs to it. `number` is a word of NUMBERS or empty; `many` is 들, several and not counted."""

    noun: Noun
    adjective: Adjective | None = None
    number: str = ""
    many: bool = False

    @property
    def plural(self) -> bool:
        return self.many or self.number not in ("", "한") or "several" in self.noun.kinds.split()


class Sentence(NamedTuple):
    """What is said, in no language. Subjects and objects are one noun phrase, or two joined by "and".

    `denial` is empty, "안" or "않다", two ways to say not. `style` is "plain", "polite" or "formal", `topic` marks the
    subject with 은/는 instead of 이/가, `time_first` puts the time before it, and `full` keeps 보았다 and 주었다 long.
    English shows none of these. `ended` puts a full stop.
    """

    subjects: tuple[NounPhrase, ...]
    predicate: Verb | Adjective
    objects: tuple[NounPhrase, ...] = ()
    recipient: NounPhrase | None = None
    place: Place | None = None
    means: Means | None = None
    time: Time | None = None
    tense: str = "past"
    denial: str = ""
    style: str = "plain"
    topic: bool = False
    time_first: bool = True
    full: bool = False
    ended: bool = False


class Part(NamedTuple):
    """A piece of a word, and what it says: parts of one name are one thing, in both languages."""

    piece: str
    name: str | None = None


Word = list[Part]

# The one pronoun that changes before a particle: 나는, but 내가.
BEFORE_SUBJECT_PARTICLE = {"나": "내"}

# Of whom English says it, and how: I, one, many.
BE = {"past": ("was", "was", "were"), "present": ("am", "is", "are")}
DO = {"past": ("did", "did", "did"), "present": ("do", "does", "do")}


def said(sentence: Sentence, direction: str = "ko-en") -> Example:
    """The sentence in Korean and in English, "ko-en", or the other way round, "en-ko"; its content words linked."""
    if checks.choice("direction", direction, ("ko-en", "en-ko")) == "ko-en":
        return linked(written(in_korean(sentence)), written(in_english(sentence)))
    sentence = settled(sentence)
    return linked(written(in_english(sentence)), written(in_korean(sentence)))


def settled(sentence: Sentence) -> Sentence:
    """The one of several Korean sentences that an English one is translated to.

    It is in the plain style, with 이/가 after nouns and 은/는 after pronouns, and denied with -지 않다. Where English
    leaves something open, "the fish" are one, and "they read the book" was yesterday and not today.
    """
    subjects, objects = (
        tuple(phrase._replace(many=phrase.many and phrase.noun.plural != phrase.noun.english) for phrase in phrases)
        for phrases in (sentence.subjects, sentence.objects)
    )
    verb, present = sentence.predicate, sentence.tense == "present" and not sentence.denial
    if present and isinstance(verb, Verb) and verb.past == verb.english and _agreement(subjects) != 1:
        sentence = sentence._replace(tense="past", time=None)
    return sentence._replace(
        subjects=subjects,
        objects=objects,
        denial="않다" if sentence.denial else "",
        style="plain",
        topic=bool(subjects[0].noun.oblique),
        time_first=True,
        full=False,
    )


def written(words: list[Word]) -> Line:
    """Words as a line of text."""
    line = Line()
    for number, word in enumerate(words):
        if number:
            line.add(" ")
        for part in word:
            line.add(part.piece, part.name)
    return line


def spelled(words: list[Word]) -> list[str]:
    """The pieces of words as a vocabulary has them."""
    return [CONTINUES * bool(place) + part.piece for word in words for place, part in enumerate(word)]


def named(pieces: tuple[str, ...], name: str | None) -> Word:
    """A word of these pieces, all of one name."""
    return [Part(piece, name) for piece in pieces]


def in_korean(sentence: Sentence) -> list[Word]:
    """Subject, place, means, recipient, object, verb; the time before or after the subject."""
    subject = _korean_phrases(sentence.subjects, "subject", "topic" if sentence.topic else "subject")
    time = _korean_time(sentence.time)
    words = time + subject if sentence.time_first else subject + time
    goes = isinstance(sentence.predicate, Verb) and sentence.predicate.shape == "to"
    place, means = sentence.place, sentence.means
    where = [] if place is None else [[Part(place.korean, "place"), Part("에" if goes else "에서")]]
    by = [] if means is None else [[Part(means.korean, "means"), Part(korean.particle(means.korean, "by"))]]
    words += by + where if goes else where + by
    if sentence.recipient is not None:
        words += _korean_phrase(sentence.recipient, "recipient", "에게")
    words += _korean_phrases(sentence.objects, "object", "object") + _korean_predicate(sentence)
    if sentence.ended:
        words[-1].append(Part("."))
    return words


def _korean_phrases(phrases: tuple[NounPhrase, ...], name: str, role: str) -> list[Word]:
    """고양이와 개가: all but the last are followed by "and"."""
    words = []
    for number, phrase in enumerate(phrases):
        last = number == len(phrases) - 1
        words += _korean_phrase(phrase, f"{name} {number}", role if last else "and")
    return words


def _korean_phrase(phrase: NounPhrase, name: str, role: str) -> list[Word]:
    """큰 고양이 세 마리가: adjective, noun, number, counter, and the particle of its role after the last of them."""
    noun = phrase.noun.korean
    noun = BEFORE_SUBJECT_PARTICLE.get(noun, noun) if role == "subject" else noun
    words = [[Part(noun, name)] + [Part("들")] * phrase.many]
    if phrase.adjective is not None:
        words.insert(0, named(korean.modifier(phrase.adjective.stem), f"{name} adjective"))
    if phrase.number:
        words.append([Part(phrase.number, f"{name} number")])
        words.append([Part(phrase.noun.counter, f"{name} measure")])
    particle = korean.particle(words[-1][-1].piece, role) if role in korean.PARTICLES else role
    words[-1].append(Part(particle))
    return words


def _korean_time(time: Time | None) -> list[Word]:
    if time is None:
        return []
    words = [[Part(word, "time")] for word in time.korean.split()]
    words[-1] += [Part(time.particle)] * bool(time.particle)
    return words


def _korean_predicate(sentence: Sentence) -> list[Word]:
    """Its first word carries the meaning, 안 stands before it, and what follows is grammar."""
    verb = isinstance(sentence.predicate, Verb)
    stem, tense, style = sentence.predicate.stem, sentence.tense, sentence.style
    if sentence.denial == "않다":
        first, *rest = korean.negated(stem, tense, style, verb=verb)
    else:
        first, *rest = korean.conjugated(stem, tense, style, verb=verb, full=sentence.full)
    before = [[Part("안")]] if sentence.denial == "안" else []
    return [*before, named(first, "predicate"), *(named(word, None) for word in rest)]


def in_english(sentence: Sentence) -> list[Word]:
    """Subject, verb, object, recipient, place, means, time; or, of an adjective, subject, is, adjective."""
    words = _english_phrases(sentence.subjects, "subject") + _english_predicate(sentence)
    words += _english_phrases(sentence.objects, "object")
    if sentence.recipient is not None:
        words += [[Part("to")], *_english_phrase(sentence.recipient, "recipient")]
    if sentence.place is not None:
        goes = isinstance(sentence.predicate, Verb) and sentence.predicate.shape == "to"
        words += _english_adjunct(sentence.place.to if goes else sentence.place.at, sentence.place.english, "place")
    if sentence.means is not None:
        words += _english_adjunct(sentence.means.before, sentence.means.english, "means")
    if sentence.time is not None:
        words += _english_adjunct(sentence.time.before, sentence.time.english, "time")
    words[0][0] = Part(words[0][0].piece.capitalize(), words[0][0].name)
    if sentence.ended:
        words[-1].append(Part("."))
    return words


def _english_phrases(phrases: tuple[NounPhrase, ...], name: str) -> list[Word]:
    words: list[Word] = []
    for number, phrase in enumerate(phrases):
        words += [[Part("and")]] * bool(number) + _english_phrase(phrase, f"{name} {number}")
    return words


def _english_phrase(phrase: NounPhrase, name: str) -> list[Word]:
    """the big cat, three big cats, two cups of cold coffee; I, but me where it is not the subject"""
    noun, words = phrase.noun, list[Word]()
    if noun.oblique:
        return [[Part(noun.english if name.startswith("subject") else noun.oblique, name)]]
    if phrase.number:
        words.append([Part(NUMBERS[phrase.number], f"{name} number")])
    elif noun.article:
        words.append([Part(noun.article)])
    if phrase.number and noun.measure:
        measure = english.with_s(noun.measure) if phrase.plural else (noun.measure,)
        words += [named(measure, f"{name} measure"), [Part("of")]]
    if phrase.adjective is not None:
        words.append([Part(phrase.adjective.english, f"{name} adjective")])
    plural = (noun.plural,) if noun.plural else english.with_s(noun.english)
    inflected = phrase.plural and not noun.measure
    words += [named(plural, name)] if inflected else [[Part(word, name)] for word in noun.english.split()]
    return words


def _english_predicate(sentence: Sentence) -> list[Word]:
    """caught, did not catch, will catch; was, was not, will be big"""
    tense, denied = sentence.tense, bool(sentence.denial)
    who = _agreement(sentence.subjects)
    auxiliary, form = "", "base"
    if tense == "future":
        auxiliary = "will"
    elif isinstance(sentence.predicate, Adjective):
        auxiliary = BE[tense][who]
    elif denied:
        auxiliary = DO[tense][who]
    else:
        form = "past" if tense == "past" else "third" if who == 1 else "base"
    words = [[Part(word)] for word in (auxiliary, "not" if denied else "") if word]
    if isinstance(sentence.predicate, Adjective):
        be = [[Part("be")]] if tense == "future" else []
        return [*words, *be, [Part(sentence.predicate.english, "predicate")]]
    return words + _english_verb(sentence.predicate, form)


def _agreement(subjects: tuple[NounPhrase, ...]) -> int:
    """0 for I, 1 for another one, 2 for many: the place in BE and DO."""
    if len(subjects) > 1 or subjects[0].plural:
        return 2
    return 0 if subjects[0].noun.english == "I" else 1


def _english_verb(verb: Verb, form: str) -> list[Word]:
    """Only the first word of "wait for" is inflected."""
    first, *rest = verb.english.split()
    if form == "past" and verb.past:
        return [[Part(word, "predicate")] for word in verb.past.split()]
    inflected = {"base": (first,), "third": english.with_s(first), "past": english.with_ed(first)}[form]
    return [named(inflected, "predicate"), *([Part(word, "predicate")] for word in rest)]


def _english_adjunct(before: str, text: str, name: str) -> list[Word]:
    """in the park: only the noun has a counterpart"""
    return [[Part(word)] for word in before.split()] + [[Part(word, name)] for word in text.split()]
