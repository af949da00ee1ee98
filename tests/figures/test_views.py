"""Figures of real views, with the textbook's weights as the judge of what is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.figures import plot, visualize_attention, visualize_head, visualize_layers, visualize_patch_attention
from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.views import average, look


@pytest.fixture
def watched(rng):
    """A view and the weights it is of."""

    def pair(*shape: int, d: int = 5, causal: bool = True, **options):
        *lead, n = shape
        q, k = (rng.normal(size=(*lead, n, d)) for _ in range(2))
        allowed = np.tri(n, dtype=bool) if causal else None
        weights = scaled_dot_product_attention(q, k, k, allowed)[1]
        return look(q, k, mask=masks.causal() if causal else None, **options), weights

    return pair


def drawn(figure, panel: int = 0) -> np.ndarray:
    """What is drawn, 0 where it is masked."""
    return np.ma.filled(figure.axes[panel].images[0].get_array(), 0)


def test_the_heads_of_a_view(watched, tidy):
    view, weights = watched(3, 17)
    figure = plot(view)
    for panel in range(3):
        cells = figure.axes[panel].images[0].get_array()
        np.testing.assert_allclose(cells.filled(0), weights[panel], atol=1e-12)
        np.testing.assert_array_equal(np.ma.getmaskarray(cells), ~np.tri(17, dtype=bool))
    tidy(figure)


def test_one_head_of_a_long_view_with_its_strips(watched, tidy):
    view, weights = watched(2, 211)
    figure = visualize_head(view, head=1, rows=slice(100, 131), cols=slice(90, 131))
    np.testing.assert_allclose(drawn(figure), weights[1, 100:131, 90:131], atol=1e-12)
    over, beside = (axes.patches[0].get_data().values for axes in figure.axes[1:3])
    np.testing.assert_allclose(over, weights[1, :, 90:131].sum(axis=0), atol=1e-10)
    logarithms = np.log(weights[1], out=np.zeros_like(weights[1]), where=weights[1] > 0)
    np.testing.assert_allclose(beside, -(weights[1] * logarithms).sum(axis=-1)[100:131], atol=1e-10)
    tidy(figure)


@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_a_map_of_more_positions_than_pixels(watched, reduce):
    n = 1021
    view, weights = watched(2, n)
    figure = visualize_attention(view, reduce=reduce, hide_keys=True)
    cells = figure.axes[1].images[0].get_array()
    assert cells.shape == (511, 511)
    assert np.ma.getmaskarray(cells)[:, 0].all()
    np.testing.assert_array_equal(np.ma.getmaskarray(cells)[:, 1:], ~np.tri(511, dtype=bool)[:, 1:])
    place = np.arange(n) // 2
    for i, j in ((99, 50), (60, 60), (510, 1)):
        block = np.where(np.tri(n, dtype=bool), weights[1], np.nan)[place == i][:, place == j]
        np.testing.assert_allclose(cells[i, j], getattr(np, f"nan{reduce}")(block), rtol=1e-9)


def test_a_batch_of_views_and_layers(watched, tidy):
    view, weights = watched(2, 3, 13)
    np.testing.assert_allclose(drawn(visualize_attention(view, batch=1), 2), weights[1, 2], atol=1e-12)
    figure = visualize_layers([view, view], "max_weight", batch=1)
    np.testing.assert_allclose(drawn(figure)[0], weights[1].max(axis=-1).mean(axis=-1), rtol=1e-12)
    single, weights = watched(4, 13)
    figure = visualize_layers([single], "pattern")
    assert [text.get_text() for text in figure.axes[0].texts[::2]] == [
        str(name).replace("_", " ") for name in single.patterns().labels
    ]
    tidy(figure)


def test_a_view_without_heads_and_one_over_an_image(watched, rng):
    view, weights = watched(15, causal=False)
    np.testing.assert_allclose(drawn(plot(view)), weights, atol=1e-12)
    image = rng.random((9, 20))
    one, other = (visualize_patch_attention(image, x, 7, patch_size=(3, 4)) for x in (view, weights))
    np.testing.assert_allclose(*(figure.axes[1].images[0].get_array() for figure in (one, other)), atol=1e-6)


def test_tensors(watched, rng):
    torch = pytest.importorskip("torch")
    q, k = (torch.tensor(rng.normal(size=(2, 7, 5)), dtype=torch.float32) for _ in range(2))
    expected = torch.softmax(q @ k.mT / 5**0.5, dim=-1).numpy()
    np.testing.assert_allclose(drawn(plot(look(q, k)), 1), expected[1], atol=1e-6)


def test_an_average_is_drawn_like_a_view(watched, tidy):
    view, weights = watched(3, 7)
    mean = weights.mean(axis=0)
    logarithms = np.log(mean, out=np.zeros_like(mean), where=mean > 0)
    for figure in (plot(average([view])), visualize_head(view.average()), visualize_head(view)):
        np.testing.assert_allclose(drawn(figure), mean, atol=1e-12)
        beside = figure.axes[2].patches[0].get_data().values
        np.testing.assert_allclose(beside, -(mean * logarithms).sum(axis=-1), atol=1e-10)
        tidy(figure)
    np.testing.assert_allclose(drawn(visualize_attention(view.average())), mean, atol=1e-12)


def test_a_mean_of_a_head_that_sees_all_and_one_that_sees_blocks_has_no_grey(rng):
    n = 1000
    q, k = (0.1 * rng.normal(size=(2, n, 5)) for _ in range(2))
    blocks = np.kron(np.eye(2, dtype=bool), np.ones((n // 2, n // 2), dtype=bool))
    allowed = np.stack([np.ones((n, n), bool), blocks])
    weights = scaled_dot_product_attention(q, k, k, allowed)[1]
    view = look(q, k, mask=masks.block_sparse(np.stack([np.ones((2, 2), bool), np.eye(2, dtype=bool)]), n // 2))
    np.testing.assert_allclose(view.weights(rows=slice(0, 3)), weights[:, :3], atol=1e-12)
    figure = visualize_head(view)
    cells = figure.axes[0].images[0].get_array()
    assert not np.ma.getmaskarray(cells).any()
    expected = weights.mean(axis=0).reshape(500, 2, 500, 2).mean(axis=(1, 3))
    np.testing.assert_allclose(cells, expected, rtol=1e-9)
    assert not any("Grey" in text.get_text() for text in figure.texts)


def test_a_view_that_carries_its_tokens_is_labelled_with_them(rng):
    q, k = (rng.normal(size=(2, 5, 3)) for _ in range(2))
    words = ["나는", "어제", "친구와", "학교에", "갔다"]
    view = look(q, k, tokens=words)
    for figure in (view.plot(), visualize_head(view, head=1), visualize_attention(view.average())):
        assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == words
    assert set(words) <= {text.get_text() for text in view.plot("lines").texts}
    assert [tick.label2.get_text() for tick in view.plot("cross").axes[0].xaxis.get_major_ticks()] == words
    other = visualize_head(view, ["a", "b", "c", "d", "e"])
    assert [text.get_text() for text in other.axes[0].get_xticklabels()] == ["a", "b", "c", "d", "e"]
    assert view.plot("layers").axes[0].images[0].get_array().shape == (1, 2)
