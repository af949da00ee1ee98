"""Where a call of the interface lies in its sequence, and masks that transformers says by positions.

transformers numbers positions from the start of a sequence; a call of attention with a cache holds some of them. Masks
made here are counted from the call's own first query and first key, so that they go with the call wherever it goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from clearhead import masks
from clearhead.masks.lookup import over_batch
from clearhead.masks.ranges import within


class Place(NamedTuple):
    """How many queries and keys a call has, and the positions of the first ones in their sequence."""

    n_q: int
    n_k: int
    first_query: int = 0
    first_key: int = 0

    @property
    def queries(self) -> np.ndarray:
        """The positions of the queries."""
        return np.arange(self.first_query, self.first_query + self.n_q)

    @property
    def keys(self) -> np.ndarray:
        """The positions of the keys."""
        return np.arange(self.first_key, self.first_key + self.n_k)

    @property
    def offset(self) -> int | None:
        """How far query i's own key is from key i; None where the queries are the last positions, as masks expect."""
        offset = self.first_query - self.first_key
        return None if offset == self.n_k - self.n_q else offset

    @property
    def is_last(self) -> bool:
        """Whether one query is the last position of a sequence whose every position is a key, as in decoding."""
        return self.n_q == 1 and self.first_key == 0 and self.first_query == self.n_k - 1


@dataclass(frozen=True, eq=False)
class SameGroup(masks.Mask):
    """A query sees the keys of its own group: a chunk, a packed sequence, an image. Negative groups see nothing."""

    of_queries: Int[np.ndarray, "b n_q"]
    of_keys: Int[np.ndarray, "b n_k"]

    def __repr__(self) -> str:
        return f"SameGroup(<{self.of_keys.max(initial=-1) + 1} groups>)"

    def allows(self, at: masks.Where) -> np.ndarray:
        queries, keys = (
            over_batch("groups", x, at.sizes, of_keys=True).reshape(math.prod(at.sizes.batch_shape), -1)
            for x in (self.of_queries, self.of_keys)
        )
        group = queries[at.batch, at.query]
        return (group == keys[at.batch, at.key]) & (group >= 0)

    def ranges(self, sizes: masks.Sizes) -> masks.Ranges | None:
        queries, keys = sizes.queries, sizes.keys  # of a part, where a call is one
        groups = self.of_queries[:, queries.start : queries.stop], self.of_keys[:, keys.start : keys.stop]
        entries = [_runs(*each) for each in zip(*groups, strict=True)]
        if None in entries:
            return None
        low, high = (np.stack(edges)[:, None, None, :] for edges in zip(*entries, strict=True))
        return within(low, high, sizes.n_k)

    def lasting(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Chosen(masks.Mask):
    """A query sees the keys that were chosen for it by number, as in sparse attention; negative numbers are none."""

    keys: Int[np.ndarray, "b n_q k"]

    def __repr__(self) -> str:
        return f"Chosen(<{self.keys.shape[-1]} keys of each query>)"

    def allows(self, at: masks.Where) -> np.ndarray:
        # Written out for the queries that are asked about, a strip of them as a rule.
        first, end = int(at.query.min(initial=0)), int(at.query.max(initial=-1)) + 1
        keys = self.keys[:, first:end]
        width = max(int(at.key.max(initial=-1)), int(keys.max(initial=-1))) + 1
        flags = np.zeros((*keys.shape[:2], width + 1), np.bool_)  # the last column is for numbers that mean none
        np.put_along_axis(flags, np.where(keys < 0, width, keys), True, axis=-1)
        return flags[at.batch if len(flags) > 1 else 0, np.maximum(at.query - first, 0), at.key]

    def lasting(self) -> bool:
        return True


def _runs(of_queries: np.ndarray, of_keys: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The first key of each query's group and the end of the last, or None if a group is in pieces."""
    starts = np.flatnonzero(np.diff(of_keys, prepend=of_keys[:1] - 1)) if of_keys.size else np.zeros(0, np.int64)
    ends = np.append(starts[1:], of_keys.size)
    names = of_keys[starts] if of_keys.size else np.zeros(0, np.int64)
    used = names >= 0
    starts, ends, names = starts[used], ends[used], names[used]
    order = np.argsort(names, kind="stable")
    starts, ends, names = starts[order], ends[order], names[order]
    if (names[1:] == names[:-1]).any():
        return None
    if not names.size:
        nothing = np.zeros(of_queries.shape, np.int64)
        return nothing, nothing
    found = np.minimum(np.searchsorted(names, of_queries), names.size - 1)
    has = names[found] == of_queries
    return np.where(has, starts[found], 0), np.where(has, ends[found], 0)
