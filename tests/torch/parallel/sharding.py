"""Tensors cut into shards and put together again, on every rank."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from tests.torch.parallel.ranks import groups

from clearhead.torch import parallel
from clearhead.torch.parallel.exchanging import block_of, exchange


def there_and_back(n: int, layout: str) -> tuple[Any, ...]:
    """A rank's shard, its positions, and the whole made of all shards."""
    whole = 2 * torch.arange(float(n)).reshape(1, n)
    own = parallel.shard(whole, layout=layout, dim=1)
    again = parallel.gather(own, layout=layout, dim=1)
    return own.tolist(), parallel.positions(n, layout=layout).tolist(), again.tolist()


def exchanged(ranks: int) -> list[bool]:
    """Whether blocks of many types come from each rank as they were sent."""
    blocks = [
        torch.arange(15.0).reshape(3, 5).T[1:4],
        torch.tensor([1.5, -2.0, 3.0], dtype=torch.bfloat16),
        torch.zeros(0, 4),
        torch.arange(3, dtype=torch.float64),
        torch.tensor([1.0, 2.0], dtype=torch.float16).expand(3, 2),
    ]
    expected = [[block_of(x) for x in blocks]] * ranks
    found = exchange([[x + dist.get_rank() for x in blocks]] * ranks, expected, groups[ranks], torch.device("cpu"))
    return [
        copy.equal(block + rank) and copy.dtype == block.dtype
        for rank, copies in enumerate(found)
        for block, copy in zip(blocks, copies, strict=True)
    ]
