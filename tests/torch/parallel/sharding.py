"""Tensors cut into shards and put together again, on every rank."""

from __future__ import annotations

from typing import Any

import torch

from clearhead.torch import parallel


def there_and_back(n: int, layout: str) -> tuple[Any, ...]:
    """A rank's shard, its positions, and the whole made of all shards."""
    whole = 2 * torch.arange(float(n)).reshape(1, n)
    own = parallel.shard(whole, layout=layout, dim=1)
    again = parallel.gather(own, layout=layout, dim=1)
    return own.tolist(), parallel.positions(n, layout=layout).tolist(), again.tolist()
