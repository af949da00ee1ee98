"""Numbers become whole steps and fall into fixed bins."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.census.measures import BINS, DISTANCE, DISTANCES, FARTHEST, MEASURES, bins_of, distance_bin, quantised


def row(value: float) -> np.ndarray:
    return np.full((1, len(MEASURES)), value)


def test_steps():
    steps = quantised(row(0.5))
    assert steps[0, 0] == 32_768
    assert steps[0, DISTANCE] == 32
    assert (quantised(row(np.nan)) == -1).all()
    assert quantised(row(1.0))[0, 3] == 65_536


@pytest.mark.parametrize(("value", "even", "far"), [(0, 0, 0), (0.03, 0, 0), (0.04, 1, 0), (0.98, 31, 0), (1, 31, 1)])
def test_bins(value, even, far):
    bins = bins_of(quantised(row(float(value))))
    assert bins[0, 0] == even
    assert bins[0, DISTANCE] == far


def test_bins_of_distances_double():
    values = [0.9, 1, 1.99, 2, 3.9, 4, 7, 8, 1000, 2.0**40]
    found = [int(bins_of(quantised(row(float(value))))[0, DISTANCE]) for value in values]
    assert found == [0, 1, 1, 2, 2, 3, 3, 4, 10, BINS - 1]


def test_places_of_distances():
    assert distance_bin(0, 0) == FARTHEST
    assert [distance_bin(first, 2 * first - 1) for first in (1, 2, 4)] == [FARTHEST + 1, FARTHEST + 2, FARTHEST + 3]
    assert [distance_bin(-2 * last + 1, -last) for last in (1, 2, 4)] == [FARTHEST - 1, FARTHEST - 2, FARTHEST - 3]
    assert distance_bin(2**40, 2**41 - 1) == DISTANCES - 1
    assert distance_bin(-(2**41) + 1, -(2**40)) == 0
