"""What is kept of a call so that its weights can be computed again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Sums(NamedTuple):
    """What makes weights of a query's scores: 2^(score − top) / total, scores in powers of two.

    top, total (…, n_q): the largest score, and Σ 2^(score − top) over the keys and the sink. The lse is made of both,
    but rounded to one number it says less the larger the scores are. A query with no key left has −inf and 0.
    """

    top: np.ndarray
    total: np.ndarray

    @classmethod
    def empty(cls, shape: tuple[int, ...], kind: np.dtype[Any]) -> Sums:
        """Room for the sums of so many queries."""
        return cls(np.full(shape, -np.inf, kind), np.zeros(shape, kind))

    def of(self, place: Any) -> Sums:
        """Those of some queries."""
        return Sums(self.top[place], self.total[place])

    def share_in(self, whole: Sums) -> np.ndarray:
        """The share of attention that falls on the keys these are the sums of, of all those of `whole`."""
        with np.errstate(invalid="ignore"):  # −inf − −inf, of a query with no key left
            share = np.exp2(self.top - whole.top) * (self.total / whole.total)
        none = np.isneginf(self.top) & ~np.isnan(self.total)
        return np.where(none, 0, np.minimum(share, 1)).astype(self.top.dtype)
