"""Counts that add up exactly, in any order: of one shard, of several, of a whole corpus."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Int

from clearhead.census.heads import Seen
from clearhead.census.kinds import KINDS
from clearhead.census.measures import BINS, DISTANCES, LABELS, MEASURES, bins_of

NOWHERE = 2**62  # the least of no numbers


@dataclass
class Counts:
    """What documents add up to, for H heads.

    n, total, squares, least, most (H, m): of each measure, over the documents that have it; in steps
    bins (H, m, b): how many documents are in each bin   names (H, l): in how many a head is called what
    entropies (H, b): of queries   distances (H, d): mass
    """

    n: Int[np.ndarray, "H m"]
    total: Int[np.ndarray, "H m"]
    squares: Int[np.ndarray, "H m"]
    least: Int[np.ndarray, "H m"]
    most: Int[np.ndarray, "H m"]
    bins: Int[np.ndarray, "H m b"]
    names: Int[np.ndarray, "H l"]
    entropies: Int[np.ndarray, "H b"]
    distances: Int[np.ndarray, "H d"]

    @classmethod
    def nothing(cls, heads: int) -> Counts:
        """The counts of no document."""
        return cls(**{name: np.zeros(shape, np.int64) + START.get(name, 0) for name, shape in shapes(heads).items()})

    def add(self, seen: Seen) -> None:
        """Count one document."""
        there = seen.steps >= 0
        steps = np.where(there, seen.steps, 0)
        self.n += there
        self.total += steps
        self.squares += steps * steps
        self.least = np.where(there, np.minimum(self.least, steps), self.least)
        self.most = np.where(there, np.maximum(self.most, steps), self.most)
        head, measure = np.nonzero(there)
        self.bins[head, measure, bins_of(steps)[there]] += 1
        self.names[np.arange(len(seen.labels)), seen.labels] += 1
        self.entropies += seen.entropies
        self.distances += seen.distances

    def merge(self, other: Counts) -> None:
        """Count what others have counted."""
        for field in fields(self):
            join = {"least": np.minimum, "most": np.maximum}.get(field.name, np.add)
            setattr(self, field.name, join(getattr(self, field.name), getattr(other, field.name)))


START = {"least": NOWHERE, "most": -1}


def shapes(heads: int) -> dict[str, tuple[int, ...]]:
    """The shape of each array of counts."""
    each = (heads, len(MEASURES))
    return {
        **dict.fromkeys(("n", "total", "squares", "least", "most"), each),
        "bins": (*each, BINS),
        "names": (heads, len(LABELS)),
        "entropies": (heads, BINS),
        "distances": (heads, DISTANCES),
    }


def no_kinds() -> Int[np.ndarray, " k"]:
    return np.zeros(len(KINDS), np.int64)
