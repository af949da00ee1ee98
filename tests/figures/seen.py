"""A stand-in for a view: what figures ask of one, answered from weights that are all there."""

from __future__ import annotations

import numpy as np


class Seen:
    """A view as figures know it, from weights that are all there: (…, h, n_q, n_k), and which are not masked."""

    def __init__(self, weights: np.ndarray, allowed: np.ndarray | None = None, map_size: int = 512) -> None:
        self.all, self.map_size = weights, map_size
        self.allowed = np.broadcast_to(True if allowed is None else allowed, weights.shape)
        self.asked: list[tuple[int, int]] = []  # how large the windows were
        *batch, self.heads, self.n_q, self.n_k = weights.shape
        self.batch_shape = tuple(batch)
        self.received = weights.sum(axis=-2)
        self.max_weight = weights.max(axis=-1)
        self.on_first = weights[..., 0]
        logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
        self.entropy = -(weights * logarithms).sum(axis=-1)

    def weights(self, head, rows=slice(None), cols=slice(None), *, batch=None) -> np.ndarray:
        window = self.all[(*(batch or ()), head)][rows, cols]
        self.asked.append(window.shape)
        return window.copy()

    def map(self, reduce: str = "mean") -> np.ndarray:
        cell_q = np.arange(self.n_q) * min(self.map_size, self.n_q) // self.n_q
        cell_k = np.arange(self.n_k) * min(self.map_size, self.n_k) // self.n_k
        starts_q, starts_k = (np.flatnonzero(np.diff(cell, prepend=-1)) for cell in (cell_q, cell_k))

        def blocks(reduction, x):
            return reduction.reduceat(reduction.reduceat(x, starts_k, axis=-1), starts_q, axis=-2)

        counts = blocks(np.add, self.allowed.astype(float))
        pooled = blocks(np.add, self.all) / np.maximum(counts, 1) if reduce == "mean" else blocks(np.maximum, self.all)
        return np.where(counts > 0, pooled, np.nan)
