"""A number for each head, as a mapping, as an array, in words and as a figure."""

from __future__ import annotations

import numpy as np

from clearhead.traces.tables import HeadScores

SCORES = HeadScores({"a.0": np.array([0.5, -2.0]), "b.0": np.array([1.0, 0.0, np.nan])}, "a score")


def test_by_layer_and_as_one_array():
    assert list(SCORES) == SCORES.names == ["a.0", "b.0"]
    assert SCORES["a.0"].tolist() == [0.5, -2.0]
    assert len(SCORES) == 2
    assert list(dict(SCORES)) == ["a.0", "b.0"]
    assert [len(row) for _, row in SCORES.items()] == [2, 3]
    np.testing.assert_array_equal(SCORES.values, [[0.5, -2.0, np.nan], [1.0, 0.0, np.nan]])


def test_the_largest_whatever_their_sign():
    assert SCORES.largest(2) == [("a.0", 1, -2.0), ("b.0", 0, 1.0)]
    assert len(SCORES.largest()) == 4, "what is no number is not among them"
    assert str(SCORES).splitlines()[:2] == ["a score:", "a.0  head   1  -2"]
    assert repr(SCORES) == "<HeadScores: a score, 2 layers>"


def test_a_figure(tmp_path):
    SCORES.plot().savefig(tmp_path / "scores.png")
    assert str(HeadScores({}, "nothing")) == "nothing:"
