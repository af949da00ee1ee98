"""Biases by distance whose numbers are tensors, so that they can be learned.

    attention(q, k, v, bias=biases.alibi(slopes))      # slopes (h,), gets a gradient
    attention(q, k, v, bias=biases.t5(table))          # table (buckets, h), gets a gradient

The kernels give the gradient of the bias at each distance, in O(n) memory; torch carries it on to the slopes or the
table. Structures from `clearhead.biases` are taken too, as constants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float

from clearhead import biases
from clearhead.textbook.relative import t5_buckets


@dataclass(frozen=True)
class RelativeBias:
    """A bias per head and distance. `of` maps distances (query position − key position) to (heads, …) numbers."""

    of: Callable[[torch.Tensor], torch.Tensor]
    offset: int | None = None
    made_by: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return self.made_by or f"RelativeBias({self.of!r}, offset={self.offset})"

    def table(
        self, n_q: int, n_k: int, first_query: int | None = None, first_key: int = 0, offset: int = 0
    ) -> Float[torch.Tensor, "h distances"]:
        """The bias for query − key = 1 − n_k … n_q − 1, in a part of a sequence as in `clearhead.biases`."""
        steps = torch.arange(1 - n_k, max(n_q, 1 - n_k))
        return self.of(steps + biases.first_distance(self.offset, n_q, n_k, first_query, first_key, offset))


def alibi(slopes: Float[torch.Tensor, " h"], *, offset: int | None = None) -> RelativeBias:
    """−slope · |distance|, with one slope per head."""
    if slopes.ndim != 1 or not slopes.is_floating_point():
        raise ValueError(f"slopes must be one number per head, shape (h,), got {slopes.dtype} of {tuple(slopes.shape)}")
    kind = torch.promote_types(slopes.dtype, torch.float32)  # bfloat16 counts no further than 256
    made_by = biases.as_call("alibi", _shown(slopes), {"offset": offset})
    return RelativeBias(lambda distance: -slopes[:, None] * distance.abs().to(slopes.device, kind), offset, made_by)


def t5(
    table: Float[torch.Tensor, "buckets h"],
    *,
    bidirectional: bool = True,
    max_distance: int = 128,
    offset: int | None = None,
) -> RelativeBias:
    """T5's bias: distances fall into buckets that widen with distance. table (buckets, h), as T5's embedding."""
    if table.ndim != 2 or not table.is_floating_point():
        raise ValueError(f"table must be numbers of shape (buckets, h), got {table.dtype} of {tuple(table.shape)}")

    def of(distance: torch.Tensor) -> torch.Tensor:
        buckets = t5_buckets(
            -distance.numpy(), bidirectional=bidirectional, num_buckets=table.shape[0], max_distance=max_distance
        )
        return table[torch.from_numpy(buckets).to(table.device)].T

    return RelativeBias(of, offset, biases.t5_call(_shown(table), bidirectional, max_distance, offset))


def _shown(numbers: torch.Tensor) -> str:
    return f"<{str(numbers.dtype).removeprefix('torch.')} of shape {tuple(numbers.shape)}>"


def constant(table: np.ndarray) -> biases.RelativeBias:
    """A table of distances that is already worked out, as the kernels take it."""
    return biases.RelativeBias(lambda _: table)
