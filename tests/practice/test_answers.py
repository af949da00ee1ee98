"""An answer becomes plain data, and what a call did to its arguments is seen."""

from __future__ import annotations

import numpy as np
import torch

from clearhead.practice.answers import Foreign, Tensor, outcome, plain
from clearhead.practice.exercise import Call, Part


def doubled(x, scale=2.0):
    return x * scale


PART = Part(solution=doubled, judge=doubled, outputs={"y": "n"})


def ask(function, part=PART, **keywords):
    return outcome(part, function, lambda: Call((np.arange(3.0),), keywords), __file__)


def test_numbers_and_text_lose_what_is_their_classes_own():
    for value, expected in ((np.float64(0.5), 0.5), (np.int32(3), 3), (np.bool_(True), True), (np.str_("a"), "a")):
        assert plain(value) == expected
        assert type(plain(value)) is type(expected)
    assert plain(...) is None


def test_containers_are_walked_through():
    value = plain({"a": [1, (2.0, None)], 3: np.arange(2)})
    assert value["a"] == (1, (2.0, None))
    np.testing.assert_array_equal(value["3"], [0, 1])


def test_tensors_and_foreign_objects():
    tensor = plain(torch.ones(2, requires_grad=True))
    assert isinstance(tensor, Tensor)
    np.testing.assert_array_equal(tensor.array, [1, 1])
    assert plain(object()) == Foreign("object")
    assert plain(np.array([None])) == Foreign("ndarray[object]")


def test_an_answer_is_a_copy():
    kept = np.arange(3.0)
    came = ask(lambda x, scale=2.0: kept)
    kept[0] = 9
    assert came.answer[0] == 0


def test_an_exception_becomes_a_failure_with_its_line():
    def fails(x, scale=2.0):
        raise ValueError("no")

    came = ask(fails)
    assert came.failure[:2] == ("ValueError", "no")
    assert [line.text.strip() for line in came.failure.trace if line.marked] == ['raise ValueError("no")']


def test_what_is_written_into_is_named():
    def writes(x, scale=2.0):
        x *= scale
        return x

    assert ask(writes).changed == ("x",)
    assert ask(doubled).changed == ()
    may = Part(solution=doubled, judge=doubled, may_change=("x",))
    assert ask(writes, may).changed == ()


def test_a_part_can_say_how_it_is_asked():
    twice = Part(solution=doubled, judge=doubled, ask=lambda f, call: f(f(*call.arguments)))
    np.testing.assert_array_equal(ask(doubled, twice).answer, [0, 4, 8])
