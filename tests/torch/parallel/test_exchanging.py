from __future__ import annotations

import torch
from tests.torch.parallel.alone import group_of_one
from tests.torch.parallel.ranks import Ranks

from clearhead.torch.parallel.exchanging import Block, block_of, exchange, message_bytes


def test_blocks_begin_at_multiples_of_eight_bytes():
    assert Block((3, 1), torch.bfloat16).bytes == 8
    assert Block((5,), torch.float32).bytes == 24
    assert Block((0, 7), torch.float64).bytes == 0
    assert message_bytes([Block((3,), torch.float32), Block((2,), torch.float64)]) == 32


def test_blocks_of_any_type_and_layout_come_as_they_were_sent(four: Ranks):
    assert four.run("sharding.exchanged", 2, ranks=[0, 1]) == [[True] * 10] * 2


def test_what_a_rank_has_for_itself_is_not_sent():
    block = torch.arange(15.0).reshape(3, 5).T[1:4]
    with group_of_one():
        ((found,),) = exchange([[block]], [[block_of(block)]], None, torch.device("cpu"))
    assert found is block
