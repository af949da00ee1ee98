"""Runs of keys say the same as the mask written out, whatever it is joined of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from clearhead import masks
from clearhead.masks.ranges import Ranges, as_few, both, either, outside, within

from ..drawn import mask_texts
from ..equivalence import MASKS
from .written import from_mask, from_ranges, made


@pytest.mark.parametrize("row", [row for row in MASKS if not row.options["mask"].startswith("flags")], ids=str)
def test_every_mask_of_the_table(row):
    mask, (*batch, heads) = made(row.options["mask"]), row.q[:-2]
    sizes = masks.Sizes(row.q[-2], row.k[-2], tuple(batch), heads)
    ranges = mask.ranges(sizes)
    if ranges is not None:
        np.testing.assert_array_equal(from_ranges(ranges, sizes), from_mask(mask, sizes))


@settings(max_examples=400)
@given(data=st.data())
def test_any_tree_of_masks(data):
    n_q, n_k = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 13))
    batch = tuple(data.draw(st.lists(st.integers(1, 3), max_size=2)))
    heads = data.draw(st.integers(1, 3))
    mask = made(data.draw(mask_texts(n_q, n_k, batch, heads)))
    sizes = masks.Sizes(n_q, n_k, batch, heads)
    ranges = mask.ranges(sizes)
    if ranges is not None:
        assert ranges.low.shape == ranges.high.shape
        assert ranges.low.shape[-2] <= masks.MOST_RANGES
        assert ranges.low.dtype == ranges.high.dtype == np.int64
        assert ((ranges.low >= 0) & (ranges.high <= n_k)).all()
        np.testing.assert_array_equal(from_ranges(ranges, sizes), from_mask(mask, sizes))


def drawn(rng, lead, r, n_q, n_k):
    return within(rng.integers(-3, n_k + 3, (*lead, r, n_q)), rng.integers(-3, n_k + 3, (*lead, r, n_q)), n_k)


@pytest.mark.parametrize(("r", "s"), [(1, 1), (1, 3), (2, 2)])
@pytest.mark.parametrize("lead", [(), (2, 1), (2, 3)])
def test_joining_runs_joins_the_keys_in_them(r, s, lead, rng):
    sizes = masks.Sizes(5, 11, (2,), 3)
    a, b = drawn(rng, lead, r, 5, 11), drawn(rng, (3,), s, 5, 11)
    in_a, in_b = from_ranges(a, sizes), from_ranges(b, sizes)
    np.testing.assert_array_equal(from_ranges(both(a, b), sizes), in_a & in_b)
    np.testing.assert_array_equal(from_ranges(either(a, b), sizes), in_a | in_b)
    np.testing.assert_array_equal(from_ranges(outside(a, 11), sizes), ~in_a)


def test_with_what_cannot_be_said():
    a = Ranges(np.zeros((1, 3), np.int64), np.ones((1, 3), np.int64))
    assert both(a, None) is both(None, a) is either(a, None) is either(None, a) is outside(None, 7) is None


def test_as_few_runs_as_can_be():
    low, high = np.array([[0, 4], [2, 9], [7, 7]]), np.array([[2, 6], [5, 9], [7, 7]])
    few = as_few(Ranges(low, high))
    np.testing.assert_array_equal(few.low, [[0, 4]])  # 0 … 1 and 2 … 4 touch, and where the one is empty is the other
    np.testing.assert_array_equal(few.high, [[5, 6]])


def test_nothing_is_one_empty_run():
    few = as_few(Ranges(np.full((2, 3), 5), np.full((2, 3), 5)))
    assert few.low.shape == (1, 3)
    assert (few.low >= few.high).all()


def test_too_many_runs():
    low = 2 * np.arange(masks.MOST_RANGES + 1)[:, None]
    assert as_few(Ranges(low, low + 1)) is None
    assert as_few(Ranges(low[1:], low[1:] + 1)).low.shape == (masks.MOST_RANGES, 1)
