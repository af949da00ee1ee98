"""Attention × value norm: A · ‖v W_Oʰ‖, a weight times the length of what it moves (Kobayashi et al., 2020).

A head may give most of its weight to a key whose value is next to nothing. The length of a key's value behind the
output projection is one number for each head and key, so this is streamed like the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from clearhead.traces.projections import kept_values, projection
from clearhead.traces.tables import ByLayer, HeadScores, shortened
from clearhead.views import View

if TYPE_CHECKING:
    from clearhead.traces.result import Trace


@dataclass(frozen=True, eq=False, repr=False)
class ValueNorms(ByLayer[np.ndarray]):
    """‖v_k W_Oʰ‖ of every head and key, by the names of the layers: norms["model.layers.3.self_attn"] is (h, n_k).

    `weights` has any window of A · ‖v W_Oʰ‖, `received` its sums over the queries, and `moved` its mean over the
    queries, summed over the keys: how much a head moves. Printed, the mean over the keys.
    """

    layers: dict[str, np.ndarray]
    views: dict[str, View]

    def title(self) -> str:
        return "‖v W_O‖ of each head, the mean over keys:"

    def rows(self) -> list[list[str]]:
        most = max(map(len, self.layers.values()), default=0)
        lines = ([name, *shortened([f"{x:#.4g}" for x in norms.mean(-1)])] for name, norms in self.layers.items())
        return [["head", *shortened(list(map(str, range(most))))], *lines]

    def weights(
        self, name: str, head: Any = None, rows: Any = slice(None), cols: Any = slice(None)
    ) -> Float[np.ndarray, ...]:
        """A · ‖v W_Oʰ‖, a window as `View.weights` takes it: → (h, rows, cols)"""
        norms = self.layers[name] if head is None else self.layers[name][head]
        norms = norms[..., cols] if np.ndim(rows) == 0 and not isinstance(rows, slice) else norms[..., None, cols]
        return np.asarray(self.views[name].weights(head, rows, cols)) * norms

    def received(self, name: str) -> Float[np.ndarray, "h n_k"]:
        """What each key moves, summed over the queries."""
        return np.asarray(self.views[name].received) * self.layers[name]

    def moved(self) -> HeadScores:
        """How much each head moves: Σ over keys, mean over queries."""
        sums = {name: self.received(name).sum(axis=-1) / self.views[name].n_q for name in self}
        return HeadScores(sums, "Σ A · ‖v W_O‖")


def value_norms(trace: Trace, projections: Mapping[str, Any] | None = None, model: Any = None) -> ValueNorms:
    """See `Trace.value_norms`."""
    layers = {}
    for name in trace.names:
        values, rows = kept_values(trace, name), projection(trace, name, projections, model).rows
        gram = rows @ rows.swapaxes(-1, -2)  # ‖v W‖² = v (W Wᵀ) v, without rows as wide as the model
        v = values.of_heads()
        squares = ((v @ gram) * v).sum(axis=-1)
        layers[name] = np.sqrt(np.maximum(squares, 0))
    return ValueNorms(layers, {name: trace._view(name) for name in trace.names})
