"""Biases that depend on the distance between query and key, and so need O(n) memory instead of O(n²).

    attention(q, k, v, bias=biases.alibi(8))
    attention(q, k, v, bias=biases.t5(table))

ALiBi's slopes and T5's buckets are both tables of one number per head and distance; the kernels look distances up
as they go. A bias that is an array of any other kind is given as that array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.masks.lookup import shown
from clearhead.textbook.relative import alibi_slopes, t5_buckets


@dataclass(frozen=True)
class RelativeBias:
    """A bias per head and distance. `of` maps distances (query position − key position) to (heads, …) numbers.

    made_by: how it was made, for whoever prints it
    """

    of: Callable[[np.ndarray], np.ndarray]
    offset: int | None = None
    made_by: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return self.made_by or f"RelativeBias({self.of!r}, offset={self.offset})"

    def table(
        self, n_q: int, n_k: int, first_query: int | None = None, first_key: int = 0, offset: int = 0
    ) -> Float[np.ndarray, "h distances"]:
        """The bias for query − key = 1 − n_k … n_q − 1.

        Queries are the last positions, unless first_query says that they and the keys are a part of a sequence, in
        which they have these numbers; an offset of the bias's own goes before that of the sequence.
        """
        steps = np.arange(1 - n_k, n_q)
        values = np.asarray(self.of(steps + first_distance(self.offset, n_q, n_k, first_query, first_key, offset)))
        values = checks.float_array(
            "a relative bias", values.astype(np.float64) if values.dtype.kind in "iu" else values
        )
        if values.ndim != 2 or values.shape[1] != steps.size:
            raise ValueError(f"a relative bias must give (heads, {steps.size}) numbers here, got shape {values.shape}")
        return values

    def array(self, n_q: int, n_k: int | None = None) -> Float[np.ndarray, "h n_q n_k"]:
        """The bias written out, for reading and for the textbook."""
        n_k = n_q if n_k is None else n_k
        steps = np.arange(n_q)[:, None] - np.arange(n_k)
        return self.table(n_q, n_k)[:, steps + n_k - 1]


def first_distance(own: int | None, n_q: int, n_k: int, first_query: int | None, first_key: int, offset: int) -> int:
    """How far the first query is from the first key: see `RelativeBias.table`, whose own offset comes first."""
    if first_query is None:
        return n_k - n_q if own is None else own
    return first_query - first_key + (offset if own is None else own)


def alibi(slopes: int | ArrayLike, *, offset: int | None = None) -> RelativeBias:
    """−slope · |distance|, with one slope per head, or the usual slopes for a number of heads."""
    values = (
        alibi_slopes(int(slopes)) if isinstance(slopes, (int, np.integer)) else checks.float_array("slopes", slopes)
    )
    if values.ndim != 1:
        raise ValueError(f"slopes must be one number per head, shape (h,), got shape {values.shape}")
    made_by = as_call(
        "alibi", str(slopes) if isinstance(slopes, (int, np.integer)) else shown(values), {"offset": offset}
    )
    return RelativeBias(lambda distance: -values[:, None].astype(np.float64) * np.abs(distance), offset, made_by)


def t5(
    table: Float[np.ndarray, "buckets h"],
    *,
    bidirectional: bool = True,
    max_distance: int = 128,
    offset: int | None = None,
) -> RelativeBias:
    """T5's bias: distances fall into buckets that widen with distance. table (buckets, h), as T5's embedding."""
    table = checks.float_array("table", table)
    if table.ndim != 2:
        raise ValueError(f"table must have shape (buckets, h), got {table.shape}")

    def of(distance: np.ndarray) -> np.ndarray:
        buckets = t5_buckets(
            -distance, bidirectional=bidirectional, num_buckets=table.shape[0], max_distance=max_distance
        )
        return table[buckets].T

    return RelativeBias(of, offset, t5_call(shown(table), bidirectional, max_distance, offset))


def t5_call(table: str, bidirectional: bool, max_distance: int, offset: int | None) -> str:
    """The call that makes a bias of T5's, without the usual settings."""
    both, far = None if bidirectional else False, None if max_distance == 128 else max_distance
    return as_call("t5", table, {"bidirectional": both, "max_distance": far, "offset": offset})


def as_call(kind: str, numbers: str, settings: dict[str, object]) -> str:
    """alibi(8, offset=3): the call that makes a bias, for whoever prints it; a setting of None is not shown."""
    given = [f"{name}={value!r}" for name, value in settings.items() if value is not None]
    return f"{kind}({', '.join([numbers, *given])})"
