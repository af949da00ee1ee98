from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import LogNorm, to_rgba

from clearhead.figures import visualize_attention
from clearhead.figures.options import Options
from clearhead.figures.shading import (
    DARK,
    EMPTY_COLOUR,
    LIGHT,
    colour_map,
    lightness,
    luminance,
    paper_to_ink,
    shading,
    text_colours,
)
from clearhead.textbook.masks import create_causal_mask

KOREAN = ["나는", "어제", "친구와", "학교에", "갔다"]


def drawn(figure, panel: int = 0) -> np.ma.MaskedArray:
    return figure.axes[panel].images[0].get_array()


def said(figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts)


# Scales


def test_a_linear_scale_ends_at_the_largest_weight(attend):
    maps = attend(3, 5, 7)
    shades = shading(maps, scale="linear", vmax=None, cmap=None)
    assert (shades.norm.vmin, shades.norm.vmax, shades.above, shades.below) == (0, maps.max(), False, False)
    np.testing.assert_array_equal(shades.shades(maps[1]), maps[1])


def test_a_logarithmic_scale_has_four_powers_of_ten_and_an_end_for_what_is_smaller(attend, tidy):
    weights = attend(2, 5, 5, mask=create_causal_mask(5))
    figure = visualize_attention(weights, KOREAN, scale="log")
    image = figure.axes[0].images[0]
    assert isinstance(image.norm, LogNorm)
    np.testing.assert_allclose(image.get_clim(), (weights.max() / 1e4, weights.max()), rtol=1e-12)
    bar = figure.axes[-1]
    assert bar.get_ylabel() == "attention weight (log scale)"
    assert bar._colorbar.extend == "min"
    ticks = [float(text.get_text()) for text in bar.get_yticklabels()]
    np.testing.assert_allclose(np.log10(ticks), np.round(np.log10(ticks)), atol=1e-9)
    assert len(ticks) in (4, 5)
    # Zero, as a mask leaves, has the lowest colour, and is drawn.
    np.testing.assert_array_equal(image.cmap(image.norm(0.0)), image.cmap(0.0))
    tidy(figure)


def test_a_scale_by_rows_shows_each_row_beside_its_largest(attend, tidy):
    weights = attend(2, 5, 5, mask=create_causal_mask(5))
    figure = visualize_attention(weights, KOREAN, scale="row")
    for panel, head in enumerate(weights):
        np.testing.assert_allclose(drawn(figure, panel), head / head.max(axis=-1, keepdims=True), rtol=1e-15)
        assert figure.axes[panel].images[0].get_clim() == (0, 1)
    assert figure.axes[-1].get_ylabel() == "attention weight ÷ largest in its row"
    # The numbers stay weights.
    shown = [f"{w:.2f}" if w >= 0.005 else "·" for w in weights[1].ravel() if w]
    assert [t.get_text() for t in figure.axes[1].texts] == shown
    tidy(figure)


def test_a_row_without_weight_stays_empty():
    shades = shading(np.zeros((2, 3)), scale="row", vmax=None, cmap=None)
    np.testing.assert_array_equal(shades.shades(np.zeros((2, 3))), np.zeros((2, 3)))


# Hidden keys


def test_hiding_the_first_key_leaves_its_column_grey_and_scales_the_rest(tidy):
    weights = np.full((5, 5), 0.02)
    weights[:, 0] = 0.92
    weights[3, 2] = 0.05
    figure = visualize_attention(weights, KOREAN, hide_keys=True, title="제목")
    cells = drawn(figure)
    np.testing.assert_array_equal(np.ma.getmaskarray(cells), np.eye(5)[0] == np.ones((5, 1)))
    np.testing.assert_array_equal(cells[:, 1:], weights[:, 1:])
    assert figure.axes[0].images[0].get_clim() == (0, 0.05)
    assert figure.axes[0].get_facecolor() == to_rgba(EMPTY_COLOUR)
    assert "Key 0 is hidden, and the colours are scaled to the others." in said(figure)
    assert len(figure.axes[0].texts) == 20
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == KOREAN
    tidy(figure)


def test_any_keys_can_be_hidden(attend):
    weights = attend(3, 7)
    figure = visualize_attention(weights, hide_keys=[5, 2])
    np.testing.assert_array_equal(np.flatnonzero(np.ma.getmaskarray(drawn(figure))[0]), [2, 5])
    assert "Keys 2, 5 are hidden" in said(figure)
    np.testing.assert_array_equal(drawn(visualize_attention(weights, hide_keys=False)), weights)
    assert "Grey: masked" not in said(figure)


def test_a_hidden_key_does_not_count_in_its_pooled_cell():
    weights = np.full((3, 2003), 1e-4)
    weights[:, 0] = 0.8
    cells = drawn(visualize_attention(weights, hide_keys=True))
    np.testing.assert_allclose(cells.filled(np.nan), 1e-4, rtol=1e-12)


# Nothing is drawn where nothing can be


def test_masked_cells_of_a_view_show_the_grey_below_them(seen, tidy):
    n = 1009
    figure = visualize_attention(seen(2, n, n, mask=create_causal_mask(n)))
    for panel in (0, 1):
        masked = np.ma.getmaskarray(drawn(figure, panel))
        np.testing.assert_array_equal(masked, ~np.tri(505, dtype=bool))  # cells of two
    assert "Grey: masked, no weight is possible." in said(figure)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())
    box = figure.axes[0].bbox
    corner = pixels[int(figure.bbox.height - box.y1) + 5, int(box.x1) - 5]
    np.testing.assert_array_equal(corner, np.round(np.array(to_rgba(EMPTY_COLOUR)) * 255))
    tidy(figure)


def test_masked_is_not_the_colour_of_zero():
    zero = np.array(shading(np.ones((1, 1)), scale="linear", vmax=None, cmap=None).cmap(0.0))
    assert np.abs(zero - to_rgba(EMPTY_COLOUR)).max() > 0.04


def test_settings_of_the_process_do_not_reach_the_scale(attend):
    with matplotlib.rc_context({"image.cmap": "jet", "axes.facecolor": "red"}):
        figure = visualize_attention(attend(2, 2), scale="log", hide_keys=True)
    assert figure.axes[0].get_facecolor() == to_rgba(EMPTY_COLOUR)
    assert figure.axes[0].images[0].cmap.name == "paper_to_ink"


# Colours


def test_lightness_falls_in_even_steps_so_order_survives_without_hue():
    colours = paper_to_ink()(np.arange(256))
    steps = np.diff(lightness(colours))
    assert lightness(colours[:1]) > 98
    assert lightness(colours[-1:]) < 8
    np.testing.assert_allclose(steps, steps.mean(), rtol=0.06)


@pytest.mark.parametrize("name", [None, "viridis", "cividis", "gray"])
def test_text_stands_out_on_every_colour(name):
    colours = colour_map(name)(np.linspace(0, 1, 101))
    inks = text_colours(colours)
    ink_light = np.array([luminance(np.array(matplotlib.colors.to_rgb(ink))) for ink in inks])
    light = luminance(colours)
    contrast = (np.maximum(light, ink_light) + 0.05) / (np.minimum(light, ink_light) + 0.05)
    assert contrast.min() > 4  # 4.5 is what the web asks of running text; black on white has 21
    assert text_colours(np.array([[1.0, 1, 1, 1], [0, 0, 0, 1]])).tolist() == [DARK, LIGHT]


def test_a_map_may_be_given_by_name_or_as_it_is():
    viridis = matplotlib.colormaps["viridis"]
    assert colour_map("viridis") == viridis
    assert colour_map(viridis) is viridis
    assert colour_map(None) is paper_to_ink()


# Errors


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"scale": "cubic"}, ValueError, "scale must be one of 'auto', 'linear', 'log', 'row', got 'cubic'"),
        ({"scale": "row", "vmax": 0.5}, ValueError, "with scale='row' each row has its own; leave one out"),
        ({"hide_keys": 7}, ValueError, r"hide_keys names key 7, but there are only 3 keys \(0 … 2\)"),
        ({"hide_keys": [0, 1, 2]}, ValueError, "hide_keys leaves no key to draw, as there are only 3"),
        ({"hide_keys": -1}, ValueError, "hide_keys must be at least 0, got -1"),
        ({"hide_keys": "first"}, TypeError, "hide_keys must be a whole number"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_options_that_cannot_be(attend, options, error, words):
    with pytest.raises(error, match=words):
        visualize_attention(attend(3, 3), **options)


def test_the_only_key_cannot_be_hidden():
    with pytest.raises(ValueError, match="leaves no key to draw, as there is only 1"):
        Options(hide_keys=True).hidden(1)
