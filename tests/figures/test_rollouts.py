from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import LogNorm

from clearhead import masks
from clearhead.figures import plot, visualize_rollout
from clearhead.views import look, pooled_rollout

KOREAN = ["나는", "어제", "친구와", "학교에", "갔다"]


@pytest.fixture
def layers(rng):
    """Views of three layers of a causal model."""

    def views(n: int, *batch: int):
        arrays = [[rng.normal(size=(*batch, 2, n, 7)) for _ in range(2)] for _ in range(3)]
        return [look(q, k, mask=masks.causal()) for q, k in arrays]

    return views


def said(figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts)


def test_a_rollout_has_words_of_its_own(layers, tidy):
    rollout = pooled_rollout(layers(5))
    figure = visualize_rollout(rollout, KOREAN, title="롤아웃")
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), rollout.shares)
    assert [figure.get_supylabel(), figure.get_supxlabel()] == ["output position", "input position"]
    assert figure.axes[-1].get_ylabel() == "share of the output (rollout)"
    assert "It follows attention, not causes." in said(figure)
    assert "attention weight" not in said(figure)
    assert "Approximate" not in said(figure)
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == KOREAN
    tidy(figure)


def test_a_long_rollout_says_that_it_is_approximate_and_chooses_its_scale(layers, tidy):
    rollout = pooled_rollout(layers(300), size=64)
    figure = plot(rollout)
    assert rollout.shares.shape == (38, 38)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), rollout.shares)
    assert figure.axes[0].get_xlim() == (-0.5, 299.5)
    assert tuple(figure.axes[0].images[0].get_extent()[:2]) == (-0.5, 303.5)
    assert "Approximate: each cell is 8 × 8 positions" in said(figure)
    assert isinstance(figure.axes[0].images[0].norm, LogNorm)
    tidy(figure)


def test_shares_alone_and_an_item_of_a_batch(layers):
    rollout = pooled_rollout(layers(5, 3))
    one, other = visualize_rollout(rollout, batch=2), visualize_rollout(np.asarray(rollout.shares)[2])
    np.testing.assert_array_equal(one.axes[0].images[0].get_array(), np.asarray(rollout.shares)[2])
    np.testing.assert_array_equal(one.axes[0].images[0].get_array(), other.axes[0].images[0].get_array())
    with pytest.raises(ValueError, match=r"a batch of \(3,\); batch=0 picks the first item"):
        visualize_rollout(rollout)


@pytest.mark.usefixtures("unchecked")
def test_what_is_not_a_rollout(layers):
    with pytest.raises(TypeError, match=r"got a list; visualize_rollout\(views.pooled_rollout\(layers\)\)"):
        visualize_rollout(layers(5))
    with pytest.raises(ValueError, match=r"outputs × inputs, got shape \(3, 5\)"):
        visualize_rollout(np.ones((3, 5)) / 5)
    with pytest.raises(ValueError, match="tokens must name all 5 positions, got 2"):
        visualize_rollout(np.eye(5), ["a", "b"])
    with pytest.raises(ValueError, match="negative"):
        visualize_rollout(-np.eye(5))
