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
from clearhead.translate.drawing import drawn
from clearhead.translate.examples import Example, Task
from clearhead.translate.grammar import said
from clearhead.translate.lexicon import ADJECTIVES, VERBS, Adjective, Verb, nouns
from clearhead.translate.meaning import Clause, Sentence
from clearhead.translate.spelling import sentence_pieces

# A pair of words in one sentence: how they belong together, a verb or adjective, a noun.
Pair = tuple[str, str, str]


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
    dressed = any(one.owner or one.focus or one.floating or one.counted_first for one in clause.phrases)
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
        found |= {(relation, predicate.stem.text, one.noun.korean) for one in clause.subjects}
        found |= {("object", predicate.stem.text, one.noun.korean) for one in clause.objects}
    for one in clause.phrases:
        if one.adjective is not None:
            found.add(("adjective", one.adjective.stem.text, one.noun.korean))
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
