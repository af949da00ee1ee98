"""Edges of attention that are to be cut while a model runs: which query may not look at which key, in which head.

An edge is cut in one of two places, which are two experiments. Cut before the softmax, its score is −inf, and the
query's other weights grow so that they sum to 1 again. Cut after it, its weight is 0 and the others stay what they are,
so that the query takes in less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead import masks
from clearhead.masks.kinds import UNLIMITED
from clearhead.traces.naming import concerns

Run = tuple[int, int]  # positions from the first to before the second


@dataclass(frozen=True, eq=False)
class Cut:
    """Some queries may not look at some keys, in one head, or in all heads of a layer (head None).

    queries, keys: runs of positions in the model's input, in order. option: which of `trace` asked for it
    """

    layer: int | str
    head: int | None
    queries: tuple[Run, ...]
    keys: tuple[Run, ...]
    option: str

    def concerns(self, path: str) -> bool:
        return concerns(self.layer, path)

    def touches(self, first: tuple[int, int], sizes: tuple[int, int]) -> bool:
        """Whether a call whose first query and key are at these positions, of such sizes, has any of its edges."""
        runs = zip((self.queries, self.keys), first, sizes, strict=True)
        return all(any(start < at + n and stop > at for start, stop in own) for own, at, n in runs)


@dataclass(frozen=True, eq=False)
class Without(masks.Mask):
    """All places but those of one cut, in a call of so many heads whose queries and keys begin at some positions."""

    cut: Cut
    first_query: int
    first_key: int

    def __repr__(self) -> str:
        return f"Without({self.cut!r})"

    def lasting(self) -> bool:
        return True

    def _heads(self, heads: int) -> np.ndarray:
        return np.arange(heads) == self.cut.head if self.cut.head is not None else np.ones(heads, np.bool_)

    def ranges(self, sizes: masks.Sizes) -> masks.Ranges | None:
        first = self.first_key + sizes.keys.start
        edges = [0, *(x - first for run in self.cut.keys for x in run), sizes.n_k]
        left = np.clip(edges, 0, sizes.n_k).reshape(-1, 2)  # the runs of keys between those that are cut
        queries = _inside(np.asarray(sizes.queries) + self.first_query, self.cut.queries)
        concerned = self._heads(sizes.heads)[:, None, None] & queries  # (heads, 1, n_q)
        everything = np.zeros_like(left)
        everything[0] = 0, sizes.n_k
        low, high = (np.where(concerned, left[:, x, None], everything[:, x, None]) for x in (0, 1))
        return masks.Ranges(low, high)

    def allows(self, at: masks.Where) -> np.ndarray:
        queries = _inside(at.query + self.first_query, self.cut.queries)
        keys = _inside(at.key + self.first_key, self.cut.keys)
        return np.asarray(~(self._heads(at.sizes.heads)[at.head] & queries & keys))


def _inside(positions: np.ndarray, runs: tuple[Run, ...]) -> np.ndarray:
    """Which positions lie in one of the runs."""
    found = np.zeros(np.shape(positions), np.bool_)
    for start, stop in runs:
        found |= (positions >= start) & (positions < stop)
    return found


def checked_cuts(option: str, wanted: Mapping[Any, Any] | None) -> list[Cut]:
    """What an option asks for: {(layer, head) or layer: (queries, keys), or several of those}."""
    if wanted is None:
        return []
    if not isinstance(wanted, Mapping):
        raise TypeError(
            f"{option} must be a mapping such as {{(3, 5): (slice(10, 20), 0)}}, got {type(wanted).__name__}"
        )
    return [cut for key, edges in wanted.items() for cut in _checked(option, key, edges)]


def _checked(option: str, key: Any, edges: Any) -> list[Cut]:
    layer, head = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
    right = isinstance(layer, (int, str)) and not isinstance(layer, bool)
    if not right or not (head is None or (isinstance(head, int) and not isinstance(head, bool) and head >= 0)):
        raise TypeError(f"{option} names heads as (layer, head), the layer by number or module path, got {key!r}")
    pairs = edges if isinstance(edges, list) else [edges]
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise TypeError(
            f"{option} takes edges as (queries, keys), or a list of such pairs, each positions as a number, a slice or "
            f"a sequence of numbers, got {edges!r}"
        )
    return [Cut(layer, head, _runs(option, queries), _runs(option, keys), option) for queries, keys in pairs]


def _runs(option: str, wanted: Any) -> tuple[Run, ...]:
    """Positions as runs of them, in order, none twice."""
    if wanted is None or wanted is Ellipsis:
        return ((0, UNLIMITED),)
    if isinstance(wanted, slice) and wanted.step in (None, 1):
        start, stop = wanted.start or 0, UNLIMITED if wanted.stop is None else wanted.stop
        numbers: Iterable[Any] = (start, stop)
        runs = [(start, stop)]
    else:
        numbers = [wanted] if isinstance(wanted, (int, np.integer)) else wanted
        numbers = list(numbers) if isinstance(numbers, Iterable) and not isinstance(numbers, str) else [None]
        whole = all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in numbers)
        places = np.unique(np.array(numbers if whole else [], np.int64))
        runs = [(int(run[0]), int(run[-1]) + 1) for run in _split(places)]
    if not all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) and x >= 0 for x in numbers):
        raise ValueError(
            f"{option} takes positions counted from 0, as a number, a slice without a step or a sequence of numbers, "
            f"got {wanted!r}"
        )
    return tuple((start, stop) for start, stop in runs if start < stop)


def _split(places: np.ndarray) -> list[np.ndarray]:
    """Numbers in order, split where one is missing."""
    return np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if places.size else []
