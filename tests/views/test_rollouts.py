"""Rollout and flow against products of the full matrices."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.views import flow, look, pooled_rollout, rollout

B, H, N, D = 2, 6, 37, 7


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def layers(**options):
    """Four layers, with query heads that share keys."""
    return [look(draw(B, H, N, D, seed=n), draw(B, 3, N, D, seed=n + 10), map_size=11, **options) for n in range(4)]


def product(views, residual=0.5, heads=slice(None)):
    """M_last ⋯ M_first, written out: → (…, n, n)"""
    result = np.eye(N)
    for view in views:
        mean = view.weights(heads).mean(axis=-3)
        result = (residual * np.eye(N) + (1 - residual) * mean) @ result
    return result


OPTIONS = {
    "plain": {},
    "causal": {"mask": masks.causal()},
    "lengths": {"mask": masks.key_lengths([37, 5])},
    "sinks": {"mask": masks.causal(), "sinks": draw(H, seed=5)},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("residual", [0.5, 0.0, 0.9])
def test_rows_and_columns_of_the_product(options, residual):
    views = layers(**options)
    expected = product(views, residual)
    for position in (0, 11, N - 1, -2):
        got = rollout(views, position, residual=residual)
        np.testing.assert_allclose(got, expected[:, position], rtol=1e-11, atol=1e-14)
        got = flow(views, position, residual=residual)
        np.testing.assert_allclose(got, expected[..., position], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("heads", [2, slice(1, None, 2), [0, 5]], ids=["one", "slice", "list"])
def test_chosen_heads(heads):
    views = layers(mask=masks.causal())
    expected = product(views, heads=[heads] if isinstance(heads, int) else heads)
    np.testing.assert_allclose(rollout(views, 20, heads=heads), expected[:, 20], rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(flow(views, 20, heads=heads), expected[..., 20], rtol=1e-11, atol=1e-15)


def test_shares_sum_to_one_and_nothing_comes_from_the_future():
    views = layers(mask=masks.causal())
    row = rollout(views, 20)
    np.testing.assert_allclose(row.sum(axis=-1), 1, rtol=1e-12)
    assert not row[:, 21:].any()
    assert not flow(views, 20)[:, :20].any()


def test_one_layer_without_heads():
    view = look(draw(N, D), draw(N, D, seed=1))
    np.testing.assert_allclose(rollout(view, 3, residual=0.0), view.row(3), rtol=1e-12)
    np.testing.assert_allclose(flow(view, 3, residual=0.0), view.weights(cols=3), rtol=1e-12)


def test_half_precision_is_not_rounded_on_the_way():
    views = [
        look(draw(H, N, D, seed=n).astype(np.float16), draw(H, N, D, seed=n + 10).astype(np.float16)) for n in range(3)
    ]
    got = flow(views, 5)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, product(views)[:, 5], rtol=2e-5)


class TestPooled:
    def test_is_exact_with_a_cell_for_each_position(self):
        views = layers(mask=masks.causal())
        found = pooled_rollout(views, 100)
        np.testing.assert_allclose(found.shares, product(views), rtol=1e-11, atol=1e-15)
        np.testing.assert_array_equal(found.cells, np.arange(N))

    @pytest.mark.parametrize(("size", "length"), [(11, 4), (5, 8), (36, 2)], ids=["of the maps", "coarser", "finer"])
    def test_is_the_product_of_the_pooled_maps(self, size, length):
        views = layers(mask=masks.causal(), sinks=draw(H, seed=5))
        cells = np.arange(N) // length
        inside = (cells[:, None] == np.arange(cells.max() + 1)).astype(float)
        expected = np.eye(cells.max() + 1)
        for view in views:
            mean = inside.T @ view.weights().mean(axis=-3) @ inside / inside.sum(axis=0)[:, None]
            expected = (0.5 * np.eye(inside.shape[1]) + 0.5 * mean) @ expected
        found = pooled_rollout(views, size)
        np.testing.assert_allclose(found.shares, expected, rtol=1e-11)
        np.testing.assert_array_equal(found.cells, cells)

    def test_is_near_the_exact_one(self):
        views = layers()
        inside = (np.arange(N) // 4)[:, None] == np.arange(10)
        exact = inside.T @ product(views) @ inside / inside.sum(axis=0)[:, None]
        assert 1e-12 < np.abs(pooled_rollout(views, 11).shares - exact).max() < 0.02


class TestErrors:
    @pytest.mark.parametrize("read", [rollout, flow], ids=["rollout", "flow"])
    def test_of_positions_and_shares(self, unchecked, read):
        views = layers()
        with pytest.raises(ValueError, match="position 37 is out of range; there are 37: 0 … 36"):
            read(views, 37)
        with pytest.raises(ValueError, match=r"residual must be between 0 and 1, a share, got 1.5"):
            read(views, 3, residual=1.5)
        with pytest.raises(ValueError, match="heads 6 is out of range; there are 6: 0 … 5"):
            read(views, 3, heads=6)
        with pytest.raises(ValueError, match="there must be at least one view, got none"):
            read([], 3)

    def test_each_position_must_be_query_and_key(self, unchecked):
        view = look(draw(5, 3), draw(7, 3))
        with pytest.raises(
            ValueError, match="view 0 has 5 queries and 7 keys; to follow attention from layer to layer"
        ):
            rollout(view, 3)

    def test_size(self, unchecked):
        with pytest.raises(ValueError, match="size must be at least 1, got 0"):
            pooled_rollout(layers(), 0)
