"""Runs of keys: what most masks leave to a query, in O(n) memory.

Masks are joined by joining their runs. A query may have up to MOST_RANGES of them; what takes more is answered with
None, and worked out some other way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

MOST_RANGES = 8  # beyond this many runs per query a strip of booleans is cheaper to test


class Ranges(NamedTuple):
    """The keys each query may attend to: the union of low[r] … high[r] − 1 over r, counted from the call's first key.

    low, high (…, r, n_q), the leading axes broadcasting against (*batch, heads)
    """

    low: Int[np.ndarray, "*lead r n_q"]
    high: Int[np.ndarray, "*lead r n_q"]


def within(low: Int[np.ndarray, "*lead r n_q"], high: Int[np.ndarray, "*lead r n_q"], n_k: int) -> Ranges:
    """Runs, cut to the keys there are. They are the caller's no more."""
    for edge in (low, high):
        np.minimum(np.maximum(edge, 0, out=edge), n_k, out=edge)
    return Ranges(low, high)


def both(a: Ranges | None, b: Ranges | None) -> Ranges | None:
    """The keys in runs of both."""
    if a is None or b is None:
        return None
    low = np.maximum(a.low[..., :, None, :], b.low[..., None, :, :])
    high = np.minimum(a.high[..., :, None, :], b.high[..., None, :, :])
    *lead, r, s, n_q = low.shape
    return as_few(Ranges(low.reshape(*lead, r * s, n_q), high.reshape(*lead, r * s, n_q)))


def either(a: Ranges | None, b: Ranges | None) -> Ranges | None:
    """The keys in runs of one or the other."""
    if a is None or b is None:
        return None
    return as_few(Ranges(_beside(a.low, b.low), _beside(a.high, b.high)))


def outside(a: Ranges | None, n_k: int) -> Ranges | None:
    """The keys in none of the runs: those between where the ones before end and the next begins."""
    if a is None:
        return None
    order = np.argsort(a.low, axis=-2)
    low, high = (np.take_along_axis(x, order, axis=-2) for x in a)
    edge = np.zeros((*low.shape[:-2], 1, low.shape[-1]), np.int64)
    return as_few(Ranges(_beside(edge, np.maximum.accumulate(high, axis=-2)), _beside(low, edge + n_k)))


def as_few(ranges: Ranges) -> Ranges | None:
    """The same keys in as few runs as can be, empty ones dropped and touching ones joined; None if those are many."""
    low, high = ranges
    if low.shape[-2] == 1:
        return ranges
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for r in range(low.shape[-2]):
        a, b = low[..., r, :], high[..., r, :]
        if not (a < b).any():
            continue
        for n, (c, d) in enumerate(kept):
            apart = (a < b) & (c < d) & ((b < c) | (d < a))
            if not apart.any():
                first = np.where(a < b, np.where(c < d, np.minimum(a, c), a), c)
                kept[n] = first, np.where(a < b, np.where(c < d, np.maximum(b, d), b), d)
                break
        else:
            kept.append((a, b))
    if len(kept) > MOST_RANGES:
        return None
    if not kept:
        nothing = np.zeros((1, low.shape[-1]), np.int64)
        return Ranges(nothing, nothing)
    return Ranges(*(np.stack(x, axis=-2) for x in zip(*kept, strict=True)))


def _beside(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Two sets of runs in one, their leading axes broadcast."""
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return np.concatenate([np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b)], axis=-2)
