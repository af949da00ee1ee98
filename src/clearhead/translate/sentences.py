"""Sentences of the small grammar, drawn so that a model has to put words together it never saw together.

Some combinations are kept out of training: pairs of verb and object, of subject and verb, of adjective and noun. Each
word is learned, in other company, and every sentence of the test has at least one pair that is new. Whoever only
remembers sentences fails.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from clearhead import checks
from clearhead.translate.examples import Example, Task
from clearhead.translate.grammar import NounPhrase, Sentence, in_english, in_korean, said, spelled
from clearhead.translate.lexicon import (
    ADJECTIVES,
    MEANS,
    NOUNS,
    NUMBERS,
    PLACES,
    TIMES,
    VERBS,
    Adjective,
    Noun,
    Verb,
    nouns,
)

TENSES = ("past", "present", "future")
STYLES = ("plain", "polite", "formal")
PRONOUNS = {noun for noun in NOUNS if noun.oblique}
LIVING = set(nouns("person baby animal prey")) - PRONOUNS

# A pair of words in one sentence: how they belong together, a verb or adjective, a noun.
Pair = tuple[str, str, str]


def sentences(count_train: int = 40_000, count_test: int = 1_000, seed: int = 0) -> Task:
    """Korean sentences with their English, all different; those of the test have pairs of words that training lacks."""
    return _task("sentences", "ko-en", count_train, count_test, seed)


def sentences_from_english(count_train: int = 40_000, count_test: int = 1_000, seed: int = 0) -> Task:
    """English sentences with their Korean. With the same seed, the same pairs of words are kept for the test."""
    return _task("sentences from English", "en-ko", count_train, count_test, seed)


def _task(name: str, direction: str, count_train: int, count_test: int, seed: int) -> Task:
    count_train = checks.count("count_train", count_train)
    count_test = checks.count("count_test", count_test)
    generator = random.Random(seed)
    held_out = kept_out(generator)
    train = _different(generator, count_train, direction, lambda sentence: not held_out & pairs(sentence))
    test = _different(generator, count_test, direction, lambda sentence: bool(held_out & pairs(sentence)))
    return Task(name, train, test, sentence_pieces())


def _different(
    generator: random.Random, count: int, direction: str, wanted: Callable[[Sentence], bool]
) -> list[Example]:
    """`count` different sentences of the wanted kind."""
    examples: dict[str, Example] = {}
    while len(examples) < count:
        sentence = drawn(generator)
        if wanted(sentence):
            example = said(sentence, direction)
            examples[example.source] = example
    return list(examples.values())


def pairs(sentence: Sentence) -> set[Pair]:
    """The combinations that a sentence puts together."""
    predicate, found = sentence.predicate, set()
    for phrase in sentence.subjects:
        relation = "subject" if isinstance(predicate, Verb) else "adjective"
        found.add((relation, predicate.stem.text, phrase.noun.korean))
    for phrase in sentence.objects:
        found.add(("object", predicate.stem.text, phrase.noun.korean))
    recipient = () if sentence.recipient is None else (sentence.recipient,)
    for phrase in (*sentence.subjects, *sentence.objects, *recipient):
        if phrase.adjective is not None:
            found.add(("adjective", phrase.adjective.stem.text, phrase.noun.korean))
    return found


def all_pairs() -> Iterator[Pair]:
    """Every combination that the lexicon allows."""
    for verb in VERBS:
        for subjects, objects in verb.takes:
            yield from (("subject", verb.stem.text, noun.korean) for noun in nouns(subjects))
            yield from (("object", verb.stem.text, noun.korean) for noun in nouns(objects))
    for adjective in ADJECTIVES:
        yield from (("adjective", adjective.stem.text, noun.korean) for noun in nouns(adjective.nouns))


def kept_out(generator: random.Random, share: float = 0.12) -> set[Pair]:
    """About this share of all combinations; of every word's own at most a quarter, so that each can be learned."""
    every = list(dict.fromkeys(all_pairs()))
    room = Counter(side for pair in every for side in _sides(pair))
    room = Counter({side: total // 4 for side, total in room.items()})
    generator.shuffle(every)
    chosen: set[Pair] = set()
    for pair in every:
        if len(chosen) < share * len(every) and all(room[side] for side in _sides(pair)):
            chosen.add(pair)
            room.subtract(_sides(pair))
    return chosen


def _sides(pair: Pair) -> list[tuple[str, int, str]]:
    """Both words of a pair, each in its role."""
    relation, head, noun = pair
    return [(relation, 0, head), (relation, 1, noun)]


def drawn(generator: random.Random) -> Sentence:
    """Any sentence of the language."""
    adjectives = [adjective for adjective in ADJECTIVES if adjective.predicate]
    predicate = generator.choice(adjectives) if generator.random() < 0.25 else generator.choice(VERBS)
    tense = generator.choice(("past", *TENSES))
    denials = ("안", "않다") if isinstance(predicate, Verb) and not predicate.nominal else ("않다",)
    common = Sentence(
        (),
        predicate,
        tense=tense,
        denial=generator.choice(denials) if generator.random() < 0.2 else "",
        style=generator.choice(("plain", *STYLES)),
        topic=generator.random() < 0.3,
        time_first=generator.random() < 0.7,
        full=generator.random() < 0.5,
        ended=generator.random() < 0.25,
    )
    if isinstance(predicate, Verb):
        return _with_verb(generator, common, predicate)
    phrase = _phrase(generator, generator.choice(nouns(predicate.nouns)))
    return common._replace(subjects=(phrase._replace(adjective=None),))


def _with_verb(generator: random.Random, sentence: Sentence, verb: Verb) -> Sentence:
    """Who and what, then where, with what and when, but not all three of them."""
    kinds, object_kinds = generator.choice(verb.takes)
    subjects = _phrases(generator, nouns(kinds))
    taken = {phrase.noun for phrase in subjects}
    taken |= PRONOUNS if taken & PRONOUNS else set()  # "I saw me" and "we saw us" are not said so
    objects = _phrases(generator, _others(nouns(object_kinds), taken)) if object_kinds else ()
    if sentence.denial:
        objects = objects[:1]  # English would need "or" here
    if verb.lasting:  # what is liked is not counted
        objects = tuple(phrase._replace(number="") for phrase in objects)
    recipient = None
    if verb.shape == "give":
        recipient = _phrase(generator, generator.choice(_others(nouns("person"), taken)))
    place = means = time = None
    if verb.places and (verb.shape in ("to", "in") or generator.random() < 0.3):
        place = generator.choice([place for place in PLACES if place.korean in verb.places.split()])
    if verb.means and generator.random() < 0.4:
        means = generator.choice([means for means in MEANS if means.korean in verb.means.split()])
    if not verb.lasting and generator.random() < 0.35 and (place is None or means is None):
        time = generator.choice([time for time in TIMES if sentence.tense in time.tenses.split()])
    return sentence._replace(
        subjects=subjects, objects=objects, recipient=recipient, place=place, means=means, time=time
    )


def _others(choices: Iterable[Noun], taken: set[Noun]) -> list[Noun]:
    return [noun for noun in choices if noun not in taken]


def _phrases(generator: random.Random, choices: Iterable[Noun]) -> tuple[NounPhrase, ...]:
    """One noun phrase, or now and then two bare nouns; with an adjective nobody could tell whose it is."""
    choices = list(choices)
    joined = _others(choices, PRONOUNS)
    if len(joined) > 1 and generator.random() < 0.1:
        return tuple(NounPhrase(noun) for noun in generator.sample(joined, 2))
    return (_phrase(generator, generator.choice(choices)),)


def _phrase(generator: random.Random, noun: Noun) -> NounPhrase:
    """A noun with, perhaps, an adjective that suits it, and a number or 들."""
    suitable = suiting(noun)
    adjective = generator.choice(suitable) if suitable and generator.random() < 0.3 else None
    chance = generator.random()
    if noun.counter and chance < 0.2:
        return NounPhrase(noun, adjective, generator.choice(list(NUMBERS)))
    return NounPhrase(noun, adjective, many=noun in LIVING and chance > 0.9)


@functools.cache
def suiting(noun: Noun) -> tuple[Adjective, ...]:
    """The adjectives that can stand before a noun; none before a pronoun."""
    return tuple(adjective for adjective in ADJECTIVES if noun in nouns(adjective.nouns) and noun not in PRONOUNS)


def sentence_pieces() -> list[str]:
    """What both languages are spelled with, every form of every word: 잡 and ##았다, catch and ##es."""
    shown = (*_all_predicates(), *_all_phrases(), *_all_adjuncts())
    sides = (side for sentence in shown for side in (in_korean(sentence), in_english(sentence)))
    return sorted({piece for side in sides for piece in spelled(side)})


# Sentences, not all of them sensible, in which every form of every word occurs.
SOMEONE, SOMETHING = NounPhrase(nouns("학생")[0]), NounPhrase(nouns("책")[0])


def _all_predicates() -> Iterator[Sentence]:
    """Every predicate in every tense and style, said and denied, of one and, in the polite style, of many."""
    predicates: list[Verb | Adjective] = [*VERBS, *(adjective for adjective in ADJECTIVES if adjective.predicate)]
    for predicate, tense, style, denial in itertools.product(predicates, TENSES, STYLES, ("", "안", "않다")):
        other = style == "polite"
        subjects = (SOMEONE._replace(many=other),)
        yield Sentence(subjects, predicate, tense=tense, style=style, denial=denial, full=other, ended=True)


def _all_phrases() -> Iterator[Sentence]:
    """Every noun alone, as one, as two and as many, in every role; every adjective and every number."""
    phrases = [NounPhrase(nouns(adjective.nouns)[0], adjective) for adjective in ADJECTIVES]
    phrases += [SOMETHING._replace(number=number) for number in NUMBERS]
    for noun in NOUNS:
        phrases += [NounPhrase(noun)]
        phrases += [NounPhrase(noun, number=number) for number in ("한", "두") if noun.counter]
        phrases += [NounPhrase(noun, many=True)] if noun in LIVING else []
    for phrase in phrases:
        yield Sentence((SOMEONE,), VERBS[0], (phrase, SOMETHING))
        yield Sentence((SOMEONE,), VERBS[0], (SOMETHING, phrase))
        if phrase.noun.article or phrase.noun in PRONOUNS:  # others are no subjects: no sentence begins with Math
            yield from (Sentence((phrase,), VERBS[0], topic=topic) for topic in (False, True))


def _all_adjuncts() -> Iterator[Sentence]:
    """Every place, means and time, and someone who gets something."""
    going = next(verb for verb in VERBS if verb.shape == "to")
    yield from (Sentence((SOMEONE,), verb, place=place) for place in PLACES for verb in (VERBS[0], going))
    yield from (Sentence((SOMEONE,), VERBS[0], means=means) for means in MEANS)
    yield from (Sentence((SOMEONE,), VERBS[0], recipient=SOMEONE, time=time) for time in TIMES)
    yield Sentence((NounPhrase(nouns("나")[0]),), ADJECTIVES[0], tense="present")  # am
