"""How large a call is, which part of a sequence it holds, and where in its matrix of scores a mask is asked."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

import numpy as np

Number = TypeVar("Number", int, np.ndarray)


class Sizes(NamedTuple):
    """How many queries, keys, batch entries and heads a call has, and where they lie in the whole sequence.

    Unless told otherwise a call is the whole: its queries and keys are numbered from 0, and its queries are the last
    positions, so that query i stands at position i + offset among the keys, offset = n_k − n_q.

    A call that holds a part of a sequence says the numbers of its first query and of its first key in the whole. A
    mask always speaks of the whole: its lengths, ids and offset, the rows and columns of its array or layout and the
    i and j of its function are counted from the start of the sequence, and the part gets its piece of the whole
    matrix. Queries and keys of a sequence are numbered alike, so that query i of the whole stands at position i, and
    the offset is 0. Where that is not so, because the whole has fewer queries than keys, it has to be given: n_k − n_q
    of the whole. An offset of a mask's own, such as `causal(offset=…)`, goes before that of the call.
    """

    n_q: int
    n_k: int
    batch_shape: tuple[int, ...] = ()
    heads: int = 1
    first_query: int | None = None
    first_key: int | None = None
    offset: int | None = None

    @property
    def whole(self) -> bool:
        """Whether this is no part of anything."""
        return self.first_query is None and self.first_key is None

    @property
    def queries(self) -> range:
        """The numbers of the queries in the whole."""
        first = self.first_query or 0
        return range(first, first + self.n_q)

    @property
    def keys(self) -> range:
        """The numbers of the keys in the whole, which are their positions."""
        first = self.first_key or 0
        return range(first, first + self.n_k)

    def position(self, query: Number) -> Number:
        """Where queries, given by their numbers in the whole, stand among the keys."""
        if self.offset is not None:
            return query + self.offset
        if self.whole:
            return query + (self.n_k - self.n_q)
        if self.first_query is None:
            raise ValueError(
                "first_key says that these keys are a part of a sequence; say with first_query where the queries stand "
                "in it, as this mask depends on that"
            )
        return query


class Where(NamedTuple):
    """Places in the matrix of scores, as index arrays that broadcast against one another, and the sizes they are in.

    `batch` counts over all batch axes at once; `head` counts query heads; `query` and `key` are numbers in the whole.
    """

    batch: np.ndarray
    head: np.ndarray
    query: np.ndarray
    key: np.ndarray
    sizes: Sizes

    @property
    def position(self) -> np.ndarray:
        """Where the queries stand among the keys."""
        return self.sizes.position(self.query)

    @classmethod
    def inside(cls, sizes: Sizes, batch: np.ndarray, head: np.ndarray, query: np.ndarray, key: np.ndarray) -> Where:
        """Places whose queries and keys are counted from the first ones of the call."""
        return cls(batch, head, query + sizes.queries.start, key + sizes.keys.start, sizes)


def places(sizes: Sizes, rows: slice = slice(None)) -> Where:
    """All places of a call, or those of a strip of its queries."""
    batch = np.arange(math.prod(sizes.batch_shape)).reshape(*sizes.batch_shape, 1, 1, 1)
    head = np.arange(sizes.heads)[:, None, None]
    return Where.inside(sizes, batch, head, np.arange(sizes.n_q)[rows, None], np.arange(sizes.n_k))
