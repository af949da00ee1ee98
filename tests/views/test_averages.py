"""The mean of heads and layers is that of their matrices."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.views import average, look

B, H, N_Q, N_K, D = 2, 3, 37, 53, 7


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.fixture
def views():
    mask = masks.causal() & masks.key_lengths([53, 31])
    return [
        look(draw(B, h, N_Q, D, seed=h), draw(B, h, N_K, D, seed=h + 9), mask=mask, sinks=draw(h, seed=h), map_size=11)
        for h in (3, 5)
    ]


@pytest.mark.parametrize("heads", [None, 1, [2, 0], slice(1, 3)], ids=["all", "one", "list", "slice"])
def test_is_that_of_the_matrices(views, heads):
    found = average(views, heads)
    chosen = slice(None) if heads is None else [heads] if isinstance(heads, int) else heads
    weights = np.mean([view.weights()[:, chosen].mean(axis=1) for view in views], axis=0)
    near = {"rtol": 1e-12, "atol": 1e-15}
    query, key = np.arange(N_Q)[:, None] + N_K - N_Q, np.arange(N_K)
    np.testing.assert_allclose(found.weights(), weights, **near)
    np.testing.assert_allclose(found.weights(slice(5, 11), 7, batch=1), weights[1, 5:11, 7], **near)
    np.testing.assert_allclose(found.row(-1), weights[:, -1], **near)
    np.testing.assert_allclose(found.received, weights.sum(axis=-2), **near)
    np.testing.assert_allclose(found.on_first, weights[..., 0], **near)
    np.testing.assert_allclose(found.on_self, (weights * (query == key)).sum(axis=-1), **near)
    far = (weights * abs(query - key)).sum(axis=-1) / weights.sum(axis=-1)
    np.testing.assert_allclose(found.distance, far, rtol=1e-12)
    np.testing.assert_allclose(found.mass(masks.prefix(5)), weights[..., :5].sum(axis=-1), **near)
    np.testing.assert_allclose(found.mass(), weights.sum(axis=-1), **near)
    groups = np.arange(N_K) // 7
    words = groups[:, None] == np.arange(8)
    of_query = (np.arange(N_Q) // 5)[:, None] == np.arange(8)
    expected = of_query.T @ (weights @ words) / of_query.sum(axis=0)[:, None]
    np.testing.assert_allclose(found.grouped(np.arange(N_Q) // 5, groups), expected, **near)


def test_the_map_is_the_mean_over_the_places_that_are_not_masked(views):
    found = average(views).map()
    maps = [view.map().mean(axis=1) for view in views]  # the masks are the same, so cells count alike
    assert np.isnan(found).any()
    np.testing.assert_allclose(found, (3 * maps[0] + 5 * maps[1]) / 8 * 0 + np.mean(maps, axis=0), rtol=1e-12)


def test_of_one_view(views):
    np.testing.assert_allclose(views[0].average().weights(), views[0].weights().mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(views[0].average(2).received, views[0].received[:, 2], rtol=1e-12)


def test_without_heads():
    view = look(draw(5, 3), draw(7, 3, seed=1))
    np.testing.assert_array_equal(view.average().weights(), view.weights())
    np.testing.assert_array_equal(view.average().received, view.received)


class TestErrors:
    def test_shapes(self, unchecked, views):
        other = look(draw(B, H, 5, D), draw(B, H, 7, D))
        with pytest.raises(
            ValueError, match=r"view 2 is of shape \(2, 5, 7\) without its heads; expected \(2, 37, 53\), as view 0 is"
        ):
            average([*views, other])

    def test_something_else(self, unchecked):
        with pytest.raises(TypeError, match=r"views must be what clearhead.look returns, got ndarray as view 0"):
            average([np.eye(3)])
        with pytest.raises(ValueError, match="there must be at least one view, got none"):
            average([])

    def test_heads(self, unchecked, views):
        with pytest.raises(ValueError, match="heads 4 is out of range; there are 3: 0 … 2"):
            average(views, 4).weights()
        with pytest.raises(ValueError, match=r"there must be at least one head to average over, got \[\] of 3"):
            average(views, []).weights()
