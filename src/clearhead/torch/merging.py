"""Joining attention over parts of the keys, on tensors; gradients reach the outputs and the lse of every part."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float

from clearhead import checks
from clearhead.torch.function import check_tensors


def merge(
    parts: Sequence[tuple[Float[torch.Tensor, "*lead n_q d_v"], Float[torch.Tensor, "*lead n_q"]]],
) -> tuple[Float[torch.Tensor, "*lead n_q d_v"], Float[torch.Tensor, "*lead n_q"]]:
    """What `clearhead.merge` means, differentiable."""
    check_tensors(
        **{f"{name} {n}": x for n, part in enumerate(parts) for name, x in zip(("output", "lse"), part, strict=True)}
    )
    outputs, sums = [output for output, _ in parts], [lse for _, lse in parts]
    checks.same_parts(outputs, sums)
    kind = torch.float64 if torch.float64 in (x.dtype for x in (*outputs, *sums)) else torch.float32
    stacked = torch.stack([x.to(kind) for x in sums])
    top = stacked.detach().amax(dim=0)
    top = top.masked_fill(torch.isneginf(top), 0)
    shares = torch.exp(stacked - top)
    total = shares.sum(dim=0)
    empty = total == 0  # no part saw a key: zeros and −inf, and no gradient
    total = total.masked_fill(empty, 1)
    lse = (torch.log(total) + top).masked_fill(empty, -torch.inf)
    mixed = sum(s[..., None] * x.to(kind) for s, x in zip(shares, outputs, strict=True))
    return (mixed / total[..., None]).to(outputs[0].dtype), lse.to(sums[0].dtype)
