"""Looking at attention over a group: the same statistics as on one machine, to the bit.

A head is looked at as a whole, so each rank gets the whole sequence of some heads, as `attention` with split="heads"
does, and makes a view of them; where there are more ranks than key/value heads, some have none. What is found of a
query goes back to the rank that holds it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from clearhead import checks, masks, names
from clearhead.call import Call
from clearhead.tensors import on_host
from clearhead.torch.function import Bias
from clearhead.torch.parallel.agreeing import told
from clearhead.torch.parallel.by_heads import Heads, Swap, heads_added, to_heads, to_rows, with_heads
from clearhead.torch.parallel.joint import Joint, agreed
from clearhead.torch.parallel.layouts import even_runs, gather
from clearhead.views.patterns import Patterns
from clearhead.views.view import TopK, View, look as look_here

OF_QUERIES = ("lse", "entropy", "max_weight", "distance", "on_first", "on_self")


class Statistics(NamedTuple):
    """What is seen of queries, as `clearhead.views.View` has it, and what keys receive."""

    output: torch.Tensor | None
    lse: torch.Tensor
    entropy: torch.Tensor
    max_weight: torch.Tensor
    distance: torch.Tensor
    on_first: torch.Tensor
    on_self: torch.Tensor
    top_k: TopK
    received: torch.Tensor


@names.own_options
@torch.no_grad()
def look(
    q: Float[torch.Tensor, "... n_q d"],
    k: Float[torch.Tensor, "... n_k d"],
    v: Float[torch.Tensor, "... n_k d_v"] | None = None,
    mask: masks.Mask | Bool[torch.Tensor, ...] | Float[torch.Tensor, ...] | None = None,
    *,
    group: dist.ProcessGroup | None = None,
    layout: str = "contiguous",
    bias: Bias | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Float[torch.Tensor, "*h"] | float | None = None,
    top_k: int = 8,
    map_size: int = 512,
    tokens: Sequence[object] | None = None,
    key_tokens: Sequence[object] | None = None,
    padding: ArrayLike | bool | None = None,
) -> GroupView:
    """Attention over a group, and a view of every head of it. Every rank calls it, with its shard of q, k and v.

    q (…, h, n_q, d)  k (…, h_kv, n_k, d)  v (…, h_kv, n_k, d_v), of this rank → a `GroupView`

    Means what `clearhead.look` means of the whole sequence; mask, bias, tokens and padding are those of the whole, the
    same on every rank. Gradients are not tracked. group and layout are those of `attention`.

    Raises:
        TypeError, ValueError: as `clearhead.look`, and where ranks pass arguments that do not belong together; the same
            on every rank.
    """
    options: dict[str, Any] = {"scale": scale, "softcap": softcap}
    also = {"top_k": top_k, "map_size": map_size, "whether there are values": v is not None}
    joint = agreed(
        q, k, k if v is None else v, mask, group=group, split="heads", layout=layout, bias=bias, sinks=sinks,
        also=also, **options,
    )  # fmt: skip
    call, heads = _plan(joint)
    swaps = [Swap(joint.queries, [x.queries for x in heads])] + [Swap(joint.keys, [x.keys for x in heads])] * 2
    counts = (call.heads, call.kv_heads, call.kv_heads)
    tensors = [with_heads(x, n) for x, n in zip((joint.q, joint.k, joint.v), counts, strict=True)]
    count = 2 if v is None else 3
    own = to_heads(tensors[:count], swaps[:count], joint.rank, joint.group)
    wanted: dict[str, Any] = {"tokens": tokens, "key_tokens": key_tokens, "padding": padding, "top_k": top_k}
    here = heads[joint.rank].queries

    def find() -> View | None:
        checks.count("top_k", top_k, least=0)
        if not here:
            return None
        added = heads_added(joint, joint.shared, here, call.heads)
        return look_here(own[0], own[1], own[2] if v is not None else None, **added, **options, **wanted,
                         map_size=map_size)  # fmt: skip

    views: list[View | None] = []
    told(joint.group, lambda: views.append(find()))
    return GroupView(joint, call, heads, views[0], layout, with_output=v is not None, top_k=top_k)


def _plan(joint: Joint) -> tuple[Call, list[Heads]]:
    """The whole call, and which heads each rank looks at; none, for some, where there are many ranks."""
    found: list[Call] = []

    def find(call: Call) -> None:
        found.append(call)
        if not call.has_heads:
            raise ValueError("parallel.look needs an axis of heads: q (…, h, n_q, d); q[None] has one")

    joint.told(find)
    call = found[0]
    group = call.heads // max(call.kv_heads, 1)
    runs = even_runs(call.kv_heads, joint.ranks)
    return call, [Heads(range(run.start * group, run.stop * group), run) for run in runs]


class GroupView:
    """What `parallel.look` saw. Statistics of queries are those of this rank's, and `received` is that of its keys.

    output, lse, entropy, max_weight, distance, on_first, on_self, top_k, received: as `clearhead.views.View` has them

    The methods answer about the whole, and every rank of the group calls them with the same arguments and gets the
    same answer. The ranks that have the heads compute it.
    """

    def __init__(
        self, joint: Joint, call: Call, heads: list[Heads], view: View | None, layout: str, *, with_output: bool,
        top_k: int,
    ) -> None:  # fmt: skip
        self.joint, self.heads, self.layout, self._heads, self._view = joint, call.heads, layout, heads, view
        self.batch_shape = call.batch_shape if call.many_axes is None else call.many_axes
        kind = getattr(torch, call.kind.name)
        rows: dict[str, Any] = dict.fromkeys(OF_QUERIES, ((1,), kind))
        found = self._moved(rows | {"indices": ((top_k,), torch.int64), "weights": ((top_k,), kind)}, joint.queries)
        if with_output:
            width = ((joint.v.shape[-1],), joint.q.dtype)
            found |= self._moved({"output": width}, joint.queries)
        received = self._moved({"received": ((1,), kind)}, joint.keys)["received"]
        self.statistics = Statistics(
            output=found.get("output"),
            **{name: found[name][..., 0] for name in rows},
            top_k=TopK(found["indices"], found["weights"]),
            received=received[..., 0],
        )

    def _moved(self, wanted: dict[str, Any], shards: Any) -> dict[str, torch.Tensor]:
        """Statistics of this rank's heads, to the ranks that hold the queries or keys that they are of."""
        joint, n = self.joint, sum(len(run) for runs in shards for run in runs)
        swap = Swap(shards, [x.queries for x in self._heads])
        tensors = []
        for name, (tail, kind) in wanted.items():
            if self._view is None:
                tensors.append(torch.zeros((*self.batch_shape, 0, n, *tail), dtype=kind, device=joint.q.device))
                continue
            of = self._view.top_k if name in ("indices", "weights") else self._view
            tensors.append(getattr(of, name).to(joint.q.device).reshape(*self.batch_shape, -1, n, *tail))
        shapes = [(*self.batch_shape, self.heads, swap.lengths[joint.rank], *tail) for tail, _ in wanted.values()]
        return dict(zip(wanted, to_rows(tensors, [swap] * len(tensors), shapes, joint.rank, joint.group), strict=True))

    def __getattr__(self, name: str) -> Any:
        """A statistic, by its name."""
        if name == "output" and self.statistics.output is None:
            raise AttributeError("there is no output without values: look(q, k, v) gives one, look(q, k) does not")
        if name in Statistics._fields:
            return getattr(self.statistics, name)
        raise names.no_such_name("a view of a group", name, [*Statistics._fields, *vars(type(self))])

    def __repr__(self) -> str:
        n = self.joint
        return f"GroupView({self.heads} heads, {n.n_q} queries × {n.n_k} keys over {n.ranks} ranks)"

    def gather(self) -> Statistics:
        """The statistics of the whole, on every rank."""

        def whole(x: torch.Tensor, dim: int) -> torch.Tensor:
            return gather(x, group=self.joint.group, layout=self.layout, dim=dim)

        found = self.statistics
        return Statistics(
            output=None if found.output is None else whole(found.output, -2),
            top_k=TopK(*(whole(x, -2) for x in found.top_k)),
            **{name: whole(getattr(found, name), -1) for name in Statistics._fields if name not in ("output", "top_k")},
        )

    def weights(
        self, head: Any = None, rows: Any = slice(None), cols: Any = slice(None), *, batch: Any = None
    ) -> torch.Tensor:
        """Any window of the matrix of the whole: see `clearhead.views.View.weights`."""
        keep = sum(not isinstance(x, (int, np.integer)) for x in (rows, cols))
        return self._of_heads(head, lambda view, own: view.weights(own, rows, cols, batch=batch), keep)

    def tile(
        self,
        head: Any = None,
        rows: Any = slice(None),
        cols: Any = slice(None),
        size: int | tuple[int, int] = 512,
        *,
        reduce: str = "mean",
        batch: Any = None,
    ) -> torch.Tensor:
        """A window of the whole pooled into cells: see `clearhead.views.View.tile`."""
        return self._of_heads(head, lambda view, own: view.tile(own, rows, cols, size, reduce=reduce, batch=batch), 2)

    def map(self, reduce: str = "mean") -> torch.Tensor:
        """The tile of everything: see `clearhead.views.View.map`."""
        return self._of_heads(None, lambda view, _: view.map(reduce), 2)

    def patterns(
        self,
        token_ids: ArrayLike | None = None,
        *,
        separators: Collection[object] | None = None,
        punctuation: Collection[object] | None = None,
    ) -> Patterns:
        """What each head does, over the whole: see `clearhead.views.View.patterns`."""
        ids = on_host(token_ids)

        def find() -> Patterns | None:
            if self._view is None:
                return None
            return self._view.patterns(ids, separators=separators, punctuation=punctuation)

        found = [x for x in told(self.joint.group, find) if x is not None]

        def joined(of: Callable[[Patterns], Any], axis: int = -1) -> Any:
            return np.concatenate([np.asarray(of(x)) for x in found], axis=axis)

        def by_name(each: list[dict[str, Any]]) -> dict[str, Any]:
            return {name: np.concatenate([np.asarray(x[name]) for x in each], axis=-1) for name in each[0]}

        return dataclasses.replace(
            found[0],
            labels=joined(lambda x: x.labels),
            score=joined(lambda x: x.score),
            radius=joined(lambda x: x.radius),
            scores=by_name([x.scores for x in found]),
            shares=by_name([x.shares for x in found]),
            closest=joined(lambda x: x.closest, axis=-2),
        )

    def _of_heads(self, head: Any, answer: Callable[[View, list[int]], torch.Tensor], after: int) -> torch.Tensor:
        """What each rank answers for those of its heads that are asked for, in the order in which they are.

        after: how many axes an answer has behind that of the heads
        """
        one = isinstance(head, (int, np.integer)) and not isinstance(head, bool)

        def find() -> tuple[list[int], Any]:
            asked = np.atleast_1d(np.arange(self.heads)[slice(None) if head is None else head]).tolist()
            here = self._heads[self.joint.rank].queries
            own = [x for x in asked if x in here]
            if self._view is None or not own:
                return asked, None
            return own, answer(self._view, [x - here.start for x in own]).cpu()

        parts = [x for x in told(self.joint.group, find) if x[1] is not None]
        by_head = {
            number: part.select(part.ndim - 1 - after, place)
            for numbers, part in parts
            for place, number in enumerate(numbers)
        }
        asked = np.atleast_1d(np.arange(self.heads)[slice(None) if head is None else head]).tolist()
        first = next(iter(by_head.values()))
        stacked = torch.stack([by_head[number] for number in asked], dim=first.ndim - after)
        found = stacked.select(first.ndim - after, 0) if one else stacked
        return found.to(self.joint.q.device)
