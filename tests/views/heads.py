"""Heads that do one thing, built from their queries and keys.

Positions are told apart by waves of many lengths, so that the product of two codes is high where they are equal and
near 0 elsewhere, at any length; tokens by vectors drawn at random.
"""

from __future__ import annotations

import numpy as np

WAVES = 64
HEADS = ("self", "previous_token", "first_token", "uniform", "local", "duplicate_token", "induction")


def code(positions: np.ndarray, spread: float = np.pi) -> np.ndarray:
    """One row for each position: (n) → (n, 2 · WAVES). With a small spread, neighbours are alike."""
    angles = positions[:, None] * np.random.default_rng(1).normal(0, spread, WAVES)
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(WAVES)


def meaning(ids: np.ndarray) -> np.ndarray:
    """One row for each token, the same for the same id: (n) → (n, 2 · WAVES)"""
    table = np.random.default_rng(2).standard_normal((int(ids.max(initial=0)) + 1, 2 * WAVES))
    return (table / np.linalg.norm(table, axis=1, keepdims=True))[ids]


def tokens(n: int, seed: int = 3) -> np.ndarray:
    """Two halves of the same random tokens, so that there is something to copy: (n)"""
    half = np.random.default_rng(seed).integers(0, max(n // 3, 2), -(-n // 2))
    return np.concatenate([half, half])[:n]


def queries_and_keys(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One head for each name in HEADS: ids (n) → q, k (7, n, 3 · 2 · WAVES), for a scale of 1"""
    n = ids.size
    place, none = np.arange(n), np.zeros((n, 2 * WAVES))
    here, before = code(place), code(place - 1)
    first = none.copy()
    first[0] = 1 / np.sqrt(2 * WAVES)
    always = np.full((n, 2 * WAVES), 1 / np.sqrt(2 * WAVES))
    followed = np.concatenate([none[:1], meaning(ids)[:-1]])
    near = code(place, spread=0.1)
    own = meaning(ids)
    pairs = [
        ([here * 40], [here]),
        ([before * 40], [here]),
        ([always * 40], [first]),
        ([none], [here]),
        ([near * 20], [near]),
        ([own * 40, -here * 40, always * 24], [own, here, first]),
        ([own * 40, -here * 40, always * 24], [followed, here, first]),
    ]
    wide = [np.concatenate([*(x for x in side), *[none] * (3 - len(side))], axis=1) for pair in pairs for side in pair]
    return np.stack(wide[::2]).astype(np.float32), np.stack(wide[1::2]).astype(np.float32)
