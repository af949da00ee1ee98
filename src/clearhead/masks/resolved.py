"""A mask settled for one call: each mask that was joined is asked once, and what they answer is joined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clearhead.masks.mask import Mask, parts
from clearhead.masks.ranges import Ranges, both
from clearhead.masks.sizes import Sizes, Where


class Resolved(NamedTuple):
    """What a mask allows in one call: that which all of its fields do, None allowing everything.

    ranges: the runs of keys each query may attend to
    allowed: a boolean array of the caller's, as it lies in memory, which broadcasts to (*batch, heads, n_q, n_k)
    period, phase: query i may attend to key j only if (i + phase − j) % period = 0, counted in the call; 1 is no limit
    rule: what none of these can say, to be worked out a strip of queries at a time
    """

    ranges: Ranges | None = None
    allowed: np.ndarray | None = None
    period: int = 1
    phase: int = 0
    rule: Mask | None = None


@dataclass(eq=False)
class Once(Mask):
    """A mask that is not asked again: what it was resolved to is kept, for a backward pass over the same call."""

    mask: Mask
    kept: tuple[Sizes, Resolved] | None = None

    def __repr__(self) -> str:
        return repr(self.mask)

    def allows(self, at: Where) -> np.ndarray:
        return self.mask.allows(at)

    def ranges(self, sizes: Sizes) -> Ranges | None:
        return self.mask.ranges(sizes)

    def padding(self, sizes: Sizes) -> np.ndarray | None:
        return self.mask.padding(sizes)


def resolve(mask: Mask | None, sizes: Sizes) -> Resolved:
    """What a mask means in a call of these sizes. The parts it joins with & may each be said in another way."""
    if isinstance(mask, Once):
        if mask.kept is None or mask.kept[0] != sizes:
            mask.kept = sizes, resolve(mask.mask, sizes)
        return mask.kept[1]
    ranges: Ranges | None = None
    allowed: np.ndarray | None = None
    period = 1
    rule: Mask | None = None
    for part in () if mask is None else parts(mask):
        runs = part.ranges(sizes)
        joined = runs if ranges is None else both(ranges, runs)
        if joined is not None:
            ranges = joined
        elif (step := part.period()) is not None:
            period = math.lcm(period, step)
        elif allowed is None and (array := part.written(sizes)) is not None:
            allowed = array
        else:
            rule = part if rule is None else rule & part
    return Resolved(ranges, allowed, *_counted(period, sizes), rule)


def _counted(period: int, sizes: Sizes) -> tuple[int, int]:
    """A period and its phase in a call. Steps that are longer than the call are all alike: only distance 0 is left."""
    if period == 1 or not (sizes.n_q and sizes.n_k):
        return 1, 0
    distance = sizes.position(sizes.queries.start) - sizes.keys.start  # of the first query from the first key
    farthest = max(abs(distance + sizes.n_q - 1), abs(distance - (sizes.n_k - 1)))
    period = min(period, farthest + 1)
    return period, distance % period
