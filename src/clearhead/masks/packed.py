"""Several documents packed into one sequence."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clearhead.masks.lookup import over_batch, shown
from clearhead.masks.mask import Mask
from clearhead.masks.ranges import Ranges, within
from clearhead.masks.sizes import Sizes, Where


@dataclass(frozen=True, eq=False)
class _Documents(Mask):
    ids: np.ndarray  # of the whole sequence, and this mask's own

    def __repr__(self) -> str:
        if self.ids.ndim == 1 and self.ids.size and self._starts is not None:
            return f"documents(boundaries={shown(self._starts)})"
        return f"documents({shown(self.ids)})"

    def allows(self, at: Where) -> np.ndarray:
        self._cover(at.sizes)
        ids = over_batch("ids", self.ids, at.sizes, of_keys=True)
        ids = ids.reshape(math.prod(at.sizes.batch_shape), ids.shape[-1])
        return ids[at.batch, at.position] == ids[at.batch, at.key]

    def ranges(self, sizes: Sizes) -> Ranges | None:
        self._cover(sizes)
        over_batch("ids", self.ids, sizes, of_keys=True)
        if self._starts is None:
            return None
        n_q, length = sizes.n_q, self.ids.shape[-1]
        starts, ends = self._starts[:-1], self._starts[1:]
        entry = starts // max(length, 1) * length  # where the ids of a document's batch entry begin
        first = entry + sizes.position(sizes.queries.start)  # and where those of the queries do
        queries = np.maximum(np.minimum(ends, first + n_q) - np.maximum(starts, first), 0)
        shape = (*self.ids.shape[:-1], 1, 1, n_q)
        low, high = (np.repeat(edge - entry - sizes.keys.start, queries).reshape(shape) for edge in (starts, ends))
        return within(low, high, sizes.n_k)

    def lasting(self) -> bool:
        return True

    def _cover(self, sizes: Sizes) -> None:
        """There are ids for all keys and queries."""
        length, n_q, n_k = self.ids.shape[-1], sizes.n_q, sizes.n_k
        if sizes.whole and length != n_k:
            raise ValueError(f"documents: there are {n_k} keys but ids for {length}")
        first = sizes.position(sizes.queries.start)
        if sizes.whole and sizes.offset is None and first < 0:
            raise ValueError(f"documents: {n_q} queries cannot be the last positions of {n_k} keys")
        for what, start, n in (("keys", sizes.keys.start, n_k), ("queries", first, n_q)):
            if n and not 0 <= start <= length - n:
                raise ValueError(
                    f"documents: the {what} are positions {start} … {start + n - 1} of the sequence, but there are ids "
                    f"for {length}; ids are for the whole sequence"
                )

    @functools.cached_property
    def _starts(self) -> np.ndarray | None:
        """Where documents start in the ids of all batch entries, and the end of the last; None if one is in pieces."""
        ids = self.ids.reshape(math.prod(self.ids.shape[:-1]), self.ids.shape[-1])
        starting = np.ones(ids.shape, np.bool_)
        np.not_equal(ids[:, 1:], ids[:, :-1], out=starting[:, 1:])
        starts = np.flatnonzero(starting)
        name, entry = ids.ravel()[starts], starts // max(ids.shape[-1], 1)
        if not ((name[1:] > name[:-1]) | (entry[1:] > entry[:-1])).all():  # in order there are no pieces
            order = np.lexsort((name, entry))
            name, entry = name[order], entry[order]
            if ((name[1:] == name[:-1]) & (entry[1:] == entry[:-1])).any():
                return None
        return np.append(starts, ids.size)


def documents(ids: ArrayLike | None = None, *, boundaries: ArrayLike | None = None) -> Mask:
    """Several documents in one sequence: a query sees only its own.

    ids (*batch, n_k): the document of each key. Or boundaries (documents + 1,): the first position of each document
    and then the length, [0, 30, 100] for documents of 30 and 70. Both are of the whole sequence, also where a call
    holds only a part of it.
    """
    if (ids is None) == (boundaries is None):
        raise ValueError("documents needs either ids, one per key, or boundaries, such as [0, 30, 100]")
    if boundaries is not None:
        edges = np.asarray(boundaries)
        if edges.dtype.kind not in "iu" or edges.ndim != 1 or edges.size < 2:
            raise ValueError(f"boundaries must be at least two integers, such as [0, 30, 100], got {boundaries!r}")
        if edges[0] != 0 or (np.diff(edges) < 0).any():
            raise ValueError(f"boundaries must start at 0 and not decrease, got {edges.tolist()}")
        return _Documents(np.repeat(np.arange(edges.size - 1), np.diff(edges)))
    array = np.asarray(ids)
    if array.dtype.kind not in "iu" or array.ndim < 1:
        raise TypeError(f"ids must be integers of shape (*batch, n_k), got {array.dtype.name} of shape {array.shape}")
    return _Documents(array.astype(np.int64))
