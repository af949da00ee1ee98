"""Attention between words is that of their tokens: summed over keys, averaged over queries."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.views import grouping, look

B, H, N, D = 2, 3, 37, 7


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.fixture
def view():
    return look(draw(B, H, N, D), draw(B, 1, N, D, seed=1), mask=masks.causal(), sinks=draw(H, seed=2))


def between(weights, queries, keys, count_q, count_k):
    """By definition, group by group."""
    result = np.zeros((*weights.shape[:-2], count_q, count_k))
    for a, b in np.ndindex(count_q, count_k):
        if (queries == a).any():
            result[..., a, b] = weights[..., queries == a, :][..., keys == b].sum(axis=-1).mean(axis=-1)
    return result


def test_words(view):
    words = np.repeat(np.arange(13), 3)[:N]
    got = view.grouped(words)
    np.testing.assert_allclose(got, between(view.weights(), words, words, 13, 13), rtol=1e-12, atol=1e-15)
    whole = look(draw(B, H, N, D), draw(B, 1, N, D, seed=1)).grouped(words)
    np.testing.assert_allclose(whole.sum(axis=-1), 1, rtol=1e-12)


def test_other_groups_for_keys_and_some_that_are_in_none(view):
    queries, keys = np.arange(N) % 5 - 1, np.arange(N) % 7 - 1
    got = view.grouped(queries, keys)
    np.testing.assert_allclose(got, between(view.weights(), queries, keys, 4, 6), rtol=1e-12, atol=1e-15)


def test_word_ids_of_a_tokenizer(view):
    """None is what tokenizers call the word of a special token."""
    words = [None, *np.repeat(np.arange(5), 7).tolist(), None]
    plain = np.asarray([-1 if x is None else x for x in words])
    np.testing.assert_array_equal(view.grouped(words), view.grouped(plain))


def test_any_labels_are_numbered_as_they_appear(view):
    speakers = ["you"] * 10 + [None] + ["I"] * 20 + ["you"] * 6
    numbers = np.array([0] * 10 + [-1] + [1] * 20 + [0] * 6)
    np.testing.assert_array_equal(view.grouped(speakers), view.grouped(numbers))
    np.testing.assert_array_equal(view.grouped(["b", "a"] * 18 + ["b"]), view.grouped(np.arange(N) % 2))


def test_a_number_that_no_position_has_is_an_empty_group(view):
    got = view.grouped(np.where(np.arange(N) < 20, 0, 2))
    assert got.shape == (B, H, 3, 3)
    assert not got[..., 1, :].any()
    assert not got[..., 1].any()


def test_groups_of_their_own_for_each_batch_entry(view):
    groups = np.stack([np.arange(N) // 10, np.arange(N) % 4])
    got = view.grouped(groups)
    for entry in range(B):
        expected = between(view.weights(batch=entry), groups[entry], groups[entry], 4, 4)
        np.testing.assert_allclose(got[entry], expected, rtol=1e-12, atol=1e-15)


def test_a_few_columns_at_a_time(view, monkeypatch):
    words = np.arange(N) // 2
    whole = view.grouped(words)
    monkeypatch.setattr(grouping, "MEMORY", 5 * B * H * N * 8)
    np.testing.assert_allclose(view.grouped(words), whole, rtol=1e-13)


def test_without_heads_and_half_precision():
    view = look(draw(11, D).astype(np.float16), draw(17, D, seed=1).astype(np.float16))
    queries, keys = np.arange(11) // 3, np.arange(17) // 5
    got = view.grouped(queries, keys)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, between(view.weights(), queries, keys, 4, 4), rtol=1e-6)


class TestErrors:
    def test_key_groups_are_needed(self, unchecked):
        with pytest.raises(ValueError, match=r"there are 5 queries and 7 keys, .* give key_groups too"):
            look(draw(5, 3), draw(7, 3)).grouped(np.zeros(5, int))

    def test_one_for_each_position(self, unchecked, view):
        with pytest.raises(
            ValueError, match=r"query_groups need a label for each of 37 positions, shape \(37,\), got shape \(5,\)"
        ):
            view.grouped(np.arange(5))
        with pytest.raises(ValueError, match="key_groups need a label for each of 37 positions"):
            view.grouped(np.arange(N), np.zeros((3, N), int))

    def test_negative_numbers(self, unchecked, view):
        with pytest.raises(ValueError, match="query_groups must be 0 or more, or −1 for no group, got -2"):
            view.grouped(np.arange(N) - 2)
