"""What a call over a group would send, from which rank to which, and how much work each rank has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from jaxtyping import Bool, Float, Int

from clearhead import kernels, masks, names
from clearhead.call import Call, Part, prepare
from clearhead.tensors import numpy_type, on_host
from clearhead.torch.elsewhere import stand_in
from clearhead.torch.function import Bias, has_kernels
from clearhead.torch.parallel import by_heads, by_queries
from clearhead.torch.parallel.by_queries import Routes, wide
from clearhead.torch.parallel.exchanging import Block, message_bytes
from clearhead.torch.parallel.joint import Joint, agreed
from clearhead.views.allowed import counts


@dataclass(frozen=True)
class Explanation:
    """What a call sends, and who has how much to do. Printed, it is a few lines of text.

    queries, keys: how many each rank holds
    sent: bytes from each rank (row) to each rank (column) in the forward pass; what stays on a rank is not counted
    returned: the same in the backward pass, of the gradients of q, k and v
    scores: how many scores each rank computes of those that the mask allows, over all heads and batch entries
    tiles: how many tiles the kernels of each rank work through; empty on devices without kernels
    """

    split: str
    layout: str
    queries: tuple[int, ...]
    keys: tuple[int, ...]
    sent: Int[np.ndarray, "ranks ranks"]
    returned: Int[np.ndarray, "ranks ranks"]
    scores: tuple[int, ...]
    tiles: tuple[int, ...]

    @property
    def balance(self) -> float:
        """The most scores that a rank has, over the mean of all ranks: 1 is even."""
        mean = sum(self.scores) / len(self.scores)
        return max(self.scores) / mean if mean else 1.0

    def __str__(self) -> str:
        sizes = f"{len(self.queries)} ranks, {sum(self.queries):,} queries, {sum(self.keys):,} keys"
        lines = [
            f"call       split by {self.split}, {self.layout}: {sizes}",
            f"sent       {_amount(self.sent.sum())} forward, {_amount(self.returned.sum())} backward",
        ]
        for rank, row in enumerate(self.sent):
            to = ", ".join(f"{_amount(size)} to rank {other}" for other, size in enumerate(row) if size)
            lines.append(f"  rank {rank}   {to or 'nothing'}")
        each = ", ".join(f"{x:,}" for x in self.scores)
        return "\n".join([*lines, f"work       {each} scores; the most is {self.balance:.2f} of the mean"])


def _amount(size: int | np.integer) -> str:
    return f"{int(size):,} bytes" if size < 2**20 else f"{size / 2**20:,.1f} MiB"


@names.own_options
def explain(
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
) -> Explanation:
    """What `attention` would send with the same arguments, and the balance of work between ranks. Every rank calls it.

    Only the shapes of q, k and v are looked at. The gradients of what every rank has all of, such as a bias, are added
    up by an all-reduce each, which is not counted here; nor are the few hundred bytes in which ranks agree.
    """
    options: dict[str, Any] = {"scale": scale, "softcap": softcap, "dropout": dropout, "seed": seed}
    joint = agreed(q, k, v, mask, group=group, split=split, layout=layout, bias=bias, sinks=sinks, **options)
    if split == "queries":
        sent, returned, work = _by_queries(joint)
    else:
        sent, returned, work = _by_heads(joint, return_lse)
    for bytes_between in (sent, returned):
        np.fill_diagonal(bytes_between, 0)
    queries, keys = (tuple(sum(map(len, runs)) for runs in shards) for shards in (joint.queries, joint.keys))
    scores, tiles = zip(*work, strict=True)
    return Explanation(split, layout, queries, keys, sent, returned, scores, tiles if has_kernels(q.device) else ())


def _by_queries(joint: Joint) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    planned = by_queries.plan(joint)

    def find(call: Call) -> tuple[int, int]:
        every = range(joint.n_k)
        scores = sum(int(counts(_part(joint, queries, every)).sum()) for queries in joint.segments)
        pairs = zip(joint.segments, planned.runs, strict=True)
        return scores, sum(_tiles(joint, queries, run) for queries, runs in pairs for run in runs)

    routes = planned.routes
    sent, returned = (_bytes_between(routes, joint, kinds) for kinds in ((joint.k.dtype, joint.v.dtype), None))
    return sent, returned.T.copy(), joint.told(find)


def _bytes_between(routes: Routes, joint: Joint, kinds: Sequence[torch.dtype] | None) -> np.ndarray:
    """Bytes of keys and values from each holder to each rank that wants them, or of their gradients, in wide types."""
    ranks = range(joint.ranks)
    kinds = [wide(x.dtype) for x in (joint.k, joint.v)] if kinds is None else kinds

    def size(holder: int, receiver: int) -> int:
        runs = routes.between(holder, receiver)
        pairs = zip((joint.k, joint.v), kinds, strict=True)
        return message_bytes([Block((*x.shape[:-2], len(run), x.shape[-1]), kind) for x, kind in pairs for run in runs])

    return np.array([[size(i, j) for j in ranks] for i in ranks], np.int64)


def _by_heads(joint: Joint, lse: bool) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    heads, call = by_heads.plan(joint)
    lengths = [[sum(map(len, runs)) for runs in shards] for shards in (joint.queries, joint.keys)]
    batch = call.batch_shape if call.many_axes is None else call.many_axes
    sums = getattr(torch, call.kind.name)
    sharing = len({x.keys for x in heads}) < len(heads)

    def there(i: int, j: int, *, gradients: bool) -> int:
        blocks = []
        for x, n, own in (
            (joint.q, lengths[0], heads[j].queries),
            (joint.k, lengths[1], heads[j].keys),
            (joint.v, lengths[1], heads[j].keys),
        ):
            kind = wide(x.dtype) if gradients and sharing else x.dtype
            blocks.append(Block((*x.shape[: max(x.ndim - 3, 0)], len(own), n[i], x.shape[-1]), kind))
        return message_bytes(blocks)

    def back(i: int, j: int) -> int:
        """The output of i's heads on j's rows, with its lse."""
        shape = (*batch, len(heads[i].queries), lengths[0][j])
        output = Block((*shape, joint.v.shape[-1]), joint.q.dtype)
        return message_bytes([output, Block((*shape, 1), sums)] if lse else [output])

    ranks = range(joint.ranks)
    sent = np.array([[there(i, j, gradients=False) + back(i, j) for j in ranks] for i in ranks], np.int64)
    returned = np.array([[there(j, i, gradients=True) + back(j, i) for j in ranks] for i in ranks], np.int64)

    def find(call: Call) -> tuple[int, int]:
        own = heads[joint.rank].queries
        every = counts(_part(joint, range(joint.n_q), range(joint.n_k)))
        tiles = _tiles(joint, range(joint.n_q), range(joint.n_k)) * len(own) // max(call.heads, 1)
        return int(every[..., own.start : own.stop, :].sum()), tiles

    return sent, returned, joint.told(find)


def _stand_ins(joint: Joint, queries: range, keys: range) -> list[np.ndarray]:
    lengths = ((joint.q, queries), (joint.k, keys), (joint.v, keys))
    return [stand_in((*x.shape[:-2], len(run), x.shape[-1]), numpy_type(x.dtype)) for x, run in lengths]


def _options(joint: Joint, queries: range, keys: range) -> dict[str, Any]:
    """What decides which scores are computed."""
    added = joint.shared.float_mask if joint.shared.float_mask is not None else joint.shared.bias
    bias = None if added is None else on_host(by_queries.sliced(added, queries, keys))
    return {"mask": joint.mask, "bias": bias, "part": Part(queries.start, keys.start, joint.offset)}


def _part(joint: Joint, queries: range, keys: range) -> Call:
    return prepare(*_stand_ins(joint, queries, keys), **_options(joint, queries, keys))


def _tiles(joint: Joint, queries: range, keys: range) -> int:
    told = kernels.forecast.explain(*_stand_ins(joint, queries, keys), **_options(joint, queries, keys))
    return told.tiles - told.tiles_skipped
