"""A stand-in for a view: what figures ask of one, answered from weights that are all there, and written down."""

from __future__ import annotations

import numpy as np

from clearhead.matrices import StoredMatrix


class Seen:
    """A view as figures know it, from weights that are all there: (…, h, n_q, n_k), and which are not masked."""

    def __init__(self, weights: np.ndarray, allowed: np.ndarray | None = None) -> None:
        self.all, self.stored = weights, StoredMatrix(weights, allowed=allowed)
        self.asked: list[tuple[int, ...]] = []  # how large the windows were
        self.tiled: list[tuple[int, ...]] = []  # and the tiles

    def __getattr__(self, name: str):
        return getattr(self.stored, name)

    def weights(self, head, rows=slice(None), cols=slice(None), *, batch=None) -> np.ndarray:
        window = self.stored.weights(head, rows, cols, batch=batch)
        self.asked.append(window.shape)
        return window.copy()

    def tile(self, head, rows, cols, size, *, reduce="mean", batch=None) -> np.ndarray:
        tile = self.stored.tile(head, rows, cols, size, reduce=reduce, batch=batch)
        self.tiled.append(tile.shape)
        return tile

    def average(self) -> Seen:
        mean = self.stored.average()
        return Seen(mean.array, mean.allowed)
