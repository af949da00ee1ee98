"""Edges cut in a model that runs, before the softmax and after it.

Before, the mask has them too. After, what is left of a query's weights is the softmax over the keys that are left, as
large as their share of the whole:

    Σ over keys left of A v  =  attention over those keys · exp(lse of those keys − lse of all)

so that nothing is taken away again that was added before.
"""

from __future__ import annotations

from typing import Any

import torch

from clearhead import masks
from clearhead.tensors import to_numpy, to_torch
from clearhead.torch.function import attention
from clearhead.torch.padding import both
from clearhead.traces.by_distance import ByDistance
from clearhead.traces.edges import Cut, Without


def cut_before(
    options: dict[str, Any], path: str, cuts: list[Cut], first: tuple[int, int], heads: int, sizes: tuple[int, int]
) -> dict[str, Any]:
    """The options of a call without the edges that are cut.

    first: the positions of its first query and key. sizes (n_q, n_k)
    """
    own = [cut for cut in cuts if cut.concerns(path)]
    if not own:
        return options
    mask: Any = options.get("mask")
    bias: Any = options.get("bias")
    if isinstance(mask, torch.Tensor):
        if mask.is_floating_point():
            if bias is not None and not isinstance(bias, torch.Tensor):
                bias = to_torch(ByDistance.told(bias, *sizes).array(*sizes)).to(mask)
            mask, bias = None, mask if bias is None else bias + mask
        else:
            mask = masks.array(to_numpy(mask.detach().cpu()))
    for cut in own:
        if cut.head is not None and cut.head >= heads:
            raise ValueError(f"{path} has {heads} heads, and there is no head {cut.head} to cut edges of")
        mask = both(mask, Without(cut, *first))
    return {**options, "mask": mask, "bias": bias}


def share_left(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, options: dict[str, Any], left: dict[str, Any]
) -> torch.Tensor:
    """The share of each query's weights that lies on the keys that are left: (b, h, n_q, 1)"""
    one = v[..., :1]  # the lse does not depend on the values
    unused = ("dropout", "seed")
    whole, rest = (
        attention(q, k, one, **{name: x for name, x in given.items() if name not in unused}, return_lse=True)[1]
        for given in (options, left)
    )
    empty = torch.isneginf(rest)  # also where the whole is: a query with no key left
    share = torch.where(empty, 0, torch.exp(rest.masked_fill(empty, 0) - whole.masked_fill(empty, 0)))
    return share[..., None].to(v.dtype)
