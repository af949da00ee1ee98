"""Masks of several calls, and of one sequence of a batch."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.traces.stacking import OfOneSequence, Rows, Runs, Stacked, run_of

B, H, N = 2, 3, 9


def inside(runs, n_k):
    """What runs allow: (…, r, n_q) → (…, n_q, n_k)"""
    key = np.arange(n_k)[:, None]
    return ((key >= runs.low[..., None, :]) & (key < runs.high[..., None, :])).any(-3).swapaxes(-1, -2)


MASKS = {
    "causal": masks.causal(),
    "window": masks.window(3),
    "lengths": masks.causal() & masks.key_lengths(np.array([9, 6])),
    "heads": masks.array(np.random.default_rng(1).random((B, H, N, N)) < 0.5),
}


@pytest.mark.parametrize("name", MASKS)
def test_one_sequence_of_a_batch(name):
    sizes = masks.Sizes(N, N, (B,), H)
    whole = MASKS[name].array(N, batch_shape=(B,), heads=H)
    for entry, queries, keys in ((0, range(N), range(N)), (1, range(2, 8), range(2, 8)), (1, range(4), range(1, 6))):
        mask = OfOneSequence(MASKS[name], sizes, entry, queries, keys)
        expected = whole[entry][:, queries.start : queries.stop, keys.start : keys.stop]
        np.testing.assert_array_equal(mask.array(len(queries), len(keys), heads=H), expected)
        runs = mask.ranges(masks.Sizes(len(queries), len(keys), (), H))
        assert (runs is None) == (name == "heads")
        if runs is not None:
            np.testing.assert_array_equal(np.broadcast_to(inside(runs, len(keys)), expected.shape), expected)
            again = Runs(runs.low, runs.high)
            np.testing.assert_array_equal(again.array(len(queries), len(keys), heads=H), expected)


def test_calls_one_after_the_other():
    odd = masks.where(lambda b, h, i, j: (i + j + b) % 2 == 0)
    for last, in_runs in ((masks.causal(), True), (odd, False)):
        rows = (Rows(4, range(4), masks.causal()), Rows(1, range(5), None), Rows(2, range(3, 7), last))
        expected = np.zeros((B, 7, 7), bool)
        expected[:, :4, :4] = np.tril(np.ones((4, 4), bool))
        expected[:, 4, :5] = True
        expected[:, 5:, 3:] = last.array(2, 4, batch_shape=(B,))
        mask = Stacked(rows)
        np.testing.assert_array_equal(mask.array(7, batch_shape=(B,)), expected)
        runs = mask.ranges(masks.Sizes(7, 7, (B,), H))
        assert (runs is not None) == in_runs
        if in_runs:
            np.testing.assert_array_equal(np.broadcast_to(inside(runs, 7), (B, 1, 7, 7))[:, 0], expected)
        assert mask.lasting() == in_runs


def test_runs_of_real_positions():
    assert run_of(np.array([0, 1, 1, 0], bool)) == range(1, 3)
    assert run_of(np.zeros(3, bool)) == range(0)
    assert run_of(np.array([1, 0, 1], bool)) is None
