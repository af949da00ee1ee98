"""No new combination is in training, all words are; and every sentence is spelled, linked and has one translation."""

from __future__ import annotations

import random
from collections import Counter

import jaxtyping
import pytest

from clearhead.translate.dates import date_pieces
from clearhead.translate.grammar import said
from clearhead.translate.joining import drawn
from clearhead.translate.lexicon import ADJECTIVES, ADVERBS, CALLS, NOUNS, NUMBERS, PLACES, TIMES, VERBS, Verb
from clearhead.translate.manner import filled_roles
from clearhead.translate.meaning import Being, Existing, Site
from clearhead.translate.sentences import all_pairs, kept_out, pairs, sentences, simple
from clearhead.translate.spelling import sentence_pieces
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
    return [drawn(generator) for _ in range(6_007)]


@pytest.fixture(scope="module")
def examples(meanings):
    return [said(meaning) for meaning in meanings]


@pytest.fixture(scope="module")
def task():
    return sentences(2_003, 509, seed=5)


def test_the_sentence_of_the_course_can_be_said(vocabulary):
    assert vocabulary.unknown("고양이가 쥐를 잡았다. The cat caught the mouse.") == []


def test_everything_drawn_is_spelled_and_read_back(vocabulary, examples):
    """Also beside the pieces of the dates."""
    for known in (vocabulary, Vocabulary(dict.fromkeys([*sentence_pieces(), *date_pieces()]))):
        for example in examples[:2_003]:
            for text in (example.source, example.target):
                assert known.decode(known.encode(text).ids) == text


def test_particles_and_endings_are_pieces_of_their_own(vocabulary):
    cut = vocabulary.labels(vocabulary.encode("쥐를 고양이가 잡았다").ids)
    assert cut == ["쥐", "##를", "고양이", "##가", "잡", "##았", "##다"]


def test_pieces_are_hardly_ever_unused(vocabulary, examples):
    used = Counter()
    for example in examples:
        for text in (example.source, example.target):
            used.update(vocabulary.encode(text).ids)
    assert len(used) >= 0.9 * (len(vocabulary) - 3)


def test_no_sentence_has_two_translations(examples):
    seen = {}
    for example in examples:
        assert seen.setdefault(example.source, example.target) == example.target


def test_links_join_words_of_the_same_meaning(examples):
    """A Korean noun, place, time or adverb of two syllables and more is only ever linked with its own English."""
    known = {korean: {english} for korean, english in NUMBERS.items()}
    for entry in (*NOUNS, *PLACES, *TIMES, *ADVERBS):
        words = {entry.english, getattr(entry, "plural", ""), getattr(entry, "oblique", "")}
        known.setdefault(entry.korean, set()).update(words)
    known["많이"] |= {"much", "many"}  # 너무 많이, 많이 있다
    for example in examples:
        for link in example.links:
            source, target = example.source[slice(*link.source)], example.target[slice(*link.target)]
            possible = known.get(source)
            if possible and len(source) > 1 and source not in VERBAL:
                assert any(target.lower().startswith(word[:3].lower()) for word in possible if word), (source, target)


# Words that are stems, counters or pronouns before a noun as well, and then say something else.
VERBAL = {verb.stem.text for verb in (*VERBS, *ADJECTIVES)} | {noun.counter for noun in NOUNS}
VERBAL |= {verb.stem.text.removesuffix("하") for verb in (*VERBS, *ADJECTIVES)}
VERBAL |= {verb.stem.text + end for verb in VERBS for end in "지자"}  # 잡지 is a magazine, or not to catch
VERBAL |= {"이", "그", "저", "내", "제", "네", "나", "너", "우리", "저희", "비", "눈", "그녀", "그들", "당신"}


def test_links_are_whole_pieces_of_known_texts(vocabulary, examples):
    for example in examples[:1_009]:
        assert example.links
        for link in example.links:
            assert 0 <= link.source[0] < link.source[1] <= len(example.source)
            assert 0 <= link.target[0] < link.target[1] <= len(example.target)


def test_every_phenomenon_is_drawn(meanings):
    clauses = [clause for meaning in meanings for clause in meaning.clauses]
    for field, values in {
        "tense": ("past", "present", "future", "will"),
        "style": ("plain", "casual", "polite", "formal"),
        "mood": ("statement", "question", "command", "suggestion"),
        "denial": ("", "안", "않다", "못", "못하다"),
        "modal": ("", "doing", "want", "can", "must", "try"),
        "topic": ("", "subject", "object", "time", "place"),
        "honoured": (False, True),
        "bare": (False, True),
        "split": (False, True),
        "along": (False, True),
        "also": (False, True),
        "attached": (False, True),
    }.items():
        found = Counter(getattr(clause, field) for clause in clauses)
        assert set(found) == set(values), field
        assert min(found.values()) >= 20, field
    assert {meaning.joint for meaning in meanings} == {"", "고", "지만", "서"}
    assert {meaning.called for meaning in meanings} == {(), *CALLS}
    assert {meaning.clauses[0].mood for meaning in meanings if meaning.joint} == {"statement", "command", "suggestion"}
    assert sum(isinstance(clause.place, Site) for clause in clauses) >= 20
    assert sum(clause.degree is not None for clause in clauses) >= 20
    assert len({clause.order for clause in clauses}) > 500
    asked = Counter(clause.asked.role for clause in clauses if clause.asked is not None)
    assert set(asked) == {"subject", "object", "recipient", "place", "origin", "time", "hour", "why", "how"}
    assert sum(not clause.subjects for clause in clauses) > 500
    phrases = [phrase for clause in clauses for phrase in clause.phrases]
    fields = "number many pointer owner owner_pointer counted_first floating adjective close title nameless"
    for field in (*fields.split(), "uncountered", "relative"):
        assert sum(bool(getattr(phrase, field)) for phrase in phrases) >= 20, field
    beings = [clause.predicate for clause in clauses if isinstance(clause.predicate, Being)]
    assert all(any(kinds) for kinds in ([one.hour for one in beings], [one.counts for one in beings]))
    assert {one.predicate.plenty for one in clauses if isinstance(one.predicate, Existing)} == {"", "많", "많이"}
    assert {phrase.focus for phrase in phrases} == {"", "도", "만"}


def test_the_unlikely_is_said_too(meanings):
    """So that a particle has to be believed: someone is bitten by a bag now and then."""
    allowed = set(all_pairs())
    odd = sum(not pairs(meaning) <= allowed for meaning in meanings)
    assert 0.1 * len(meanings) < odd < 0.4 * len(meanings)


def test_every_test_sentence_has_a_pair_that_training_lacks(task):
    """Drawn once more from the same seed: what is tested has a pair that was kept out, what is trained on has none."""
    assert (len(task.train), len(task.test)) == (2_003, 509)
    generator = random.Random(5)
    held_out = kept_out(generator)
    sides = {True: [example.source for example in task.test], False: [example.source for example in task.train[:500]]}
    for new, expected in sides.items():
        found = {}
        while len(found) < len(expected):
            meaning = drawn(generator)
            if bool(held_out & pairs(meaning)) == new:
                found.setdefault(said(meaning).source)
        assert list(found) == expected


def test_the_test_is_the_same_however_much_is_trained_on(task):
    assert sentences(11, 509, seed=5).test == task.test


def test_sentences_are_different(task):
    assert len({example.source for example in task.train + task.test}) == 2_003 + 509


@pytest.mark.parametrize("seed", range(3))
def test_a_word_keeps_three_quarters_of_its_company(seed):
    every, chosen = set(all_pairs()), kept_out(random.Random(seed))
    assert chosen < every
    assert 0.10 * len(every) < len(chosen) <= 0.12 * len(every) + 1
    for side in (1, 2):
        total = Counter((pair[0], pair[side]) for pair in every)
        taken = Counter((pair[0], pair[side]) for pair in chosen)
        assert all(4 * taken[word] <= total[word] for word in total)


@pytest.mark.parametrize("seed", range(3))
def test_few_objects_of_a_sense_are_all_trained_on(seed):
    """말 and 자전거 are all that is ridden: nobody could guess from one of them that 타다 is to ride the other."""
    chosen = {pair[:2] for pair in kept_out(random.Random(seed))}
    assert not chosen & {("object", "타 ride"), ("object", "보 watch"), ("object", "먹 take"), ("object", "쓰 wear")}
    assert any(relation == "object" and word.startswith("보 see") for relation, word in chosen)


def test_senses_are_words_of_their_own():
    every = set(all_pairs())
    assert ("object", "타 ride", "말 horse") in every
    assert ("object", "타 take", "말 horse") not in every
    assert ("object", "마시 drink", "차 tea") in every
    assert ("object", "운전하 drive", "차 car") in every


def test_nobody_told_is_named_but_us(meanings):
    """토끼가 먹어라 is not said."""
    told = [clause for meaning in meanings for clause in meaning.clauses if clause.mood in ("command", "suggestion")]
    named = {one.noun.korean for clause in told for one in clause.subjects}
    assert named == {"우리"}
    for clause in (clause for clause in told if clause.subjects):  # 우리 집에 가자 would be: to our house
        together = clause.adverb is not None and clause.adverb.english == "together"
        assert together or filled_roles(clause)[:2] == ["subject", "time"]


def test_among_friends_a_command_is_no_statement(meanings):
    """천천히 먹어 is a command, so nobody says of himself that he eats slowly in this way."""
    clauses = [meaning.clauses[0] for meaning in meanings if len(meaning.clauses) == 1]
    friendly = [one for one in clauses if one.style == "casual" and isinstance(one.predicate, Verb) and not one.denial]
    told = [one for one in friendly if one.mood == "command"]
    assert len(told) > 20
    assert all(one.time is None and not one.hour for one in told)
    alike = [one for one in friendly if one.mood == "statement" and one.tense == "present" and not one.subjects]
    alike = [one for one in alike if not (one.modal or one.predicate.lasting or one.time or one.hour)]
    assert all(one.adverb is not None and one.adverb.position == "middle" for one in alike)


def test_the_same_seed_draws_the_same_sentences():
    assert sentences(307, 53, seed=2) == sentences(307, 53, seed=2)
    assert sentences(307, 53, seed=3).test != sentences(307, 53, seed=2).test


def test_simple_ones_state_one_thing(examples, meanings):
    kept = [example for example, meaning in zip(examples, meanings, strict=True) if simple(meaning)]
    assert 0.1 * len(examples) < len(kept) < 0.5 * len(examples)
    words = {word for example in kept for word in example.target.replace(".", "").split()}
    assert not words & {"want", "Please", "Let's", "only", "but"}
    assert not any(example.target.endswith("?") for example in kept)
    drawn_simple = sentences(53, 11, seed=3, only_simple=True)
    assert not any(example.target.endswith("?") for example in drawn_simple.train + drawn_simple.test)


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
