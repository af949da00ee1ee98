from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import LogNorm, to_rgba

from clearhead import masks
from clearhead.figures import visualize_attention, visualize_head
from clearhead.figures.shading import EMPTY_COLOUR
from clearhead.matrices import StoredMatrix
from clearhead.textbook.patterns import causal_uniform
from clearhead.views import look


def said(figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts)


def sink(n: int, share: float = 0.9) -> np.ndarray:
    """Every query gives the first key most of its weight, and the rest alike to those it may see."""
    weights = (1 - share) * causal_uniform(n)
    weights[:, 0] += share
    return weights


def rendered(figure, dpi: float) -> np.ndarray:
    """Pixels (down, across, 4), from the top."""
    figure.set_dpi(dpi)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba()).astype(int)


# Scales


@pytest.mark.parametrize("n", [512, 2048])
def test_a_long_causal_map_is_not_an_empty_triangle(n):
    figure = visualize_attention(causal_uniform(n), mask=masks.causal())
    axes = figure.axes[0]
    pixels = rendered(figure, 120)[::-1]
    across, up = axes.transAxes.transform((0.25, 0.25)).astype(int)  # half-way down, inside the triangle
    inside = pixels[up - 20 : up + 20, across - 20 : across + 20, :3].mean()
    assert inside < 225, "the middle of the triangle is nearly white"
    assert isinstance(axes.images[0].norm, LogNorm)
    assert figure.axes[-1].get_ylabel().endswith("attention weight (log scale)")
    assert "The colours are on a log scale from" in said(figure)
    assert "cells lie above it, the largest at" in said(figure)


def test_a_long_map_of_a_view_chooses_its_scale_too(rng):
    q, k = (rng.normal(size=(1, 700, 7)) for _ in range(2))
    view = look(0.3 * q, k, mask=masks.causal())
    figure = visualize_head(view)
    assert isinstance(figure.axes[0].images[0].norm, LogNorm)
    assert "fitted to the data" in said(figure)


@pytest.mark.parametrize("n", [12, 64])
def test_small_maps_stay_linear(n):
    figure = visualize_attention(causal_uniform(n))
    assert figure.axes[0].images[0].get_clim() == (0, 1)
    assert not isinstance(figure.axes[0].images[0].norm, LogNorm)
    assert "scale" not in said(figure)


def test_a_scale_that_is_asked_for_is_kept():
    weights = causal_uniform(300)
    for options, end in (({"scale": "linear"}, 1.0), ({"vmax": 0.5}, 0.5)):
        figure = visualize_attention(weights, **options)
        assert figure.axes[0].images[0].get_clim() == (0, end)
        assert "fitted" not in said(figure)
    np.testing.assert_allclose(visualize_attention(weights, scale="log").axes[0].images[0].get_clim(), (1e-4, 1))


# Columns of a pixel


@pytest.mark.parametrize("dpi", [60, 97, 120, 200])
@pytest.mark.parametrize("n", [511, 1000, 2048])
def test_a_bright_first_column_is_seen_at_any_length_and_resolution(n, dpi):
    heads = np.stack([sink(n)] * 4)
    figure = visualize_attention(heads, mask=masks.causal())
    pixels = rendered(figure, dpi)
    for axes in figure.axes[:4]:
        box = axes.bbox
        left, low = round(box.x0), round(pixels.shape[0] - box.y0)
        near = pixels[low - round(box.height / 3) : low - 3, left - 1 : left + 4, :3].mean(axis=0).sum(axis=-1)
        inner = pixels[low - round(box.height / 3) : low - 3, left + 8 : left + 20, :3].mean()
        assert near.min() < 3 * inner - 60, "the first key is no darker than the others"


def test_the_frame_covers_no_cell():
    weights = np.zeros((512, 512))
    weights[:, 0] = weights[0] = weights[:, -1] = weights[-1] = 1.0
    figure = visualize_attention(np.stack([weights] * 4), scale="linear")
    ink = np.round(255 * np.array(figure.axes[0].images[0].cmap(1.0)))[:3]
    pixels = rendered(figure, 120)
    for axes in figure.axes[:4]:
        box = axes.bbox
        left, right = round(box.x0), round(box.x1) - 1
        top, bottom = round(pixels.shape[0] - box.y1), round(pixels.shape[0] - box.y0) - 1
        middle = (top + bottom) // 2, (left + right) // 2
        for place in ((middle[0], left), (middle[0], right), (top, middle[1]), (bottom, middle[1])):
            np.testing.assert_allclose(pixels[place][:3], ink, atol=2)  # and not a line over it


def test_narrow_keys_that_get_much_are_marked():
    figure = visualize_attention(np.stack([sink(512), causal_uniform(512)]), mask=masks.causal())
    one, other = (axes.lines[0] for axes in figure.axes[:2])
    assert (one.get_xdata().tolist(), other.get_xdata().tolist()) == ([0], [])
    assert "▾ marks keys that get over 10% of their head's attention." in said(figure)
    axes = figure.axes[0]
    mark = axes.lines[0]
    middle = mark.get_transform().transform((0, 1))[1] - axes.bbox.y1
    half = mark.get_markersize() / 72 * figure.dpi / 2
    assert 0 <= middle - half < middle + half < 0.06 * figure.dpi, "between the map and what is written above it"
    wide = visualize_attention(sink(40))
    assert wide.axes[0].lines[0].get_xdata().tolist() == []
    assert "▾" not in said(wide)
    assert "▾" not in said(visualize_attention(sink(512), hide_keys=True))


# Masks


@pytest.mark.parametrize("n", [7, 600])
def test_masked_places_are_grey_however_many_weights_a_cell_has(n):
    allowed = np.tri(n, dtype=bool)
    by_mask = visualize_attention(causal_uniform(n), mask=masks.causal())
    by_array = visualize_attention(causal_uniform(n), mask=allowed)
    by_matrix = visualize_attention(StoredMatrix(causal_uniform(n), allowed=allowed))
    for figure in (by_mask, by_array, by_matrix):
        cells = figure.axes[0].images[0].get_array()
        np.testing.assert_array_equal(np.ma.getmaskarray(cells), ~np.tri(n, dtype=bool))
        assert "Grey: masked, no weight is possible." in said(figure)
        pixels, box = rendered(figure, 120), figure.axes[0].bbox
        corner = pixels[int(pixels.shape[0] - box.y1) + 5, int(box.x1) - 5]
        np.testing.assert_array_equal(corner, np.round(np.array(to_rgba(EMPTY_COLOUR)) * 255))


def test_a_weight_of_0_is_not_masked_unless_the_mask_is_known():
    figure = visualize_attention(causal_uniform(7))
    assert not np.ma.getmaskarray(figure.axes[0].images[0].get_array()).any()
    assert "Grey" not in said(figure)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("weights", "mask", "error", "words"),
    [
        (
            np.full((3, 3), 1 / 3),
            masks.causal(),
            ValueError,
            "not made with this mask: query 0 gives key 1 a weight of 0",
        ),
        (
            np.eye(3),
            np.tri(3),
            TypeError,
            "mask must be boolean, True = may attend, or one of clearhead.masks, got float64",
        ),
        (np.eye(3), np.ones((4, 4), bool), ValueError, r"mask of shape \(4, 4\) does not broadcast"),
    ],
    ids=["other", "float", "shape"],
)
def test_masks_that_do_not_fit(weights, mask, error, words):
    with pytest.raises(error, match=words):
        visualize_attention(weights, mask=mask)


def test_a_view_knows_its_mask(rng):
    view = look(rng.normal(size=(1, 5, 3)), rng.normal(size=(1, 5, 3)))
    with pytest.raises(ValueError, match="a view knows that; leave it out"):
        visualize_attention(view, mask=masks.causal())
