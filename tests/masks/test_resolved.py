"""A mask settled for a call: what is said in which way, that it means the same, and that each mask is asked once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from clearhead import masks

from ..drawn import mask_texts
from .written import from_mask, from_resolved, made

SIZES = masks.Sizes(5, 11, (2,), 3)
ROWS = np.arange(55).reshape(5, 11) % 3 == 0


class Counted(masks.Mask):
    """Another mask, and how often it was asked."""

    def __init__(self, mask):
        self.mask, self.asked = mask, Counter()

    def allows(self, at):
        self.asked["allows"] += 1
        return self.mask.allows(at)

    def ranges(self, sizes):
        self.asked["ranges"] += 1
        return self.mask.ranges(sizes)


def ways(resolved):
    """The ways in which something is said."""
    said = {
        "ranges": resolved.ranges is not None,
        "allowed": resolved.allowed is not None,
        "period": resolved.period != 1,
        "rule": resolved.rule is not None,
    }
    return {name for name, is_said in said.items() if is_said}


@pytest.mark.parametrize(
    ("text", "said"),
    {
        "causal()": {"ranges"},
        "causal() & window(3) & key_lengths([3, 7])": {"ranges"},
        "(causal() | prefix(3)) & ~prefix(1)": {"ranges"},
        "array(flags(.5, 5, 11))": {"allowed"},
        "causal() & array(flags(.5, 5, 11))": {"ranges", "allowed"},
        "array(flags(.5, 5, 11)) & array(flags(.5, 11))": {"allowed", "rule"},
        "~array(flags(.5, 5, 11))": {"rule"},
        "dilated(3)": {"period"},
        "dilated(1)": set(),
        "dilated(2) & window(6) & dilated(3)": {"ranges", "period"},
        "dilated(2) | prefix(1)": {"rule"},
        "~dilated(2)": {"rule"},
        "dilated(2) & array(flags(.5, 5, 11)) & causal() & where(lambda b, h, i, j: i != j)": {
            "ranges", "allowed", "period", "rule"
        },
        "documents(np.arange(11) % 2)": {"rule"},
        "documents(np.arange(11) % 2) & causal()": {"ranges", "rule"},
    }.items(),
)  # fmt: skip
def test_what_is_said_in_which_way(text, said):
    mask = made(text)
    resolved = masks.resolve(mask, SIZES)
    assert ways(resolved) == said
    np.testing.assert_array_equal(from_resolved(resolved, SIZES), from_mask(mask, SIZES))


def test_no_mask():
    assert masks.resolve(None, SIZES) == masks.Resolved(None, None, 1, 0, None)


@settings(max_examples=300)
@given(data=st.data())
def test_any_tree_of_masks_means_the_same(data):
    n_q, n_k = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 13))
    batch, heads = tuple(data.draw(st.lists(st.integers(1, 3), max_size=2))), data.draw(st.integers(1, 3))
    mask, sizes = made(data.draw(mask_texts(n_q, n_k, batch, heads))), masks.Sizes(n_q, n_k, batch, heads)
    np.testing.assert_array_equal(from_resolved(masks.resolve(mask, sizes), sizes), from_mask(mask, sizes))


def test_every_mask_is_asked_once():
    joined = [Counted(m) for m in (masks.causal(), masks.documents(np.arange(11) // 4), masks.key_lengths([3, 7]))]
    resolved = masks.resolve(joined[0] & joined[1] & joined[2], SIZES)
    assert ways(resolved) == {"ranges"}
    assert [m.asked for m in joined] == [Counter(ranges=1)] * 3


def test_what_was_resolved_is_kept_for_the_same_sizes():
    counted = Counted(masks.causal())
    mask = masks.Once(counted)
    first, again = (masks.resolve(mask, SIZES) for _ in range(2))
    assert first is again
    assert counted.asked == Counter(ranges=1)
    other = masks.Sizes(3, 11)
    np.testing.assert_array_equal(from_resolved(masks.resolve(mask, other), other), from_mask(counted, other))


def test_asked_once_is_still_a_mask():
    mask = masks.window(3) | masks.prefix(2)
    for joined in (masks.Once(mask) & masks.causal(), ~masks.Once(mask)):
        np.testing.assert_array_equal(from_resolved(masks.resolve(joined, SIZES), SIZES), from_mask(joined, SIZES))


def test_runs_that_are_too_many_together_are_a_rule():
    """Five runs and five more that cut them into nine."""
    a, b = (masks.block_sparse(np.arange(30)[None] % 6 < w, 1) for w in (4, 2))
    many = masks.block_sparse(np.arange(30)[None] % 3 != 1, 1)
    sizes = masks.Sizes(1, 30)
    assert many.ranges(sizes) is None
    shifted = masks.block_sparse((np.arange(30)[None] + 3) % 6 < 5, 1)
    assert ways(masks.resolve(a & b, sizes)) == {"ranges"}
    resolved = masks.resolve(a & shifted, sizes)
    assert ways(resolved) == {"ranges", "rule"}
    assert resolved.rule is shifted
    np.testing.assert_array_equal(from_resolved(resolved, sizes), from_mask(a & shifted, sizes))


def test_the_callers_array_is_read_where_it_lies():
    assert masks.resolve(masks.causal() & ROWS, SIZES).allowed is ROWS
    part = masks.resolve(masks.array(ROWS), masks.Sizes(2, 4, first_query=3, first_key=5)).allowed
    assert np.shares_memory(part, ROWS)
    np.testing.assert_array_equal(part, ROWS[3:5, 5:9])


@pytest.mark.parametrize(
    ("text", "period", "phase"),
    [
        ("dilated(4)", 4, 2),  # the first query stands at 6
        ("dilated(4) & dilated(6)", 11, 6),  # 12 is as good as 11 where the largest distance is 10
        ("dilated(2) & dilated(3)", 6, 0),
        ("dilated(10**30) & dilated(10**30 + 1)", 11, 6),
    ],
)
def test_periods(text, period, phase):
    resolved = masks.resolve(made(text), masks.Sizes(5, 11))
    assert (resolved.period, resolved.phase) == (period, phase)


def test_the_period_of_nothing():
    for n_q, n_k in ((0, 5), (5, 0), (0, 0)):
        assert masks.resolve(masks.dilated(3), masks.Sizes(n_q, n_k)) == masks.Resolved()
