"""Looking at attention over a group: every rank looks at its own queries, against the keys that they need.

What is found of a query is final where it is found, and stays there. What keys receive is added up over the ranks, in
their order, in float64, and goes to the rank that holds the key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from clearhead import checks, masks, names
from clearhead.call import Call, Part
from clearhead.kernels.job import BLOCK
from clearhead.matrices import Padding, Tokens
from clearhead.tensors import on_host
from clearhead.textbook.pattern_scores import real_ends
from clearhead.torch.function import Bias
from clearhead.torch.parallel.by_queries import Routes, added, place_of, plan
from clearhead.torch.parallel.group_views import GroupView, Seen, Statistics
from clearhead.torch.parallel.joint import Joint, agreed
from clearhead.torch.parallel.layouts import Runs
from clearhead.views import windows
from clearhead.views.conversion import taken_in
from clearhead.views.padding import find_padding
from clearhead.views.view import TopK, View

NO_PADDING = False  # and none is to be looked for in a part


@names.own_options
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
    same on every rank. Gradients are not tracked. group and layout are those of `attention`, and so is what is sent:
    the keys, and values, that the mask leaves to a rank's queries.

    Raises:
        TypeError, ValueError: as `clearhead.look`, and where ranks pass arguments that do not belong together; the same
            on every rank.
    """
    return looked_at(
        q, k, v, mask, group=group, layout=layout, bias=bias, scale=scale, softcap=softcap, sinks=sinks, top_k=top_k,
        map_size=map_size, tokens=tokens, key_tokens=key_tokens, padding=padding,
    )  # fmt: skip


@torch.no_grad()
def looked_at(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor | None,
    mask: Any,
    *,
    group: dist.ProcessGroup | None,
    layout: str = "contiguous",
    shards: list[Runs] | None = None,
    bias: Any = None,
    scale: float | None,
    softcap: float | None,
    sinks: Any,
    top_k: int,
    map_size: int,
    tokens: Any = None,
    key_tokens: Any = None,
    padding: Any = None,
) -> GroupView:
    """What `look` gives, also of `shards` that are neither of the layouts: the positions that each rank holds."""
    options: dict[str, Any] = {"scale": scale, "softcap": softcap}
    labels: dict[str, Any] = {"tokens": tokens, "key_tokens": key_tokens, "padding": padding}

    def also() -> dict[str, Any]:
        counts = {"top_k": top_k, "map_size": map_size, "whether there are values": v is not None}
        marked = padding if padding is None or isinstance(padding, bool) else np.asarray(on_host(padding)).tolist()
        return counts | {name: _shown(x) for name, x in (labels | {"padding": marked}).items()}

    joint = agreed(
        q, k, k if v is None else v, mask, group=group, split="queries", layout=layout, bias=bias, sinks=sinks,
        also=also, shards=shards, **options,
    )  # fmt: skip
    planned = plan(joint)
    fetched = planned.routes.fetch([joint.k] if v is None else [joint.k, joint.v])
    whole: list[tuple[Call, Padding | None]] = []
    seen: list[Seen] = []

    def find(call: Call) -> None:
        for name, count in (("top_k", top_k), ("map_size", map_size)):
            checks.count(name, count, least=0)
        whole.append((call, _padding(joint, call, **labels)))
        begun = 0
        for queries, runs in zip(joint.segments, planned.runs, strict=True):
            rows = joint.q[..., begun : begun + len(queries), :]
            begun += len(queries)
            keys = _span(runs, joint.n_k)
            own = [_laid_out(planned.routes, x, runs, keys) for x in fetched]
            seen.append(Seen(queries, keys, runs, _view(joint, queries, keys, rows, own, whole[0][1], top_k)))

    joint.told(find)
    call, filling = whole[0]
    first = real_ends(None if filling is None else filling.keys, joint.n_k)[0]
    statistics = _statistics(joint, planned.routes, seen, first, with_output=v is not None)
    return GroupView(joint, call, seen, statistics, map_size, labels)


def _shown(labels: Any) -> str:
    """Tokens or padding as an error shows them: how many, and a digest of all."""
    if not hasattr(labels, "__iter__"):
        return str(labels)
    values = [str(x) for x in labels]
    digest = hashlib.blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{len(values)} ({digest})"


def _padding(joint: Joint, call: Call, tokens: Any, key_tokens: Any, padding: Any) -> Padding | None:
    """What is padding in the whole."""
    named = Tokens(*checks.axis_tokens(tokens, key_tokens, joint.n_q, joint.n_k))
    mask: Any = joint.mask if joint.shared.float_mask is None else on_host(joint.shared.float_mask)
    labels = None if tokens is None and key_tokens is None else named
    batch = call.batch_shape if call.many_axes is None else call.many_axes
    return find_padding(on_host(padding), mask, labels, masks.Sizes(joint.n_q, joint.n_k, batch, call.heads))


def _span(runs: Runs, n_k: int) -> range:
    """One run of keys that has all of these in it, made of whole blocks as the kernels cut all n_k keys into them.

    So sums over keys run in the same order as in the whole, and have the same bits.
    """
    if not runs:
        return range(0)
    return range(runs[0].start // BLOCK * BLOCK, min(-(-runs[-1].stop // BLOCK) * BLOCK, n_k))


def _laid_out(routes: Routes, fetched: torch.Tensor, runs: Runs, keys: range) -> torch.Tensor:
    """The rows of a run of keys; zeros for those that nobody needs, as they are masked: (…, keys, w)"""
    if len(runs) == 1 and runs[0] == keys:
        return fetched[..., place_of(routes, keys), :]
    laid = fetched.new_zeros((*fetched.shape[:-2], len(keys), fetched.shape[-1]))
    for run in runs:
        laid[..., run.start - keys.start : run.stop - keys.start, :] = fetched[..., place_of(routes, run), :]
    return laid


def _view(
    joint: Joint,
    queries: range,
    keys: range,
    rows: torch.Tensor,
    own: list[torch.Tensor],
    padding: Padding | None,
    top_k: int,
) -> View:
    """A view of some queries, which looks at a part of the whole."""
    k, v = own if len(own) == 2 else (own[0], None)
    extra = added(joint, joint.shared, queries, keys)
    (q, k, v), options, convert = taken_in(rows, k, v, **extra, sinks=joint.shared.sinks)
    part = Part(queries.start, keys.start, joint.offset)
    if padding is not None:
        padding = Padding(*(x[..., run.start : run.stop] for x, run in zip(padding, (queries, keys), strict=True)))
    found = padding if padding is not None and (padding.queries.any() or padding.keys.any()) else NO_PADDING
    return View(q, k, v, convert, top_k=top_k, map_size=0, padding=found, part=part, **joint.options, **options)


def _statistics(
    joint: Joint, routes: Routes, seen: list[Seen], first: Int[np.ndarray, "*batch"], *, with_output: bool
) -> Statistics:
    """What this rank has: of its queries, as they were seen, and what its keys receive from all."""
    views = [each.view for each in seen]

    def joined(name: str) -> torch.Tensor:
        return torch.cat([getattr(view, name) for view in views], dim=-1)

    indices = [torch.where(each.view.top_k.indices < 0, -1, each.view.top_k.indices + each.keys.start) for each in seen]
    on_first = [each.view.convert(windows.on_key(each.view, np.asarray(first - each.keys.start))) for each in seen]
    return Statistics(
        output=torch.cat([view.output for view in views], dim=-2) if with_output else None,
        **{name: joined(name) for name in ("lse", "entropy", "max_weight", "distance", "on_self")},
        on_first=torch.cat(on_first, dim=-1),
        top_k=TopK(torch.cat(indices, dim=-2), torch.cat([view.top_k.weights for view in views], dim=-2)),
        received=_received(joint, routes, seen),
    )


def _received(joint: Joint, routes: Routes, seen: list[Seen]) -> torch.Tensor:
    """What the keys of this rank receive, added up over all ranks in their order: (…, h, n_k)"""
    like = seen[0].view.received
    wide = {"dtype": torch.float64 if like.device.type != "mps" else torch.float32, "device": like.device}
    found = torch.zeros((*like.shape[:-1], sum(map(len, routes.wanted[routes.rank])), 1), **wide)
    for each in seen:
        for run in each.needed:
            here = slice(run.start - each.keys.start, run.stop - each.keys.start)
            found[..., place_of(routes, run), 0] += each.view.received[..., here]
    own = torch.zeros((), **wide).expand(*like.shape[:-1], joint.k.shape[-2], 1)
    return routes.give_back([found], [own])[0][..., 0].to(like.dtype)
