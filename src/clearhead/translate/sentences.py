"""The task of the sentences, drawn so that a model has to put words together it never saw together.

Some combinations are kept out of training: pairs of verb and object, of subject and verb, of adjective and noun. Each
word is learned, in other company, and every sentence of the test has at least one pair that is new. Whoever only
remembers sentences fails.
"""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Callable, Iterator

from clearhead import checks
from clearhead.translate.examples import Example, Task
from clearhead.translate.grammar import said
from clearhead.translate.joining import drawn
from clearhead.translate.lexicon import ADJECTIVES, NOUNS, VERBS, Adjective, Noun, Verb, nouns
from clearhead.translate.meaning import Clause, Sentence, Site
from clearhead.translate.spelling import sentence_pieces

# A pair of words in one sentence: how they belong together, the sense of a verb or adjective, a noun.
Pair = tuple[str, str, str]
FEW = 12  # objects, from which it cannot be learned that another one has the same sense of a verb with it


def sentences(count_train: int = 40_000, count_test: int = 1_000, seed: int = 0, *, only_simple: bool = False) -> Task:
    """Korean sentences with their English, all different; those of the test have pairs of words that training lacks.

    With `only_simple`, those that a small model learns in a minute.
    """
    count_train = checks.count("count_train", count_train)
    count_test = checks.count("count_test", count_test)
    generator = random.Random(seed)
    held_out = kept_out(generator)

    def wanted(sentence: Sentence, new: bool) -> bool:
        return bool(held_out & pairs(sentence)) == new and (simple(sentence) or not only_simple)

    # The test first: it is the same whatever number of sentences is trained on.
    test = _different(generator, count_test, functools.partial(wanted, new=True))
    train = _different(generator, count_train, functools.partial(wanted, new=False))
    return Task("sentences", train, test, sentence_pieces())


def _different(generator: random.Random, count: int, wanted: Callable[[Sentence], bool]) -> list[Example]:
    """`count` different sentences of the wanted kind."""
    examples: dict[str, Example] = {}
    while len(examples) < count:
        sentence = drawn(generator)
        if wanted(sentence):
            example = said(sentence)
            examples.setdefault(example.source, example)
    return list(examples.values())


def simple(sentence: Sentence) -> bool:
    """One clause that states who does what to whom, where and when, in any order, or what something is like."""
    clause, *others = sentence.clauses
    predicate = clause.predicate
    known = isinstance(predicate, Adjective) or (isinstance(predicate, Verb) and predicate.shape in ("", "to", "give"))
    plain = clause.mood == "statement" and clause.tense != "will" and clause.denial not in ("못", "못하다")
    more = any((clause.modal, clause.honoured, clause.split, clause.bare, clause.hour, clause.companion, clause.origin))
    more = more or clause.adverb is not None or clause.topic not in ("", "subject")
    more = more or clause.along or clause.also or isinstance(clause.place, Site)
    more = more or clause.attached or bool(sentence.called)
    dressed = any(one.owner or one.focus or one.floating or one.counted_first for one in clause.phrases)
    dressed = dressed or any(one.relative or one.nameless or one.uncountered for one in clause.phrases)
    return known and plain and not (others or more or dressed)


def pairs(sentence: Sentence) -> set[Pair]:
    """The combinations that a sentence puts together."""
    first, *others = sentence.clauses
    found = _pairs_of(first)
    for clause in others:
        found |= _pairs_of(clause if clause.subjects else clause._replace(subjects=first.subjects))
    return found


def _pairs_of(clause: Clause) -> set[Pair]:
    predicate, found = clause.predicate, set()
    if isinstance(predicate, Verb | Adjective):
        relation = "subject" if isinstance(predicate, Verb) else "adjective"
        found |= {(relation, sense(predicate), meant(one.noun)) for one in clause.subjects}
        found |= {("object", sense(predicate), meant(one.noun)) for one in clause.objects}
    for one in clause.phrases:
        if one.adjective is not None:
            found.add(("adjective", sense(one.adjective), meant(one.noun)))
        if one.relative is not None:
            inner, head = one.relative.clause, (one._replace(relative=None),)
            whole = inner._replace(subjects=head) if one.relative.role == "subject" else inner._replace(objects=head)
            found |= _pairs_of(whole)
    return found


def sense(predicate: Verb | Adjective) -> str:
    """A stem and what it means: 타 ride is another word than 타 take."""
    return f"{predicate.stem.text} {predicate.english}"


def meant(noun: Noun) -> str:
    """A noun and what it means: 차 car, 차 tea."""
    return f"{noun.korean} {noun.english}"


def all_pairs() -> Iterator[Pair]:
    """Every combination that the lexicon allows."""
    for verb in VERBS:
        for subjects, objects in verb.takes:
            yield from (("subject", sense(verb), meant(noun)) for noun in nouns(subjects))
            yield from (("object", sense(verb), meant(noun)) for noun in nouns(objects))
    for adjective in ADJECTIVES:
        yield from (("adjective", sense(adjective), meant(noun)) for noun in nouns(adjective.nouns))


def kept_out(generator: random.Random, share: float = 0.12) -> set[Pair]:
    """About this share of all combinations; of every word's own at most a quarter, so that each can be learned.

    Where the object tells which sense of a stem is meant, few objects tell nothing of others: of 말 and 자전거, with
    which 타다 is to ride, neither is kept out; nor is anything that tells whether 차 is tea.
    """
    every = list(dict.fromkeys(all_pairs()))
    company = Counter(side for pair in every for side in _sides(pair))
    room = Counter({side: total // 4 for side, total in company.items()})
    for verb in VERBS:
        told_by_object = ("object", 0, sense(verb))
        if _several_senses(verb) and company[told_by_object] < FEW:
            room[told_by_object] = 0
    for noun in NOUNS:
        if len({one.english for one in NOUNS if one.korean == noun.korean}) > 1:
            room |= {(relation, 1, meant(noun)): 0 for relation in ("subject", "object", "adjective")}
    generator.shuffle(every)
    chosen: set[Pair] = set()
    for pair in every:
        if len(chosen) < share * len(every) and all(room[side] for side in _sides(pair)):
            chosen.add(pair)
            room.subtract(_sides(pair))
    return chosen


def _several_senses(verb: Verb) -> bool:
    """Whether other objects make it another verb in English."""
    return any(one.stem == verb.stem and one.english != verb.english and one.takes[0][1] for one in VERBS)


def _sides(pair: Pair) -> list[tuple[str, int, str]]:
    """Both words of a pair, each in its role."""
    relation, head, noun = pair
    return [(relation, 0, head), (relation, 1, noun)]
