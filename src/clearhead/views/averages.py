"""Several heads, or several layers, read as one: the mean of their weights, and all that follows from it exactly.

Sums of weights can be averaged: windows, masses, what keys receive. The entropy of a mean is not the mean of the
entropies, and which keys are strongest is another question again; for those, ask each head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import masks
from clearhead.views.edges import chosen
from clearhead.views.grouping import Labels, between_groups
from clearhead.views.matrix import Matrix

if TYPE_CHECKING:
    from clearhead.views.view import View


def average(views: View | Sequence[View], heads: Any = None) -> Average:
    """The mean over heads, and over layers if there are several views, of the same shape.

    views: one, or one for each layer. heads: a number, a slice or a sequence of numbers; all of them unless given.
    """
    return Average(checked_views(views), heads)


@dataclass(frozen=True)
class Average:
    """The mean of the weights of several heads. What it offers means what it means in a `View`, without a head axis."""

    views: tuple[View, ...]
    heads: Any = None

    @property
    def received(self) -> Float[Any, "... n_k"]:
        return self._mean(lambda matrix: matrix.seen.received)

    @property
    def on_first(self) -> Float[Any, "... n_q"]:
        return self._mean(lambda matrix: matrix.on_first)

    @property
    def on_self(self) -> Float[Any, "... n_q"]:
        return self._mean(lambda matrix: matrix.on_self)

    @property
    def distance(self) -> Float[Any, "... n_q"]:
        """How far away the mean of the heads looks: each counts with the mass it has."""
        far, total = (self._plain_mean(of) for of in (lambda matrix: matrix.seen.distance, lambda matrix: matrix.total))
        return self._give(np.divide(far, total, out=np.zeros_like(far), where=total != 0))

    def map(self) -> Float[Any, "... size_q size_k"]:
        """The mean over all places, of all heads, that are not masked; NaN where there are none."""
        total = self._plain_mean(lambda matrix: matrix.pooled().map_sum)
        count = self._plain_mean(lambda matrix: matrix.pooled().map_count.astype(np.float64))
        pooled = np.divide(total, count, out=np.full(count.shape, np.nan), where=count != 0)
        return self._give(pooled.astype(total.dtype))

    def weights(self, rows: Any = slice(None), cols: Any = slice(None), *, batch: Any = None) -> Float[Any, ...]:
        """Any window of the mean, exact: → (…, rows, cols)"""

        def window(view: View) -> np.ndarray:
            if not view.lead:
                return view.matrix.window(None, rows, cols, batch)
            total: Any = 0
            heads = _heads(view.matrix, self.heads)
            for head in heads:  # one at a time: the memory of one window
                total = total + view.matrix.window(int(head), rows, cols, batch)
            return np.asarray(total / heads.size)

        return self._give(self._over_views(window))

    def row(self, query: int, *, batch: Any = None) -> Float[Any, "... n_k"]:
        """The mean weights of one query on every key: → (…, n_k)"""
        return self.weights(query, batch=batch)

    def mass(self, mask: masks.Mask | ArrayLike | None = None) -> Float[Any, "... n_q"]:
        """The share of attention on the keys a further mask allows: → (…, n_q)"""
        return self._mean(lambda matrix: matrix.mass(mask))

    def grouped(self, query_groups: Labels, key_groups: Labels | None = None) -> Float[Any, "... G_q G_k"]:
        """Attention between groups of positions, such as words: → (…, G_q, G_k)"""
        return self._mean(lambda matrix: between_groups(matrix, query_groups, key_groups))

    def _mean(self, of: Callable[[Matrix], np.ndarray]) -> Any:
        return self._give(self._plain_mean(of))

    def _plain_mean(self, of: Callable[[Matrix], np.ndarray]) -> np.ndarray:
        """The mean over heads and views of something that has one entry for each head: (…, h, a, …) → (…, a, …)"""
        return self._over_views(lambda view: over_heads(view.matrix, of(view.matrix), self.heads))

    def _over_views(self, of: Callable[[View], np.ndarray]) -> np.ndarray:
        total: Any = 0
        for view in self.views:
            total = total + of(view)
        return np.asarray(total / len(self.views))

    def _give(self, x: np.ndarray) -> Any:
        return self.views[0]._give(x)


def checked_views(views: View | Sequence[View], *, square: bool = False) -> tuple[View, ...]:
    """Views of the same shape, one for each layer; with as many queries as keys if they are to be `square`."""
    from clearhead.views.view import View

    every = (views,) if isinstance(views, View) else tuple(views)
    if not every:
        raise ValueError("there must be at least one view, got none")
    for n, view in enumerate(every):
        if not isinstance(view, View):
            raise TypeError(f"views must be what clearhead.look returns, got {type(view).__name__} as view {n}")
        shape, first = ((*x.batch_shape, x.n_q, x.n_k) for x in (view, every[0]))
        if shape != first or bool(view.lead) != bool(every[0].lead):
            raise ValueError(f"view {n} is of shape {shape} without its heads; expected {first}, as view 0 is")
        if square and view.n_q != view.n_k:
            raise ValueError(
                f"view {n} has {view.n_q} queries and {view.n_k} keys; to follow attention from layer to layer, each "
                "position must be a query and a key (look at the whole sequence at once, and not at cross-attention)"
            )
    return every


def over_heads(matrix: Matrix, x: np.ndarray, heads: Any) -> np.ndarray:
    """The mean over the chosen heads: (…, h, a, …) → (…, a, …)"""
    if not matrix.lead:
        return x
    axis = len(matrix.batch_shape)
    return np.asarray(np.take(x, _heads(matrix, heads), axis=axis).mean(axis=axis))


def _heads(matrix: Matrix, heads: Any) -> np.ndarray:
    found = (
        np.arange(matrix.heads) if heads is None else np.arange(matrix.heads)[chosen("heads", heads, matrix.heads)[0]]
    )
    if not found.size:
        raise ValueError(f"there must be at least one head to average over, got {heads!r} of {matrix.heads}")
    return found
