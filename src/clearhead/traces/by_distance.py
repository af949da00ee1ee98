"""A bias by distance as it was while a model ran: a table of O(n) numbers, from which views recompute.

The structures of `clearhead.biases` and `clearhead.torch.biases` are functions, which a file cannot hold and a model
may change by learning. What is kept is what they said at the time, for every distance of a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from clearhead.biases import RelativeBias
from clearhead.tensors import on_host


@dataclass(frozen=True, eq=False)
class ByDistance:
    """table (h, distances): what is added at query − key = first, first + 1 …, counted from the first ones kept."""

    table: Float[np.ndarray, "h distances"]
    first: int

    @classmethod
    def told(cls, bias: Any, n_q: int, n_k: int) -> ByDistance:
        """What a structure says of a call."""
        table = bias.table(n_q, n_k)
        return cls(np.array(on_host(table), copy=True), 1 - n_k)

    def moved(self, by: int) -> ByDistance:
        """The same, where what was query i and key j is query i + a and key j + b, with by = a − b."""
        return ByDistance(self.table, self.first + by)

    def at(self, distances: np.ndarray) -> np.ndarray:
        """What is added at some distances, 0 at those that no call had: (…) → (h, …)"""
        places = np.asarray(distances) - self.first
        there = (places >= 0) & (places < self.table.shape[1])
        return np.where(there, self.table[:, np.where(there, places, 0)], 0).astype(self.table.dtype)

    def relative(self) -> RelativeBias:
        """As attention takes it."""
        return RelativeBias(self.at, 0, f"ByDistance(<{self.table.shape[1]} distances>)")

    def array(self, n_q: int, n_k: int) -> Float[np.ndarray, "h n_q n_k"]:
        """Written out, where it has to be joined with something that is."""
        return self.at(np.arange(n_q)[:, None] - np.arange(n_k))


def joined(parts: Sequence[ByDistance]) -> ByDistance | None:
    """The tables of several calls as one, None where they say different things of the same distance."""
    first = min(part.first for part in parts)
    length = max(part.first + part.table.shape[1] for part in parts) - first
    table = np.zeros((parts[0].table.shape[0], length), parts[0].table.dtype)
    known = np.zeros(length, np.bool_)
    for part in parts:
        here = slice(part.first - first, part.first - first + part.table.shape[1])
        if part.table.shape[0] != table.shape[0] or (table[:, here] != part.table)[:, known[here]].any():
            return None
        table[:, here], known[here] = part.table, True
    return ByDistance(table, first)
