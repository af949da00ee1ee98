"""Keys of its own for each query: the same weights as in a window."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import biases, masks
from clearhead.views import look

N_Q, N_K = 137, 353


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


KEYS = {
    "the first": np.zeros(N_Q, int),
    "its own": np.arange(N_Q) + N_K - N_Q,
    "the one before": np.arange(N_Q) - 1,
    "any": np.random.default_rng(3).integers(-2, N_K + 2, N_Q),
    "none": np.full(N_Q, N_K),
}


@pytest.fixture(params=["causal", "a rule", "alibi"])
def view(request):
    options = {
        "causal": {"mask": masks.causal()},
        "a rule": {"mask": masks.where(lambda b, h, i, j: (b + h + i + j) % 3 > 0)},
        "alibi": {"bias": biases.alibi(3), "mask": masks.causal()},
    }[request.param]
    return look(draw(2, 3, N_Q, 7), draw(2, 3, N_K, 7, seed=1), **options)


@pytest.mark.parametrize("keys", KEYS)
def test_one_key_of_its_own_for_each_query(view, keys):
    whole = np.pad(view.weights(), ((0, 0), (0, 0), (0, 0), (2, 2)))
    expected = whole[..., np.arange(N_Q), KEYS[keys] + 2]
    np.testing.assert_array_equal(view.recomputed.at(KEYS[keys]), expected)


def test_several_keys_of_their_own(view):
    query = np.array([5, 3, 130])
    keys = np.array([[0, 300, -1], [7, 7, N_K], [352, 0, 1]])
    weights, there = view.recomputed.picked((1,), 2, query, keys)
    window = view.weights(2, query, batch=1)
    inside = (keys >= 0) & (keys < N_K)
    expected = np.where(inside, np.take_along_axis(window, np.where(inside, keys, 0), axis=-1), 0)
    np.testing.assert_array_equal(weights, expected)
    assert not there[~inside].any()
    assert not weights[~there].any()
