"""What a page needs to know of a layer: statistics, patterns and strongest keys, read off an `AttentionMatrix`.

A `View` knows its strongest keys and patterns; for weights that are all there, they are found here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from clearhead.matrices import cell_length, pool
from clearhead.page.packing import HIDDEN
from clearhead.textbook.patterns import name_pattern

STATISTICS = ("entropy", "max_weight", "distance", "on_first", "on_self")
TELLING = {
    "previous_token": 1.0, "next_token": 1.0, "induction": 1.0, "duplicate_token": 1.0, "separator": 0.9,
    "punctuation": 0.9, "self": 0.7, "local": 0.6, "first_token": 0.4, "uniform": 0.25,
}  # fmt: skip
DECIDED = 0.6
KEPT = 8  # of each query's strongest keys, where a matrix does not say itself


class Strongest(NamedTuple):
    """The keys each query attends to most: indices (h, n_q, k), −1 where there are fewer, and weights likewise."""

    indices: Int[np.ndarray, "h n_q k"]
    weights: Float[np.ndarray, "h n_q k"]


class Layer:
    """One layer of a page: its name, and what is read off its matrix, an `AttentionMatrix`, at a place of its batch."""

    def __init__(
        self, name: str, matrix: Any, batch: tuple[int, ...] = (), *, extra: Mapping[str, Any] | None = None
    ) -> None:
        self.name, self.matrix, self.batch, self.extra = name, matrix, batch, dict(extra or {})
        self.heads, self.n_q, self.n_k = matrix.heads, matrix.n_q, matrix.n_k

    def of_heads(self, value: Any) -> np.ndarray:
        """A statistic for each head: (*batch, h, …) → (h, …), whether or not there are such axes."""
        array = np.asarray(value)
        if not self.matrix.lead:
            return array[None]
        return array[self.batch]

    @functools.cached_property
    def by_query(self) -> dict[str, np.ndarray]:
        """Statistics of every query, (h, n_q) each."""
        return {name: self.of_heads(getattr(self.matrix, name)) for name in STATISTICS}

    @functools.cached_property
    def received(self) -> Float[np.ndarray, "h n_k"]:
        return self.of_heads(self.matrix.received)

    @functools.cached_property
    def statistics(self) -> dict[str, Float[np.ndarray, " h"]]:
        """Of each head, the mean over the queries that attend to anything; then what was measured elsewhere."""
        attending = ~(self.by_query["max_weight"] <= 0)  # NaN counts: a head with one is to be seen as such
        count = np.maximum(attending.sum(axis=-1), 1)
        read = {name: np.where(attending, x, 0).sum(axis=-1) / count for name, x in self.by_query.items()}
        return read | {name: np.asarray(x, np.float64) for name, x in self.extra.items()}

    @functools.cached_property
    def strongest(self) -> Strongest:
        kept = getattr(self.matrix, "top_k", None)
        if kept is not None:
            return Strongest(self.of_heads(kept.indices), self.of_heads(kept.weights))
        weights = np.stack([self.exact(head) for head in range(self.heads)])
        order = np.argsort(-weights, axis=-1, kind="stable")[..., :KEPT]
        found = np.take_along_axis(weights, order, axis=-1)
        return Strongest(np.where(found >= 0, order, -1), np.maximum(found, 0))

    @functools.cached_property
    def patterns(self) -> tuple[list[str], np.ndarray, list[tuple[str, str]], dict[str, np.ndarray]]:
        """Of each head: the pattern's name, its score, the two names that are closest, and every score."""
        if hasattr(self.matrix, "patterns"):
            found = self.matrix.patterns()
            names = found.labels
        else:
            stored: Any = self.matrix
            found = name_pattern(stored.array, True if stored.allowed is None else stored.allowed)
            names = found.name
        closest = np.asarray(found.closest)
        closest = closest[self.batch] if self.matrix.lead else closest[None]
        scores = {name: self.of_heads(score) for name, score in found.scores.items()}
        pairs = [(str(first), str(second)) for first, second in closest]
        return [str(x) for x in self.of_heads(names)], self.of_heads(found.score), pairs, scores

    @functools.cached_property
    def telling(self) -> Float[np.ndarray, " h"]:
        """How much there is to say of a head at first sight, 0 … 1: whom to show first.

        A clear pattern tells most, and one that looks at other tokens more than one that rests somewhere; a head
        without a clear pattern tells something if it is decided, that is, if its queries each look at one other key.
        """
        names, scores, _, _ = self.patterns
        clear = np.array([TELLING.get(name, 0.0) for name in names]) * np.nan_to_num(scores)
        return np.maximum(clear, DECIDED * self.elsewhere)

    @functools.cached_property
    def elsewhere(self) -> Float[np.ndarray, " h"]:
        """The largest weight of a query besides those on the first position and on its own, on the mean."""
        own = np.arange(self.n_q)[:, None] + self.n_k - self.n_q
        indices, weights = self.strongest
        if not indices.shape[-1]:
            return np.zeros(self.heads)
        others = np.where((indices > 0) & (indices != own), weights, 0)
        return np.nan_to_num(others.max(axis=-1)).mean(axis=-1)

    def exact(self, head: int) -> Float[np.ndarray, "n_q n_k"]:
        """Every weight of a head; HIDDEN where masked."""
        return self.exact_window(head, slice(0, self.n_q), slice(0, self.n_k))

    def exact_window(self, head: int, rows: slice, cols: slice) -> Float[np.ndarray, "tall wide"]:
        """Some weights of a head; HIDDEN where masked."""
        seen = self.window(head, rows, cols, (rows.stop - rows.start, cols.stop - cols.start))
        weights = self.matrix.weights(rows=rows, cols=cols, **self._place(head))
        return np.where(seen >= 0, np.asarray(weights).reshape(seen.shape), seen).astype(np.float32)

    def cells(self, head: int, size: tuple[int, int]) -> Float[np.ndarray, "cells_q cells_k"]:
        """The map of a head in at most `size` cells: their mean weight, HIDDEN where all is masked."""
        return self.window(head, slice(0, self.n_q), slice(0, self.n_k), size)

    def window(
        self, head: int, rows: slice, cols: slice, size: tuple[int, int], reduce: str = "mean"
    ) -> Float[np.ndarray, "cells_q cells_k"]:
        """A part of the map of a head in at most `size` cells: what they hold, HIDDEN where all is masked."""
        tile = np.asarray(self.matrix.tile(rows=rows, cols=cols, size=size, reduce=reduce, **self._place(head)))
        tile = tile.reshape(tile.shape[-2:])
        unknown = np.isnan(self.by_query["max_weight"][head][rows]) | np.isnan(self.by_query["entropy"][head][rows])
        by_q = cell_length(unknown.size, size[0])
        broken = np.add.reduceat(unknown, np.arange(0, unknown.size, by_q)) > 0 if unknown.size else unknown
        return np.where(np.isnan(tile) & ~broken[:, None], HIDDEN, tile).astype(np.float32)

    def _place(self, head: int) -> dict[str, Any]:
        """Which head of which batch entry, as a matrix is asked for it."""
        if not self.matrix.lead:
            return {}
        return {"head": head, "batch": self.batch} if self.batch else {"head": head}


def shrunk(cells: Float[np.ndarray, "rows columns"], most: int) -> Float[np.ndarray, "fewer_rows fewer_columns"]:
    """A map small enough for a stamp; HIDDEN where all is masked."""
    by_q, by_k = (cell_length(n, most) for n in cells.shape)
    small = pool(np.where(cells < 0, np.nan, cells), by_q, by_k)
    broken = pool(np.isnan(cells).astype(np.float32), by_q, by_k, reduce="max") > 0
    return np.where(broken, np.nan, np.where(np.isnan(small), HIDDEN, small)).astype(np.float32)
