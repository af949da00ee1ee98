"""Attention in which every rank keeps its queries, and fetches the keys and values that they need.

What a rank needs is read off the mask, so a window fetches from neighbours only. The rows of the whole call that are a
rank's own are then a call each, with their place in the whole; where a run of queries needs several runs of keys, there
is a call for each of them, and `merge` joins them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from clearhead import checks, masks
from clearhead.call import Call, Part
from clearhead.tensors import on_host
from clearhead.torch.biases import RelativeBias
from clearhead.torch.function import attention
from clearhead.torch.merging import merge
from clearhead.torch.parallel.exchanging import Block, exchange
from clearhead.torch.parallel.joint import Joint, Shared
from clearhead.torch.parallel.layouts import Runs, common, rows_of
from clearhead.torch.parallel.needs import joined, needed


def wide(kind: torch.dtype) -> torch.dtype:
    """The type in which gradients are added up."""
    return torch.float64 if kind == torch.float64 else torch.float32


@dataclass(frozen=True)
class Routes:
    """Which keys go where.

    keys: what each rank holds
    wanted: what each rank needs, in rising order
    """

    rank: int
    keys: list[Runs]
    wanted: list[Runs]
    group: dist.ProcessGroup | None

    def between(self, holder: int, receiver: int) -> Runs:
        """The runs of keys that one rank has for another."""
        return common(self.wanted[receiver], self.keys[holder])

    def fetch(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The rows this rank wants of tensors (…, n, w) of which it holds a shard, in the order of keys."""
        ranks, own = range(len(self.keys)), self.keys[self.rank]
        sent = [[x[..., rows_of(own, run), :] for x in tensors for run in self.between(self.rank, p)] for p in ranks]
        expected = [[_rows(x, len(run), x.dtype) for x in tensors for run in self.between(p, self.rank)] for p in ranks]
        got = exchange(sent, expected, self.group, tensors[0].device)
        found: list[list[tuple[int, torch.Tensor]]] = [[] for _ in tensors]
        for p in ranks:
            for (place, _), block in zip(self._listed(len(tensors), p), got[p], strict=True):
                found[place[0]].append((place[1], block))
        return [
            torch.cat([block for _, block in sorted(blocks, key=lambda entry: entry[0])] or [x[..., :0, :]], dim=-2)
            for x, blocks in zip(tensors, found, strict=True)
        ]

    def _listed(self, count: int, p: int) -> list[tuple[tuple[int, int], range]]:
        """The blocks that a rank sends here: the number of their tensor, their first key, and their run."""
        runs = self.between(p, self.rank)
        return [((number, run.start), run) for number in range(count) for run in runs]

    def give_back(self, gradients: Sequence[torch.Tensor], like: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """What all ranks say of the rows this one holds, added up in the order of ranks: gradients (…, wanted, w)"""
        ranks, own, here = range(len(self.keys)), self.keys[self.rank], self.wanted[self.rank]
        sent = [[g[..., rows_of(here, run), :] for g in gradients for run in self.between(p, self.rank)] for p in ranks]
        expected = [
            [_rows(x, len(run), wide(x.dtype)) for x in like for run in self.between(self.rank, p)] for p in ranks
        ]
        got = exchange(sent, expected, self.group, gradients[0].device)
        sums = [torch.zeros(x.shape, dtype=wide(x.dtype), device=x.device) for x in like]
        for p in ranks:
            runs = self.between(self.rank, p)
            for (total, run), block in zip(itertools.product(sums, runs), got[p], strict=True):
                total[..., rows_of(own, run), :] += block
        return [total.to(x.dtype) for total, x in zip(sums, like, strict=True)]


def _rows(x: torch.Tensor, n: int, kind: torch.dtype) -> Block:
    """A block of so many rows of a tensor."""
    return Block((*x.shape[:-2], n, x.shape[-1]), kind)


class _Fetched(torch.autograd.Function):
    """The runs of keys and values that calls need, and what every rank has all of.

    One function, so that there is one place in the backward pass in which ranks wait for one another.
    """

    @staticmethod
    def forward(ctx: Any, routes: Routes, runs: Runs, k: torch.Tensor, v: torch.Tensor, *shared: torch.Tensor) -> Any:
        ctx.routes, ctx.runs = routes, runs
        ctx.save_for_backward(k[..., :0, :], v[..., :0, :])  # for their shapes and types
        ctx.rows = k.shape[-2]
        pieces = [x[..., place_of(routes, run), :] for x in routes.fetch([k, v]) for run in runs]
        return (*pieces, *(x.view_as(x) for x in shared))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        routes, count = ctx.routes, len(ctx.runs)
        like = [_like(x, ctx.rows) for x in ctx.saved_tensors]
        of_k = of_v = None
        if any(ctx.needs_input_grad[2:4]):
            sums = [_summed(routes, ctx.runs, gradients[n * count : (n + 1) * count], like[n]) for n in (0, 1)]
            of_k, of_v = routes.give_back(sums, like)
        return None, None, of_k, of_v, *(summed_over(routes.group, g) for g in gradients[2 * count :])


def _like(x: torch.Tensor, n: int) -> torch.Tensor:
    """A tensor of no memory with so many rows."""
    return x.new_zeros(()).expand(*x.shape[:-2], n, x.shape[-1])


def place_of(routes: Routes, run: range) -> slice:
    """Where a run of keys lies among those that were fetched."""
    return rows_of(routes.wanted[routes.rank], run) if run else slice(0, 0)


def _summed(routes: Routes, runs: Runs, gradients: Sequence[torch.Tensor], like: torch.Tensor) -> torch.Tensor:
    """The gradients of all runs on the rows that were fetched: (…, wanted, w)"""
    n = sum(map(len, routes.wanted[routes.rank]))
    total = torch.zeros((*like.shape[:-2], n, like.shape[-1]), dtype=wide(like.dtype), device=like.device)
    for run, gradient in zip(runs, gradients, strict=True):
        total[..., place_of(routes, run), :] += gradient
    return total


def summed_over(group: dist.ProcessGroup | None, gradient: torch.Tensor | None) -> torch.Tensor | None:
    """A gradient added up over all ranks, the same bits on each."""
    if gradient is None:
        return None
    total = gradient.to(wide(gradient.dtype), copy=True).contiguous()
    dist.all_reduce(total, group=group)
    return total.to(gradient.dtype)


@dataclass(frozen=True)
class Plan:
    """What this rank fetches, and the runs of keys that each of its runs of queries is attended with."""

    routes: Routes
    runs: list[Runs]


def plan(joint: Joint, *, in_one: bool = False) -> Plan:
    """What the mask says this rank needs, and what all ranks do; `in_one`: one run of keys for a run of queries."""

    def find(call: Call) -> list[Runs]:
        return [_needed(joint, call, queries, in_one) for queries in joint.segments]

    every = joint.told(find)
    wanted = [joined([run for runs in each for run in runs]) for each in every]
    return Plan(Routes(joint.rank, joint.keys, wanted, joint.group), every[joint.rank])


def _needed(joint: Joint, call: Call, queries: range, in_one: bool) -> Runs:
    """The runs of keys that a run of queries needs. Numbers that no bias may hold are refused here, on all ranks."""
    forbidden: np.ndarray | None = None
    for name, x in (("bias", joint.shared.bias), ("mask", joint.shared.float_mask)):
        if x is not None:
            part = on_host(sliced(x, queries, range(joint.n_k)))
            checks.additive(name, part, (*call.lead, len(queries), joint.n_k))
            flags = np.isneginf(part)
            forbidden = flags if forbidden is None else forbidden | flags
    lead = call.batch_shape if call.many_axes is None else call.many_axes
    sizes = masks.Sizes(len(queries), joint.n_k, lead, call.heads, queries.start, 0, joint.offset)
    return needed(joint.mask, forbidden, sizes, in_one=in_one)


def sliced(x: torch.Tensor, queries: range, keys: range) -> torch.Tensor:
    """A part of a tensor that broadcasts to (…, n_q, n_k) of the whole."""
    rows, cols = (
        slice(None) if has == 1 else slice(run.start, run.stop)
        for has, run in zip(x.shape[-2:], (queries, keys), strict=True)
    )
    return x[..., rows, cols]


def attend(joint: Joint, *, lse: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
    """This rank's rows of the output, and of the lse if it is wanted."""
    planned = plan(joint)
    runs = [runs or [range(0)] for runs in planned.runs]  # a call without keys is the answer where none is needed
    flat = [run for each in runs for run in each]
    fetched = _Fetched.apply(planned.routes, flat, joint.k, joint.v, *joint.shared.learned)
    count = len(flat)
    pieces = iter(zip(flat, fetched[:count], fetched[count : 2 * count], strict=True))
    shared = joint.shared.filled(fetched[2 * count :])
    found, begun = [], 0
    for queries, each in zip(joint.segments, runs, strict=True):
        rows = joint.q[..., begun : begun + len(queries), :]
        begun += len(queries)
        found.append(_attend_segment(joint, shared, queries, rows, [next(pieces) for _ in each], lse))
    if len(found) == 1:
        return found[0]
    sums = [x for _, x in found if x is not None]
    return torch.cat([x for x, _ in found], dim=-2), torch.cat(sums, dim=-1) if lse else None


def _attend_segment(
    joint: Joint,
    shared: Shared,
    queries: range,
    rows: torch.Tensor,
    pieces: list[tuple[range, torch.Tensor, torch.Tensor]],
    lse: bool,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """A run of queries over its runs of keys."""
    several = len(pieces) > 1
    kind = rows.dtype
    if several:
        rows = rows.to(wide(kind))  # so that parts are rounded once, when they are joined
    parts: list[Any] = []
    for number, (keys, k, v) in enumerate(pieces):
        more = added(joint, shared, queries, keys)
        sinks = shared.sinks if number == 0 else None  # they belong to one of the parts only
        place = Part(queries.start, keys.start, joint.offset)
        parts.append(attention(rows, k, v, **more, sinks=sinks, part=place, return_lse=lse or several, **joint.options))
    if several:
        output, sums = merge(parts)
        return output.to(kind), sums
    return parts[0] if lse else (parts[0], None)


def added(joint: Joint, shared: Shared, queries: range, keys: range) -> dict[str, Any]:
    """The mask and the bias of a part of the whole."""
    bias: Any = joint.relative
    if shared.bias is not None:
        bias = sliced(shared.bias, queries, keys)
    elif shared.table is not None:
        first = queries.start - (keys.stop - 1) + joint.n_k - 1  # the smallest distance, query − key, there is
        part = shared.table[:, first : first + max(len(queries) + len(keys) - 1, 0)]
        bias = RelativeBias(lambda _: part)
    mask = joint.mask if shared.float_mask is None else sliced(shared.float_mask, queries, keys)
    return {"mask": mask, "bias": bias}
