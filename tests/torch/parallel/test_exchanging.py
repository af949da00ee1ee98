from __future__ import annotations

import torch
from tests.torch.parallel.alone import group_of_one

from clearhead.torch.parallel.exchanging import Block, block_of, exchange, message_bytes


def test_blocks_begin_at_multiples_of_eight_bytes():
    assert Block((3, 1), torch.bfloat16).bytes == 8
    assert Block((5,), torch.float32).bytes == 24
    assert Block((0, 7), torch.float64).bytes == 0
    assert message_bytes([Block((3,), torch.float32), Block((2,), torch.float64)]) == 32


def test_blocks_of_any_type_and_layout_come_as_they_were_sent():
    blocks = [
        torch.arange(15.0).reshape(3, 5).T[1:4],
        torch.tensor([1.5, -2.0, 3.0], dtype=torch.bfloat16),
        torch.zeros(0, 4),
        torch.arange(3, dtype=torch.float64),
        torch.tensor([1.0, 2.0], dtype=torch.float16).expand(3, 2),
    ]
    with group_of_one():
        (found,) = exchange([blocks], [[block_of(x) for x in blocks]], None, torch.device("cpu"))
    for block, copy in zip(blocks, found, strict=True):
        assert copy.equal(block)
        assert copy.dtype == block.dtype
