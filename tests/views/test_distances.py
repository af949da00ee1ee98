"""How far heads look, against the sums over the whole matrix of weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from clearhead import biases, masks
from clearhead.views import look
from clearhead.views.distances import log2_bins


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def by_formula(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of i − j under the weights of each head."""
    n_q, n_k = weights.shape[-2:]
    distance = np.arange(n_q)[:, None] + n_k - n_q - np.arange(n_k)
    whole = np.maximum(weights.sum((-2, -1)), 1e-300)
    mean = (weights * distance).sum((-2, -1)) / whole
    return mean, (weights * (distance - mean[..., None, None]) ** 2).sum((-2, -1)) / whole


OPTIONS = {
    "both ways": {},
    "causal": {"mask": masks.causal()},
    "window": {"mask": masks.window(5)},
    "gaps": {"mask": ~masks.dilated(3)},
    "padding": {"mask": masks.key_lengths([31, 17]), "padding": None},
    "bias and sinks": {"mask": masks.causal(), "bias": biases.alibi(3), "sinks": np.array([0.5, -1.0, 2.0])},
    "no key left": {"mask": masks.prefix(0)},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
@pytest.mark.parametrize("n_q", [31, 7])
def test_moments_and_histogram(n_q, options):
    view = look(draw(2, 3, n_q, 5), draw(2, 3, 31, 5, seed=1), **options)
    found, weights = view.distances(), view.weights()
    mean, variance = by_formula(weights)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.variance, variance, rtol=1e-10, atol=1e-10)
    distance = np.arange(n_q)[:, None] + 31 - n_q - np.arange(31)
    whole = np.maximum(weights.sum((-2, -1)), 1e-300)
    for number, (first, last) in enumerate(found.bins):
        inside = np.where((distance >= first) & (distance <= last), weights, 0).sum((-2, -1)) / whole
        np.testing.assert_allclose(found.shares[..., number], inside, rtol=0, atol=1e-12)
    assert found.bins[:, 0].min() <= distance.min() <= distance.max() <= found.bins[:, 1].max()


def test_a_narrow_head_far_into_a_long_text():
    """Positions squared are 3e8 here, and the variance of the head that looks back one or two is 1/4."""
    n = 16_384
    q = np.zeros((n, 1), np.float32)
    view = look(q, q, mask=masks.window(0, 1, offset=-2), top_k=0, map_size=0)
    found = view.distances()
    assert found.mean == pytest.approx(1.5, abs=1e-4)
    assert found.variance == pytest.approx(0.25, abs=1e-4)


def test_bins_double_on_either_side():
    assert log2_bins(3, 8).tolist() == [[-3, -2], [-1, -1], [0, 0], [1, 1], [2, 3], [4, 7], [8, 15]]
    assert log2_bins(0, 0).tolist() == [[0, 0]]
    assert log2_bins(-1, 4).tolist() == [[1, 1], [2, 3], [4, 7]]


def test_tensors_answer_with_tensors():
    q, k = torch.from_numpy(draw(3, 7, 5)), torch.from_numpy(draw(3, 7, 5, seed=1))
    found = look(q, k).distances()
    np.testing.assert_array_equal(found.mean.numpy(), look(q.numpy(), k.numpy()).distances().mean)
    assert found.shares.shape == (3, len(found.bins))
