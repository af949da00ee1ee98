"""Several heads, or several layers, read as one: the mean of their weights, and all that follows from it exactly.

    W̄ = Σ W_h / h        a masked place counts as 0, and is masked in the mean only if it is so in every head

Sums of weights can be averaged: windows, masses, what keys receive. The entropy of a mean is not the mean of the
entropies, so it is read off the mean itself, some rows of it at a time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks, masks
from clearhead.matrices import REDUCTIONS, Padding, Pooled, Tokens
from clearhead.tensors import on_host
from clearhead.views import passes, tiles, windows
from clearhead.views.allowed import allowed, heads_share_mask, strips
from clearhead.views.choosing import chosen, of_batch
from clearhead.views.conversion import Convert, handed_back
from clearhead.views.grouping import Labels, grouped

if TYPE_CHECKING:
    from clearhead.views.view import View


def average(views: View | Sequence[View], heads: Any = None) -> Average:
    """The mean over heads, and over layers if there are several views, of the same shape.

    views: one, or one for each layer. heads: a number, a slice or a sequence of numbers; all of them unless given.
    """
    return Average(checked_views(views), heads)


class Average:
    """The mean of the weights of several heads. What it offers means what it means in a `View`, without a head axis."""

    heads = 1

    def __init__(self, views: tuple[View, ...], heads: Any = None) -> None:
        self.views = views
        self.chosen = [chosen_heads(view, heads) for view in views]  # of each view, the heads that are averaged over

    @property
    def n_q(self) -> int:
        """How many queries."""
        return self.views[0].n_q

    @property
    def n_k(self) -> int:
        """How many keys."""
        return self.views[0].n_k

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The axes before that of the queries."""
        return self.views[0].batch_shape

    @property
    def lead(self) -> tuple[int, ...]:
        """The axes before that of the queries: those of the batch."""
        return self.batch_shape

    @property
    def tokens(self) -> Tokens | None:
        """Labels of queries and keys, those of the first view that has some."""
        return next((view.tokens for view in self.views if view.tokens is not None), None)

    @property
    def padding(self) -> Padding | None:
        """Which queries and keys are padding, those of the first view that has some."""
        return next((view.padding for view in self.views if view.padding is not None), None)

    @property
    def convert(self) -> Convert:
        """What turns an array into the kind that was looked at."""
        return self.views[0].convert

    def __repr__(self) -> str:
        batch = f"a batch of {' × '.join(map(str, self.batch_shape))}, " if self.batch_shape else ""
        heads = " + ".join(str(heads.size) for heads in self.chosen)
        kind = self.views[0].call.kind.name
        return f"Average({batch}{heads} heads as one, {self.n_q} queries × {self.n_k} keys, {kind})"

    @functools.cached_property
    @handed_back
    def received(self) -> Float[Any, "... n_k"]:
        return self._mean(lambda view: on_host(view.received))

    @functools.cached_property
    @handed_back
    def on_first(self) -> Float[Any, "... n_q"]:
        return self._mean(lambda view: on_host(view.on_first))

    @functools.cached_property
    @handed_back
    def on_self(self) -> Float[Any, "... n_q"]:
        return self._mean(lambda view: on_host(view.on_self))

    @functools.cached_property
    @handed_back
    def distance(self) -> Float[Any, "... n_q"]:
        """How far away the mean of the heads looks: each counts with the mass it has."""
        far, total = self._mean(lambda view: view.observed.distance), self._mean(lambda view: view.total)
        return np.divide(far, total, out=np.zeros_like(far), where=total != 0)

    @functools.cached_property
    @handed_back
    def entropy(self) -> Float[Any, "... n_q"]:
        """That of the mean, which is more than the mean of the heads' own; takes a pass over the matrix."""
        return self._of_rows[0]

    @functools.cached_property
    @handed_back
    def max_weight(self) -> Float[Any, "... n_q"]:
        """The largest weight of the mean; takes a pass over the matrix."""
        return self._of_rows[1]

    @functools.cached_property
    def _of_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Entropy and largest weight of each row of the mean: (*batch, n_q) each"""
        entropy, largest = (np.zeros((*self.batch_shape, self.n_q), self.views[0].call.kind) for _ in range(2))
        for batch in np.ndindex(self.batch_shape):
            for rows in strips(self.n_q, self.n_k):
                weights = self._window(rows, slice(None), batch)
                logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
                entropy[batch][rows] = 0.0 - (weights * logarithms).sum(axis=-1)
                largest[batch][rows] = weights.max(axis=-1, initial=0)
        return entropy, largest

    def map(self, reduce: str = "mean") -> Float[Any, "... size_q size_k"]:
        """The tile of everything, in as many cells as the views' maps have: → (…, size_q, size_k)"""
        return self.tile(size=tiles.size_of_map(self.views[0]), reduce=reduce)

    @handed_back
    def weights(
        self, head: Any = None, rows: Any = slice(None), cols: Any = slice(None), *, batch: Any = None
    ) -> Float[Any, ...]:
        """Any window of the mean, exact: → (…, rows, cols). It has one head, which is 0 or left out."""
        _check_head(head)
        return self._window(rows, cols, batch)

    @handed_back
    def tile(
        self,
        head: Any = None,
        rows: Any = slice(None),
        cols: Any = slice(None),
        size: int | tuple[int, int] = 512,
        *,
        reduce: str = "mean",
        batch: Any = None,
    ) -> Float[Any, "... cells_q cells_k"]:
        """A window pooled into cells, as `View.tile` does: → (…, cells_q, cells_k)"""
        _check_head(head)
        checks.choice("reduce", reduce, REDUCTIONS)
        window = tiles.checked_window(rows, cols, size, self.n_q, self.n_k)
        entries = of_batch(np.arange(int(np.prod(self.batch_shape))).reshape(self.batch_shape), batch, self.batch_shape)
        result = np.empty((*entries.shape, *window.cells), self.views[0].call.kind)
        for place in np.ndindex(entries.shape):
            which = tuple(int(i) for i in np.unravel_index(entries[place], self.batch_shape))
            result[place] = self._tile(which, window, reduce)
        return result

    def row(self, query: int, head: Any = None, *, batch: Any = None) -> Float[Any, "... n_k"]:
        """The mean weights of one query on every key: → (…, n_k)"""
        return self.weights(head, checks.count("query", query, least=None), batch=batch)

    @handed_back
    def mass(self, mask: masks.Mask | ArrayLike | None = None) -> Float[Any, "... n_q"]:
        """The share of attention on the keys a further mask allows: → (…, n_q)"""
        return self._mean(lambda view: passes.mass(view, mask))

    @handed_back
    def grouped(self, query_groups: Labels, key_groups: Labels | None = None) -> Float[Any, "... G_q G_k"]:
        """Attention between groups of positions, such as words: → (…, G_q, G_k)"""
        return self._mean(lambda view: grouped(view, on_host(query_groups), on_host(key_groups)))

    def _mean(self, of: Callable[[View], np.ndarray]) -> np.ndarray:
        """The mean over heads and views of something that has one entry for each head: (…, h, a, …) → (…, a, …)"""
        return mean(over_heads(view, of(view), heads) for view, heads in zip(self.views, self.chosen, strict=True))

    def _window(self, rows: Any, cols: Any, batch: Any) -> np.ndarray:
        """A window of the mean, one head at a time: in the memory of one window."""
        return mean(
            mean(windows.window(view, head if view.lead else None, rows, cols, batch) for head in heads.tolist())
            for view, heads in zip(self.views, self.chosen, strict=True)
        )

    def _tile(self, batch: tuple[int, ...], window: tiles.Window, reduce: str) -> np.ndarray:
        """A tile of one batch entry. Sums can be averaged; maxima are those of the mean, some rows of it at a time."""
        kind = self.views[0].call.kind
        if reduce == "mean":
            found = [tiles.pooled(view, window, number, reduce) for view, number in self._entries(batch)]
            of_views = np.split(np.stack([x.total[0] for x in found]), np.cumsum([x.size for x in self.chosen])[:-1])
            total = mean(mean(iter(totals)) for totals in of_views)
            unmasked = found[0].unmasked[0] if self._one_mask else self._unmasked(batch, window)
            return tiles.cell_values(Pooled(total, total, unmasked), reduce, kind)
        peak = np.zeros(window.cells)
        for strip in strips(*window.shape):
            rows = slice(window.rows.start + strip.start, window.rows.start + strip.stop)
            tiles.join_rows(np.maximum, self._window(rows, window.cols, batch), strip.start, window, peak)
        return tiles.cell_values(Pooled(peak, peak, self._unmasked(batch, window)), reduce, kind)

    def _unmasked(self, batch: tuple[int, ...], window: tiles.Window) -> np.ndarray:
        """How many places of each cell at least one head may attend to."""
        count = np.zeros(window.cells, np.int64)
        key = np.arange(window.cols.start, window.cols.stop)
        for strip in strips(*window.shape):
            query = np.arange(window.rows.start + strip.start, window.rows.start + strip.stop)[:, None]
            unmasked = np.zeros((len(query), key.size), np.bool_)
            for view, number in self._entries(batch):
                unmasked |= allowed(view.call, *windows.indices_of(view, number), query, key)
            tiles.join_rows(np.add, unmasked, strip.start, window, count)
        return count

    def _entries(self, batch: tuple[int, ...]) -> Iterator[tuple[View, int]]:
        """Every head that is averaged over in a batch entry: its view, and its number over all axes of that."""
        for view, heads in zip(self.views, self.chosen, strict=True):
            for head in heads.tolist():
                yield view, int(np.ravel_multi_index((*batch, head), view.lead)) if view.lead else 0

    @property
    def _one_mask(self) -> bool:
        """Whether what is masked in one head is masked in all of them."""
        first = self.views[0]
        unbiased = all(view.call.bias is None and view.call.table is None for view in self.views)
        alike = unbiased and all(view.mask is first.mask for view in self.views)
        return heads_share_mask(first.call) and (alike or len(self.views) == 1)


def mean(parts: Iterator[np.ndarray]) -> np.ndarray:
    """The mean of arrays of one shape, of which no more than two are there at a time."""
    total: Any = 0
    count = 0
    for part in parts:
        total, count = total + part, count + 1
    return np.asarray(total / count)


def over_heads(view: View, x: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """The mean over the chosen heads: (…, h, a, …) → (…, a, …)"""
    if not view.lead:
        return x
    return mean(np.take(x, head, axis=len(view.batch_shape)) for head in heads.tolist())


def chosen_heads(view: View, heads: Any) -> np.ndarray:
    """The numbers of the heads to average over, all of them unless given."""
    every = np.arange(view.heads)
    found = every if heads is None else every[chosen("heads", heads, view.heads)[0]]
    if not found.size:
        raise ValueError(f"there must be at least one head to average over, got {heads!r} of {view.heads}")
    return found


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


def _check_head(head: Any) -> None:
    """A mean of heads has one, which may be called 0."""
    if not (head is None or (isinstance(head, (int, np.integer)) and not isinstance(head, bool) and head in (0, -1))):
        raise ValueError(f"a mean of heads has one head, 0, which may be left out, got {head!r} (rows come after it)")
