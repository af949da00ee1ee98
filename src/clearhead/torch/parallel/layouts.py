"""Which positions of a sequence lie on which rank, and tensors cut that way and put together again.

A rank's shard is one run of the sequence, or two: under a causal mask the last positions see the most keys, so the
zigzag layout gives every rank a run from the front and the one that mirrors it at the back.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Int, Shaped

from clearhead import checks
from clearhead.torch.parallel.agreeing import gathered, member

LAYOUTS = ("contiguous", "zigzag")

Runs = list[range]  # runs of positions, in the order in which their rows lie in a shard


def even_runs(n: int, count: int) -> Runs:
    """A sequence in so many runs, the first of which may be one longer than the last."""
    short, longer = divmod(n, count)
    edges = itertools.accumulate((short + (i < longer) for i in range(count)), initial=0)
    return [range(start, stop) for start, stop in itertools.pairwise(edges)]


def even_shards(n: int, ranks: int, layout: str) -> list[Runs]:
    """What each rank holds of a sequence that is cut as evenly as it can be."""
    if checks.choice("layout", layout, LAYOUTS) == "contiguous":
        return [[run] for run in even_runs(n, ranks)]
    runs = even_runs(n, 2 * ranks)
    return [[runs[rank], runs[2 * ranks - 1 - rank]] for rank in range(ranks)]


def shards_of(lengths: Sequence[int], layout: str, name: str) -> list[Runs]:
    """What each rank holds, from how many rows each has. Zigzag shards are even; contiguous ones are what they are."""
    if checks.choice("layout", layout, LAYOUTS) == "contiguous":
        edges = itertools.accumulate(lengths, initial=0)
        return [[range(start, stop)] for start, stop in itertools.pairwise(edges)]
    shards = even_shards(sum(lengths), len(lengths), layout)
    wanted = [sum(map(len, runs)) for runs in shards]
    if wanted != list(lengths):
        raise ValueError(
            f"layout='zigzag' cuts {sum(lengths)} positions into {_listed(wanted)} rows for ranks 0 … "
            f"{len(lengths) - 1}, but their {name} have {_listed(lengths)} (parallel.shard cuts a tensor that way)"
        )
    return shards


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def rows_of(shard: Runs, run: range) -> slice:
    """Where a run of positions lies in the shard that holds all of it."""
    before = 0
    for own in shard:
        if own.start <= run.start and run.stop <= own.stop:
            return slice(before + run.start - own.start, before + run.stop - own.start)
        before += len(own)
    raise ValueError(f"positions {run.start} … {run.stop - 1} are not in the shard {shard}")


def common(runs: Runs, others: Runs) -> Runs:
    """The positions in both, as runs in rising order."""
    pairs = (range(max(a.start, b.start), min(a.stop, b.stop)) for a in runs for b in others)
    return sorted((run for run in pairs if run), key=lambda run: run.start)


def positions(
    n: int, *, group: dist.ProcessGroup | None = None, layout: str = "contiguous"
) -> Int[torch.Tensor, " shard"]:
    """The positions that `shard` gives this rank of a sequence of n: for rotary embeddings, labels and the like."""
    rank, ranks = member(group)
    runs = even_shards(checks.count("n", n, least=0), ranks, layout)[rank]
    return torch.cat([torch.arange(run.start, run.stop) for run in runs])


def shard(
    whole: Shaped[torch.Tensor, ...],
    *,
    group: dist.ProcessGroup | None = None,
    layout: str = "contiguous",
    dim: int = -2,
) -> Shaped[torch.Tensor, ...]:
    """This rank's rows of a tensor that every rank has: as even as can be. dim is the axis of positions."""
    return whole.index_select(dim, positions(whole.shape[dim], group=group, layout=layout).to(whole.device))


def gather(
    own: Shaped[torch.Tensor, ...],
    *,
    group: dist.ProcessGroup | None = None,
    layout: str = "contiguous",
    dim: int = -2,
) -> Shaped[torch.Tensor, ...]:
    """The whole tensor on every rank, from the shard that each has. Every rank calls it; gradients do not pass."""
    parts: list[Any] = gathered(group, own.detach().cpu())
    shards = shards_of([part.shape[dim] for part in parts], layout, "shards")
    return put_together(parts, shards, dim).to(own.device)


def put_together(parts: Sequence[torch.Tensor], shards: Sequence[Runs], dim: int) -> torch.Tensor:
    """The whole of what ranks have of a tensor, from what each of them holds."""
    pieces = [
        (run.start, part.narrow(dim, rows.start, len(run)))
        for part, runs in zip(parts, shards, strict=True)
        for run in runs
        for rows in (rows_of(runs, run),)
    ]
    return torch.cat([piece for _, piece in sorted(pieces, key=lambda entry: entry[0])], dim=dim)
