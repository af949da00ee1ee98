"""Tiles of a map, held to every weight of it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.page.conftest import seen

from clearhead import look
from clearhead.matrices import StoredMatrix
from clearhead.page.packing import HIDDEN
from clearhead.page.reading import Layer
from clearhead.page.tiling import TILE, column_of, is_within_reach, levels, row_of, tile, tiles_along


@pytest.fixture(scope="module")
def view():
    return seen(1201, 2, map_size=64)


@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_a_tile_is_what_the_weights_say(view, reduce):
    layer = Layer("a", view)
    weights, allowed = view.weights(1), np.tri(1201, dtype=bool)
    assert levels(layer) == 4
    for level, row, column in [(0, 4, 2), (0, 1, 1), (0, 0, 4), (1, 2, 1), (2, 1, 0), (3, 0, 0)]:
        found = tile(layer, 1, level, row, column, reduce)
        by, side = 1 << level, TILE << level
        for i in range(0, found.shape[0], 37):
            for j in range(0, found.shape[1], 41):
                place = np.s_[
                    row * side + i * by : row * side + (i + 1) * by,
                    column * side + j * by : column * side + (j + 1) * by,
                ]
                there = weights[place][allowed[place]]
                expected = HIDDEN if not there.size else there.mean() if reduce == "mean" else there.max()
                np.testing.assert_allclose(found[i, j], expected, rtol=2e-6, atol=1e-12)
    ends = [tile(layer, 0, level, tiles_along(1201, level) - 1, 0).shape for level in range(4)]
    assert ends == [(177, 256), (89, 256), (45, 256), (151, 151)]


def test_the_finest_tile_rows_and_columns_have_the_very_weights(view):
    layer = Layer("a", view)
    weights = view.weights(0)
    found = tile(layer, 0, 0, 3, 1)
    assert np.array_equal(found, weights[768:1024, 256:512])
    for at in (0, 700, 1200):
        allowed = np.tri(1201, dtype=bool)
        assert np.array_equal(row_of(layer, 0, at), np.where(allowed[at], view.row(at, 0), HIDDEN))
        np.testing.assert_array_equal(column_of(layer, 0, at), np.where(allowed[:, at], weights[:, at], HIDDEN))


def test_not_a_number_is_told_from_masked(rng):
    q, k = rng.standard_normal((2, 1, 300, 7), np.float32)
    q[0, 290] = np.nan
    layer = Layer("a", look(q, k))
    assert np.isnan(row_of(layer, 0, 290)).all()
    assert not np.isnan(row_of(layer, 0, 289)).any()
    assert np.isnan(tile(layer, 0, 1, 0, 0)[145]).all()
    assert not np.isnan(tile(layer, 0, 1, 0, 0)[144]).any()


def test_weights_that_are_stored_have_tiles_too(rng):
    weights = rng.dirichlet(np.ones(300), 290).astype(np.float32)
    layer = Layer("a", StoredMatrix(weights))
    assert levels(layer) == 2
    np.testing.assert_array_equal(tile(layer, 0, 0, 1, 0), weights[256:, :256])
    np.testing.assert_allclose(tile(layer, 0, 1, 0, 0)[144, 149], weights[288:, 298:].mean(), rtol=1e-6)


def test_what_would_take_long_is_out_of_reach(view):
    layer = Layer("a", view)
    layer.n_q = layer.n_k = 32_768
    assert is_within_reach(layer, 5, "max")
    assert not is_within_reach(layer, 6, "max")
    assert is_within_reach(layer, 7, "mean")
