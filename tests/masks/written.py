"""Masks written out, to compare with: from their definition, from runs of keys, from what a call resolves them to."""

from __future__ import annotations

import numpy as np

from clearhead import masks

from ..problems import evaluate


def made(text: str, seed: int = 0) -> masks.Mask:
    """The mask that a text says, as in the rows of `equivalence.py`."""
    return evaluate(text, np.random.default_rng(seed))


def by_definition(rule, n_q: int, n_k: int) -> np.ndarray:
    """Whether each query may attend to each key, place by place."""
    return np.array([[bool(rule(i, j)) for j in range(n_k)] for i in range(n_q)]).reshape(n_q, n_k)


def full_shape(sizes: masks.Sizes) -> tuple[int, ...]:
    return (*sizes.batch_shape, sizes.heads, sizes.n_q, sizes.n_k)


def from_mask(mask: masks.Mask, sizes: masks.Sizes) -> np.ndarray:
    """The mask place by place."""
    return np.broadcast_to(mask.allows(masks.places(sizes)), full_shape(sizes))


def from_ranges(ranges: masks.Ranges, sizes: masks.Sizes) -> np.ndarray:
    """The array that runs of keys stand for."""
    keys = np.arange(sizes.n_k)
    inside = (ranges.low[..., None] <= keys) & (keys < ranges.high[..., None])  # (…, r, n_q, n_k)
    return np.broadcast_to(inside.any(axis=-3), full_shape(sizes))


def from_resolved(resolved: masks.Resolved, sizes: masks.Sizes) -> np.ndarray:
    """The array that a resolved mask stands for."""
    distance = np.arange(sizes.n_q)[:, None] + resolved.phase - np.arange(sizes.n_k)
    result = np.broadcast_to(distance % resolved.period == 0, full_shape(sizes))
    if resolved.ranges is not None:
        result = result & from_ranges(resolved.ranges, sizes)
    if resolved.allowed is not None:
        result = result & resolved.allowed
    return result if resolved.rule is None else result & from_mask(resolved.rule, sizes)
