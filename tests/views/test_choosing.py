"""Which of so many things are meant."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.views.choosing import chosen, of_batch


@pytest.mark.parametrize(
    ("value", "places", "one"),
    [
        (3, [3], True),
        (-1, [6], True),
        (np.int64(0), [0], True),
        ([5, -7, 5], [5, 0, 5], False),
        (range(2, 4), [2, 3], False),
        ([], [], False),
        (slice(1, None, 3), [1, 4], False),
        (slice(None, None, -2), [6, 4, 2, 0], False),
        (..., [0, 1, 2, 3, 4, 5, 6], False),
    ],
    ids=str,
)
def test_numbers_slices_and_sequences(value, places, one):
    index, dropped = chosen("rows", value, 7)
    assert np.arange(7)[index].tolist() == places
    assert dropped is one


def test_places_along_the_batch_axes():
    entries = np.arange(2 * 3 * 5).reshape(2, 3, 5)
    assert of_batch(entries, None, (2, 3)) is entries
    np.testing.assert_array_equal(of_batch(entries, 1, (2, 3)), entries[1])
    np.testing.assert_array_equal(of_batch(entries, (-1, 2), (2, 3)), entries[1, 2])


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (7, ValueError, "rows 7 is out of range; there are 7: 0 … 6"),
        ([0, -8], ValueError, "rows -8 is out of range; there are 7: 0 … 6"),
        (slice(0, 5, 0), ValueError, "the step of rows must not be 0"),
        (1.5, TypeError, "rows must be a whole number, got 1.5"),
        ([[1]], TypeError, r"rows must be a number, a slice or a sequence of numbers, got int64 of shape \(1, 1\)"),
    ],
    ids=str,
)
def test_errors(value, kind, message):
    with pytest.raises(kind, match=message):
        chosen("rows", value, 7)


def test_of_none_there_is_none():
    with pytest.raises(ValueError, match="head 0 is out of range; there are 0: none at all"):
        chosen("head", 0, 0)
