"""A counterexample: the call in few words, and two grids whose differing cells can be told apart."""

from __future__ import annotations

import numpy as np
import torch

from clearhead.practice.examples import COLUMNS, ROWS, example, plainly, shapes
from clearhead.practice.exercise import Call, Part


def attend(x, mask=None):
    return x


PART = Part(solution=attend, judge=attend, outputs={"weights": "h n_q n_k"})


def texts(grid):
    return [[cell.text for cell in row] for row in grid]


def test_the_place_of_the_first_difference_is_shown():
    right = np.arange(12.0).reshape(2, 2, 3)
    got = right.copy()
    got[1, 0, 2] = 0.5
    shown = example(PART, Call((right[0],), {"mask": None}), "weights", right, got)
    assert shown.output == "weights[1]"
    assert texts(shown.expected) == [["6", "7", "8"], ["9", "10", "11"]]
    assert texts(shown.got)[0] == ["6", "7", "0.5"]
    assert [[cell.differs for cell in row] for row in shown.got] == [[False, False, True], [False] * 3]
    assert shown.arguments == (("x", "[[0, 1, 2],\n [3, 4, 5]]"), ("mask", "None"))


def test_of_an_exception_the_shapes_are_shown():
    shown = shapes(PART, Call((np.zeros((2, 3)),), {"mask": None}))
    assert shown == ((("x", "ndarray (2, 3)"), ("mask", "None")), "", (), (), 0)


def test_as_many_digits_as_tell_them_apart():
    shown = example(PART, Call(), "weights", np.array([0.5]), np.array([0.5000001]))
    assert texts(shown.expected) == [["0.5"]]
    assert texts(shown.got) == [["0.5000001"]]


def test_a_large_output_is_cut_to_where_it_differs():
    right = np.zeros((40, 50))
    got = right.copy()
    got[30, 45] = 1
    shown = example(PART, Call(), "weights", right, got)
    assert (len(shown.got), len(shown.got[0])) == (ROWS, COLUMNS)
    assert sum(cell.differs for row in shown.got for cell in row) == 1
    assert shown.column == 45 - COLUMNS + 1


def test_numbers_text_and_other_values():
    shown = example(PART, Call(), "bytes", 4000, 4001)
    assert (texts(shown.expected), texts(shown.got)) == ([["4000"]], [["4001"]])
    assert plainly((2, [0.5, "a"])) == "(2, [0.5, 'a'])"
    assert plainly({"W": np.ones((20, 20))}) == "{W: float64 (20, 20)}"
    assert plainly(torch.ones(2)) == "[1, 1]"
    assert plainly(np.array([True, False])) == "[ True, False]"


def test_different_numbers_of_an_argument_look_different():
    assert plainly(np.array([[1000.0, 1001.0, 999.0], [-1000.0, -1002.0, -1001.0]])) == (
        "[[1000, 1001, 999],\n [-1000, -1002, -1001]]"
    )
    assert plainly(np.array([0.12341, 0.12344])) == "[0.12341, 0.12344]"
    assert plainly(np.array([1 / 3, 2e9, -np.inf, np.nan])) == "[0.333, 2e+09, -inf, nan]"


def test_whole_numbers_of_an_output_keep_their_digits():
    shown = example(PART, Call(), "weights", np.array([1001.0, 2.0]), np.array([1001.0, 3.0]))
    assert texts(shown.got) == [["1001", "3"]]
    strange = example(PART, Call(), "weights", np.array([1.0, 2.0]), np.array([np.nan, np.inf]))
    assert texts(strange.got) == [["nan", "inf"]]
