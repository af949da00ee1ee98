from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.torch.parallel.needs import MOST_RUNS, NEARBY, joined, needed


def keys_of(mask: masks.Mask | None, first: int, n_q: int, n_k: int, **options: object) -> list[range]:
    return needed(mask, None, masks.Sizes(n_q, n_k, (2,), 3, first, 0, 0), **options)


def test_a_window_needs_its_neighbours_only():
    assert keys_of(masks.window(256), 4096, 1024, 16384) == [range(4096 - 255, 5120)]


def test_causal_queries_need_what_is_before_them():
    assert keys_of(masks.causal(), 100, 50, 400) == [range(150)]


def test_without_a_mask_everything_is_needed():
    assert keys_of(None, 100, 50, 400) == [range(400)]


def test_far_runs_stay_apart_and_near_ones_are_joined():
    mask = masks.causal() & (masks.window(3) | masks.prefix(2))
    assert keys_of(mask, 500, 10, 600) == [range(2), range(498, 510)]
    assert keys_of(mask, NEARBY + 4, 1, 600) == [range(NEARBY + 5)]
    assert keys_of(mask, 500, 10, 600, in_one=True) == [range(510)]


def test_there_are_never_more_runs_than_a_few():
    used = np.zeros((1, 4000), np.bool_)
    used[:, ::100] = True
    found = keys_of(masks.array(used), 0, 5, 4000)
    assert len(found) <= MOST_RUNS
    assert {key for run in found for key in run} >= set(range(0, 4000, 100))


@pytest.mark.parametrize(
    "mask",
    [
        masks.documents(np.arange(400) // 130),
        masks.block_sparse(np.random.default_rng(1).random((3, 10, 10)) < 0.2, 40),
        masks.array(np.random.default_rng(2).random((400, 400)) < 0.001),
        masks.where(lambda b, h, i, j: (i + b) * 3 + h == j),
        masks.causal() & masks.array(np.random.default_rng(3).random((2, 1, 400, 400)) < 0.002),
        masks.dilated(5) & masks.window(40),
    ],
    ids=["documents", "blocks", "array", "rule", "both", "dilated"],
)
def test_every_key_that_a_mask_allows_is_among_them(mask):
    allowed = mask.array(400, batch_shape=(2,), heads=3)
    for first, n_q in ((0, 7), (130, 260), (390, 10)):
        used = set(np.flatnonzero(allowed[..., first : first + n_q, :].any(axis=(0, 1, 2))).tolist())
        found = {key for run in keys_of(mask, first, n_q, 400) for key in run}
        assert used <= found
        if used:
            assert max(found) <= max(used) + NEARBY


def test_keys_that_a_bias_forbids_are_not_needed():
    forbidden = np.zeros((7, 400), np.bool_)
    forbidden[:, 50:350] = True
    sizes = masks.Sizes(7, 400, (), 1, 0, 0, 0)
    assert needed(None, forbidden, sizes) == [range(50), range(350, 400)]


def test_no_query_needs_no_key():
    assert keys_of(masks.causal(), 5, 0, 400) == []
    assert keys_of(masks.causal(), 5, 3, 0) == []


def test_runs_that_touch_are_one():
    assert joined([range(5, 9), range(0, 5), range(3, 4), range(7, 7), range(20, 22)]) == [range(9), range(20, 22)]
