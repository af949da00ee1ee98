"""The masks of several calls as the mask of one, and what is left of a mask for one sequence of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clearhead import masks
from clearhead.masks.ranges import as_few, within


class Rows(NamedTuple):
    """Queries of one call: how many, the keys they saw, counted in the whole, and what was masked of those."""

    n_q: int
    keys: range
    mask: masks.Mask | None


@dataclass(frozen=True, eq=False)
class Stacked(masks.Mask):
    """The queries of several calls one after the other, each masked as in its own call."""

    rows: tuple[Rows, ...]

    def __repr__(self) -> str:
        return f"Stacked(<{len(self.rows)} calls>)"

    def lasting(self) -> bool:
        return all(row.mask is None or row.mask.lasting() for row in self.rows)

    def ranges(self, sizes: masks.Sizes) -> masks.Ranges | None:
        found = []
        for row in self.rows:
            own = masks.Sizes(row.n_q, len(row.keys), sizes.batch_shape, sizes.heads)
            runs = None if row.mask is None else row.mask.ranges(own)
            if row.mask is not None and runs is None:
                return None
            if runs is None:
                runs = masks.Ranges(np.zeros((1, row.n_q), np.int64), np.full((1, row.n_q), len(row.keys)))
            found.append(masks.Ranges(*(edge + row.keys.start for edge in runs)))
        most = max(runs.low.shape[-2] for runs in found)
        lead = np.broadcast_shapes(*(runs.low.shape[:-2] for runs in found))
        low, high = (np.concatenate([_widened(runs[edge], lead, most) for runs in found], axis=-1) for edge in (0, 1))
        return as_few(within(low, high, sizes.n_k))

    def allows(self, at: masks.Where) -> np.ndarray:
        shape = np.broadcast_shapes(at.batch.shape, at.head.shape, at.query.shape, at.key.shape)
        allowed, first = np.zeros(shape, np.bool_), 0
        for row in self.rows:
            here = (at.query >= first) & (at.query < first + row.n_q)
            if here.any():
                seen = here & (at.key >= row.keys.start) & (at.key < row.keys.stop)
                if row.mask is not None:
                    query = np.clip(at.query - first, 0, row.n_q - 1)
                    key = np.clip(at.key - row.keys.start, 0, max(len(row.keys) - 1, 0))
                    own = masks.Sizes(row.n_q, len(row.keys), at.sizes.batch_shape, at.sizes.heads)
                    seen = seen & row.mask.allows(masks.Where(at.batch, at.head, query, key, own))
                allowed |= seen
            first += row.n_q
        return allowed


def _widened(edge: np.ndarray, lead: tuple[int, ...], runs: int) -> np.ndarray:
    """Edges of runs with the leading axes of others, and as many runs, empty ones added."""
    edge = np.broadcast_to(edge, (*lead, *edge.shape[-2:]))
    missing = runs - edge.shape[-2]
    return np.pad(edge, [(0, 0)] * len(lead) + [(0, missing), (0, 0)]) if missing else edge


@dataclass(frozen=True, eq=False)
class OfOneSequence(masks.Mask):
    """What a mask of a batch says of one of its sequences, between some of its queries and some of its keys."""

    mask: masks.Mask
    sizes: masks.Sizes  # of the batch
    entry: int
    queries: range
    keys: range

    def __repr__(self) -> str:
        return f"OfOneSequence({self.mask!r})"

    def lasting(self) -> bool:
        return self.mask.lasting()

    def ranges(self, sizes: masks.Sizes) -> masks.Ranges | None:
        if not sizes.whole:
            return self._part(sizes)
        runs = self.mask.ranges(self.sizes)
        if runs is None:
            return None
        low, high = (self._own(edge)[..., self.queries.start : self.queries.stop] - self.keys.start for edge in runs)
        return within(low, high, len(self.keys))

    def _part(self, sizes: masks.Sizes) -> masks.Ranges | None:
        """The runs of some queries among some keys of the sequence: the mask of the batch is asked for those."""
        first = sizes.queries.start + self.queries.start, sizes.keys.start + self.keys.start
        offset = self.sizes.n_k - self.sizes.n_q if self.sizes.offset is None else self.sizes.offset
        batch = self.sizes._replace(
            n_q=sizes.n_q, n_k=sizes.n_k, first_query=first[0], first_key=first[1], offset=offset
        )
        runs = self.mask.ranges(batch)
        if runs is None:
            return None
        return within(self._own(runs.low).copy(), self._own(runs.high).copy(), sizes.n_k)

    def _own(self, edge: np.ndarray) -> np.ndarray:
        """(*batch, heads, r, n_q), any leading axis missing or 1 → (heads, r, n_q) of the sequence"""
        edge = edge.reshape((1,) * (4 - edge.ndim) + edge.shape)
        return edge[self.entry if edge.shape[0] > 1 else 0]

    def allows(self, at: masks.Where) -> np.ndarray:
        entry = np.full((1,) * 4, self.entry)
        given = entry, at.head, at.query + self.queries.start, at.key + self.keys.start
        allowed = self.mask.allows(masks.Where(*given, self.sizes))
        return allowed.reshape(allowed.shape[-max(3, at.query.ndim, at.key.ndim) :]) if allowed.ndim > 3 else allowed


@dataclass(frozen=True, eq=False)
class Runs(masks.Mask):
    """Runs of keys as they were worked out before, low and high (heads, r, n_q)."""

    low: np.ndarray
    high: np.ndarray

    def lasting(self) -> bool:
        return True

    def ranges(self, sizes: masks.Sizes) -> masks.Ranges | None:
        return masks.Ranges(np.asarray(self.low, np.int64), np.asarray(self.high, np.int64))

    def allows(self, at: masks.Where) -> np.ndarray:
        head = at.head if self.low.shape[0] > 1 else np.zeros_like(at.head)
        shape = np.broadcast_shapes(at.head.shape, at.query.shape, at.key.shape)
        allowed = np.zeros(shape, np.bool_)
        for run in range(self.low.shape[-2]):
            allowed |= (at.key >= self.low[head, run, at.query]) & (at.key < self.high[head, run, at.query])
        return allowed


def run_of(real: np.ndarray) -> range | None:
    """The positions that are real, if there are no gaps among them."""
    places = np.flatnonzero(real)
    if not places.size:
        return range(0)
    run = range(int(places[0]), int(places[-1]) + 1)
    return run if len(run) == places.size else None
