"""Looking up: axes that are there, missing or 1, and those that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.masks.lookup import fits_lead, look_up, over_batch
from clearhead.masks.sizes import Sizes, places

SIZES = Sizes(5, 7, (2, 3), 11)


@pytest.mark.parametrize("shape", [(2, 3, 11, 5, 7), (11, 5, 7), (3, 1, 5, 7), (2, 1, 11, 1, 7), (5, 1), (1, 1)])
def test_any_axis_may_be_missing_or_one(shape, rng):
    table, at = rng.integers(0, 100, shape), places(SIZES)
    found = np.broadcast_to(look_up(table, at, at.query, at.key), (2, 3, 11, 5, 7))
    np.testing.assert_array_equal(found, np.broadcast_to(table, (2, 3, 11, 5, 7)))


@pytest.mark.parametrize("lead", [(4,), (1, 1, 1, 1), (5, 3, 11)])
def test_leading_axes_that_do_not_fit(lead):
    with pytest.raises(ValueError, match=r"does not broadcast to the batch axes \(2, 3\) and 11 heads"):
        fits_lead(lead, SIZES)


def test_values_of_batch_entries():
    np.testing.assert_array_equal(over_batch("x", np.arange(3), SIZES), [[0, 1, 2]] * 2)
    assert over_batch("x", np.zeros((2, 1, 7)), SIZES, of_keys=True).shape == (2, 3, 7)
    with pytest.raises(ValueError, match=r"x of shape \(2,\) do not broadcast to the batch axes \(2, 3\)$"):
        over_batch("x", np.arange(2), SIZES)
    with pytest.raises(ValueError, match=r"x of shape \(2, 7\) do not .* \(2, 3\) and 7 keys"):
        over_batch("x", np.zeros((2, 7)), SIZES, of_keys=True)
