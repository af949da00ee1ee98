"""The first difference of two answers, in the order in which a learner should hear of it."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.practice.answers import Foreign, Tensor
from clearhead.practice.comparing import difference, differing, same
from clearhead.practice.exercise import Part

ONE = Part(solution=len, judge=len, outputs={"weights": "n_q n_k"})
TWO = Part(solution=len, judge=len, outputs={"output": "n_q d", "weights": "n_q n_k"})
RIGHT = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])


def kind(part, expected, got, model=None):
    found = difference(part, expected, expected if model is None else model, got)
    return found and (found.kind, found.output)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (RIGHT + 1e-12, None),
        (RIGHT + 1e-6, "values"),
        (None, "nothing"),
        (RIGHT.tolist() and tuple(map(tuple, RIGHT.tolist())), "type"),
        (Foreign("Model"), "type"),
        (Tensor(RIGHT), "type"),
        (0.5, "type"),
        (RIGHT.T, "shape"),
        (RIGHT[..., None], "shape"),
        (RIGHT.astype(np.float32), "dtype"),
        (RIGHT.astype(np.longdouble), None),
        (RIGHT.astype(int), "dtype"),
        (RIGHT > 0.3, "dtype"),
        (np.where(RIGHT == 0, np.nan, RIGHT), "nan"),
        (np.where(RIGHT == 0, np.inf, RIGHT), "nan"),
    ],
)
def test_one_array(got, expected):
    assert kind(ONE, RIGHT, got) == (expected and (expected, "" if got is None else "weights"))


def test_several_outputs():
    right = (RIGHT, RIGHT[:2])
    assert kind(TWO, right, (RIGHT, RIGHT[:2])) is None
    assert kind(TWO, right, RIGHT) == ("count", "")
    assert kind(TWO, right, (RIGHT,)) == ("count", "")
    assert kind(TWO, right, (RIGHT + 1, RIGHT)) == ("shape", "weights")  # a shape is spoken of before values
    assert kind(TWO, right, (RIGHT, None)) == ("nothing", "weights")


def test_numbers_by_name():
    part = Part(solution=len, judge=len)
    right = {"bytes": 4_000, "shape": (2, 3), "share": 0.25, "answer": "yes"}
    assert kind(part, right, right | {"bytes": 4000.0, "shape": np.array([2, 3])}) is None
    assert kind(part, right, right | {"bytes": 4001}) == ("values", "bytes")
    assert kind(part, right, right | {"shape": (2, 4)}) == ("values", "shape")
    assert kind(part, right, right | {"shape": (2,)}) == ("values", "shape")
    assert kind(part, right, right | {"answer": "no"}) == ("values", "answer")
    assert kind(part, right, right | {"share": None}) == ("nothing", "share")
    assert kind(part, right, right | {"share": float("nan")}) == ("nan", "share")
    assert kind(part, right, {"bytes": 4000}) == ("names", "shape")
    assert kind(part, right, 4000) == ("type", "")


def test_the_types_are_the_solutions_and_the_values_the_judges():
    assert kind(ONE, RIGHT, Tensor(RIGHT), model=Tensor(RIGHT)) is None
    assert kind(ONE, RIGHT.astype(int), RIGHT.astype(int).astype(bool), model=RIGHT > 2) is None


def test_whole_numbers_of_any_width_and_lists():
    part = Part(solution=len, judge=len)
    assert kind(part, np.array([1, 2]), np.array([1, 2], np.int32)) is None
    assert kind(part, (1, 2), np.array([1, 2])) is None
    assert kind(part, (1, 2), (1, 2, 3)) == ("values", "")


def test_the_reach_is_relative_to_the_largest_number():
    large = np.array([1e6, 1.0])
    assert not differing(large, large + 1e-3, 1e-8).any()
    assert differing(np.array([1.0, 1.0]), np.array([1.0, 1.0 + 1e-3]), 1e-8).tolist() == [False, True]


def test_what_is_not_finite_is_the_same_only_as_itself():
    strange = np.array([np.nan, np.inf, -np.inf, 0.0])
    assert same(strange, strange.copy(), 1e-8)
    assert differing(strange, np.array([0.0, -np.inf, -np.inf, np.nan]), 1e-8).tolist() == [True, True, False, True]
