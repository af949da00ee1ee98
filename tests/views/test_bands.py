"""How much a query looks like an even window: mass times evenness."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.textbook.pattern_scores import even_mass_on
from clearhead.views import look
from clearhead.views.bands import band_scores, even

N_Q, N_K = 71, 89


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("used", [1, 3, 7])
def test_mass_times_the_part_of_the_keys_that_is_used(used, share):
    """An even share of the attention on some of seven keys."""
    weights = np.zeros(7)
    weights[:used] = share / used
    surprise = -(weights[:used] * np.log(weights[:used])).sum()
    assert even(np.array(share), np.array(surprise), np.array(7)) == pytest.approx(share * used / 7, rel=1e-12)


def test_no_mass_or_no_keys_is_nothing():
    assert even(np.zeros(2), np.zeros(2), np.array([3, 0])).tolist() == [0, 0]


def test_tiny_masses_do_not_overflow():
    mass = np.array([1e-30, 1e-38], np.float32)
    assert np.isfinite(even(mass, -mass * np.log(mass), np.array([5, 5]))).all()


@pytest.mark.parametrize(
    "mask", [None, masks.causal(), ~masks.dilated(2), masks.dilated(2)], ids=["no mask", "causal", "rule", "period"]
)
def test_every_radius_over_some_queries(mask):
    view = look(draw(2, 3, N_Q, 5), draw(2, 3, N_K, 5, seed=1), mask=mask, top_k=0, map_size=0)
    some = draw(2, 3, N_Q, seed=2) > 0
    every = np.ones_like(some)
    distance = abs(np.arange(N_Q)[:, None] + N_K - N_Q - np.arange(N_K))
    allowed = np.ones((N_Q, N_K), bool) if mask is None else mask.array(N_Q, N_K)
    weights = view.weights()
    counts = np.broadcast_to(allowed.sum(axis=-1), some.shape)
    found, chance = band_scores(view, [1, 5, 32], [some, every], counts)
    for n, radius in enumerate((1, 5, 32)):
        score = even_mass_on(weights, (distance <= radius) & allowed)
        np.testing.assert_allclose(found[1][..., n], score.mean(axis=-1), rtol=1e-10)
        np.testing.assert_allclose(found[0][..., n], (score * some).sum(axis=-1) / some.sum(axis=-1), rtol=1e-10)
        part = ((distance <= radius) & allowed).sum(axis=-1) / allowed.sum(axis=-1)
        np.testing.assert_allclose(chance[..., n], (part * some).sum(axis=-1) / some.sum(axis=-1), rtol=1e-10)
