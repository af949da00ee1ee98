from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from clearhead.figures import visualize_lines
from clearhead.figures.lines import HAIR, HEAD_COLOURS, LEAST_SHARE

KOREAN = ["나는", "어제", "친구와", "함께", "학교에"]
ENGLISH = ["I", "went", "to", "school", "with", "donaudampfschifffahrt", "yesterday"]


def lines(figure, shape: tuple[int, int] = (5, 7)) -> dict[tuple[int, int], float]:
    """Which query is joined to which key, and how thick the line is, in the first head."""
    drawn = next(group for group in figure.axes[0].collections if group.get_capstyle() == "round")
    ends = [
        tuple(round(y * n / max(shape) - 0.5) for n, (_, y) in zip(shape, segment, strict=True))
        for segment in drawn.get_segments()
    ]
    return dict(zip(ends, drawn.get_linewidths(), strict=True))


def test_a_line_is_as_thick_as_its_weight(attend, tidy):
    weights = attend(5, 7)
    figure = visualize_lines(weights, KOREAN, key_tokens=ENGLISH, title="선")
    found = lines(figure)
    shares = weights / weights.max()
    assert set(found) == {(i, j) for i, j in np.ndindex(5, 7) if shares[i, j] >= LEAST_SHARE}
    for pair, width in found.items():
        assert width == pytest.approx(5.0 * shares[pair], rel=1e-12)
    widths = list(found.values())
    assert widths == sorted(widths)  # the strong lie over the faint
    tidy(figure)


def test_labels_stand_at_the_ends_of_their_lines(attend):
    figure = visualize_lines(attend(5, 7), KOREAN, key_tokens=ENGLISH)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    for i, word in enumerate(KOREAN):
        (text,) = (text for text in figure.texts if text.get_text() == word)
        box, (x, y) = text.get_window_extent(), axes.transData.transform((0, (i + 0.5) * 7 / 5))
        assert box.y0 < y < box.y1
        assert 0 < x - box.x1 < 20


def test_heads_have_colours_of_their_own(attend, tidy):
    weights = attend(3, 5, 5)
    figure = visualize_lines(weights, KOREAN)
    assert len(figure.axes[0].collections) == 3
    for head, colour in zip(range(3), HEAD_COLOURS, strict=False):
        drawn = figure.axes[0].collections[head].get_colors()
        np.testing.assert_allclose(drawn[:, :3], np.tile(to_rgba(colour)[:3], (len(drawn), 1)))
        assert any(text.get_text() == f"head {head}" and text.get_color() == colour for text in figure.texts)
    tidy(figure)
    assert lines(visualize_lines(weights, head=2)) == lines(visualize_lines(weights[2]))


def test_more_heads_than_colours_are_averaged(attend):
    weights = attend(11, 5, 5)
    figure = visualize_lines(weights)
    assert lines(figure) == lines(visualize_lines(weights.mean(axis=0)))
    assert any("Mean of 11 heads." in text.get_text() for text in figure.texts)


def sink(n: int, share: float) -> np.ndarray:
    """All queries give the first key most, and their own position the rest."""
    weights = (1 - share) * np.eye(n)
    weights[:, 0] += share
    return weights


def test_a_fan_of_lines_to_one_key_is_drawn_as_hairs(tidy):
    figure = visualize_lines(sink(12, 0.7), [f"t{i}" for i in range(12)])
    hairs, _ = figure.axes[0].collections
    assert len(hairs.get_segments()) == 12
    assert hairs.get_linewidths().tolist() == [HAIR]
    found = lines(figure, (12, 12))
    assert set(found) == {(i, i) for i in range(1, 12)}
    assert set(found.values()) == {5.0}, "the others are scaled to themselves"
    said = " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert "t0: takes over 50% of a head's attention, so the lines to it are hairs" in said
    tidy(figure)


def test_what_is_next_to_nothing_beside_a_fan_stays_thin():
    found = lines(visualize_lines(sink(12, 0.98)), (12, 12))
    assert max(found.values()) < 0.5


@pytest.mark.parametrize("options", [{"query": 3}, {"hide_keys": True}, {"rows": slice(0, 5)}], ids=str)
def test_few_lines_are_no_fan(options):
    figure = visualize_lines(sink(12, 0.7), **options)
    assert len(figure.axes[0].collections) == 1


def test_one_query_alone(attend):
    found = lines(visualize_lines(attend(5, 7), query=3))
    assert {i for i, _ in found} == {3}


def test_by_row_every_query_has_a_thickest_line(attend):
    weights = attend(5, 7)
    found = lines(visualize_lines(weights, scale="row"))
    for i, row in enumerate(weights):
        assert found[i, int(row.argmax())] == pytest.approx(5.0, rel=1e-12)


def test_hidden_keys_have_no_lines(attend):
    figure = visualize_lines(attend(5, 7), hide_keys=[0, 4])
    assert {j for _, j in lines(figure)} <= {1, 2, 3, 5, 6}
    assert max(lines(figure).values()) == pytest.approx(5.0, rel=1e-12)
    words = " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert "Keys 0, 4 are hidden, and the lines are scaled to the others." in words


def test_a_window_of_a_view(seen):
    view = seen(2, 199, 211)
    figure = visualize_lines(view, head=1, rows=slice(60, 71), cols=slice(90, 103))
    assert view.asked == [(11, 13)]
    assert lines(figure) == lines(visualize_lines(view.all[1, 60:71, 90:103]))
    labels = [text.get_text() for text in figure.texts]
    assert {"60", "70", "90", "102"} <= set(labels)


@pytest.mark.parametrize("n", [1, 2, 40, 64], ids=str)
def test_up_to_sixty_four_tokens_can_be_read(attend, tidy, n):
    tidy(visualize_lines(attend(8, n, n), (ENGLISH * 10)[:n], title="어텐션 " * 12))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("shape", "options", "words"),
    [
        ((65, 65), {}, r"65 queries and 65 keys are too many .* at most 64 of each \(rows=slice\(0, 40\)"),
        ((5, 5), {"query": 5}, "query must be one of 0 … 4, got 5"),
        ((5, 5), {"scale": "log"}, "scale must be one of 'auto', 'linear', 'row', got 'log'"),
    ],
    ids=["many", "query", "scale"],
)
def test_what_cannot_be_drawn(attend, shape, options, words):
    with pytest.raises(ValueError, match=words):
        visualize_lines(attend(*shape), **options)
