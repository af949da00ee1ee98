from __future__ import annotations

import pytest
import torch
from tests.torch.parallel.alone import group_of_one

from clearhead.torch import parallel
from clearhead.torch.parallel.layouts import common, even_runs, even_shards, rows_of, shards_of


def test_runs_are_as_even_as_can_be():
    assert even_runs(11, 4) == [range(0, 3), range(3, 6), range(6, 9), range(9, 11)]
    assert even_runs(2, 3) == [range(0, 1), range(1, 2), range(2, 2)]


def test_zigzag_gives_each_rank_a_run_from_the_front_and_its_mirror_image():
    assert even_shards(16, 2, "zigzag") == [[range(0, 4), range(12, 16)], [range(4, 8), range(8, 12)]]


def test_contiguous_shards_may_have_any_length():
    assert shards_of([5, 0, 2], "contiguous", "keys") == [[range(0, 5)], [range(5, 5)], [range(5, 7)]]


def test_zigzag_shards_that_are_not_even_are_refused():
    with pytest.raises(ValueError, match=r"cuts 9 positions into 5, 4 rows for ranks 0 … 1, but their keys have 4, 5"):
        shards_of([4, 5], "zigzag", "keys")


def test_a_layout_that_is_none_is_refused():
    with pytest.raises(ValueError, match="layout must be one of 'contiguous', 'zigzag', got 'ring'"):
        even_shards(5, 2, "ring")


def test_where_a_run_lies_in_a_shard():
    shard = [range(2, 6), range(20, 23)]
    assert rows_of(shard, range(3, 5)) == slice(1, 3)
    assert rows_of(shard, range(21, 23)) == slice(5, 7)
    with pytest.raises(ValueError, match=r"positions 5 … 20 are not in the shard"):
        rows_of(shard, range(5, 21))


def test_what_two_sets_of_runs_have_in_common():
    assert common([range(0, 4), range(8, 12)], [range(10, 20), range(3, 9)]) == [
        range(3, 4),
        range(8, 9),
        range(10, 12),
    ]


@pytest.mark.parametrize("layout", ["contiguous", "zigzag"])
def test_what_is_cut_is_put_together_again(four, layout):
    for own, positions, whole in four.run("sharding.there_and_back", 13, layout):
        assert own == [[2 * x for x in positions]]
        assert whole == [[2.0 * x for x in range(13)]]


def test_one_rank_has_everything():
    with group_of_one():
        x = torch.arange(6.0).reshape(3, 2)
        assert parallel.shard(x).equal(x)
        assert parallel.gather(x, layout="zigzag").equal(x)
        assert parallel.positions(3).tolist() == [0, 1, 2]
