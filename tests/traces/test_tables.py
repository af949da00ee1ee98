"""A number for each head, as a mapping, as an array, in words and as a figure."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.traces.reading import Grouping
from clearhead.traces.sharing import Shares
from clearhead.traces.tables import HeadScores, aligned, told_apart
from clearhead.traces.value_norms import ValueNorms

SCORES = HeadScores({"a.0": np.array([0.5, -2.0]), "b.0": np.array([1.0, 0.0, np.nan])}, "a score")


def test_by_layer_and_as_one_array():
    assert list(SCORES) == SCORES.names == ["a.0", "b.0"]
    assert SCORES["a.0"].tolist() == [0.5, -2.0]
    assert len(SCORES) == 2
    assert list(dict(SCORES)) == ["a.0", "b.0"]
    assert [len(row) for _, row in SCORES.items()] == [2, 3]
    np.testing.assert_array_equal(SCORES.array, [[0.5, -2.0, np.nan], [1.0, 0.0, np.nan]])


def test_the_largest_whatever_their_sign():
    assert SCORES.largest(2) == [("a.0", 1, -2.0), ("b.0", 0, 1.0)]
    assert len(SCORES.largest()) == 4, "what is no number is not among them"
    assert str(SCORES).splitlines() == [
        "a score:", "a.0  head   1    -2", "b.0  head   0    +1", "a.0  head   0  +0.5", "b.0  head   1    +0",
    ]  # fmt: skip
    assert repr(SCORES) == str(SCORES)


def test_what_is_not_printed_is_counted():
    many = HeadScores({"a.0": np.arange(12.0)}, "a score")
    assert len(str(many).splitlines()) == 12
    assert str(many).splitlines()[-1] == "… 2 more"
    assert len(many.largest(None)) == 12


def test_a_layer_that_is_not_there():
    with pytest.raises(KeyError, match=r"there is no layer 'a.1'; did you mean 'a.0'\?"):
        SCORES["a.1"]
    assert HeadScores(SCORES.layers, "a score") != SCORES, "arrays are not compared, and it raises nothing"


def test_columns_stand_below_each_other_in_korean_too():
    lines = aligned([["층", "첫 토큰", "1.5"], ["layer", "고르게", "-10"], ["x"]])
    assert lines == ["층     첫 토큰  1.5", "layer  고르게   -10", "x"]
    lines = aligned([["head", "0", "1"], ["a", "uniform", "self"], ["b", "local", "self"]])
    assert lines == ["head  0        1", "a     uniform  self", "b     local    self"], "above words, too"


def test_shares_and_norms_as_tables():
    groups = Grouping([f"w{i}" for i in range(14)], np.arange(14))
    shares = Shares({"a.0": np.full((2, 14), 1 / 14)}, groups)
    title, head, line = repr(shares).splitlines()
    assert title == "share of attention, the mean over heads:"
    assert head.split()[0] == "w0"
    assert head.endswith("w11  … 2 more")
    assert line.split() == ["a.0", *["0.071"] * 12, "…", "2", "more"]
    norms = ValueNorms({"a.0": np.array([[1.0, 3.0], [0.5, 0.5]])}, {})
    assert repr(norms).splitlines() == [
        "‖v W_O‖ of each head, the mean over keys:",
        "head      0       1",
        "a.0   2.000  0.5000",
    ]


def test_a_figure(tmp_path):
    SCORES.plot().savefig(tmp_path / "scores.png")
    assert str(HeadScores({}, "nothing")) == "nothing:"


def test_rows_of_a_figure_are_told_apart_by_what_differs():
    names = [f"encoder.layer.{number}.attention.self" for number in range(3)]
    assert told_apart(names) == ["0", "1", "2"]
    assert told_apart(["encoder.0.own", "decoder.0.own", "decoder.0.cross"])[2] == "decoder.0.cross"
    assert told_apart(["alone.0.own"]) == ["alone.0.own"]
    figure = HeadScores({name: np.array([-1.0, 0.5]) for name in names}, "mean of i − j").plot()
    texts = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert {"0", "1", "2"} <= set(texts)
    assert any(text in ("-1.00", "−1.00") for text in texts)  # below 0, where colours begin, the number tells
