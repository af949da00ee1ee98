"""The definition of a score, against loops over queries and keys."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clearhead import masks
from clearhead.textbook.pattern_scores import (
    NEAR_RADII,
    WIDE_RADII,
    above_chance,
    allowed_keys,
    best_radius,
    chance_of,
    checked_tokens,
    even_mass_on,
    least_scores,
    mass_on,
    mean_over,
    padding_of,
    position_keys,
    real_ends,
    token_keys,
    token_kinds,
    tried_radii,
    window_keys,
)

H, N_Q, N_K = 3, 7, 11


@pytest.fixture
def weights(rng):
    """Rows that sum to less than 1, with zeros in them and one that is empty."""
    drawn = rng.dirichlet(np.full(N_K, 0.3), size=(H, N_Q)) * rng.uniform(0.5, 1, (H, N_Q, 1))
    drawn[drawn < 0.01] = 0
    drawn[1, 2] = 0
    return drawn


def test_the_keys_of_positions_one_by_one():
    keys = position_keys(N_Q, N_K)
    for i, j in np.ndindex(N_Q, N_K):
        position = i + N_K - N_Q
        assert keys["self"][i, j] == (j == position)
        assert keys["previous_token"][i, j] == (j == position - 1)
        assert keys["next_token"][i, j] == (j == min(position + 1, N_K - 1))
        assert keys["first_token"][i, j] == (j == 0)
        assert keys["uniform"][i, j]
        assert [window_keys(N_Q, N_K, r)[i, j] for r in (0, 2, 50)] == [j == position, abs(j - position) <= 2, True]
    assert position_keys(2, 2)["previous_token"].tolist() == [[True, False], [True, False]]
    for name in ("previous_token", "next_token"):
        assert not position_keys(3, 1)[name][:2].any()  # they stand before the first key


def test_the_first_and_the_last_key_are_no_padding():
    padding = np.array([[0, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 1]], bool)[:, None]
    keys = position_keys(4, 4, padding)
    assert keys["first_token"].argmax(axis=-1).tolist() == [[[0] * 4], [[2] * 4], [[0] * 4]]
    assert keys["next_token"][0, 0].argmax(axis=-1).tolist()[:3] == [1, 2, 2]
    assert keys["previous_token"][1, 0].argmax(axis=-1).tolist()[2:] == [2, 2]
    assert [x.tolist() for x in real_ends(padding[:, 0], 4)] == [[0, 2, 0], [2, 3, 3]]
    assert [x.tolist() for x in real_ends(None, 4)] == [0, 3]


def test_what_an_even_head_scores_is_chance(rng):
    allowed = rng.random((H, N_Q, N_K)) < 0.7
    allowed[..., 0] = True
    keys, queries = allowed & (rng.random((H, N_Q, N_K)) < 0.4), rng.random((H, N_Q)) < 0.6
    even = allowed / allowed.sum(axis=-1, keepdims=True)
    expected = mean_over(queries, even_mass_on(even, keys))
    np.testing.assert_allclose(chance_of(keys, allowed, queries), expected, rtol=1e-12)


def test_a_fifth_of_the_way_from_chance_to_1_supports_a_name():
    least = least_scores({"self": np.array([0, 0.5, 1])})
    np.testing.assert_allclose(least["self"], [0.2, 0.6, 1])
    np.testing.assert_array_equal(least["uniform"], [0.5] * 3)


class TestTokens:
    def test_which_part_texts_and_which_punctuate(self):
        labels = np.array(["[CLS]", "Yes", ",", "no", ".", "[SEP]"])
        found = token_kinds(labels)
        assert [np.flatnonzero(x).tolist() for x in found.values()] == [[0, 5], [2, 4]]
        assert list(found) == ["separator", "punctuation"]
        assert token_kinds(np.arange(6)) == {}
        assert np.flatnonzero(token_kinds(np.arange(6), separators=[3])["separator"]).tolist() == [3]

    def test_their_keys_are_the_same_for_every_query(self):
        keys = token_keys(np.array([["a", "."], [".", "."]]), (2, H, 2, 2))
        assert keys["punctuation"].tolist() == [[[[False, True]] * 2], [[[True, True]] * 2]]

    @pytest.mark.parametrize(
        "ids", [np.arange(4), np.arange(4)[None], np.arange(4)[None, None]], ids=["(n)", "(1, n)", "(1, 1, n)"]
    )
    def test_a_batch_of_one_is_none(self, ids):
        assert checked_tokens(ids, 4, 4, ()).tolist() == [0, 1, 2, 3]
        assert checked_tokens(ids, 4, 4, (2,)).tolist() == [[0, 1, 2, 3]] * 2


class TestPadding:
    SIZES = masks.Sizes(4, 4, (2,), H)

    @pytest.mark.parametrize(
        "mask",
        [
            masks.key_lengths([2, 4]),
            masks.causal() & masks.key_lengths([2, 4]),
            np.array([[1, 1, 0, 0], [1, 1, 1, 1]], bool)[:, None, None],
            np.where([[1, 1, 0, 0], [1, 1, 1, 1]], 0, -np.inf)[:, None, None],
            masks.array(np.array([[1, 1, 0, 0], [1, 0, 1, 1]], bool)[:, None, None]),
        ],
        ids=["lengths", "joined", "flags", "floats", "a hole is none"],
    )
    def test_what_masks_say(self, mask):
        assert padding_of(None, mask, None, self.SIZES).tolist() == [[False, False, True, True], [False] * 4]

    @pytest.mark.parametrize("mask", [None, True, masks.causal(), masks.prefix(2), np.arange(4) < 2, np.tri(4) > 0])
    def test_what_is_only_out_of_sight_is_none(self, mask):
        assert padding_of(None, mask, None, self.SIZES) is None

    def test_what_labels_and_callers_say(self):
        labels = np.array(["a", "b", "c", "[PAD]"])
        assert padding_of(None, masks.key_lengths([2, 4]), labels, self.SIZES).tolist() == [
            [False] * 2 + [True] * 2,
            [False] * 3 + [True],
        ]
        assert (
            padding_of(np.arange(4) < 1, masks.key_lengths([2, 4]), labels, self.SIZES).tolist()
            == [[True, False, False, True]] * 2
        )
        assert padding_of(False, masks.key_lengths([2, 4]), None, self.SIZES) is None

    def test_errors(self, unchecked):
        with pytest.raises(
            TypeError, match=r"padding must be boolean \(True = padding, as in ids == pad_id\), got int64"
        ):
            padding_of([0, 0, 0, 1], None, None, self.SIZES)
        with pytest.raises(ValueError, match=r"padding needs a flag for each of the 4 keys, .* got shape \(3,\)"):
            padding_of([True, True, False], None, None, self.SIZES)
        with pytest.raises(ValueError, match="5 queries cannot be the last positions of 4 keys"):
            padding_of([True] * 4, None, None, masks.Sizes(5, 4))


def test_a_window_for_each_head():
    keys = window_keys(N_Q, N_K, np.array([1, 3]))
    for head, radius in enumerate((1, 3)):
        np.testing.assert_array_equal(keys[head], window_keys(N_Q, N_K, radius))


def test_the_keys_of_tokens_one_by_one(rng):
    ids = rng.integers(0, 3, (2, N_K))
    keys = token_keys(ids, (2, H, N_Q, N_K))
    for b, i, j in np.ndindex(2, N_Q, N_K):
        position = i + N_K - N_Q
        assert keys["duplicate_token"][b, 0, i, j] == (ids[b, j] == ids[b, position] and j != position)
        follows = j > 0 and ids[b, j - 1] == ids[b, position]
        assert keys["induction"][b, 0, i, j] == (follows and j < position)
    np.testing.assert_array_equal(token_keys(ids[0], (N_Q, N_K))["induction"], keys["induction"][0, 0])


def test_mass_and_evenness_one_by_one(weights, rng):
    keys = rng.random((H, N_Q, N_K)) < 0.5
    keys[0, 3] = False
    for place in np.ndindex(H, N_Q):
        chosen = [float(w) for w, taken in zip(weights[place], keys[place], strict=True) if taken]
        mass = sum(chosen)
        entropy = -sum(w / mass * math.log(w / mass) for w in chosen if w)
        assert mass_on(weights, keys)[place] == pytest.approx(mass, abs=1e-15)
        expected = mass * math.exp(entropy) / max(len(chosen), 1)
        assert even_mass_on(weights, keys)[place] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("used", [1, 3, 7])
def test_the_part_of_the_keys_that_is_used(used, share):
    """An even share of the attention on some of seven keys."""
    weights = np.zeros((1, 7))
    weights[:, :used] = share / used
    score = even_mass_on(weights, np.ones((1, 7), bool))
    assert score[0] == pytest.approx(share * used / 7, rel=1e-12)


def test_above_chance_one_by_one(weights, rng):
    keys, allowed = rng.random((2, H, N_Q, N_K)) < np.array([0.3, 0.9])[:, None, None, None]
    keys, queries = keys & allowed, rng.random((H, N_Q)) < 0.6
    queries[2] = False
    for head in range(H):
        above, possible = 0.0, 0.0
        for i in np.flatnonzero(queries[head]):
            chance = keys[head, i].sum() / allowed[head, i].sum()
            above += weights[head, i, keys[head, i]].sum() - chance * weights[head, i].sum()
            possible += 1 - chance
        expected = min(max(above / possible, 0), 1) if possible else 0
        assert above_chance(weights, keys, allowed, queries)[head] == pytest.approx(expected, abs=1e-14)


def test_the_mean_over_some_queries():
    scores, queries = np.array([[0.5, 1.0, 0.0], [1, 1, 1]]), np.array([[True, True, False], [False] * 3])
    np.testing.assert_array_equal(mean_over(queries, scores), [0.75, 0])


@pytest.mark.parametrize("n_k", [0, 1, 2, 3, 33, 34, 35, 128, 129, 130, 1024, 1025])
def test_the_windows_that_are_tried(n_k):
    tried = tried_radii(n_k)
    assert tried[0] == 1
    assert set(tried[1:]) == {r for r in NEAR_RADII[1:] if r < n_k - 1} | {r for r in WIDE_RADII if 2 * r < n_k}
    assert tried == sorted(tried)


def test_the_best_radius_is_that_of_the_best_score(weights):
    allowed, queries = np.ones((N_Q, N_K), bool), weights.any(axis=-1)
    scores = [mean_over(queries, even_mass_on(weights, window_keys(N_Q, N_K, r))) for r in range(1, 6)]
    np.testing.assert_array_equal(best_radius(weights, allowed, queries), np.argmax(scores, axis=0) + 1)


def test_a_window_of_more_than_half_must_leave_half_as_much_unexplained():
    allowed, queries = np.ones((9, 9), bool), np.ones(9, bool)
    wide = window_keys(9, 9, 6)
    for share, radius in ((1.0, 6), (0.7, 4)):
        even = share * wide / wide.sum(axis=-1, keepdims=True) + (1 - share) / 9
        assert best_radius(even, allowed, queries) == radius


def test_without_a_mask_a_head_that_never_looks_ahead_is_causal():
    weights = np.stack([np.eye(4), np.eye(4)[[0, 0, 3, 3]]])
    np.testing.assert_array_equal(allowed_keys(weights, None), [np.tri(4), np.ones((4, 4))])
    np.testing.assert_array_equal(allowed_keys(weights, True), np.ones((2, 4, 4)))
    np.testing.assert_array_equal(allowed_keys(weights[:1, -2:], None), [np.tri(4)[-2:]])
