"""One call that all ranks of a group make together: what they have to agree on, and what it means as a whole.

Ranks hold shards of q, k and v. Everything else speaks of the whole, and every rank has all of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import torch
import torch.distributed as dist

from clearhead import checks, masks
from clearhead.biases import RelativeBias as NumpyRelativeBias
from clearhead.call import Call, prepare
from clearhead.tensors import numpy_type, on_host
from clearhead.torch.biases import RelativeBias
from clearhead.torch.elsewhere import stand_in
from clearhead.torch.function import autocast, check_tensors
from clearhead.torch.parallel.agreeing import fingerprint, member, must_agree, told
from clearhead.torch.parallel.layouts import LAYOUTS, Runs, shards_of

SPLITS = ("queries", "heads")

Found = TypeVar("Found")


class Shared(NamedTuple):
    """Tensors of which every rank has all: their gradients are added up over the ranks."""

    bias: torch.Tensor | None = None
    table: torch.Tensor | None = None  # of a bias by distance: (h or 1, n_q + n_k − 1) of the whole
    float_mask: torch.Tensor | None = None
    sinks: torch.Tensor | None = None

    @property
    def learned(self) -> list[torch.Tensor]:
        """Those that need a gradient: what is constant is not to be differentiated and sent because others are."""
        return [x for x in self if x is not None and x.requires_grad]

    def filled(self, tensors: Sequence[torch.Tensor]) -> Shared:
        """The same with other tensors in the places of those that need a gradient."""
        left = iter(tensors)
        return Shared(*(x if x is None or not x.requires_grad else next(left) for x in self))


@dataclass(frozen=True)
class Joint:
    """A call of all ranks, as one of them knows it.

    queries, keys: which positions each rank holds
    mask: a mask of the whole, or None
    relative: a bias by distance without a gradient
    options: scale, softcap, dropout and seed
    """

    group: dist.ProcessGroup | None
    rank: int
    queries: list[Runs]
    keys: list[Runs]
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    mask: masks.Mask | None
    relative: NumpyRelativeBias | None
    shared: Shared
    options: dict[str, Any]

    @property
    def ranks(self) -> int:
        return len(self.queries)

    @property
    def n_q(self) -> int:
        return sum(len(run) for runs in self.queries for run in runs)

    @property
    def n_k(self) -> int:
        return sum(len(run) for runs in self.keys for run in runs)

    @property
    def offset(self) -> int:
        """Where query 0 stands among the keys: queries are the last positions."""
        return self.n_k - self.n_q

    @property
    def segments(self) -> Runs:
        """The runs of queries that this rank works on; one without a query if it has none, for the graph's sake."""
        return [run for run in self.queries[self.rank] if run] or [range(0)]

    def whole(self) -> Call:
        """The call as one machine would check it, with arrays of no memory in the place of tensors."""
        q, k, v = (
            stand_in((*x.shape[:-2], n, x.shape[-1]), numpy_type(x.dtype))
            for x, n in ((self.q, self.n_q), (self.k, self.n_k), (self.v, self.n_k))
        )
        sinks = None if self.shared.sinks is None else on_host(self.shared.sinks)
        call = prepare(q, k, v, mask=self.mask, bias=self.relative, sinks=sinks, **self.options)
        shape = (*call.lead, self.n_q, self.n_k) if call.has_heads else (self.n_q, self.n_k)
        for name, x in (("bias", self.shared.bias), ("mask", self.shared.float_mask)):
            if x is not None:
                checks.fits(name, stand_in(tuple(x.shape), "?"), shape)
        if (table := self.shared.table) is not None and len(table) not in (1, call.heads):
            raise ValueError(f"the bias is for {len(table)} heads but there are {call.heads}")
        return call

    def told(self, find: Callable[[Call], Found]) -> list[Found]:
        """What every rank finds of the whole call; what is wrong with it is raised on all of them."""
        return told(self.group, lambda: find(self.whole()))


class _Described(NamedTuple):
    """What a rank says of its arguments: what must be alike, and how many queries and keys it has."""

    facts: dict[str, Any]
    n_q: int
    n_k: int


def agreed(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Any,
    *,
    group: dist.ProcessGroup | None,
    split: str,
    layout: str,
    bias: Any,
    sinks: Any,
    also: Callable[[], dict[str, Any]] = dict,
    shards: list[Runs] | None = None,
    **options: Any,
) -> Joint:
    """The call that all ranks make; the same ValueError on all of them if their arguments do not belong together.

    also: finds what else must be alike; an error of it is told to all
    shards: what each rank holds of queries and keys, where that is neither of the layouts
    """
    rank, _ = member(group)

    def describe() -> _Described:
        checks.choice("split", split, SPLITS)
        checks.choice("layout", layout, LAYOUTS)
        check_tensors(q=q, k=k, v=v, mask=mask, bias=bias, sinks=sinks)
        for name, x in (("q", q), ("k", k), ("v", v)):
            if x.ndim < 2:
                raise ValueError(f"{name} needs at least 2 dimensions, got shape {tuple(x.shape)} ({name}[None])")
        checks.same_length(k, v)
        facts = {
            "split": split,
            "layout": layout,
            **_facts(autocast(q, k, v), mask, bias, sinks),
            **options,
            **also(),
        }
        return _Described(facts, q.shape[-2], k.shape[-2])

    said = told(group, describe)
    must_agree([each.facts for each in said])
    queries = shards or shards_of([each.n_q for each in said], layout, "queries")
    keys = shards or shards_of([each.n_k for each in said], layout, "keys")
    q, k, v = autocast(q, k, v)
    joint = Joint(group, rank, queries, keys, q, k, v, None, None, Shared(), options)
    return _with_shared(joint, mask, bias, sinks)


def _with_shared(joint: Joint, mask: Any, bias: Any, sinks: Any) -> Joint:
    """What every rank has all of, in its place."""
    is_tensor = isinstance(mask, torch.Tensor)
    is_added = is_tensor and mask.is_floating_point()
    if isinstance(sinks, (int, float)):
        sinks = torch.tensor(float(sinks), dtype=torch.float32, device=joint.q.device)
    shared = Shared(
        bias=_at_least_2d(bias) if isinstance(bias, torch.Tensor) else None,
        table=bias.table(joint.n_q, joint.n_k) if isinstance(bias, RelativeBias) else None,
        float_mask=_at_least_2d(mask) if is_added else None,
        sinks=sinks,
    )
    return replace(
        joint,
        mask=None if is_added else masks.array(on_host(mask)) if is_tensor else mask,
        relative=bias if isinstance(bias, NumpyRelativeBias) else None,
        shared=shared,
    )


def _at_least_2d(x: torch.Tensor) -> torch.Tensor:
    return x.reshape((1,) * (2 - x.ndim) + tuple(x.shape)) if x.ndim < 2 else x


def _facts(tensors: Sequence[torch.Tensor], mask: Any, bias: Any, sinks: Any) -> dict[str, Any]:
    """What must be alike on all ranks."""
    facts: dict[str, Any] = {}
    for name, x in zip("qkv", tensors, strict=True):
        sizes = [*map(str, x.shape[:-2]), "…", str(x.shape[-1])]
        facts[f"the shape of {name}"] = f"({', '.join(sizes)})"
        facts[f"the type of {name}"] = str(x.dtype).removeprefix("torch.")
        facts[f"whether {name} needs a gradient"] = torch.is_grad_enabled() and x.requires_grad
    facts["mask"] = digest(mask) if isinstance(mask, torch.Tensor) else fingerprint(mask)
    if isinstance(bias, torch.Tensor):
        facts["bias"] = digest(bias, look=False)
    else:
        learns = isinstance(bias, RelativeBias) and bias.table(1, 1).requires_grad
        facts["bias"] = f"{bias!r}{', with a gradient' if learns else ''}"
    facts["sinks"] = digest(sinks) if isinstance(sinks, torch.Tensor) else sinks
    return facts


def digest(x: torch.Tensor, *, look: bool = True) -> str:
    """A tensor as an error shows it, with a digest of its numbers unless they are too many to `look` at."""
    told = f"{str(x.dtype).removeprefix('torch.')} of shape {tuple(x.shape)}"
    told += ", with a gradient" if torch.is_grad_enabled() and x.requires_grad else ""
    if not look:
        return told
    raw = x.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
    return f"{told} ({hashlib.blake2b(raw.data, digest_size=8).hexdigest()})"
