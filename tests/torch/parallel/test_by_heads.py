from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.torch.parallel.alone import group_of_one

from clearhead import masks
from clearhead.torch import parallel
from clearhead.torch.parallel.by_heads import heads_of, only_heads


def test_key_heads_go_in_runs_with_their_query_heads():
    found = heads_of(10, 5, 2)
    assert [tuple(x) for x in found] == [(range(0, 6), range(0, 3)), (range(6, 10), range(3, 5))]


def test_ranks_share_a_key_head_where_they_divide_its_query_heads():
    found = heads_of(8, 2, 4)
    assert [x.queries for x in found] == [range(0, 2), range(2, 4), range(4, 6), range(6, 8)]
    assert [x.keys for x in found] == [range(0, 1), range(0, 1), range(1, 2), range(1, 2)]


@pytest.mark.parametrize(("heads", "kv_heads", "ranks"), [(6, 2, 4), (3, 3, 4), (6, 3, 4), (0, 0, 2)])
def test_other_numbers_are_refused(heads, kv_heads, ranks):
    with pytest.raises(ValueError, match=rf"split='heads' over {ranks} ranks needs at least {ranks} key/value heads"):
        heads_of(heads, kv_heads, ranks)


def test_without_heads_there_is_nothing_to_split():
    x = torch.ones(3, 5)
    with group_of_one(), pytest.raises(ValueError, match=r"split='heads' needs an axis of heads"):
        parallel.attention(x, x, x, split="heads")


@pytest.mark.parametrize(
    "mask",
    [
        masks.causal(),
        masks.where(lambda b, h, i, j: (i + j + h) % 3 == 0) & masks.window(4),
        masks.array(np.random.default_rng(1).random((2, 6, 11, 11)) < 0.5),
        masks.block_sparse(np.random.default_rng(2).random((6, 4, 4)) < 0.5, 3),
        masks.dilated(2),
        masks.key_lengths(np.array([4, 9])),
    ],
    ids=["causal", "rule", "array", "blocks", "dilated", "lengths"],
)
def test_a_mask_of_some_heads_is_that_part_of_the_whole(mask):
    whole = mask.array(11, batch_shape=(2,), heads=6)
    some = only_heads(mask, 3, 6)
    np.testing.assert_array_equal(some.array(11, batch_shape=(2,), heads=2), whole[:, 3:5])
    sizes = masks.Sizes(11, 11, (2,), 2)
    found = masks.resolve(some, sizes)
    allowed = np.ones((2, 2, 11, 11), np.bool_)
    if found.ranges is not None:
        low, high = (x[..., None] for x in found.ranges)
        allowed &= ((low <= np.arange(11)) & (np.arange(11) < high)).any(axis=-3)
    if found.allowed is not None:
        allowed &= found.allowed
    if found.period > 1:
        allowed &= (np.arange(11)[:, None] + found.phase - np.arange(11)) % found.period == 0
    if found.rule is not None:
        allowed &= found.rule.allows(masks.places(sizes))
    np.testing.assert_array_equal(allowed, whole[:, 3:5])
    assert repr(only_heads(masks.causal(), 3, 6)) == "causal()"
    assert (some.padding(sizes) is None) == (mask.padding(sizes._replace(heads=6)) is None)
    assert some.lasting() == mask.lasting()
