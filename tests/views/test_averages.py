"""The mean of heads and layers is that of their matrices."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.figures import visualize_attention, visualize_head
from clearhead.textbook import patterns
from clearhead.views import allowed as places, average, look

from .truth import tile

B, H, N_Q, N_K, D = 2, 3, 37, 53, 7
NEAR = {"rtol": 1e-12, "atol": 1e-15}


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.fixture
def views():
    mask = masks.causal() & masks.key_lengths([53, 31])
    return [
        look(draw(B, h, N_Q, D, seed=h), draw(B, h, N_K, D, seed=h + 9), mask=mask, sinks=draw(h, seed=h), map_size=11)
        for h in (3, 5)
    ]


def entropy_of(weights: np.ndarray) -> np.ndarray:
    return -(weights * np.log(weights, out=np.zeros_like(weights), where=weights > 0)).sum(axis=-1)


@pytest.mark.parametrize("heads", [None, 1, [2, 0], slice(1, 3)], ids=["all", "one", "list", "slice"])
def test_is_that_of_the_matrices(views, heads):
    found = average(views, heads)
    chosen = slice(None) if heads is None else [heads] if isinstance(heads, int) else heads
    weights = np.mean([view.weights()[:, chosen].mean(axis=1) for view in views], axis=0)
    query, key = np.arange(N_Q)[:, None] + N_K - N_Q, np.arange(N_K)
    np.testing.assert_allclose(found.weights(), weights, **NEAR)
    np.testing.assert_allclose(found.row(-1), weights[:, -1], **NEAR)
    np.testing.assert_allclose(found.received, weights.sum(axis=-2), **NEAR)
    np.testing.assert_allclose(found.on_first, weights[..., 0], **NEAR)
    np.testing.assert_allclose(found.on_self, (weights * (query == key)).sum(axis=-1), **NEAR)
    np.testing.assert_allclose(found.entropy, entropy_of(weights), rtol=1e-12)
    np.testing.assert_allclose(found.max_weight, weights.max(axis=-1), rtol=1e-12)
    far = (weights * abs(query - key)).sum(axis=-1) / weights.sum(axis=-1)
    np.testing.assert_allclose(found.distance, far, rtol=1e-12)
    np.testing.assert_allclose(found.mass(masks.prefix(5)), weights[..., :5].sum(axis=-1), **NEAR)
    np.testing.assert_allclose(found.mass(), weights.sum(axis=-1), **NEAR)
    groups = np.arange(N_K) // 7
    words = groups[:, None] == np.arange(8)
    of_query = (np.arange(N_Q) // 5)[:, None] == np.arange(8)
    expected = of_query.T @ (weights @ words) / of_query.sum(axis=0)[:, None]
    np.testing.assert_allclose(found.grouped(np.arange(N_Q) // 5, groups), expected, **NEAR)


def test_a_head_comes_first_as_in_a_view(views):
    """Its one head may be named or left out; rows and columns are the second and the third."""
    found = average(views)
    whole = found.weights()
    for head in (None, 0, -1, np.int64(0)):
        np.testing.assert_array_equal(found.weights(head), whole)
        np.testing.assert_allclose(found.weights(head, slice(5, 11), 7, batch=1), whole[1, 5:11, 7], rtol=1e-13)
        np.testing.assert_allclose(found.row(3, head, batch=0), whole[0, 3], rtol=1e-13)


def test_its_sizes(views):
    found = average(views)
    assert (found.heads, found.n_q, found.n_k, found.batch_shape, found.lead) == (1, N_Q, N_K, (B,), (B,))
    assert repr(found) == "Average(a batch of 2, 3 + 5 heads as one, 37 queries × 53 keys, float64)"


def test_the_entropy_is_that_of_the_mean():
    """Half of the attention on itself, half on the first token: two keys, where each head has one."""
    zoo = np.stack([patterns.diagonal(6), patterns.first_token(6)])
    logarithms = np.log(zoo, out=np.full_like(zoo, -60.0), where=zoo > 0)
    found = look(logarithms, np.broadcast_to(np.eye(6), zoo.shape), scale=1.0).average()
    np.testing.assert_allclose(found.entropy, [0, *[np.log(2)] * 5], atol=1e-12)
    np.testing.assert_allclose(found.max_weight, [1, *[0.5] * 5], atol=1e-12)


def test_rows_in_strips_are_the_same(views, monkeypatch):
    before = views[0].average()
    expected = before.entropy, before.max_weight, before.tile(size=8)
    monkeypatch.setattr(places, "MOST_PLACES", 3 * N_K)
    found = views[0].average()
    for got, want in zip((found.entropy, found.max_weight, found.tile(size=8)), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


class TestTiles:
    @pytest.mark.parametrize("reduce", ["mean", "max"])
    def test_are_those_of_the_mean(self, views, reduce):
        found, allowed = average(views), masks.key_lengths([53, 31]) & masks.causal()
        allowed = allowed.array(N_Q, N_K, batch_shape=(B,), heads=1)[:, 0]
        for rows, cols, size in ((slice(None), slice(None), (11, 5)), (slice(3, 30), slice(17, 50), (4, 32))):
            expected = tile(found.weights(None, rows, cols), allowed[:, rows, cols], size, reduce)
            got = found.tile(None, rows, cols, size, reduce=reduce)
            assert np.isnan(got).any()
            np.testing.assert_allclose(got, expected, rtol=1e-12)
            np.testing.assert_array_equal(found.tile(0, rows, cols, size, reduce=reduce, batch=1), got[1])

    @pytest.mark.parametrize("reduce", ["mean", "max"])
    def test_a_place_is_masked_only_if_it_is_so_in_every_head(self, reduce):
        """One head sees the first half of the keys and the other everything."""
        blocks = np.ones((2, 2, 2), bool)
        blocks[0, :, 1] = False
        view = look(draw(2, 40, D), draw(2, 40, D, seed=1), mask=masks.block_sparse(blocks, 20))
        found = view.average()
        np.testing.assert_allclose(found.weights(), view.weights().mean(axis=0), rtol=1e-12)
        got = found.tile(size=8, reduce=reduce)
        assert not np.isnan(got).any()
        np.testing.assert_allclose(got, tile(found.weights(), np.ones((40, 40), bool), (8, 8), reduce), rtol=1e-12)

    def test_without_a_map_there_is_none_of_the_mean(self):
        with pytest.raises(ValueError, match="this view has no map, as it was made with map_size=0"):
            look(draw(2, 5, D), draw(2, 5, D), map_size=0).average().map()

    def test_the_map_is_the_tile_of_everything(self, views):
        np.testing.assert_array_equal(average(views).map(), average(views).tile(size=11))
        np.testing.assert_array_equal(average(views).map("max"), average(views).tile(size=11, reduce="max"))


def test_of_one_view(views):
    np.testing.assert_allclose(views[0].average().weights(), views[0].weights().mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(views[0].average(2).received, views[0].received[:, 2], rtol=1e-12)


def test_without_heads():
    view = look(draw(5, 3), draw(7, 3, seed=1))
    np.testing.assert_array_equal(view.average().weights(), view.weights())
    np.testing.assert_array_equal(view.average().received, view.received)
    np.testing.assert_allclose(view.average().entropy, view.entropy, rtol=1e-13)
    np.testing.assert_allclose(view.average().tile(size=2), view.tile(size=2), rtol=1e-15)  # summed in another order


def test_many_batch_axes():
    view = look(draw(2, 1, 1, 3, 1, 2, 3, 5, D), draw(2, 1, 1, 3, 1, 2, 3, 5, D, seed=1), mask=masks.causal())
    found = view.average()
    allowed = np.broadcast_to(masks.causal().array(5), found.weights().shape)
    np.testing.assert_allclose(found.weights(), view.weights().mean(axis=-3), rtol=1e-12)
    np.testing.assert_allclose(found.tile(size=3), tile(found.weights(), allowed, (3, 3), "mean"), rtol=1e-12)


def test_tokens_are_those_of_the_views():
    names = [f"word {i}" for i in range(5)]
    view = look(draw(3, 5, D), draw(3, 5, D, seed=1), tokens=names)
    assert view.average().tokens == view.tokens
    assert average([look(draw(3, 5, D), draw(3, 5, D)), view]).tokens == view.tokens
    assert average([look(draw(3, 5, D), draw(3, 5, D))]).tokens is None


@pytest.mark.parametrize("n", [5, 700], ids=["few", "many"])
def test_it_can_be_drawn(n):
    found = look(draw(3, n, D), draw(3, n, D, seed=1), mask=masks.causal()).average()
    assert visualize_attention(found)
    assert visualize_head(found)


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
            average(views, 4)
        with pytest.raises(ValueError, match=r"there must be at least one head to average over, got \[\] of 3"):
            average(views, [])

    @pytest.mark.parametrize("head", [1, slice(5, 11), [0], True], ids=str)
    def test_a_head_that_is_not_there(self, unchecked, views, head):
        for ask in (average(views).weights, average(views).tile):
            with pytest.raises(ValueError, match="a mean of heads has one head, 0, which may be left out, got"):
                ask(head)
