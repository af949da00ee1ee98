"""A mistake is named when the learner's outcomes are its own on every call, and no other's."""

from __future__ import annotations

import dataclasses

import numpy as np

from clearhead.languages import Said
from clearhead.practice.answers import Failure, Outcome
from clearhead.practice.exercise import Mistake, Part
from clearhead.practice.naming import agree, named

PART = Part(solution=len, judge=len, outputs={"y": "n"})
ONES, TWOS = Outcome(np.ones(2)), Outcome(np.full(2, 2.0))
BAD = Outcome(failure=Failure("ValueError", "shapes (2,) and (3,)", ()))
WORSE = Outcome(failure=Failure("ValueError", "another", ()))


def mistake(name):
    return Mistake(name=name, wrong=len, said=Said(name, name))


def test_the_one_that_agrees_everywhere():
    a, b = mistake("a"), mistake("b")
    assert named(PART, [ONES, TWOS], [(a, [ONES, ONES]), (b, [ONES, TWOS])]) == (b, True)
    assert named(PART, [TWOS, TWOS], [(a, [ONES, ONES]), (b, [ONES, TWOS])]) is None


def test_two_that_agree_name_nothing():
    assert named(PART, [ONES], [(mistake("a"), [ONES]), (mistake("b"), [ONES])]) is None


def test_nan_is_nan():
    assert agree(PART, [Outcome(np.array([np.nan, 1]))], [Outcome(np.array([np.nan, 1]))])
    assert not agree(PART, [Outcome(np.array([np.nan, 1]))], [Outcome(np.array([1, np.nan]))])


def test_failures_agree_by_kind_and_where_there_is_nothing_else_by_their_words():
    assert agree(PART, [BAD, ONES], [WORSE, ONES])
    assert not agree(PART, [BAD, ONES], [ONES, ONES])
    assert not agree(PART, [BAD, BAD], [BAD, WORSE])
    assert agree(PART, [BAD, BAD], [BAD, BAD])


def test_a_mistake_that_writes_into_its_arguments():
    assert agree(PART, [ONES._replace(changed=("x",))], [ONES._replace(changed=("x",))])
    assert not agree(PART, [ONES], [ONES._replace(changed=("x",))])


def test_of_a_dict_only_the_names_that_a_mistake_speaks_of():
    part = Part(solution=len, judge=len)
    got = [Outcome({"bytes": 8, "flops": 9})]
    wrong = [(mistake("bytes"), [Outcome({"bytes": 8})]), (mistake("flops"), [Outcome({"flops": 9})])]
    assert named(part, got, wrong, "flops").mistake.name == "flops"
    assert named(part, got, wrong, "bytes").mistake.name == "bytes"
    assert named(part, [Outcome({"bytes": 7, "flops": 9})], wrong, "bytes") is None


def test_where_something_else_is_wrong_too_the_ordinary_calls_are_enough():
    a, b, c = mistake("a"), mistake("b"), mistake("c")
    wrong = [(a, [TWOS, ONES]), (b, [ONES, TWOS])]
    assert named(PART, [TWOS, TWOS], wrong) is None
    assert named(PART, [TWOS, TWOS], wrong, ordinary=[0]) == (a, False)
    assert named(PART, [TWOS, TWOS], wrong, ordinary=[0, 1]) is None
    assert named(PART, [TWOS, TWOS], [*wrong, (c, [TWOS, BAD])], ordinary=[0]) is None
    variant = dataclasses.replace(c, said=a.said)
    assert named(PART, [TWOS, TWOS], [*wrong, (variant, [TWOS, BAD])], ordinary=[0]) == (a, False)


def test_an_error_of_other_words_is_not_enough_to_know_a_part_of_it_by():
    a = mistake("a")
    assert named(PART, [ONES, BAD, ONES], [(a, [ONES, WORSE, TWOS])], ordinary=[0, 1]) is None
    assert named(PART, [ONES, BAD, ONES], [(a, [ONES, BAD, TWOS])], ordinary=[0, 1]) == (a, False)
