"""What is drawn: one item of a matrix of weights, whether it comes as an array, as a view or as a mean of heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from clearhead import checks, masks
from clearhead.matrices import StoredMatrix, as_floats, cell_length, is_matrix


class Drawn(NamedTuple):
    """A matrix (see `clearhead.matrices.AttentionMatrix`), and which item of its batch is meant."""

    matrix: Any
    place: tuple[int, ...]

    @property
    def heads(self) -> int:
        return int(self.matrix.heads)

    @property
    def n_q(self) -> int:
        return int(self.matrix.n_q)

    @property
    def n_k(self) -> int:
        return int(self.matrix.n_k)

    @property
    def hides_exactly(self) -> bool:
        """Whether keys can be left out one by one, in pooled cells too."""
        return isinstance(self.matrix, StoredMatrix)

    def one(self, head: int | None) -> tuple[Drawn, int]:
        """Where one head is, and its number there; None is the mean of all, which is a matrix of its own."""
        if head is None and self.heads > 1:
            return self._replace(matrix=self.matrix.average()), 0
        return self, head or 0

    def without(self, keys: list[int]) -> Drawn:
        """The same with some keys masked, where that can be had exactly."""
        return self._replace(matrix=self.matrix.without(keys)) if keys and self.hides_exactly else self

    def window(self, head: int, rows: slice, cols: slice) -> Float[np.ndarray, "rows cols"]:
        """Exact weights, 0 where masked."""
        return _computed(self.matrix.weights(self._head(head), rows, cols, **self._batch))

    def cells(
        self, head: int, rows: slice, cols: slice, size: tuple[int, int], reduce: str
    ) -> Float[np.ndarray, "cells_q cells_k"]:
        """A window in at most `size` cells: its weights if they fit, else pooled, NaN where all are masked."""
        if cell_lengths(rows, cols, size) == (1, 1):
            reduce = "mean"  # the same of one weight, and what a view has at hand
        return _computed(self.matrix.tile(self._head(head), rows, cols, size, reduce=reduce, **self._batch))

    def statistic(self, name: str, head: int) -> Float[np.ndarray, " n"]:
        """One number for each query, or with "received" for each key."""
        found = _computed(getattr(self.matrix, name))
        return found.reshape(*self.matrix.batch_shape, self.heads, found.shape[-1])[(*self.place, head)]

    def axis_tokens(
        self, tokens: Sequence[object] | None, key_tokens: Sequence[object] | None
    ) -> tuple[list[object] | None, list[object] | None]:
        """Names of the queries and of the keys: those that are given, or those that the matrix carries."""
        carried = getattr(self.matrix, "tokens", None)
        if carried is not None:
            if key_tokens is None and (tokens is None or self.n_q != self.n_k):
                key_tokens = carried.keys
            tokens = carried.queries if tokens is None else tokens
        return checks.axis_tokens(tokens, key_tokens, self.n_q, self.n_k)

    def cross_tokens(
        self, targets: Sequence[object] | None, sources: Sequence[object] | None
    ) -> tuple[list[object] | None, list[object] | None]:
        """The same for a target that reads another source, where neither names the other."""
        carried = getattr(self.matrix, "tokens", None)
        if carried is not None:
            targets = carried.queries if targets is None else targets
            sources = carried.keys if sources is None else sources
        return (
            checks.tokens_of("target_tokens", targets, self.n_q, "queries"),
            checks.tokens_of("source_tokens", sources, self.n_k, "keys"),
        )

    @property
    def _batch(self) -> dict[str, tuple[int, ...]]:
        return {"batch": self.place} if self.place else {}

    def _head(self, head: int) -> int | None:
        """A matrix may have no axis of heads."""
        return head if len(self.matrix.lead) > len(self.matrix.batch_shape) else None


def source(
    weights: Any, *, batch: int | tuple[int, ...] | None = None, mask: masks.Mask | ArrayLike | None = None
) -> Drawn:
    """Weights (…, n_q, n_k) as an array, or a view of them, and one item of its batch.

    mask: broadcast to (…, n_q, n_k), True = may attend; which weights of an array may be, as a view knows of its own.
    """
    refuse_pair(weights)
    if is_matrix(weights):
        if mask is not None:
            raise ValueError("mask says what is masked in an array of weights, but a view knows that; leave it out")
        return Drawn(weights, _place(weights, batch))
    if callable(getattr(weights, "weights", None)):
        raise TypeError(
            f"weights must be an array or a view, got {type(weights).__name__} (draw what its .weights() gives)"
        )
    if batch is not None:
        raise ValueError("batch picks an item of a view; of an array of weights take it yourself, weights[0] say")
    matrix = StoredMatrix(weights)
    if any(length > 1 for length in matrix.batch_shape):
        raise ValueError(
            f"weights of shape {matrix.array.shape} hold a batch; a figure shows one item of it: pick one, "
            "weights[0] say"
        )
    if mask is not None:
        matrix = StoredMatrix(matrix.array, allowed=_allowed(mask, matrix))
    return Drawn(matrix, (0,) * len(matrix.batch_shape))


def refuse_pair(weights: Any, *, layers: bool = False) -> None:
    """(output, weights), as attention functions return it, is the commonest thing to pass in place of weights.

    With `layers` two arrays may also be the weights of two layers, as long as they are of the same positions.
    """
    if type(weights) is not tuple or len(weights) != 2 or not all(getattr(part, "ndim", 0) >= 2 for part in weights):
        return
    first, second = (tuple(part.shape) for part in weights)
    if layers and first[-2:] == second[-2:]:
        return
    raise TypeError(
        f"weights must be an array or a view, got a pair of arrays of shape {first} and {second}; attention functions "
        "return (output, weights): did you mean the second, pair[1]?"
    )


def cell_lengths(rows: slice, cols: slice, size: tuple[int, int]) -> tuple[int, int]:
    """How many queries and keys one cell of a window holds."""
    return cell_length(rows.stop - rows.start, size[0]), cell_length(cols.stop - cols.start, size[1])


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


def _allowed(mask: Any, matrix: StoredMatrix) -> Bool[np.ndarray, ...]:
    """The mask written out, if the weights can have been made with it."""
    if isinstance(mask, masks.Mask):
        heads = matrix.heads if matrix.lead else None
        allowed = mask.array(matrix.n_q, matrix.n_k, batch_shape=matrix.batch_shape, heads=heads)
    else:
        allowed = np.asarray(mask)
        if allowed.dtype != np.bool_:
            raise TypeError(
                f"mask must be boolean, True = may attend, or one of clearhead.masks, got {allowed.dtype.name}"
            )
        checks.fits("mask", allowed, matrix.array.shape)
    unlikely = np.argwhere((matrix.array > 0) & ~allowed)
    if len(unlikely):
        query, key = unlikely[0][-2:].tolist()
        raise ValueError(
            f"the weights were not made with this mask: query {query} gives key {key} a weight of "
            f"{float(matrix.array[tuple(unlikely[0])]):g}, and the mask forbids it (True = may attend)"
        )
    return allowed


def _place(matrix: Any, batch: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """Which item of the batch is drawn; where there is but one, it need not be named."""
    if 0 in (matrix.heads, matrix.n_q, matrix.n_k):
        raise ValueError(f"{matrix!r} is empty; there must be a head, a query and a key to draw")
    shape = tuple(matrix.batch_shape)
    place = (batch,) if isinstance(batch, int) else batch
    if place is None and all(length == 1 for length in shape):
        place = (0,) * len(shape)
    if place is None or len(place) != len(shape) or any(not 0 <= i < n for i, n in zip(place, shape, strict=True)):
        axes = "axis" if len(shape) == 1 else "axes"
        raise ValueError(
            f"the view holds a batch of {' × '.join(map(str, shape)) or 'one'} and a figure shows one item of it; "
            f"batch must be its place along the {len(shape)} {axes}, got {batch!r} (batch=0 is the first)"
        )
    return place


def _computed(value: Any) -> np.ndarray:
    """An array in the type arithmetic runs in, of whatever kind it came."""
    array = as_floats("weights", value)
    return array.astype(checks.compute_type(array.dtype), copy=False)
