from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from clearhead.figures import visualize_layers
from clearhead.figures.layers import OTHER_COLOUR, PATTERN_COLOURS
from clearhead.matrices import StoredMatrix
from clearhead.textbook.patterns import first_token, previous_token

NAMES = ["previous_token", "first_token", "self", "local", "uniform", "induction", "duplicate_token", "mixed"]


def cell_texts(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize("statistic", ["entropy", "max_weight", "on_first"])
def test_each_cell_is_the_mean_of_a_head(seen, tidy, statistic):
    views = [seen(5, 7, 7) for _ in range(3)]
    figure = visualize_layers(views, statistic, title="층과 헤드")
    expected = [getattr(view, statistic).mean(axis=-1) for view in views]
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), expected, rtol=1e-14)
    assert cell_texts(figure) == [f"{value:.2f}" for value in np.ravel(expected)]
    assert {"layer", "head"} <= {text.get_text() for text in figure.texts}
    assert figure.axes[-1].get_ylabel().startswith("mean ")
    tidy(figure)


def test_weights_serve_as_well_as_views(seen):
    views = [seen(5, 7, 7) for _ in range(3)]
    of_views, of_weights = (visualize_layers(layers) for layers in (views, [view.all for view in views]))
    arrays = [figure.axes[0].images[0].get_array() for figure in (of_views, of_weights)]
    np.testing.assert_allclose(*arrays, rtol=1e-13)


def test_numbers_and_functions(seen, tidy):
    numbers = np.arange(24.0).reshape(4, 6) * 11
    figure = visualize_layers(numbers, label="거리", layer_names=["아래", "중간", "위", "꼭대기"])
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), numbers)
    assert figure.axes[0].images[0].get_clim() == (0, 253)
    assert cell_texts(figure)[-1] == "253"
    assert figure.axes[-1].get_ylabel() == "거리"
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["아래", "중간", "위", "꼭대기"]
    tidy(figure)

    def reach(view):
        return view.max_weight.max(axis=-1)

    views = [seen(2, 5, 5), seen(2, 5, 5)]
    figure = visualize_layers(views, reach)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), [reach(view) for view in views])
    assert figure.axes[-1].get_ylabel() == "reach"


def test_scales_mean_what_they_mean_elsewhere():
    numbers = np.array([[1.0, 4.0], [0.5, 0.25]])
    by_row = visualize_layers(numbers, scale="row")
    np.testing.assert_array_equal(by_row.axes[0].images[0].get_array(), [[0.25, 1], [1, 0.5]])
    assert cell_texts(by_row) == ["1.00", "4.00", "0.50", "0.25"]
    np.testing.assert_allclose(visualize_layers(numbers, scale="log").axes[0].images[0].get_clim(), (4e-4, 4))


def test_layers_with_fewer_heads_leave_grey(seen, tidy):
    figure = visualize_layers([seen(5, 3, 3), seen(2, 3, 3)])
    masked = np.ma.getmaskarray(figure.axes[0].images[0].get_array())
    np.testing.assert_array_equal(masked, [[False] * 5, [False, False, True, True, True]])
    assert any("Grey: this layer has no such head." in text.get_text() for text in figure.texts)
    tidy(figure)


@pytest.mark.parametrize("shape", [(1, 1), (2, 64), (48, 4), (96, 96)], ids=str)
def test_any_model_makes_a_tidy_figure(rng, tidy, shape):
    figure = visualize_layers(rng.random(shape), title="큰 모델과 작은 모델")
    assert max(figure.get_size_inches()) < 14
    tidy(figure)
    axes = figure.axes[0]
    for text in axes.texts:
        assert text.get_window_extent().width < axes.bbox.width / shape[1]
        assert text.get_fontsize() >= 6


def test_patterns_are_named_and_coloured(rng, tidy):
    rows = [([NAMES[(i + j) % 8] for j in range(5)], rng.random(5)) for i in range(3)]
    views = [SimpleNamespace(patterns=lambda row=row: SimpleNamespace(labels=row[0], score=row[1])) for row in rows]
    for given in (rows, views, [view.patterns() for view in views]):
        figure = visualize_layers(given, "pattern", title="헤드가 하는 일")
        texts = cell_texts(figure)
        assert texts[::2] == [name.replace("_", " ") for names, _ in rows for name in names]
        assert texts[1::2] == [f"{score:.2f}" for _, scores in rows for score in scores]
        tidy(figure)


def test_patterns_of_weights_are_those_the_textbook_names(tidy):
    weights = np.stack([previous_token(7), first_token(7)])
    figure = visualize_layers([weights, StoredMatrix(weights[:1])], "pattern")
    assert cell_texts(figure) == ["previous token", "1.00", "first token", "1.00", "previous token", "1.00"]
    tidy(figure)


@pytest.mark.parametrize(("layers", "heads"), [(3, 64), (48, 5), (80, 2)], ids=str)
def test_where_names_do_not_fit_a_legend_has_them(rng, tidy, layers, heads):
    rows = [(rng.choice(NAMES, heads).tolist(), rng.random(heads)) for _ in range(layers)]
    figure = visualize_layers(rows, "pattern")
    tidy(figure)
    written = {text.get_text() for text in figure.texts}
    names = {name.replace("_", " ") for name in NAMES}
    if (layers, heads) == (48, 5):
        assert set(cell_texts(figure)) == names  # without scores, for which there is no room
    else:
        assert names <= written
        assert cell_texts(figure) == []
        squares = {text.get_color() for text in figure.texts if text.get_text() == "■"}
        assert squares == {PATTERN_COLOURS.get(name, OTHER_COLOUR) for name in NAMES}
    axes = figure.axes[0]
    for text in axes.texts:
        assert text.get_window_extent().width < axes.bbox.width / heads
        assert text.get_window_extent().height < axes.bbox.height / layers


def test_the_stronger_the_score_the_stronger_the_colour():
    figure = visualize_layers([(["self", "self", "local"], [1.0, 0.2, 1.0])], "pattern")
    strong, weak, other = (np.array(patch.get_facecolor()[:3]) for patch in figure.axes[0].patches)
    assert np.abs(strong - 1).sum() > 2 * np.abs(weak - 1).sum()
    assert np.abs(strong - other).max() > 0.2
    assert len({to_rgb(colour) for colour in [*PATTERN_COLOURS.values(), OTHER_COLOUR]}) == len(PATTERN_COLOURS) + 1


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("views", "options", "words"),
    [
        ([], {}, "views must hold at least one layer, got none"),
        ([], {"statistic": "pattern"}, "views must hold at least one layer, got none"),
        (np.ones((2, 3)), {"layer_names": ["one"]}, "layer_names must be a list of 2 names, one for each layer"),
        (np.array([[np.nan]]), {}, r"the numbers of \(1, 1\) layers × heads must be finite"),
        ([np.ones((1, 1, 1))], {"statistic": "charm"}, "statistic must be one of 'entropy', .* got 'charm'"),
        ([(["self"], [0.5, 0.5])], {"statistic": "pattern"}, "a name and a score, got 1 names and 2 scores"),
    ],
    ids=["none", "no patterns", "names", "nan", "statistic", "scores"],
)
def test_what_cannot_be_drawn(views, options, words):
    with pytest.raises(ValueError, match=words):
        visualize_layers(views, **options)


def test_patterns_of_a_batch(tidy):
    found = SimpleNamespace(labels=np.array([["self", "local"], ["uniform", "mixed"]]), score=np.eye(2))
    assert cell_texts(visualize_layers([found], "pattern", batch=1)) == ["uniform", "0.00", "mixed", "1.00"]
    with pytest.raises(ValueError, match=r"patterns are of a batch of \(2,\); batch=0 picks the first item"):
        visualize_layers([found], "pattern")
    with pytest.raises(TypeError, match=r"a view, its patterns, weights or \(names, scores\), got list"):
        visualize_layers([[1]], "pattern")
