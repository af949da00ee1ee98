"""Attention weights as a matrix to look at, wherever they come from: what is asked of one, and the plain case.

A view recomputes its weights, a mean of heads adds up those of others, and an array has them all. Figures and pages
draw whatever answers `AttentionMatrix`; `StoredMatrix` makes an array answer it, and says what each answer means.

A large matrix is looked at in cells of 2^l positions, so that the cells of one level lie whole in those of the next.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from clearhead import checks

REDUCTIONS = ("mean", "max")
STATISTICS = ("entropy", "max_weight", "distance", "on_first", "on_self", "received")


class Tokens(NamedTuple):
    """A label for each query and for each key, None where they have none."""

    queries: list[object] | None
    keys: list[object] | None


class Padding(NamedTuple):
    """Which queries (*batch, n_q) and which keys (*batch, n_k) only fill up a batch, and count nowhere."""

    queries: Bool[np.ndarray, "*batch n_q"]
    keys: Bool[np.ndarray, "*batch n_k"]


class AttentionMatrix(Protocol):
    """Weights (*batch, h, n_q, n_k), or (*batch, n_q, n_k) without an axis of heads. What is returned is array-like.

    entropy, max_weight, distance, on_first and on_self are (*lead, n_q), received is (*lead, n_k): see
    `clearhead.View`. tokens are labels of queries and keys, or None. Where there are several heads, average() is their
    mean, W̄ = Σ_h W_h / h, masked where all heads are; its entropy is the entropy of the mean.
    """

    @property
    def batch_shape(self) -> tuple[int, ...]: ...

    @property
    def heads(self) -> int:
        """How many heads there are; 1 if there is no axis for them."""
        ...

    @property
    def lead(self) -> tuple[int, ...]:
        """The axes before that of the queries: batch and heads, or the batch alone."""
        ...

    @property
    def n_q(self) -> int: ...

    @property
    def n_k(self) -> int: ...

    @property
    def tokens(self) -> Tokens | None: ...

    @property
    def entropy(self) -> Any: ...

    @property
    def max_weight(self) -> Any: ...

    @property
    def distance(self) -> Any: ...

    @property
    def on_first(self) -> Any: ...

    @property
    def on_self(self) -> Any: ...

    @property
    def received(self) -> Any: ...

    def weights(self, head: Any = None, rows: Any = slice(None), cols: Any = slice(None), *, batch: Any = None) -> Any:
        """Any window, exact; 0 where masked."""
        ...

    def tile(
        self,
        head: Any = None,
        rows: slice = slice(None),
        cols: slice = slice(None),
        size: int | tuple[int, int] = 512,
        *,
        reduce: str = "mean",
        batch: Any = None,
    ) -> Any:
        """A window in at most `size` cells a side, of `cell_length` positions each, counted from the window's start.

        A cell is the mean or the maximum over its places that are not masked, NaN where all of them are.
        """
        ...


def is_matrix(value: object) -> bool:
    """Whether this can be looked at as it is; an array must be stored first. Nothing is computed to find out."""
    return all(hasattr(value, name) for name in ("weights", "tile", "batch_shape", "heads", "lead", "n_q", "n_k"))


def cell_length(n: int, size: int) -> int:
    """How many positions one cell holds: the smallest power of two of which at most `size` cells hold n positions."""
    return 1 << max(-(-n // size) - 1, 0).bit_length()


class Pooled(NamedTuple):
    """A window in cells: the sum and the maximum of each cell's weights, and how many of its places are not masked.

    Each (…, cells_q, cells_k). A sum with a NaN in it is NaN; a maximum passes over them.
    """

    total: np.ndarray
    peak: np.ndarray
    unmasked: np.ndarray


def pool(
    weights: Float[np.ndarray, "n_q n_k"], by_q: int, by_k: int, *, reduce: str = "mean"
) -> Float[np.ndarray, "cells_q cells_k"]:
    """Each block of by_q × by_k weights becomes one: their mean or their maximum.

    weights (n_q, n_k) → (⌈n_q / by_q⌉, ⌈n_k / by_k⌉), in float32 or float64. The last block of a row or column
    may be smaller, and is the mean or maximum of what it has. NaN, which is no weight, does not count.
    """
    checks.choice("reduce", reduce, REDUCTIONS)
    pooled = weights.astype(checks.compute_type(weights.dtype), copy=False)
    if by_q == by_k == 1:
        return pooled
    if reduce == "max":
        return _blocks(np.fmax, pooled, by_q, by_k)
    there = ~np.isnan(pooled)
    counts = _blocks(np.add, there.astype(pooled.dtype), by_q, by_k)
    totals = _blocks(np.add, pooled if there.all() else np.where(there, pooled, 0), by_q, by_k)
    with np.errstate(invalid="ignore"):  # 0 / 0: a block of NaN alone is NaN
        return totals / counts


def between_groups(
    weights: Float[np.ndarray, "... n_q n_k"],
    query_groups: Int[np.ndarray, " n_q"],
    key_groups: Int[np.ndarray, " n_k"],
) -> Float[np.ndarray, "... G_q G_k"]:
    """Weights between tokens as weights between groups of them, such as words: what `View.grouped` streams.

    weights (…, n_q, n_k) → (…, G_q, G_k); groups are numbered from 0 on, and −1 is no group. Weights are summed over
    the keys of a group and averaged over its queries; a group without queries looks at nothing.
    """
    kind = checks.compute_type(weights.dtype)
    of_queries, of_keys = (
        groups == np.arange(groups.max(initial=-1) + 1)[:, None] for groups in (query_groups, key_groups)
    )
    share = of_queries / np.maximum(of_queries.sum(axis=-1, keepdims=True), 1)
    return share.astype(kind) @ weights.astype(kind) @ of_keys.T.astype(kind)


class StoredMatrix:
    """Weights that are all there: (n_q, n_k), (h, n_q, n_k) or (*batch, h, n_q, n_k), of an array or a tensor.

    allowed: boolean, broadcast to the weights: which of them are not masked. Without it none is known to be.

    Raises:
        TypeError: the weights are not floats.
        ValueError: there are none; or, when they are looked at, some are negative or not finite.
    """

    def __init__(self, weights: ArrayLike, *, allowed: ArrayLike | None = None, tokens: Tokens | None = None) -> None:
        self.array = as_floats("weights", weights)
        if self.array.ndim < 2:
            raise ValueError(
                f"weights must be (n_q, n_k) or (h, n_q, n_k), got shape {self.array.shape} "
                "(weights[None, :] draws one query)"
            )
        if self.array.size == 0:
            raise ValueError(f"weights of shape {self.array.shape} are empty; there must be a query and a key to draw")
        self.allowed = None if allowed is None else checks.allowed_array(allowed, self.array.shape)
        self.tokens = tokens
        self.lead = self.array.shape[:-2]
        self.batch_shape = self.lead[:-1]
        self.heads = self.lead[-1] if self.lead else 1
        self.n_q, self.n_k = self.array.shape[-2:]

    def weights(
        self, head: Any = None, rows: Any = slice(None), cols: Any = slice(None), *, batch: Any = None
    ) -> Float[np.ndarray, ...]:
        """Any window: → (*batch, h, rows, cols), without the axes for which one number is given"""
        item = self._chosen(self.array, head, batch)
        part = item[..., rows, :][..., cols]
        part = part.astype(checks.compute_type(part.dtype), copy=False)
        if not are_weights(part):
            check_weights(item.astype(part.dtype), head if isinstance(head, int) else None if self.lead else 0)
        return part

    def tile(
        self,
        head: Any = None,
        rows: slice = slice(None),
        cols: slice = slice(None),
        size: int | tuple[int, int] = 512,
        *,
        reduce: str = "mean",
        batch: Any = None,
    ) -> Float[np.ndarray, ...]:
        """A window in at most `size` cells a side: → (*batch, h, cells_q, cells_k); see `AttentionMatrix.tile`"""
        size_q, size_k = size if isinstance(size, tuple) else (size, size)
        window = self.weights(head, rows, cols, batch=batch)
        if self.allowed is not None:
            window = np.where(self._chosen(self.allowed, head, batch)[..., rows, :][..., cols], window, np.nan)
        by_q, by_k = cell_length(window.shape[-2], size_q), cell_length(window.shape[-1], size_k)
        pooled = [pool(window[place], by_q, by_k, reduce=reduce) for place in np.ndindex(window.shape[:-2])]
        return np.reshape(pooled, (*window.shape[:-2], *pooled[0].shape))

    def average(self) -> StoredMatrix:
        """The mean over heads: W̄ = Σ_h W_h / h, masked where all heads are."""
        if not self.lead:
            return self
        total: Any = 0
        for head in range(self.heads):  # one at a time: 64 heads of 2,000 positions are a gigabyte already
            total = total + self.weights(head)
        allowed = None if self.allowed is None else self.allowed.any(axis=-3, keepdims=True)
        return StoredMatrix(np.asarray(total / self.heads)[..., None, :, :], allowed=allowed, tokens=self.tokens)

    def without(self, keys: list[int]) -> StoredMatrix:
        """The same with some keys masked, and the weights on the others as they are."""
        kept = np.ones(self.n_k, np.bool_)
        kept[keys] = False
        return StoredMatrix(
            self.array, allowed=kept if self.allowed is None else self.allowed & kept, tokens=self.tokens
        )

    @functools.cached_property
    def entropy(self) -> Float[np.ndarray, "*lead n_q"]:
        """−Σ weight · log weight in nats: 0 for one key, log n for n keys alike."""
        return self._of_each_head(_entropy)

    @functools.cached_property
    def max_weight(self) -> Float[np.ndarray, "*lead n_q"]:
        """The largest weight."""
        return self._of_each_head(lambda weights: weights.max(axis=-1))

    @functools.cached_property
    def distance(self) -> Float[np.ndarray, "*lead n_q"]:
        """How far away a query looks, on average, in positions; queries are the last positions."""
        return self._of_each_head(_distance)

    @functools.cached_property
    def on_first(self) -> Float[np.ndarray, "*lead n_q"]:
        """The weight on the first key."""
        return self._of_each_head(lambda weights: weights[:, 0])

    @functools.cached_property
    def on_self(self) -> Float[np.ndarray, "*lead n_q"]:
        """The weight on the query's own position, 0 where there is none."""
        return self._of_each_head(lambda weights: np.where(_distances(*weights.shape) == 0, weights, 0).sum(axis=-1))

    @functools.cached_property
    def received(self) -> Float[np.ndarray, "*lead n_k"]:
        """The attention each key gets, summed over the queries."""
        return self._of_each_head(lambda weights: weights.sum(axis=0))

    def _of_each_head(self, statistic: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """One head at a time: (*lead, n_q, n_k) → (*lead, n)"""
        places = [(place[-1] if place else None, place[:-1]) for place in np.ndindex(self.lead)]
        found = [statistic(self.weights(head, batch=batch)) for head, batch in places]
        return np.reshape(found, (*self.lead, found[0].size))

    def _chosen(self, array: np.ndarray, head: Any, batch: Any) -> np.ndarray:
        place = () if batch is None else batch if isinstance(batch, tuple) else (batch,)
        part = array[place]
        return part if head is None or not self.lead else part[..., head, :, :]


def as_floats(name: str, value: ArrayLike) -> np.ndarray:
    """`value` as an array of floats; a torch tensor may need gradients, live on a device or be bfloat16."""
    tensor: Any = value
    if hasattr(tensor, "detach") and hasattr(tensor, "cpu"):
        tensor = tensor.detach().cpu()
        tensor = tensor.float() if "bfloat16" in str(tensor.dtype) else tensor
    return checks.float_array(name, tensor)


def are_weights(numbers: Float[np.ndarray, ...]) -> bool:
    """Finite and not negative: what softmax gives, with or without sinks and dropout."""
    return bool(numbers.min(initial=0) >= 0 and numbers.max(initial=0) < np.inf)  # both false for NaN


def check_weights(weights: Float[np.ndarray, "... n_q n_k"], head: int | None = None) -> None:
    """Say where the first of them is that is no weight, if there is one."""
    if are_weights(weights):
        return
    *lead, row, column = np.argwhere(~((weights >= 0) & (weights < np.inf)))[0].tolist()
    value = float(weights[(*lead, row, column)])
    head = lead[-1] if lead and head is None else head
    where = f"query {row}, key {column}" if head is None else f"head {head}, query {row}, key {column}"
    if np.isfinite(value):
        raise ValueError(
            f"weights must not be negative, got {value:g} at {where} (are these scores? softmax makes weights of them)"
        )
    raise ValueError(f"weights must be finite, got {value} at {where} (a query with no key left has zeros)")


def _blocks(reduction: np.ufunc, cells: np.ndarray, by_q: int, by_k: int) -> np.ndarray:
    for axis, by in ((1, by_k), (0, by_q)):
        if by > 1:
            cells = reduction.reduceat(cells, np.arange(0, cells.shape[axis], by), axis=axis)
    return cells


def _entropy(weights: Float[np.ndarray, "n_q n_k"]) -> Float[np.ndarray, " n_q"]:
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return 0.0 - (weights * logarithms).sum(axis=-1)


def _distance(weights: Float[np.ndarray, "n_q n_k"]) -> Float[np.ndarray, " n_q"]:
    total = weights.sum(axis=-1)
    return (weights * _distances(*weights.shape)).sum(axis=-1) / np.where(total > 0, total, 1)


def _distances(n_q: int, n_k: int) -> Int[np.ndarray, "n_q n_k"]:
    """How many positions lie between each query and each key."""
    return abs(np.arange(n_q)[:, None] + n_k - n_q - np.arange(n_k))
