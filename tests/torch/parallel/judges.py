"""The same attention by other people's code over the same ranks, where it is installed."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch.nn.functional import scaled_dot_product_attention

from clearhead import masks
from clearhead.torch import parallel

SHAPE = (2, 4, 256, 32)  # b, h, n, d


def beside_ring(causal: bool) -> dict[str, tuple[float, float, float]]:
    """How far ours and lucidrains' ring attention are apart on this rank, and each from torch over the whole."""
    from ring_attention_pytorch import ring_flash_attn

    generator = torch.Generator().manual_seed(5)
    whole = [torch.randn(SHAPE, generator=generator) for _ in range(3)]
    upstream = torch.randn(SHAPE, generator=generator)
    by_torch = [x.clone().requires_grad_() for x in whole]
    output = scaled_dot_product_attention(*by_torch, is_causal=causal)
    output.backward(upstream)
    ours, theirs = ([parallel.shard(x).requires_grad_() for x in whole] for _ in range(2))
    mask: Any = masks.causal() if causal else None
    found = parallel.attention(*ours, mask)
    found.backward(parallel.shard(upstream))
    rows = SHAPE[-2] // dist.get_world_size()
    judged = ring_flash_attn(
        *(x.transpose(1, 2) for x in theirs), causal=causal, bucket_size=rows, ring_reduce_col=True
    ).transpose(1, 2)
    judged.backward(parallel.shard(upstream))
    of_all = {"output": (found, judged, parallel.shard(output))}
    for name, a, b, c in zip("qkv", ours, theirs, by_torch, strict=True):
        of_all[f"d_{name}"] = a.grad, b.grad, parallel.shard(c.grad)
    return {
        name: tuple(float((x - y).detach().abs().max()) for x, y in ((a, b), (a, c), (b, c)))
        for name, (a, b, c) in of_all.items()
    }
