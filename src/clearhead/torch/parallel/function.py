"""The door: attention over a process group, checked and sent the way that was asked for."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Bool, Float

from clearhead import masks, names
from clearhead.torch.function import Bias
from clearhead.torch.parallel import by_heads, by_queries
from clearhead.torch.parallel.joint import agreed


@names.own_options
@torch.compiler.disable(reason="ranks wait for one another in it")
def attention(
    q: Float[torch.Tensor, "... n_q d"],
    k: Float[torch.Tensor, "... n_k d"],
    v: Float[torch.Tensor, "... n_k d_v"],
    mask: masks.Mask | Bool[torch.Tensor, ...] | Float[torch.Tensor, ...] | None = None,
    *,
    group: dist.ProcessGroup | None = None,
    split: str = "queries",
    layout: str = "contiguous",
    bias: Bias | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Float[torch.Tensor, "*h"] | float | None = None,
    dropout: float = 0.0,
    seed: int | None = None,
    return_lse: bool = False,
) -> Float[torch.Tensor, "... n_q d_v"] | tuple[Float[torch.Tensor, "... n_q d_v"], Float[torch.Tensor, "... n_q"]]:
    """Attention over a sequence whose positions lie on several ranks: shards go in, and this rank's shard comes out.

    q (…, h, n_q, d)  k (…, h_kv, n_k, d)  v (…, h_kv, n_k, d_v), of this rank → output (…, h, n_q, d_v), in q's type

    Means what `clearhead.torch.attention` means of the whole sequence: mask, bias, documents and dropout speak of it,
    and every rank passes the same ones, whole. Every rank of the group calls it, and calls backward if one does.

    Args:
        group: a process group of torch.distributed, with any backend; the default group if None.
        split: "queries" leaves queries where they are and fetches the keys and values that the mask leaves to them;
            "heads" gives each rank the whole sequence of some heads, and puts the output back.
        layout: "contiguous" if ranks hold the runs of the sequence one after another, of any lengths; "zigzag" if rank
            r of P holds runs r and 2P − 1 − r of 2P even ones, which balances causal work. `shard` cuts either.
        mask, bias, scale, softcap, sinks, dropout, seed, return_lse: as in `clearhead.torch.attention`.

    Gradients are those of the sum of all ranks' losses. A rank's q, k and v get theirs; a bias, a float mask, sinks,
    and the slopes or table of a bias by distance, which every rank has, get that of the whole on every rank: do not add
    it up again. (Averaging equal numbers, as DistributedDataParallel does, leaves them as they are.)

    Raises:
        TypeError, ValueError: as `clearhead.torch.attention`, and where ranks pass arguments that do not belong
            together; the same on every rank. The numbers of a bias are not compared.
        RuntimeError: torch.distributed's own, if a rank dies or does not come within the group's timeout.
    """
    options: dict[str, Any] = {"scale": scale, "softcap": softcap, "dropout": dropout, "seed": seed}
    joint = agreed(q, k, v, mask, group=group, split=split, layout=layout, bias=bias, sinks=sinks, **options)
    ways = by_queries if split == "queries" else by_heads
    output, lse = ways.attend(joint, lse=return_lse)
    return (output, lse) if return_lse and lse is not None else output
