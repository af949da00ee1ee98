from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from clearhead.figures.colours import DARK, LIGHT, colour_map, lightness, luminance, paper_to_ink, text_colours


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
