from __future__ import annotations

import numpy as np
import pytest

from clearhead.figures import visualize_head
from clearhead.textbook.masks import create_causal_mask
from clearhead.textbook.patterns import diagonal, first_token

from .seen import Seen

WORDS = ["나는", "어제", "the", "animal", "국립중앙박물관에서만났습니다", " did", "\n", "갔다", "donaudampfschifffahrt"]


def words(n: int) -> list[str]:
    return [WORDS[i % len(WORDS)] for i in range(n)]


def bars(axes) -> np.ndarray:
    return axes.patches[0].get_data().values


def note(figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts)


def test_weights_entropy_and_received_attention(seen, tidy):
    view = seen(3, 9, 9, mask=create_causal_mask(9))
    figure = visualize_head(view, WORDS, head=1, title="한 헤드")
    axes, over, beside, bar = figure.axes
    drawn = axes.images[0].get_array()
    np.testing.assert_array_equal(drawn.filled(0), view.all[1])
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn), ~create_causal_mask(9))
    np.testing.assert_allclose(bars(over), view.received[1], rtol=1e-15)
    np.testing.assert_allclose(bars(beside), view.entropy[1], rtol=1e-15)
    assert over.get_xlim() == axes.get_xlim()
    assert beside.get_ylim() == axes.get_ylim()
    assert bar.get_ylabel() == "attention weight"
    assert len(axes.texts) == 45
    assert {"received, all queries", "entropy (nats)", "query", "key"} <= {t.get_text() for t in figure.texts}
    tidy(figure)


def test_strips_stand_beside_the_rows_and_columns_they_count(seen):
    figure = visualize_head(seen(1, 5, 7))
    axes, over, beside, _ = (panel.get_position() for panel in figure.axes)
    assert (over.x0, over.x1) == (axes.x0, axes.x1)
    assert over.y0 > axes.y1
    assert (beside.y0, beside.y1) == (axes.y0, axes.y1)
    assert beside.x0 > axes.x1


def test_without_a_head_the_mean_of_all_is_drawn(seen):
    view = seen(5, 7, 7)
    figure = visualize_head(view)
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), view.all.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(bars(figure.axes[2]), view.average().entropy[0], rtol=1e-14)
    assert figure.axes[-1].get_ylabel() == "attention weight, mean of 5 heads"


def test_a_window_is_exact_and_says_where_it_is(seen, tidy):
    view = seen(2, 211, 223)
    figure = visualize_head(view, words(211), key_tokens=words(223), head=1, rows=slice(151, 164), cols=slice(200, 217))
    axes, over, beside, _ = figure.axes
    np.testing.assert_array_equal(axes.images[0].get_array(), view.all[1, 151:164, 200:217])
    assert view.asked == []
    assert view.tiled == [(13, 17)]
    np.testing.assert_allclose(bars(over), view.received[1, 200:217], rtol=1e-15)
    np.testing.assert_allclose(bars(beside), view.entropy[1, 151:164], rtol=1e-15)
    assert "Queries 151 … 163 and keys 200 … 216 of 211 × 223." in note(figure)
    assert axes.get_yticklabels()[0].get_text() == words(211)[151] == "갔다"
    tidy(figure)


def test_positions_of_a_window_are_those_of_the_whole(seen):
    axes = visualize_head(seen(1, 300, 300), rows=slice(100, 105), cols=slice(40, 43)).axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["100", "101", "102", "103", "104"]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["40", "41", "42"]
    axes = visualize_head(seen(1, 300, 300), words(300), rows=slice(100, 300)).axes[0]
    for label in axes.get_yticklabels():
        position, _ = label.get_text().split(": ")
        assert int(position) == label.get_position()[1] + 100


def test_beside_a_mean_of_heads_stands_the_entropy_of_the_mean():
    figure = visualize_head(np.stack([diagonal(6), first_token(6)]))
    np.testing.assert_allclose(bars(figure.axes[2]), [0, *[np.log(2)] * 5], rtol=1e-12)


@pytest.mark.parametrize("n", [200, 1000])
def test_a_mean_of_heads_is_masked_only_where_all_of_them_are(n):
    even = np.full((n, n), 1 / n)
    half = np.kron(np.eye(2), np.full((n // 2, n // 2), 2 / n))
    allowed = np.stack([np.ones((n, n), bool), half > 0])
    figure = visualize_head(Seen(np.stack([even, half]), allowed))
    cells = figure.axes[0].images[0].get_array()
    assert not np.ma.getmaskarray(cells).any()
    np.testing.assert_allclose(cells[:, :2][[0, -1]], [[1.5 / n] * 2, [0.5 / n] * 2], rtol=1e-12)
    assert "Grey" not in note(figure)


def test_a_large_window_is_pooled(attend):
    view = Seen(attend(1, 1801, 1999))
    figure = visualize_head(view, cols=slice(0, 1900))
    cells = figure.axes[0].images[0].get_array()
    assert view.asked == []
    assert view.tiled == [cells.shape] == [(451, 475)]
    np.testing.assert_allclose(cells[5, 7], view.all[0, 20:24, 28:32].mean(), rtol=1e-12)
    assert "Pooled: each cell is the mean of 4 × 4 weights" in note(figure)
    np.testing.assert_allclose(bars(figure.axes[1])[7], view.received[0, 28:32].mean(), rtol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 17, 61, 640, 4096], ids=str)
def test_any_length_makes_a_tidy_figure(rng, tidy, n):
    rows = rng.dirichlet(np.full(n, 0.3), size=min(n, 7)).astype(np.float32)
    view = Seen(rows[np.arange(n) % len(rows)][None])
    figure = visualize_head(view, words(n), hide_keys=True, scale="log", title="A title that may be longer than all")
    assert max(figure.get_size_inches()) < 13
    assert "Key 0 is hidden" in note(figure)
    assert np.isnan(bars(figure.axes[1])[0]) or n == 4096  # where it is one of several in a bar
    tidy(figure)


def test_one_huge_bar_is_cut_and_marked_and_the_others_are_seen(tidy):
    weights = 0.9 * first_token(12) + 0.1 * diagonal(12)
    figure = visualize_head(weights, words(12))
    _, over, beside, _ = figure.axes
    np.testing.assert_allclose(bars(over), weights.sum(axis=0), rtol=1e-12)
    assert over.get_ylim() == (0, pytest.approx(0.125))
    assert [line.get_xdata().tolist() for line in over.lines] == [[0.0]]
    assert [line.get_ydata().size for line in beside.lines] == [0]
    assert "▴ bars longer than their strip: the most, 11, is received by key 0." in note(figure)
    tidy(figure)


def test_a_cut_bar_of_a_long_view_names_its_position():
    weights = np.full((900, 900), 0.1 / 900)
    weights[:, 707] += 0.9
    figure = visualize_head(weights)
    assert figure.axes[1].get_ylim()[1] < 1
    assert "the most, 810, is received by key 707." in note(figure)
    (mark,) = figure.axes[1].lines[0].get_xdata()
    assert mark == pytest.approx(707, abs=1)


def test_bars_that_differ_little_are_not_cut(seen):
    figure = visualize_head(seen(1, 12, 12, mask=create_causal_mask(12)))
    assert figure.axes[1].get_ylim()[1] == pytest.approx(bars(figure.axes[1]).max())
    assert "▴" not in note(figure)


def test_strips_can_be_left_out(seen, tidy):
    figure = visualize_head(seen(1, 5, 5), strips=False)
    assert len(figure.axes) == 2
    tidy(figure)


def test_what_is_nearly_nothing_looks_like_it():
    figure = visualize_head(np.eye(5)[None] * (1 - 1e-9))
    assert figure.axes[2].get_xlim() == (0, 0.1)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_it_can_be_saved(seen, tmp_path, suffix):
    path = tmp_path / f"head{suffix}"
    visualize_head(seen(1, 5, 5), words(5), save=path)
    assert path.stat().st_size > 5000


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"head": 3}, "head must be one of the 3 heads, 0 … 2, got 3"),
        ({"rows": slice(9, 12)}, r"rows must be a run of positions such as slice\(0, 40\), of 5 there are"),
        ({"cols": slice(2, 2)}, "cols must be a run of positions"),
        ({"tokens": ["a"]}, "tokens cannot name both"),
        ({"reduce": "sum"}, "reduce must be one of"),
        ({"save": "a.gif"}, "save must end in"),
    ],
    ids=str,
)
def test_what_cannot_be_drawn(seen, options, words):
    with pytest.raises(ValueError, match=words):
        visualize_head(seen(3, 5, 7), **options)
