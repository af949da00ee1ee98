from __future__ import annotations

import subprocess
import sys

import matplotlib
import matplotlib.style
import ml_dtypes
import numpy as np
import pytest
from matplotlib.figure import Figure

from clearhead.figures import maps as maps_file, visualize_attention
from clearhead.textbook.masks import create_causal_mask

KOREAN = ["나는", "어제", "친구", "와", "함께", "학교", "에", "갔다"]
ENGLISH = ["The", "animal", "did", "not", "cross", "the", "street", "because", "it", "was", "tired", "."]
AWKWARD = [
    "donaudampfschifffahrtsgesellschaft", "국립중앙박물관에서만났습니다", " the", "the ", "\n", "\t", "", "$x^2$", "$",
    "e\u0301", "\U0001f9ff", "\udced", "\x07", "漢字", "שלום", "\u1112\u1161\u11ab", "%_{", "a\\b",
]  # fmt: skip


def words(n: int) -> list[str]:
    return [(ENGLISH + KOREAN)[i % 20] for i in range(n)]


def map_labels(axes) -> tuple[list[str], list[str]]:
    return [t.get_text() for t in axes.get_yticklabels()], [t.get_text() for t in axes.get_xticklabels()]


def maps(figure) -> list:
    return figure.axes[:-1]  # the last is the colour bar


# What is drawn


def test_every_weight_is_in_the_map_and_every_token_on_both_sides(attend):
    weights = attend(8, 8)
    figure = visualize_attention(weights, KOREAN)
    assert isinstance(figure, Figure)
    (axes,) = maps(figure)
    np.testing.assert_array_equal(axes.images[0].get_array(), weights)
    assert map_labels(axes) == (KOREAN, KOREAN)
    assert [figure.get_supylabel(), figure.get_supxlabel()] == ["query", "key"]


def test_rows_are_queries_from_top_to_bottom(attend):
    figure = visualize_attention(attend(3, 5), ["a", "b", "c"], key_tokens=["v", "w", "x", "y", "z"])
    (axes,) = maps(figure)
    assert map_labels(axes) == (["a", "b", "c"], ["v", "w", "x", "y", "z"])
    assert axes.get_ylim() == (2.5, -0.5)
    assert axes.get_xlim() == (-0.5, 4.5)


@pytest.mark.parametrize(("n_q", "n_k", "row", "column"), [(3, 5, 0, 1), (211, 307, 50, 100), (701, 1009, 150, 300)])
def test_a_weight_is_seen_where_its_row_and_column_meet(n_q, n_k, row, column):
    weights = np.zeros((n_q, n_k))
    weights[row, column] = 1.0
    figure = visualize_attention(weights, values=False)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1].astype(int)  # from the bottom, as matplotlib counts
    (axes,) = maps(figure)

    def darkest(i: int, j: int) -> int:
        across, up = axes.transData.transform((j, i)).astype(int)
        return pixels[up - 2 : up + 3, across - 2 : across + 3, :3].sum(axis=-1).min()

    assert darkest(row, column) < 60
    assert darkest(n_q - 1 - row, column) > 700
    assert darkest(row, n_k - 1 - column) > 700


def test_without_tokens_positions_are_counted(attend):
    (axes,) = maps(visualize_attention(attend(3, 5)))
    assert map_labels(axes) == (list("012"), list("01234"))


def test_key_tokens_alone_name_the_keys_only(attend):
    (axes,) = maps(visualize_attention(attend(2, 3), key_tokens=["x", "y", "z"]))
    assert map_labels(axes) == (["0", "1"], ["x", "y", "z"])


def test_heads_become_a_grid_with_one_scale(attend):
    weights = attend(5, 7, 7)
    figure = visualize_attention(weights, KOREAN[:7], head_names=["하나", "둘", "셋", "넷", "다섯"])
    panels = maps(figure)
    assert [axes.get_title() for axes in panels] == ["하나", "둘", "셋", "넷", "다섯"]
    for axes, head in zip(panels, weights, strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), head)
        assert axes.images[0].get_clim() == (0, weights.max())
    # 3 + 2: tokens at the left of each row, and below the lowest map of each column
    assert [bool(map_labels(axes)[0]) for axes in panels] == [True, False, False, True, False]
    assert [bool(map_labels(axes)[1]) for axes in panels] == [False, False, True, True, True]


def test_heads_are_numbered_from_zero_and_one_head_needs_no_name(attend):
    assert [axes.get_title() for axes in maps(visualize_attention(attend(3, 2, 2)))] == ["head 0", "head 1", "head 2"]
    assert [axes.get_title() for axes in maps(visualize_attention(attend(2, 2)))] == [""]
    assert [axes.get_title() for axes in maps(visualize_attention(attend(1, 2, 2), head_names=["h"]))] == ["h"]


@pytest.mark.parametrize("leading", [(1,), (1, 1), (1, 1, 1)])
def test_leading_axes_of_length_one_are_dropped(attend, leading):
    weights = attend(3, 5)
    (axes,) = maps(visualize_attention(weights.reshape(*leading, 3, 5)))
    np.testing.assert_array_equal(axes.images[0].get_array(), weights)


def test_the_scale_may_be_given(attend):
    weights = attend(2, 3, 3)
    figure = visualize_attention(weights, vmax=0.25)
    assert {axes.images[0].get_clim() for axes in maps(figure)} == {(0, 0.25)}
    bar = figure.axes[-1]
    assert bar.get_ylim() == (0, 0.25)
    assert bar._colorbar.extend == "max"
    assert visualize_attention(weights, vmax=1.0).axes[-1]._colorbar.extend == "neither"


def test_the_bar_says_what_it_counts_and_its_numbers_lie_on_it(attend):
    bar = visualize_attention(attend(5, 5)).axes[-1]
    assert bar.get_ylabel() == "attention weight"
    ticks = [float(text.get_text()) for text in bar.get_yticklabels()]
    assert len(ticks) >= 2
    np.testing.assert_allclose(ticks, bar.get_yticks())
    assert bar.get_ylim()[0] <= min(ticks) < max(ticks) <= bar.get_ylim()[1]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_every_float_type_is_drawn_as_it_is(attend, dtype):
    weights = attend(3, 5, dtype=dtype)
    (axes,) = maps(visualize_attention(weights))
    np.testing.assert_array_equal(axes.images[0].get_array(), weights.astype(np.float64))


def test_torch_tensors_of_any_kind_are_taken(attend):
    torch = pytest.importorskip("torch")
    weights = attend(3, 5, dtype=np.float32)
    for tensor in (torch.tensor(weights, requires_grad=True), torch.tensor(weights).bfloat16()):
        (axes,) = maps(visualize_attention(tensor))
        np.testing.assert_array_equal(axes.images[0].get_array(), tensor.detach().float().numpy())


def test_all_zero_weights_have_a_scale():
    figure = visualize_attention(np.zeros((3, 3)))
    assert maps(figure)[0].images[0].get_clim() == (0, 1)


# Values in cells


def said(figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts if text.get_fontsize() == 8)


def cell_texts(figure) -> list[list[str]]:
    return [[text.get_text() for text in axes.texts] for axes in maps(figure)]


def test_each_cell_says_its_weight_a_small_one_is_a_dot_and_0_is_nothing():
    weights = np.array([[0.25, 0.75, 0.0], [0.0049, 0.0051, 0.99]])
    figure = visualize_attention(weights)
    assert cell_texts(figure) == [["0.25", "0.75", "·", "0.01", "0.99"]]
    assert [text.get_position() for text in maps(figure)[0].texts] == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)]
    assert said(figure) == "· means below 0.005. No number means exactly 0."
    assert said(visualize_attention(np.full((2, 2), 0.5))) == ""


def test_no_map_is_filled_with_zeros(attend):
    weights = attend(12, 12, mask=create_causal_mask(12))
    (texts,) = cell_texts(visualize_attention(weights))
    assert len(texts) == 78
    assert not {"0", "0.00"} & set(texts)


def test_numbers_are_written_where_their_cells_are(attend):
    weights = attend(3, 5)
    (axes,) = maps(visualize_attention(weights))
    for text in axes.texts:
        column, row = text.get_position()
        weight = weights[row, column]
        assert text.get_text() == (f"{weight:.2f}" if weight >= 0.005 else "·")


def test_numbers_can_be_left_out(attend):
    assert cell_texts(visualize_attention(attend(3, 5), values=False)) == [[]]


@pytest.mark.parametrize(
    ("shape", "legible"), [((2, 2), True), ((28, 28), True), ((47, 47), False), ((8, 12, 12), False), ((8, 5, 5), True)]
)
def test_numbers_stand_in_cells_only_while_they_can_be_read(attend, shape, legible):
    figure = visualize_attention(attend(*shape))
    assert [bool(texts) for texts in cell_texts(figure)] == [legible] * len(maps(figure))


@pytest.mark.parametrize("shape", [(2, 2), (28, 28), (23, 11), (3, 17), (8, 5, 5), (4, 7, 12), (64, 2, 2), (1, 29)])
def test_a_number_is_never_wider_or_higher_than_its_cell(attend, shape):
    figure = visualize_attention(attend(*shape))
    axes = maps(figure)[0]
    for text in axes.texts:
        box = text.get_window_extent()
        assert box.width < axes.bbox.width / shape[-1]
        assert box.height < axes.bbox.height / shape[-2]
        assert text.get_fontsize() >= 6


def test_too_many_numbers_are_left_out_together(attend, monkeypatch):
    monkeypatch.setattr(maps_file, "MOST_VALUES", 2 * 3 * 5)
    assert all(cell_texts(visualize_attention(attend(2, 3, 5))))
    assert not any(cell_texts(visualize_attention(attend(3, 3, 5))))


# Labels


LAYOUTS = {
    "one token": ((1, 1), ["하나"], None),
    "two tokens": ((2, 2), ["hello", "world"], None),
    "Korean": ((8, 8), KOREAN, None),
    "slanted": ((17, 17), words(17), None),
    "twelve": ((12, 12), ENGLISH, None),
    "awkward": ((18, 18), AWKWARD, None),
    "awkward heads": ((3, 18, 18), AWKWARD, None),
    "cross": ((7, 12), KOREAN[:7], ENGLISH),
    "cross heads": ((4, 7, 12), KOREAN[:7], ENGLISH),
    "eight heads": ((8, 12, 12), ENGLISH, None),
    "ragged grid": ((5, 8, 8), KOREAN, None),
    "sixty-four heads": ((64, 16, 16), words(16), None),
    "numbers": ((4, 53, 53), None, None),
    "numbers to the edge": ((6, 51, 1001), None, None),
    "a first word that hangs over": ((19, 19), None, ["Verfassungsgericht", *words(18)]),
    "sixty": ((60, 60), words(60), None),
    "eighty Korean": ((83, 83), KOREAN * 10 + KOREAN[:3], None),
    "three hundred": ((300, 300), words(300), None),
    "many heads of many": ((12, 101, 101), words(101), None),
    "one query": ((1, 499), ["하나"], words(499)),
    "flat": ((7, 200), KOREAN[:7], words(200)),
    "tall": ((200, 5), words(200), KOREAN[:5]),
    "one query of many heads": ((37, 1, 499), ["하나"], words(499)),
    "tall heads": ((3, 97, 2), words(97), KOREAN[:2]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_is_cut_off_and_nothing_touches(attend, tidy, layout):
    shape, queries, keys = LAYOUTS[layout]
    figure = visualize_attention(
        attend(*shape), queries, key_tokens=keys, title="제목이 길어도 A title that may well be longer than the map"
    )
    tidy(figure)


@pytest.mark.parametrize("heads", [1, 2, 3, 7, 13, 144])
def test_any_number_of_heads_makes_a_sane_figure(attend, tidy, heads):
    figure = visualize_attention(attend(heads, 5, 5), KOREAN[:5])
    assert len(maps(figure)) == heads
    assert max(figure.get_size_inches()) < 14
    tidy(figure)


def test_the_colour_bar_spans_its_grid(attend):
    for heads in (1, 2, 5, 16, 64):
        figure = visualize_attention(attend(heads, 12, 12))
        panels, bar = [axes.get_position() for axes in maps(figure)], figure.axes[-1].get_position()
        assert bar.y1 == pytest.approx(max(panel.y1 for panel in panels), abs=1e-9)
        assert bar.y0 == pytest.approx(min(panel.y0 for panel in panels), abs=1e-9)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 499), (64, 2, 2)])
def test_the_colour_bar_is_as_long_as_what_is_written_along_it(attend, shape):
    bar = visualize_attention(attend(*shape)).axes[-1]
    assert bar.yaxis.label.get_window_extent().height <= bar.bbox.height


def test_two_tokens_make_a_small_figure_and_many_a_larger_one(attend):
    small, large = (visualize_attention(attend(n, n)).get_size_inches() for n in (2, 40))
    assert 2 < min(small) < max(small) < 4
    assert 7 < min(large) < max(large) < 10


def test_level_labels_stay_level_and_long_ones_are_turned(attend):
    def turned(shape, tokens):
        axes = visualize_attention(attend(*shape), tokens).axes[-2]
        return {text.get_rotation() for text in axes.get_xticklabels()}

    assert turned((8, 8), KOREAN) == {0}
    assert turned((17, 17), words(17)) == {0, 45}
    assert turned((2, 12, 12), [*ENGLISH[:-1], "!?"]) == {90}


@pytest.mark.parametrize(("shape", "turned"), [((17, 17), 45), ((2, 20, 20), 90), ((300, 300), 90)], ids=str)
def test_a_single_syllable_is_never_turned_sideways(attend, tidy, shape, turned):
    tokens = (["나는", "와", "because", ".", "친구와", "에", "it"] * 50)[: shape[-1]]
    figure = visualize_attention(attend(*shape), tokens)
    labels = figure.axes[-2].get_xticklabels()
    tokens = [label.get_text().split(":")[-1].strip() for label in labels]
    assert {label.get_rotation() for label, token in zip(labels, tokens, strict=True) if len(token) == 1} == {0}
    assert {label.get_rotation() for label, token in zip(labels, tokens, strict=True) if len(token) > 1} == {turned}
    tidy(figure)


@pytest.mark.parametrize("n", [8, 30, 60, 83, 300, 3000], ids=str)
def test_an_axis_of_single_syllables_is_level_at_any_length(rng, tidy, n):
    figure = visualize_attention(rng.dirichlet(np.ones(n), size=n), ["가나다라漢."[i % 6] for i in range(n)])
    assert {label.get_rotation() for label in maps(figure)[0].get_xticklabels()} == {0}
    tidy(figure)


def test_thinned_labels_say_their_position(attend):
    figure = visualize_attention(attend(300, 300), words(300))
    for labels in map_labels(maps(figure)[0]):
        assert 10 <= len(labels) <= 40
        for label in labels:
            position, token = label.split(":")
            assert token.strip() == words(300)[int(position)]


def test_dollar_signs_are_no_formula(attend):
    figure = visualize_attention(attend(2, 2), ["$x^2$", "$\\frac$"], title="$5 or $6", head_names=["$a$"])
    figure.canvas.draw()
    assert map_labels(maps(figure)[0])[1] == ["$x^2$", "$\\frac$"]


def test_a_long_title_is_wrapped_into_the_figure(attend, tidy):
    figure = visualize_attention(attend(3, 3), title="어텐션 " * 20 + "a" * 100)
    assert figure.texts[0].get_text().count("\n") >= 3
    tidy(figure)


def test_names_of_heads_are_shortened_to_their_maps(attend, tidy):
    names = ["a name that is very much longer than the map it stands above, and goes on", "b\nc", "\x00", "d"]
    figure = visualize_attention(attend(4, 2, 2), head_names=names)
    shown = [axes.get_title() for axes in maps(figure)]
    assert "…" in shown[0]
    assert shown[1:] == ["b c", "U+0000", "d"]
    tidy(figure)


# Pooling


def notes(figure) -> list[str]:
    return [text.get_text() for text in figure.texts if "Pooled" in text.get_text()]


def test_what_pixels_can_show_is_not_pooled(attend):
    figure = visualize_attention(attend(300, 300))
    assert notes(figure) == []
    assert maps(figure)[0].images[0].get_array().shape == (300, 300)


@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_more_than_pixels_can_show_is_pooled_and_said_so(attend, tidy, reduce):
    weights = attend(1999, 1999, dtype=np.float32)
    figure = visualize_attention(weights, reduce=reduce)
    cells = maps(figure)[0].images[0].get_array()
    assert cells.shape == (500, 500)
    np.testing.assert_allclose(cells[5, 7], getattr(weights[20:24, 28:32], reduce)(), rtol=1e-6)
    np.testing.assert_allclose(cells[-1, -1], getattr(weights[-3:, -3:], reduce)(), rtol=1e-6)
    (note,) = notes(figure)
    assert "4 × 4" in note
    assert "1,999 × 1,999" in note
    assert {"mean": "mean", "max": "largest"}[reduce] in note
    assert figure.axes[-1].get_ylabel() != "attention weight"
    assert cell_texts(figure) == [[]]
    tidy(figure)


def test_a_pooled_axis_still_counts_positions(attend):
    (axes,) = maps(visualize_attention(attend(2, 1999, dtype=np.float32)))
    assert axes.get_xlim() == (-0.5, 1998.5)
    assert tuple(axes.images[0].get_extent()[:2]) == (-0.5, 1999.5)


def test_sixty_four_heads_of_two_thousand_positions_stay_a_page(rng, tmp_path):
    head = rng.random((2000, 2000), dtype=np.float32)
    weights = np.broadcast_to(head / head.sum(axis=-1, keepdims=True), (64, 2000, 2000))
    path = tmp_path / "many.png"
    figure = visualize_attention(weights, words(2000), save=path)
    assert max(figure.get_size_inches()) < 14
    assert path.stat().st_size < 8e6
    assert notes(figure)


# Manners


def test_settings_of_the_process_are_neither_changed_nor_obeyed_to_ruin(attend, tidy):
    hostile = {
        "text.usetex": True, "axes.grid": True, "figure.constrained_layout.use": True, "font.family": "serif",
        "axes.labelsize": 40, "axes.titlesize": 40, "xtick.labelsize": 40, "ytick.labelsize": 40,
        "axes.titlelocation": "left", "xtick.top": True, "xtick.minor.visible": True, "image.origin": "lower",
        "image.interpolation": "bicubic", "font.size": 40, "font.weight": "bold",
    }  # fmt: skip
    with matplotlib.rc_context(hostile):
        before = dict(matplotlib.rcParams)
        figure = visualize_attention(attend(3, 8, 8), KOREAN, title="설정")
        tidy(figure)
        figure._repr_png_()
        assert dict(matplotlib.rcParams) == before
        assert maps(figure)[0].get_ylim() == (7.5, -0.5)
        lines = [line for axes in figure.axes for line in (*axes.get_xgridlines(), *axes.get_ygridlines())]
        assert not any(line.get_visible() for line in lines)


def test_the_dark_style_keeps_labels_readable(attend):
    with matplotlib.style.context("dark_background"):
        figure = visualize_attention(attend(2, 2), ["a", "b"])
    assert figure.get_facecolor() == (0, 0, 0, 1)
    assert maps(figure)[0].get_xticklabels()[0].get_color() == "white"


def test_a_notebook_can_show_the_figure(attend):
    picture = visualize_attention(attend(2, 2))._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 2000


def test_neither_pyplot_nor_the_font_package_is_loaded():
    program = (
        "import sys, clearhead; assert 'matplotlib' not in sys.modules\n"
        "import numpy as np; from clearhead.figures import visualize_attention\n"
        "visualize_attention(np.ones((2, 2)) / 2, ['가', '나'])._repr_png_()\n"
        "assert not {'matplotlib.pyplot', 'koreanize_matplotlib'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_the_weights_are_left_alone(attend):
    weights = attend(3, 3)
    before = weights.copy()
    visualize_attention(weights)
    np.testing.assert_array_equal(weights, before)


# Errors


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        (np.ones(3) / 3, ValueError, r"\(n_q, n_k\) or \(h, n_q, n_k\), got shape \(3,\) \(weights\[None, :\]"),
        (np.ones((3, 3), int), TypeError, "weights must be float16, .* got int64"),
        (np.zeros((0, 3)), ValueError, r"shape \(0, 3\) are empty"),
        (np.zeros((0, 2, 3)), ValueError, "empty"),
        (np.ones((2, 3, 5, 5)), ValueError, r"\(2, 3, 5, 5\) hold a batch.*weights\[0\]"),
        (np.ones((145, 1, 1)), ValueError, "145 heads do not fit.*at most 144"),
        (np.array([[0.5, np.nan]]), ValueError, "must be finite, got nan at head 0, query 0, key 1"),
        (np.array([[[1.0]], [[np.inf]]]), ValueError, "must be finite, got inf at head 1, query 0, key 0"),
        (np.array([[0.5, 0.5], [1.5, -0.5]]), ValueError, "negative, got -0.5 at head 0, query 1, key 1.*softmax"),
    ],
)
def test_weights_that_cannot_be_drawn(weights, error, words):
    with pytest.raises(error, match=words):
        visualize_attention(weights)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("shape", "arguments", "error", "words"),
    [
        ((3, 3), {"tokens": ["a", "b"]}, ValueError, "tokens must name all 3 queries, got 2 names"),
        ((3, 3), {"tokens": "abc"}, TypeError, r"tokens must be a list.*tokens.split\(\)"),
        ((3, 5), {"tokens": list("abc")}, ValueError, "3 queries but 5 keys.*give tokens .* and key_tokens"),
        ((3, 5), {"key_tokens": list("abc")}, ValueError, "key_tokens must name all 5 keys, got 3"),
        ((2, 3, 3), {"head_names": ["a"]}, ValueError, "head_names must be a list of 2 names"),
        ((2, 3, 3), {"head_names": "ab"}, ValueError, "head_names must be a list of 2 names"),
        ((3, 3), {"vmax": 0}, ValueError, "vmax must be greater than 0"),
        ((3, 3), {"vmax": "high"}, TypeError, "vmax must be a number"),
        ((3, 3), {"reduce": "sum"}, ValueError, "reduce must be one of 'mean', 'max', got 'sum'"),
        ((3, 3), {"cmap": "jetblack"}, ValueError, "cmap must be a colour map .* got 'jetblack'"),
        ((3, 3), {"save": "x.gif"}, ValueError, r"save must end in .png, .svg or .pdf, got 'x.gif'"),
        ((3, 3), {"save": "x"}, ValueError, "save must end in"),
        ((3, 3), {"save": 3}, TypeError, "save must be a path"),
        ((3, 3), {"save": "no/such/folder/x.png"}, FileNotFoundError, "folder .*no/such/folder.* make it first"),
    ],
)
def test_arguments_that_do_not_fit(attend, shape, arguments, error, words):
    with pytest.raises(error, match=words):
        visualize_attention(attend(*shape), **arguments)
