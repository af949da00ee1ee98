"""A number for each head of each layer: what the measures of a trace come to, to be read, printed and drawn."""

from __future__ import annotations

import functools
from collections.abc import ItemsView, Iterator, KeysView
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class HeadScores:
    """A number for each head, by the names of the layers: scores["model.layers.3.self_attn"] is (h,).

    layers: those numbers. label: what they are. Printed, the heads whose numbers are largest.
    """

    layers: dict[str, np.ndarray]
    label: str

    def __getitem__(self, name: str) -> np.ndarray:
        return self.layers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def keys(self) -> KeysView[str]:
        """The names of the layers, so that dict(scores) has an array for each."""
        return self.layers.keys()

    def items(self) -> ItemsView[str, np.ndarray]:
        """Names and numbers."""
        return self.layers.items()

    @property
    def names(self) -> list[str]:
        """The layers, in their order."""
        return list(self.layers)

    @functools.cached_property
    def values(self) -> np.ndarray:
        """All of them as one array (layers, h), NaN where a layer has no such head."""
        table = np.full((len(self.layers), max(map(len, self.layers.values()), default=0)), np.nan)
        for number, row in enumerate(self.layers.values()):
            table[number, : len(row)] = row
        return table

    def largest(self, count: int = 10) -> list[tuple[str, int, float]]:
        """The heads whose numbers are largest, whatever their sign: layer, head, number."""
        order = np.argsort(-np.abs(np.nan_to_num(self.values)), axis=None, kind="stable")
        places = (np.unravel_index(place, self.values.shape) for place in order)
        found = [(self.names[layer], int(head), float(self.values[layer, head])) for layer, head in places]
        return [each for each in found if np.isfinite(each[2])][:count]

    def title(self) -> str:
        """The line above the heads, where they are printed."""
        return f"{self.label}:"

    def __str__(self) -> str:
        found = self.largest()
        wide = max((len(name) for name, _, _ in found), default=0)
        return "\n".join(
            [self.title(), *(f"{name:{wide}}  head {head:3}  {value:+.6g}" for name, head, value in found)]
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.label}, {len(self.layers)} layers>"

    def plot(self, **options: Any) -> Figure:
        """A figure of layers × heads."""
        from clearhead.figures import visualize_layers

        return visualize_layers(np.nan_to_num(self.values), label=self.label, layer_names=self.names, **options)
