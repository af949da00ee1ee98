from __future__ import annotations

import numpy as np
import pytest

from clearhead.figures import visualize_cross_attention

SOURCE = ["고양이", "가", "쥐", "를", "잡", "았다", "."]
TARGET = ["The", "cat", "caught", "the", "mouse"]


def frames(axes) -> list[tuple[float, float]]:
    return [(patch.get_x() + 0.44, patch.get_y() + 0.44) for patch in axes.patches]


def test_the_source_is_on_top_and_the_target_at_the_left(attend, tidy):
    weights = attend(5, 7)
    figure = visualize_cross_attention(
        weights, TARGET, SOURCE, source_text="고양이가 쥐를 잡았다.", target_text="The cat caught the mouse"
    )
    figure.draw_without_rendering()
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), weights)
    ticks = axes.xaxis.get_major_ticks()
    assert [tick.label2.get_text() for tick in ticks] == SOURCE
    assert all(tick.label2.get_visible() and not tick.label1.get_visible() for tick in ticks)
    assert min(tick.label2.get_window_extent().y0 for tick in ticks) >= axes.bbox.y1
    assert [label.get_text() for label in axes.get_yticklabels()] == TARGET
    written = {text.get_text(): text for text in figure.texts}
    assert written["source: 고양이가 쥐를 잡았다."].get_window_extent().y0 > axes.bbox.y1
    assert written["target: The cat caught the mouse"].get_rotation() == 90
    tidy(figure)


def test_each_target_token_has_its_largest_weight_framed(attend):
    weights = attend(5, 7)
    weights[3] = 0
    axes = visualize_cross_attention(weights).axes[0]
    expected = [(row.argmax(), i) for i, row in enumerate(weights) if i != 3]
    np.testing.assert_allclose(frames(axes), expected, atol=1e-12)
    assert frames(visualize_cross_attention(weights, mark=False).axes[0]) == []


def test_a_hidden_key_is_not_the_largest(attend):
    weights = attend(5, 7)
    axes = visualize_cross_attention(weights, hide_keys=[0, 1, 2]).axes[0]
    np.testing.assert_allclose([x for x, _ in frames(axes)], weights[:, 3:].argmax(axis=-1) + 3, atol=1e-12)


def test_heads_are_averaged_or_chosen(attend):
    weights = attend(3, 5, 7)
    figure = visualize_cross_attention(weights)
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), weights.mean(axis=0), rtol=1e-14)
    assert figure.axes[-1].get_ylabel() == "attention weight, mean of 3 heads"
    figure = visualize_cross_attention(weights, head=2)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), weights[2])


@pytest.mark.parametrize(("n_q", "n_k"), [(1, 2), (2, 41), (53, 3), (61, 67), (5, 1201)], ids=str)
def test_any_two_lengths_make_a_tidy_figure(attend, tidy, n_q, n_k):
    figure = visualize_cross_attention(
        attend(n_q, n_k),
        (TARGET * 20)[:n_q],
        (SOURCE * 200)[:n_k],
        source_text="고양이가 쥐를 잡았다 " * 9,
        target_text="The cat caught the mouse " * 9,
        title="교차 어텐션",
    )
    tidy(figure)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"target_tokens": TARGET[:2]}, ValueError, "target_tokens must name all 5 queries, got 2 names"),
        ({"source_tokens": "고양이"}, TypeError, r"source_tokens must be a list .*source_tokens.split\(\)"),
        ({"head": 9}, ValueError, "head must be one of the 2 heads"),
        ({"scale": "deep"}, ValueError, "scale must be one of"),
    ],
    ids=["target", "source", "head", "scale"],
)
def test_what_does_not_fit(attend, options, error, words):
    with pytest.raises(error, match=words):
        visualize_cross_attention(attend(2, 5, 7), **options)
