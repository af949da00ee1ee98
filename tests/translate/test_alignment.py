from __future__ import annotations

import numpy as np
import pytest

from clearhead.text.words import word_spans
from clearhead.translate.alignment import (
    GIVEN,
    MEAN,
    WRITTEN,
    Aligned,
    Reader,
    Score,
    gold_words,
    looks,
    measure,
    parts,
    readers,
    rows_of,
)


def texts(text, spans):
    return [text[start:stop] for start, stop in spans]


def test_parts_are_what_shares_a_character():
    pieces, whole = [(0, 3), (3, 4), (5, 6), (6, 9)], [(0, 4), (5, 9), (3, 6)]
    expected = [[True, True, False, False], [False, False, True, True], [False, True, True, False]]
    np.testing.assert_array_equal(parts(pieces, whole), expected)


def test_rows_of_the_two_readings(rng):
    weights = rng.random((2, 3, 6, 7))  # BEGIN and five pieces are given; five pieces and END are written
    np.testing.assert_array_equal(rows_of(weights, 5, WRITTEN), weights[:, :, :5])
    np.testing.assert_array_equal(rows_of(weights, 5, GIVEN), weights[:, :, 1:])


def test_another_reading_is_refused(unchecked):
    with pytest.raises(ValueError, match="reading must be one of 'written', 'given', got 'read'"):
        rows_of(np.ones((3, 2)), 2, "read")


def test_readers_are_heads_layers_and_all(rng):
    weights = rng.random((2, 3, 5, 7))
    found = readers(2, 3)
    assert len(found) == 2 * 3 + 2 + 1
    assert [str(reader) for reader in found[4:]] == [
        "layer 1, head 1",
        "layer 1, head 2",
        "layer 0, mean of its heads",
        "layer 1, mean of its heads",
        "mean of all heads",
    ]
    np.testing.assert_array_equal(Reader(1, 2).of(weights), weights[1, 2])
    np.testing.assert_allclose(Reader(1, None).of(weights), weights[1].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(MEAN.of(weights), weights.mean(axis=(0, 1)), rtol=1e-12)


def looking(source, target, looks):
    """Words as pieces, and heads that look where they are told: looks (heads, target words)."""
    weights = np.eye(len(source.split()))[np.array(looks)][None]  # (1, heads, t, s)
    return Aligned.of_texts(source, target, word_spans(source), word_spans(target), weights)


def link(source, target, word, other):
    start, begin = source.index(word), target.index(other)
    return (start, start + len(word)), (begin, begin + len(other))


def test_measure_counts_linked_words_only():
    source, target = "고양이가 쥐를 잡았다", "the cat caught mice"
    gold = [("고양이가", "cat"), ("쥐를", "mice"), ("잡았다", "caught")]
    links = [link(source, target, *pair) for pair in gold]
    aligned = looking(source, target, [[0, 0, 2, 1], [1, 0, 2, 2], [2, 2, 1, 0]])
    scores = {score.reader: score for score in measure([(aligned, links)])}
    assert [scores[Reader(0, head)].right for head in range(3)] == [3, 2, 0]
    assert {score.total for score in scores.values()} == {3}
    assert scores[Reader(0, 0)].accuracy == 1
    assert scores[Reader(0, 0)].error_rate == 0
    np.testing.assert_allclose(scores[Reader(0, 1)].error_rate, 1 / 3, rtol=1e-12)


def test_the_best_comes_first_and_single_heads_before_means():
    source, target = "a b", "x y"
    links = [link(source, target, "a", "y"), link(source, target, "b", "x")]
    scores = measure([(looking(source, target, [[0, 1], [1, 0]]), links)] * 2)
    assert [score.right for score in scores] == sorted((score.right for score in scores), reverse=True)
    assert scores[0].reader == Reader(0, 1)
    assert scores[0] == Score(Reader(0, 1), 4, 4, 4)


def test_one_word_said_in_two():
    """세 마리 is three: looking at either is right, and one of the two links cannot be found."""
    source, target = "고양이 세 마리", "three cats"
    links = [link(source, target, "세 마리", "three"), link(source, target, "고양이", "cats")]
    aligned = looking(source, target, [[2, 0]])
    np.testing.assert_array_equal(gold_words(aligned, links), [[False, True, True], [True, False, False]])
    (score, *_) = measure([(aligned, links)])
    assert (score.right, score.total, score.gold) == (2, 2, 3)
    np.testing.assert_allclose(score.error_rate, 1 - 2 * 2 / 5, rtol=1e-12)


def test_nothing_to_measure():
    assert measure([]) == []


def test_a_word_that_comes_from_no_word_looks_at_none():
    """What a row lacks to 1 is what the end of the source got."""
    found = looks(np.array([[0.7, 0.2], [0.1, 0.3], [0.25, 0.5]]))
    assert [look.word for look in found] == [0, None, 1]
    np.testing.assert_allclose([look.weight for look in found], [0.7, 0.6, 0.5])
