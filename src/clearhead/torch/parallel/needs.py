"""Which keys some queries need: what a mask leaves to at least one of them, as a few runs of keys.

Only these are sent. A mask in runs answers in O(n); an array or a rule is looked through for these queries alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool

from clearhead import masks
from clearhead.call import STRIP
from clearhead.torch.parallel.layouts import Runs

NEARBY = 64  # keys between two runs that are fetched too: a call of its own for the second run costs more
MOST_RUNS = 8  # for one run of queries


def needed(
    mask: masks.Mask | None, forbidden: Bool[np.ndarray, ...] | None, sizes: masks.Sizes, *, in_one: bool = False
) -> Runs:
    """The runs of keys that the queries of a call need, of all there are; `in_one` run from the first to the last.

    forbidden (…, n_q or 1, n_k or 1): where a bias is −inf, of these queries
    """
    if not (sizes.n_q and sizes.n_k):
        return []
    resolved = masks.resolve(mask, sizes)
    used = np.ones(sizes.n_k, np.bool_)
    if resolved.ranges is not None:
        used &= _in_runs(resolved.ranges, sizes.n_k)
    if resolved.allowed is not None:
        used &= _any_row(resolved.allowed)
    if forbidden is not None:
        used &= _any_row(~forbidden)
    if resolved.rule is not None:
        used &= np.logical_or.reduce([_any_row(resolved.rule.allows(masks.places(sizes, x))) for x in _strips(sizes)])
    return _few(runs_of(used), in_one)


def _in_runs(ranges: masks.Ranges, n_k: int) -> Bool[np.ndarray, " n_k"]:
    """Which keys lie in a run of some query."""
    low, high = np.broadcast_arrays(*ranges)
    there = low < high
    begun = np.bincount(low[there], minlength=n_k + 1) - np.bincount(high[there], minlength=n_k + 1)
    return np.asarray(np.cumsum(begun)[:n_k] > 0)


def _any_row(flags: np.ndarray) -> np.ndarray:
    return np.asarray(flags.any(axis=tuple(range(flags.ndim - 1))))


def _strips(sizes: masks.Sizes) -> Iterator[slice]:
    return (slice(start, start + STRIP) for start in range(0, sizes.n_q, STRIP))


def runs_of(used: Bool[np.ndarray, " n"]) -> Runs:
    """The runs of True."""
    edges = np.flatnonzero(np.diff(used, prepend=False, append=False)).tolist()
    return [range(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def _few(runs: Runs, in_one: bool) -> Runs:
    """The same keys and some between them, in a few runs: the narrowest gaps are closed first."""
    gaps = sorted(after.start - before.stop for before, after in itertools.pairwise(runs))
    widest = max([NEARBY, *gaps[: max(len(runs) - (1 if in_one else MOST_RUNS), 0)]])
    return joined(runs, widest)


def joined(runs: Runs, gap: int = 0) -> Runs:
    """All positions of some runs as runs in rising order, those that are at most so far apart made one."""
    found: Runs = []
    for run in sorted((run for run in runs if run), key=lambda run: run.start):
        if found and run.start - found[-1].stop <= gap:
            found[-1] = range(found[-1].start, max(found[-1].stop, run.stop))
        else:
            found.append(run)
    return found
