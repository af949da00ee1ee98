"""Attention in which every rank gets the whole sequence of some heads, and the output goes back to where queries lie.

Queries, keys and values change places twice, whatever the mask; the calls in between are those of one machine, of
fewer heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist

from clearhead import checks, masks
from clearhead.call import Call, HeadRun
from clearhead.masks.mask import Both
from clearhead.tensors import on_host
from clearhead.torch.biases import RelativeBias, constant
from clearhead.torch.function import checked_attention
from clearhead.torch.parallel.by_queries import summed_over, wide
from clearhead.torch.parallel.exchanging import Block, exchange
from clearhead.torch.parallel.joint import Joint, Shared
from clearhead.torch.parallel.layouts import Runs, even_runs, rows_of


class Heads(NamedTuple):
    """The query heads and the key/value heads of a rank."""

    queries: range
    keys: range


def heads_of(heads: int, kv_heads: int, ranks: int) -> list[Heads]:
    """Which heads each rank gets: runs of key/value heads with their query heads, or a part of the heads of one."""
    group = heads // max(kv_heads, 1)
    if ranks <= kv_heads:
        return [Heads(range(r.start * group, r.stop * group), r) for r in even_runs(kv_heads, ranks)]
    sharing, left = divmod(ranks, max(kv_heads, 1))
    if left or not heads or group % sharing:
        raise ValueError(
            f"split='heads' over {ranks} ranks needs at least {ranks} key/value heads, or so many ranks for each that "
            f"they divide its query heads; there are {heads} query heads and {kv_heads} key/value heads "
            "(split='queries' takes any number)"
        )
    return [Heads(own, range(r // sharing, r // sharing + 1)) for r, own in enumerate(even_runs(heads, ranks))]


@dataclass(frozen=True)
class Swap:
    """How one tensor changes places between rows on each rank, all heads, and all rows, some heads on each rank."""

    shards: list[Runs]  # the positions of each rank
    heads: list[range]  # and the heads

    @property
    def lengths(self) -> list[int]:
        return [sum(map(len, runs)) for runs in self.shards]


def to_heads(
    tensors: Sequence[torch.Tensor], swaps: Sequence[Swap], rank: int, group: dist.ProcessGroup | None
) -> list[torch.Tensor]:
    """From this rank's rows of all heads to all rows of this rank's heads: x (…, h, n, w)"""
    ranks = range(len(swaps[0].shards))
    pairs = list(zip(tensors, swaps, strict=True))
    sent = [[x[..., _slice(s.heads[p]), :, :] for x, s in pairs] for p in ranks]
    expected = [
        [Block((*x.shape[:-3], len(s.heads[rank]), s.lengths[p], x.shape[-1]), x.dtype) for x, s in pairs]
        for p in ranks
    ]
    got = exchange(sent, expected, group, tensors[0].device)
    whole = []
    for number, (_, swap) in enumerate(pairs):
        pieces = [
            (run.start, got[p][number][..., rows_of(swap.shards[p], run), :])
            for p in ranks
            for run in swap.shards[p]
            if run
        ]
        in_order = [piece for _, piece in sorted(pieces, key=lambda entry: entry[0])]
        whole.append(torch.cat(in_order or [got[0][number]], dim=-2))
    return whole


def to_rows(
    tensors: Sequence[torch.Tensor],
    swaps: Sequence[Swap],
    shapes: Sequence[tuple[int, ...]],
    rank: int,
    group: dist.ProcessGroup | None,
) -> list[torch.Tensor]:
    """The way back, into tensors of these shapes. What several ranks have of a head is added up, in their order."""
    ranks = range(len(swaps[0].shards))
    pairs = list(zip(tensors, swaps, strict=True))
    sent = [[_taken(x, s.shards[p]) for x, s in pairs] for p in ranks]
    expected = [
        [Block((*x.shape[:-3], len(s.heads[p]), s.lengths[rank], x.shape[-1]), x.dtype) for x, s in pairs]
        for p in ranks
    ]
    got = exchange(sent, expected, group, tensors[0].device)
    found = [torch.zeros(shape, dtype=x.dtype, device=x.device) for x, shape in zip(tensors, shapes, strict=True)]
    for p in ranks:
        for total, swap, block in zip(found, swaps, got[p], strict=True):
            total[..., _slice(swap.heads[p]), :, :] += block
    return found


def _slice(run: range) -> slice:
    return slice(run.start, run.stop)


def _taken(x: torch.Tensor, shard: Runs) -> torch.Tensor:
    """A rank's rows of all: x (…, n, w)"""
    return x[..., _slice(shard[0]), :] if len(shard) == 1 else torch.cat([x[..., _slice(r), :] for r in shard], dim=-2)


class _Gathered(torch.autograd.Function):
    """Queries, keys and values of some heads, and what every rank has all of."""

    @staticmethod
    def forward(
        ctx: Any, swaps: list[Swap], rank: int, group: Any, q: Any, k: Any, v: Any, *shared: torch.Tensor
    ) -> tuple[Any, ...]:
        ctx.told = swaps, rank, group, [tuple(x.shape) for x in (q, k, v)]
        return (*to_heads([q, k, v], swaps, rank, group), *(x.view_as(x) for x in shared))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        swaps, rank, group, shapes = ctx.told
        found: Sequence[Any] = (None,) * 3
        if any(ctx.needs_input_grad[3:6]):
            heads = swaps[1].heads
            summed = len(set(heads)) < len(heads)  # several ranks have a head of keys
            sent = [x.to(wide(x.dtype)) if summed else x for x in gradients[:3]]
            back = to_rows(sent, swaps, shapes, rank, group)
            found = [x.to(g.dtype) for x, g in zip(back, gradients, strict=False)]
        return None, None, None, *found, *(summed_over(group, g) for g in gradients[3:])


class _Returned(torch.autograd.Function):
    """Output and lse, back where the queries are."""

    @staticmethod
    def forward(ctx: Any, swap: Swap, rank: int, group: Any, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.told = swap, rank, group
        shapes = [(*x.shape[:-3], swap.heads[-1].stop, swap.lengths[rank], x.shape[-1]) for x in tensors]
        return tuple(to_rows(tensors, [swap] * len(tensors), shapes, rank, group))

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        swap, rank, group = ctx.told
        return None, None, None, *to_heads(gradients, [swap] * len(gradients), rank, group)


def plan(joint: Joint) -> tuple[list[Heads], Call]:
    """Which heads each rank gets, and the whole call."""
    found: list[Call] = []

    def find(call: Call) -> list[Heads]:
        found.append(call)
        if not call.has_heads:
            raise ValueError("split='heads' needs an axis of heads: q (…, h, n_q, d); split='queries' needs none")
        for name, x in (("bias", joint.shared.bias), ("mask", joint.shared.float_mask)):
            if x is not None:
                checks.additive(name, on_host(x), tuple(x.shape))
        return heads_of(call.heads, call.kv_heads, joint.ranks)

    return joint.told(find)[0], found[0]


def attend(joint: Joint, *, lse: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
    """This rank's rows of the output, and of the lse if it is wanted."""
    heads, call = plan(joint)
    of_queries = Swap(joint.queries, [x.queries for x in heads])
    of_keys = Swap(joint.keys, [x.keys for x in heads])
    q, k, v = (with_heads(x, n) for x, n in zip((joint.q, joint.k, joint.v), _head_counts(call), strict=True))
    swaps = [of_queries, of_keys, of_keys]
    q, k, v, *there = _Gathered.apply(swaps, joint.rank, joint.group, q, k, v, *joint.shared.learned)
    own = heads[joint.rank].queries
    added = heads_added(joint, joint.shared.filled(there), own, call.heads)
    among = HeadRun(own.start, call.heads)
    output, sums = checked_attention(q, k, v, **added, part=None, return_lse=lse, among=among, **joint.options)
    back = [output] if sums is None or not lse else [output, sums[..., None]]
    output, *more = _Returned.apply(of_queries, joint.rank, joint.group, *back)
    return output, more[0][..., 0] if more else None


def _head_counts(call: Call) -> tuple[int, int, int]:
    return call.heads, call.kv_heads, call.kv_heads


def with_heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """A tensor with all its heads, where one stands for all of them."""
    x = x[None] if x.ndim == 2 else x
    return x if x.shape[-3] == heads else x.expand(*x.shape[:-3], heads, *x.shape[-2:])


def heads_added(joint: Joint, shared: Shared, own: range, heads: int) -> dict[str, Any]:
    """Mask, bias and sinks of some heads."""
    bias: Any = None
    if shared.bias is not None:
        bias = _of_heads(shared.bias, own)
    elif shared.table is not None:
        table = shared.table if len(shared.table) == 1 else shared.table[_slice(own)]
        bias = RelativeBias(lambda _: table)
    elif joint.relative is not None:
        numbers = joint.relative.table(joint.n_q, joint.n_k)
        bias = constant(numbers if len(numbers) == 1 else numbers[_slice(own)])
    mask: Any = None if joint.mask is None else only_heads(joint.mask, own.start, heads)
    if shared.float_mask is not None:
        mask = _of_heads(shared.float_mask, own)
    sinks = shared.sinks
    if sinks is not None and sinks.ndim and len(sinks) > 1:
        sinks = sinks[_slice(own)]
    return {"mask": mask, "bias": bias, "sinks": sinks}


def _of_heads(x: torch.Tensor, own: range) -> torch.Tensor:
    """What is some heads' own of a tensor that broadcasts to (…, h, n_q, n_k)."""
    return x if x.ndim < 3 or x.shape[-3] == 1 else x[..., _slice(own), :, :]


def only_heads(mask: masks.Mask, first: int, heads: int) -> masks.Mask:
    """A mask of more heads, asked for some of them, of which this is the first."""
    if isinstance(mask, Both):  # whose parts may each be said in another way
        return only_heads(mask.a, first, heads) & only_heads(mask.b, first, heads)
    return _OnlyHeads(mask, first, heads)


@dataclass(frozen=True, eq=False)
class _OnlyHeads(masks.Mask):
    mask: masks.Mask
    first: int
    heads: int  # of the whole

    def __repr__(self) -> str:
        return repr(self.mask)

    def _whole(self, sizes: masks.Sizes) -> masks.Sizes:
        return sizes._replace(heads=self.heads)

    def _own(self, x: np.ndarray, sizes: masks.Sizes) -> np.ndarray:
        """What is theirs of an array whose third axis from the end is heads, if it has one."""
        return x if x.ndim < 3 or x.shape[-3] == 1 else x[..., self.first : self.first + sizes.heads, :, :]

    def allows(self, at: masks.Where) -> np.ndarray:
        return self.mask.allows(at._replace(head=at.head + self.first, sizes=self._whole(at.sizes)))

    def ranges(self, sizes: masks.Sizes) -> masks.Ranges | None:
        found = self.mask.ranges(self._whole(sizes))
        return None if found is None else masks.Ranges(*(self._own(x, sizes) for x in found))

    def written(self, sizes: masks.Sizes) -> np.ndarray | None:
        found = self.mask.written(self._whole(sizes))
        return None if found is None else self._own(found, sizes)

    def period(self) -> int | None:
        return self.mask.period()

    def lasting(self) -> bool:
        return self.mask.lasting()

    def padding(self, sizes: masks.Sizes) -> np.ndarray | None:
        return self.mask.padding(self._whole(sizes))
