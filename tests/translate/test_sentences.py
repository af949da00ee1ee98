"""No new combination is in training, all words are; and a reader that knows only pieces finds the same."""

from __future__ import annotations

import random
from collections import Counter

import jaxtyping
import pytest

from clearhead.translate.dates import date_pieces
from clearhead.translate.english import with_ed, with_s
from clearhead.translate.examples import Example, Link
from clearhead.translate.grammar import in_english, in_korean, said, spelled
from clearhead.translate.korean import modifier
from clearhead.translate.lexicon import ADJECTIVES, MEANS, NOUNS, NUMBERS, PLACES, TIMES, VERBS, Verb, nouns
from clearhead.translate.sentences import (
    all_pairs,
    drawn,
    kept_out,
    pairs,
    sentence_pieces,
    sentences,
    sentences_from_english,
)
from clearhead.translate.vocabulary import Vocabulary


@pytest.fixture(scope="module", autouse=True)
def quickly():
    """Very many small calls are made here, and checking the annotations of each takes ten times as long."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary(sentence_pieces())


@pytest.fixture(scope="module")
def meanings():
    generator = random.Random(11)
    return [drawn(generator) for _ in range(5_003)]


@pytest.fixture(scope="module")
def task():
    return sentences(12_007, 509, seed=5)


def test_the_sentence_of_the_course_can_be_said(vocabulary):
    assert vocabulary.unknown("고양이가 쥐를 잡았다. The cat caught the mouse.") == []


def test_pieces_are_read_as_they_were_written(vocabulary, meanings):
    """The longest match finds the grammar's own cuts, also beside the pieces of the dates."""
    for known in (vocabulary, Vocabulary(dict.fromkeys([*sentence_pieces(), *date_pieces()]))):
        for meaning in meanings[:2_003]:
            example = said(meaning)
            for text, words in ((example.source, in_korean(meaning)), (example.target, in_english(meaning))):
                ids = known.encode(text).ids
                assert known.labels(ids) == spelled(words)
                assert known.decode(ids) == text


def test_pieces_are_all_used(vocabulary, task):
    used = Counter()
    for example in task.train:
        for text in (example.source, example.target):
            used.update(vocabulary.encode(text).ids)
    assert len(set(range(3, len(vocabulary))) - set(used)) <= 3  # in a third of the sentences that are drawn by default


def forms(verb):
    """All that a verb can look like in English."""
    first, *rest = verb.english.split()
    past = verb.past or " ".join(["".join(with_ed(first)), *rest])
    return {verb.english, past, " ".join(["".join(with_s(first)), *rest])}


def dictionary():
    """Which English words a Korean noun, adjective, number, place, time, means or counter may be linked to."""
    known = {korean: {english, english.capitalize()} for korean, english in NUMBERS.items()}
    for noun in NOUNS:
        plural = noun.plural or "".join(with_s(noun.english))
        known.setdefault(noun.korean, set()).update({noun.english} | ({plural} if noun.counter else set()))
        known[noun.korean] |= {noun.oblique, noun.english.capitalize()} if noun.oblique else set()
        if noun.measure:
            known.setdefault(noun.counter, set()).update({noun.measure, "".join(with_s(noun.measure))})
    for entry in (*PLACES, *TIMES, *MEANS):
        known.setdefault(entry.korean, set()).add(entry.english)
    known["내"] = {"I"}
    for adjective in ADJECTIVES:
        known["".join(modifier(adjective.stem))] = {adjective.english}
    return known


def test_links_join_words_of_the_same_meaning(meanings):
    known = dictionary()
    for meaning in meanings:
        example = said(meaning)
        *others, predicate = sorted(example.links)  # the predicate is the last content word of a Korean sentence
        verb = isinstance(meaning.predicate, Verb)
        possible = forms(meaning.predicate) if verb else {meaning.predicate.english}
        assert example.target[slice(*predicate.target)] in possible
        for link in others:
            assert example.target[slice(*link.target)] in known[example.source[slice(*link.source)]]


def test_every_content_word_has_its_link(meanings):
    """Counted without the grammar: words that are only grammar are known, and few."""
    grammar = {"안", "것이다", "거예요", "것입니다"}
    articles = {"the", "a", "of", "to", "in", "on", "at", "by", "with", "and", "not", "will", "be"}
    articles |= {"do", "does", "did", "am", "is", "are", "was", "were"}
    counters = {noun.counter for noun in NOUNS if noun.counter and not noun.measure}
    for meaning in meanings:
        example = said(meaning)
        for side, text in enumerate((example.source.rstrip("."), example.target.rstrip("."))):
            covered = {place for link in example.links for place in range(*link[side])}
            start = 0
            for word in text.split():
                if start not in covered:
                    if side:
                        assert word.lower() in articles
                    else:
                        assert word in grammar or word.startswith("않") or any(map(word.startswith, counters))
                start += len(word) + 1


def test_links_are_whole_pieces(vocabulary, meanings):
    for meaning in meanings[:1_009]:
        example = said(meaning)
        for side, text in enumerate((example.source, example.target)):
            spans = vocabulary.encode(text).spans
            for link in example.links:
                assert link[side][0] in {start for start, _ in spans}
                assert link[side][1] in {stop for _, stop in spans}


@pytest.mark.parametrize("direction", ["ko-en", "en-ko"])
def test_no_sentence_has_two_translations(meanings, direction):
    seen = {}
    for meaning in meanings:
        example = said(meaning, direction)
        assert seen.setdefault(example.source, example.target) == example.target


SUBJECT, OBJECT, AND = ("##이", "##가", "##은", "##는"), ("##을", "##를"), ("##와", "##과")
MODIFIERS = {"".join(modifier(adjective.stem)): adjective.stem.text for adjective in ADJECTIVES}
PREDICATES = {form: verb.stem.text for verb in VERBS for form in forms(verb)}
PREDICATES |= {adjective.english: adjective.stem.text for adjective in ADJECTIVES if adjective.predicate}


def read(example, vocabulary):
    """The pairs of words in a sentence, found from its text alone: nouns wait until a particle says what they are."""
    known = {noun.korean for noun in NOUNS}
    predicate = PREDICATES[example.target[slice(*max(example.links).target)]]
    found, waiting, adjective, before = set(), [], None, ""
    for word in example.source.rstrip(".").split():
        if word in MODIFIERS:
            adjective = MODIFIERS[word]
            continue
        noun, *rest = vocabulary.labels(vocabulary.encode(word).ids)
        noun = "나" if noun == "내" else noun
        if noun in known and before not in NUMBERS:  # 개 is a dog, or after a number what apples are counted with
            waiting.append(noun)
            found |= {("adjective", adjective, noun)} if adjective else set()
            adjective = None
        role, before = rest[-1] if rest else "", word
        if role in SUBJECT:
            relation = "adjective" if predicate in MODIFIERS.values() else "subject"
            found |= {(relation, predicate, noun) for noun in waiting}
        if role in OBJECT:
            found |= {("object", predicate, noun) for noun in waiting}
        waiting = waiting if role in AND or not role else []
    return found


def test_pairs_can_be_read_from_the_text(vocabulary, meanings):
    for meaning in meanings:
        assert read(said(meaning), vocabulary) == pairs(meaning)


def test_every_test_sentence_has_a_pair_that_training_lacks(vocabulary, task):
    learned = set().union(*(read(example, vocabulary) for example in task.train))
    assert len(task.train) == 12_007
    assert len(task.test) == 509
    new = Counter()
    for example in task.test:
        fresh = read(example, vocabulary) - learned
        assert fresh
        new.update(relation for relation, _, _ in fresh)
    assert min(new[relation] for relation in ("subject", "object", "adjective")) > 50


def test_every_word_of_a_new_pair_is_learned_in_other_company(vocabulary, task):
    learned = set().union(*(read(example, vocabulary) for example in task.train))
    heads, others = {pair[:2] for pair in learned}, {pair[2] for pair in learned}
    for example in task.test:
        for relation, head, noun in read(example, vocabulary):
            assert (relation, head) in heads
            assert noun in others


def test_sentences_are_different(task):
    assert len({example.source for example in task.train + task.test}) == 12_007 + 509


@pytest.mark.parametrize("seed", range(3))
def test_a_word_keeps_three_quarters_of_its_company(seed):
    every, chosen = set(all_pairs()), kept_out(random.Random(seed))
    assert chosen < every
    assert 0.10 * len(every) < len(chosen) <= 0.12 * len(every) + 1
    for side in (1, 2):
        total = Counter((pair[0], pair[side]) for pair in every)
        taken = Counter((pair[0], pair[side]) for pair in chosen)
        assert all(4 * taken[word] <= total[word] for word in total)


def turned(example):
    """The example the other way round."""
    return Example(example.target, example.source, tuple(Link(link.target, link.source) for link in example.links))


def test_the_way_back_keeps_the_same_pairs_for_its_test(vocabulary, task):
    back = sentences_from_english(6_007, 307, seed=5)
    assert all(example.source[0].isascii() and not example.target[0].isascii() for example in back.train + back.test)
    learned = set().union(*(read(example, vocabulary) for example in task.train))
    learned |= set().union(*(read(turned(example), vocabulary) for example in back.train))
    for example in (*task.test, *map(turned, back.test)):
        assert read(example, vocabulary) - learned
    for example in back.train[:1_009]:
        for text in (example.source, example.target):
            assert vocabulary.decode(vocabulary.encode(text).ids) == text


def test_the_same_seed_draws_the_same_sentences():
    assert sentences(307, 53, seed=2) == sentences(307, 53, seed=2)
    assert sentences(307, 53, seed=3).test != sentences(307, 53, seed=2).test


def test_nobody_eats_a_school(meanings):
    """Whatever is said, the lexicon allows it."""
    allowed = set(all_pairs())
    for meaning in meanings:
        assert pairs(meaning) <= allowed
        if meaning.time is not None:
            assert meaning.tense in meaning.time.tenses.split()
        if meaning.place is not None:
            assert meaning.place.korean in meaning.predicate.places.split()
        if meaning.recipient is not None:
            assert meaning.recipient.noun in nouns("person")
        named = [phrase.noun for phrase in (*meaning.subjects, *meaning.objects)]
        assert len(set(named)) == len(named)


@pytest.mark.parametrize("counts", [(0, 1), (1, 0)], ids=["train", "test"])
def test_counts_are_at_least_one(counts):
    with pytest.raises(ValueError, match=r"count_(train|test) must be at least 1, got 0"):
        sentences(*counts)


def test_annotations_hold():
    jaxtyping.config.update("jaxtyping_disable", False)
    try:
        assert len(sentences(101, 11).train) == 101
    finally:
        jaxtyping.config.update("jaxtyping_disable", True)
