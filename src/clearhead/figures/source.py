"""What is drawn, whether it comes as an array of weights or as a view that recomputes them.

A figure asks three things: any window of exact weights, the whole map in no more cells than there are pixels, and a few
statistics for each query or key. An array answers all by looking; a view is asked, and the matrix never exists.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.figures import pooling
from clearhead.figures.weights import as_array, check_values, drawable_weights

# What a view knows of each query or key, and how a figure calls it.
STATISTICS = {
    "entropy": "entropy (nats)",
    "max_weight": "largest weight",
    "distance": "distance (tokens)",
    "on_first": "weight on the first token",
    "on_self": "weight on itself",
}


@runtime_checkable
class Source(Protocol):
    """Attention of one item, ready to be drawn."""

    heads: int
    n_q: int
    n_k: int

    def window(self, head: int, rows: slice, cols: slice) -> Float[np.ndarray, "rows cols"]:
        """Exact weights of one head."""
        ...

    def maps(
        self, most_q: int, most_k: int, reduce: str, hidden: list[int]
    ) -> tuple[Float[np.ndarray, "h cells_q cells_k"], tuple[float, float]]:
        """Every head in at most most_q × most_k cells, NaN where masked or hidden, and how many positions one is."""
        ...

    def statistic(self, name: str, head: int) -> Float[np.ndarray, " n"]:
        """One number for each query, or with "received" for each key."""
        ...


def source(weights: Any, *, batch: int | tuple[int, ...] | None = None) -> Source:
    """Weights (…, n_q, n_k) as an array, or a view of them."""
    if is_view(weights):
        return ViewSource(weights, batch)
    if callable(getattr(weights, "weights", None)):
        raise TypeError(
            f"weights must be an array or a view, got {type(weights).__name__} (draw what its .weights() gives)"
        )
    if batch is not None:
        raise ValueError("batch picks an item of a view; of an array of weights take it yourself, weights[0] say")
    return ArraySource(weights)


def is_view(weights: object) -> bool:
    """A view recomputes weights when asked, and knows its sizes and the entropy of each query."""
    named = ("weights", "map", "entropy", "heads", "n_q", "n_k", "batch_shape")
    return all(hasattr(weights, name) for name in named)


def mean_window(drawn: Source, head: int | None, rows: slice, cols: slice) -> Float[np.ndarray, "rows cols"]:
    """Exact weights of one head, or the mean over all of them."""
    if head is not None:
        return drawn.window(head, rows, cols)
    total = sum(drawn.window(i, rows, cols) for i in range(drawn.heads))
    return np.asarray(total / drawn.heads)


def mean_statistic(drawn: Source, name: str, head: int | None) -> Float[np.ndarray, " n"]:
    """A statistic of one head, or its mean over all of them."""
    if head is not None:
        return drawn.statistic(name, head)
    return np.asarray(np.mean([drawn.statistic(name, i) for i in range(drawn.heads)], axis=0))


def checked_head(head: int | None, heads: int) -> int | None:
    """One of the heads; None, which is their mean, is the head itself where there is one only."""
    if head is None:
        return 0 if heads == 1 else None
    if checks.count("head", head, least=0) >= heads:
        raise ValueError(f"head must be one of the {heads} heads, 0 … {heads - 1}, got {head}")
    return head


def checked_range(name: str, positions: slice | None, n: int) -> slice:
    """A run of positions, from its first to its last."""
    start, stop, step = (positions or slice(None)).indices(n)
    if step != 1 or stop <= start:
        raise ValueError(f"{name} must be a run of positions such as slice(0, 40), of {n} there are, got {positions}")
    return slice(start, stop)


class ArraySource:
    """Weights that are all there: (h, n_q, n_k)."""

    def __init__(self, weights: ArrayLike) -> None:
        self.weights = drawable_weights(weights)
        self.heads, self.n_q, self.n_k = self.weights.shape

    def window(self, head: int, rows: slice, cols: slice) -> Float[np.ndarray, "rows cols"]:
        part = self.weights[head, rows, cols]
        part = part.astype(checks.compute_type(part.dtype), copy=False)
        check_values(part, head=head)
        return part

    def maps(
        self, most_q: int, most_k: int, reduce: str, hidden: list[int]
    ) -> tuple[Float[np.ndarray, "h cells_q cells_k"], tuple[float, float]]:
        by_q, by_k = pooling.factor(self.n_q, most_q), pooling.factor(self.n_k, most_k)
        maps = []
        for i in range(self.heads):  # one at a time: 64 heads of 2,000 positions are a gigabyte already
            head = self.window(i, slice(None), slice(None))
            if hidden:
                head = head.copy()
                head[:, hidden] = np.nan
            maps.append(pooling.pool(head, by_q, by_k, reduce=reduce))
        return np.stack(maps), (float(by_q), float(by_k))

    def statistic(self, name: str, head: int) -> Float[np.ndarray, " n"]:
        weights = self.window(head, slice(None), slice(None))
        if name == "received":
            return weights.sum(axis=0)
        if name == "max_weight":
            return weights.max(axis=-1)
        query, key = np.arange(self.n_q)[:, None] + self.n_k - self.n_q, np.arange(self.n_k)
        if name == "on_first":
            return weights[:, 0]
        if name == "on_self":
            return np.where(query == key, weights, 0).sum(axis=-1)
        total = weights.sum(axis=-1)
        if name == "distance":
            return (weights * abs(query - key)).sum(axis=-1) / np.where(total > 0, total, 1)
        logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
        return 0.0 - (weights * logarithms).sum(axis=-1)


class ViewSource:
    """A view, of which one item of the batch is drawn."""

    def __init__(self, view: Any, batch: int | tuple[int, ...] | None) -> None:
        self.view = view
        self.heads, self.n_q, self.n_k = view.heads, view.n_q, view.n_k
        if 0 in (self.heads, self.n_q, self.n_k):
            raise ValueError(f"{view!r} is empty; there must be a head, a query and a key to draw")
        shape = tuple(view.batch_shape)
        place = (batch,) if isinstance(batch, int) else batch
        if place is None and all(length == 1 for length in shape):
            place = (0,) * len(shape)
        if place is None or len(place) != len(shape) or any(not 0 <= i < n for i, n in zip(place, shape, strict=True)):
            axes = "axis" if len(shape) == 1 else "axes"
            raise ValueError(
                f"the view holds a batch of {' × '.join(map(str, shape)) or 'one'} and a figure shows one item of it; "
                f"batch must be its place along the {len(shape)} {axes}, got {batch!r} (batch=0 is the first)"
            )
        self.place = place

    def window(self, head: int, rows: slice, cols: slice) -> Float[np.ndarray, "rows cols"]:
        batch = {"batch": self.place} if self.place else {}
        of_head = head if getattr(self.view, "lead", True) else None  # a view without an axis of heads
        part = as_array("weights", self.view.weights(of_head, rows, cols, **batch))
        return part.astype(checks.compute_type(part.dtype), copy=False)

    def maps(
        self, most_q: int, most_k: int, reduce: str, hidden: list[int]
    ) -> tuple[Float[np.ndarray, "h cells_q cells_k"], tuple[float, float]]:
        if self.n_q <= most_q and self.n_k <= most_k:
            maps = np.stack([self.window(i, slice(None), slice(None)) for i in range(self.heads)])
            maps[:, :, hidden] = np.nan
            return maps, (1.0, 1.0)
        pooled = self._item(self.view.map(reduce), 2)
        size_q, size_k = pooled.shape[1:]
        pooled[:, :, [key * size_k // self.n_k for key in hidden]] = np.nan
        by_q, by_k = pooling.factor(size_q, most_q), pooling.factor(size_k, most_k)
        maps = np.stack([pooling.pool(head, by_q, by_k, reduce=reduce) for head in pooled])
        return maps, (by_q * self.n_q / size_q, by_k * self.n_k / size_k)

    def statistic(self, name: str, head: int) -> Float[np.ndarray, " n"]:
        return self._item(getattr(self.view, name), 1)[head]

    def _item(self, array: Any, trailing: int) -> np.ndarray:
        """One item of the batch, with an axis of heads: (…, h, n) → (h, n)"""
        found = as_array("weights", array)
        found = found.astype(checks.compute_type(found.dtype))
        found = found.reshape(*self.view.batch_shape, self.heads, *found.shape[found.ndim - trailing :])
        return found[self.place]
