"""Whatever is wrong with an answer, the first thing to say about it is found, and said in both languages."""

from __future__ import annotations

import dataclasses
import itertools
import time

import numpy as np
import pytest

from clearhead import practice
from clearhead.languages import LANGUAGES, Said
from clearhead.practice import exercises, explaining, trying, words
from clearhead.practice.exercise import Call, Exercise, Mistake, Part
from clearhead.practice.grading import check

SOFTMAX = exercises.load("softmax")
right = SOFTMAX.parts[0].solution


def verdict_on(function):
    return check(SOFTMAX, function)


def wrongly(change):
    return lambda x, axis=-1: change(right(x, axis))


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (lambda x, axis=-1: None, "nothing", "hands nothing back"),
        (lambda x, axis=-1: 1 / 0, "exception", "ZeroDivisionError"),
        (lambda x: x, "exception", "unexpected keyword argument 'axis'"),
        (wrongly(list), "type", "should be an array, and is a tuple or list"),
        (wrongly(lambda y: y.T), "shape", "should have the shape (a = 2, b = 3, c = 5), and has (5, 3, 2)"),
        (wrongly(lambda y: y.astype(np.float32)), "dtype", "should hold float64 numbers, and holds float32 numbers"),
        (wrongly(lambda y: np.where(y < 0.2, np.nan, y)), "nan", "holds NaN where there should be a number"),
        (wrongly(lambda y: np.where(y < 0.2, np.inf, y)), "nan", "holds inf"),
        (wrongly(lambda y: y**2), "values", "30 of its 30 numbers are not right"),
    ],
)
def test_the_first_thing_to_say(answer, kind, says):
    verdict = verdict_on(answer)
    assert (verdict.kind, verdict.mistake) == (kind, None)
    assert says in verdict.said[0].en
    for language in LANGUAGES:
        assert verdict.said[0](language)


def test_axes_are_named():
    assert words.seen.AXES_TURNED.filled(got="(c = 5, b = 3, a = 2)") in verdict_on(wrongly(lambda y: y.T)).said
    assert words.seen.AXIS_MISSING.filled(letters="c = 5") in verdict_on(wrongly(lambda y: y.sum(-1))).said
    assert words.seen.AXIS_ADDED.filled(size=1) in verdict_on(wrongly(lambda y: y[..., None])).said


def test_what_else_can_be_seen_is_said():
    assert words.seen.FACTOR.filled(factor="2") in verdict_on(wrongly(lambda y: 2 * y)).said
    small = verdict_on(lambda x, axis=-1: right(x, axis) if abs(x).max() < 100 else right(x, axis) ** 2)
    assert small.said[1] == words.seen.ONLY_FURTHER


def test_a_counterexample_is_as_small_as_it_can_be():
    verdict = verdict_on(lambda x, axis=-1: np.exp(x - x.max(axis=axis, keepdims=True)))
    assert verdict.mistake == "not_divided"
    assert sum(len(row) for row in verdict.example.got) == 2


def test_writing_into_an_argument():
    def writes(x, axis=-1):
        x -= x.max(axis=axis, keepdims=True)
        return right(x, axis)

    verdict = verdict_on(writes)
    assert (verdict.kind, verdict.said[0].en.count("`x`")) == ("changed", 1)


def test_an_answer_that_depends_on_the_calls_before():
    count = itertools.count()
    first = len(trying.trials(SOFTMAX.parts[0]))
    assert verdict_on(lambda x, axis=-1: right(x, axis) * (1 if next(count) < first else 2)).kind == "random"


def test_loops_where_none_are_wanted():
    def looped(x, axis=-1):
        for _ in x:
            pass
        return right(x, axis)

    verdict = verdict_on(looped)
    assert verdict.kind == "loop"
    assert "line 2" in verdict.said[0].en


def pair(x):
    return x, 2 * x


PAIR = Exercise(
    name="pair", note="01", section=Said("s", "s"), title=Said("t", "t"), task=Said("t", "t"),
    hints=(Said("1", "1"),) * 3,
    parts=(Part(solution=pair, judge=pair, outputs={"a": "n", "b": "n"}, sizes={"n": 3},
                draw=lambda rng, sizes: Call((rng.standard_normal(sizes["n"]),))),),
)  # fmt: skip


def test_the_number_of_outputs():
    assert "returned one: an array" in check(PAIR, lambda x: x).said[0].en
    assert "and returned 3" in check(PAIR, lambda x: (x, x, x)).said[0].en
    assert "두 가지(`a`, `b`)를 돌려주어야 하는데 한 가지만" in check(PAIR, lambda x: x).said[0].ko
    assert "하는데 세 가지를 돌려주었습니다" in check(PAIR, lambda x: (x, x, x)).said[0].ko
    assert "하는데 6 가지를" in check(PAIR, lambda x: (x,) * 6).said[0].ko
    assert "`b` is None" in check(PAIR, lambda x: (x, None)).said[0].en
    assert check(PAIR, lambda x: [x, 2 * x]).right


def test_blanks_and_missing_names():
    def costs():
        return {"bytes": 4000, "flops": 8}

    part = Part(solution=costs, judge=costs, stub="def costs():\n    ...")
    exercise = Exercise(**{name: getattr(PAIR, name) for name in ("note", "section", "title", "task", "hints")},
                        name="costs", parts=(part,))  # fmt: skip
    assert check(exercise, lambda: {"bytes": ..., "flops": 8}).said[0].en.startswith("`bytes` is still blank")
    assert check(exercise, lambda: {"bytes": 4000}).said[0].en.startswith("The answers lack `flops`")
    guess = check(exercise, lambda: {"bytes": 4000, "flops": 9})
    assert (guess.said[0].en, guess.example) == ("`flops` is not right yet.", None)


def test_of_several_answers_the_wrong_one_is_told_beside_its_mistake():
    exercise = exercises.load("weights_by_hand")
    part = exercise.parts[0]
    for mistake in part.mistakes:
        wrong = mistake.wrong()
        verdict = check(exercise, lambda wrong=wrong: part.solution() | wrong)
        assert (verdict.mistake, verdict.example) == (mistake.name, None)
        assert verdict.said[1].en.split("`")[1] in wrong


def test_a_tuple_of_blanks_is_blank():
    exercise = exercises.load("weights_by_hand")
    answers = exercise.parts[0].solution()
    for blank in ((..., ..., ...), (0.1, ..., 0.7)):
        verdict = check(exercise, lambda blank=blank: answers | {"shares_of_e": blank})
        assert (verdict.kind, verdict.example) == ("unwritten", None)
        assert verdict.said[0].en.startswith("`shares_of_e` is still blank")


def test_wrong_weights_are_spoken_of_before_the_output_they_spoil():
    def over_the_queries(Q, K, V, mask):
        scores = np.where(mask, Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]), -1e9)
        powers = np.exp(scores - scores.max(axis=-2, keepdims=True))
        weights = powers / powers.sum(axis=-2, keepdims=True)
        return weights @ V, weights

    verdict = practice.check("masked_attention", over_the_queries)
    assert words.seen.COLUMNS_SUM_TO_ONE in verdict.said
    assert verdict.said[0].en.startswith("`weights` has the right shape")


def test_a_notebook_checks_any_function_by_name():
    assert practice.check("softmax", right)
    assert not practice.check("softmax", lambda x, axis=-1: x)


def test_what_a_notebook_gets_wrong(unchecked):
    with pytest.raises(ValueError, match="there is no exercise 'sofmax'; did you mean 'softmax'"):
        practice.check("sofmax", right)
    with pytest.raises(ValueError, match=r"name must be one of .* got 'zzz'"):
        practice.check("zzz", right)
    with pytest.raises(TypeError, match="check takes functions, got ndarray: hand over softmax itself"):
        practice.check("softmax", right(np.ones(3)))
    with pytest.raises(TypeError, match=r'check\("softmax", softmax\)'):
        practice.check("softmax")
    with pytest.raises(ValueError, match="softmax asks for one function, got 2"):
        practice.check("softmax", right, right)


def test_a_stub_is_known_without_a_solution():
    def never(*arguments):
        raise AssertionError("asked for a solution")

    def later(x):
        raise NotImplementedError

    part = Part(solution=later, judge=never, draw=PAIR.parts[0].draw, sizes={"n": 3})
    verdict = check(dataclasses.replace(PAIR, name="later", parts=(part,)), later)
    assert verdict.kind == "unwritten"


def test_what_takes_long_is_neither_shrunk_nor_compared_for_ever(monkeypatch):
    asked = []

    def slow(x):
        asked.append(x.size)
        time.sleep(0.02)
        return x, 2 * x

    mistakes = tuple(
        Mistake(name=f"m{i}", wrong=lambda x: time.sleep(0.05) or (x, x), said=Said("m", "m")) for i in range(50)
    )
    part = dataclasses.replace(PAIR.parts[0], solution=slow, judge=slow, mistakes=mistakes)
    monkeypatch.setattr(explaining, "EXPLAINING", 0.01)
    began = time.monotonic()
    verdict = check(dataclasses.replace(PAIR, parts=(part,), seconds=0.5), lambda x: (x, 3 * x))
    assert (verdict.kind, verdict.mistake, set(asked)) == ("values", None, {3})
    assert time.monotonic() - began < 5


def test_the_sizes_in_an_error_are_said_in_letters():
    verdict = verdict_on(lambda x, axis=-1: x @ x)
    assert verdict.kind == "exception"
    assert verdict.said[1] == words.found.SIZES.filled(letters="b = 3, c = 5")


def test_two_mistakes_at_once_are_named_by_the_one_that_ordinary_calls_show():
    def over_queries_and_no_maximum(Q, K, V, mask=None):
        scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
        powers = np.exp(scores if mask is None else np.where(mask, scores, -1e9))
        weights = powers / powers.sum(axis=-2, keepdims=True)
        return weights @ V, weights

    def not_scaled_and_no_maximum(Q, K, V, mask=None):
        scores = Q @ K.swapaxes(-1, -2)
        powers = np.exp(scores if mask is None else np.where(mask, scores, -np.inf))
        weights = powers / powers.sum(axis=-1, keepdims=True)
        return weights @ V, weights

    verdict = practice.check("scaled_dot_product_attention", not_scaled_and_no_maximum)
    assert verdict.mistake == "not_scaled"
    assert verdict.said[1] == words.seen.NOT_ALONE
    assert practice.check("scaled_dot_product_attention", over_queries_and_no_maximum).said[1:]


def test_outputs_in_another_order():
    def weights_first(Q, K, V, mask=None):
        return exercises.load("scaled_dot_product_attention").parts[0].solution(Q, K, V, mask)[::-1]

    verdict = practice.check("scaled_dot_product_attention", weights_first)
    assert verdict.said[1] == words.seen.OTHER_ORDER.filled(got="`weights`, `output`", expected="`output`, `weights`")
