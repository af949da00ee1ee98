"""The pattern zoo: what attention heads are seen doing, as exact matrices, and the way back to a name.

In each pattern a query shares its weight evenly among a few keys, so a pattern is no more than the set of those
keys. How much a head looks like a pattern is how much of its weight lies where the pattern puts it,

    score = mean over queries of Σ_j min(weight_ij, pattern_ij),

which is 1 for the pattern itself and for nothing else, whatever the length, and 0 where they share no key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from clearhead import checks
from clearhead.textbook.validate import validate_attention

# In this order names win when patterns coincide: at n = 1 all of them do; at n = 2 the previous token is the first
# one and a window of radius 1 is everything. From n = 3 on every pattern is a matrix of its own.
NAMES = ("diagonal", "previous_token", "first_token", "uniform", "causal_uniform", "local")


def diagonal(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at itself: weights (n, n)."""
    return _even(_keys("diagonal", n))


def previous_token(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at the one before it, and the first, which has none, at itself: weights (n, n)."""
    return _even(_keys("previous_token", n))


def first_token(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at the first one, where heads rest that have nothing to do: weights (n, n)."""
    return _even(_keys("first_token", n))


def uniform(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at all tokens alike: weights (n, n)."""
    return _even(_keys("uniform", n))


def causal_uniform(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks alike at itself and all tokens before it: weights (n, n)."""
    return _even(_keys("causal_uniform", n))


def local(n: int, radius: int = 1) -> Float[np.ndarray, "n n"]:
    """Every token looks alike at all tokens at most `radius` away, itself included: weights (n, n).

    A radius of 0 is the diagonal and one of n − 1 or more is uniform.
    """
    return _even(_keys("local", n, checks.count("radius", radius, least=0)))


@dataclass(frozen=True)
class PatternMatch:
    """What a head looks like. Arrays with one entry per head (…), or plain values for a single matrix.

    `scores` has the score of every pattern by name, `score` is the best of them and `name` whose it is. `tied` has
    all names with that score, in the order in which names win. `radius` belongs to the window that fits best. A
    head whose queries have no key left is called "none", with score 0.
    """

    name: np.ndarray | str
    score: np.ndarray | float
    radius: np.ndarray | int
    scores: dict[str, np.ndarray | float]
    tied: np.ndarray | tuple[str, ...]


def name_pattern(weights: Float[np.ndarray, "... n_q n_k"]) -> PatternMatch:
    """The pattern of the zoo that each head looks like most, and how much.

    weights (…, n_q, n_k) → names (…), scores (…)

    Query i stands at key i + n_k − n_q, as under a causal mask. Queries with no key left do not count. Sinks are
    allowed and cost score: what they take is not where any pattern puts it. Trying every radius takes time in
    proportion to n³; this is the definition, not the fast way.

    Raises:
        TypeError: weights are not floats.
        ValueError: they are not attention weights (see `validate_attention`).
    """
    validate_attention(weights, sinks=True)
    weights = np.asarray(weights).astype(np.float64)
    scores = {name: _score(weights, name) for name in NAMES if name != "local"}
    scores["local"], radius = _best_window(weights, scores["uniform"])

    table: np.ndarray = np.stack([scores[name] for name in NAMES], axis=-1)
    best = np.asarray(table.max(axis=-1))
    name = np.where(best > 0, np.asarray(NAMES)[table.argmax(axis=-1)], "none")
    tied = np.empty(best.shape, dtype=object)
    for head in np.ndindex(best.shape):
        tied[head] = tuple(n for n, s in zip(NAMES, table[head], strict=True) if s == best[head] > 0)
    return PatternMatch(_plain(name), _plain(best), _plain(radius), {n: _plain(s) for n, s in scores.items()}, tied[()])


def _best_window(weights: np.ndarray, uniform_score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The score and the radius of the window that fits each head best.

    A window of more than half the sequence is nearly uniform, and noise alone would often prefer one to uniform. It
    counts only where it leaves at most half as much unexplained.
    """
    n_k = weights.shape[-1]
    best, best_radius = _score(weights, "local", 1), np.ones(weights.shape[:-2], dtype=int)
    for radius in range(2, n_k - 1):
        score = _score(weights, "local", radius)
        narrow = radius <= (n_k - 1) // 2
        better = (score > best) & (narrow | (1 - score <= (1 - uniform_score) / 2))
        best, best_radius = np.where(better, score, best), np.where(better, radius, best_radius)
    return best, best_radius


def _score(weights: np.ndarray, name: str, radius: int = 1) -> np.ndarray:
    """How much of the weight lies where the pattern puts it: weights (…, n_q, n_k) → (…)"""
    n_q, n_k = weights.shape[-2:]
    shared = np.minimum(weights, _even(_keys(name, n_q, radius, n_k=n_k))).sum(axis=-1)
    queries = (weights > 0).any(axis=-1).sum(axis=-1)
    return np.asarray(np.minimum(shared.sum(axis=-1) / np.maximum(queries, 1), 1))  # rounding may reach past 1


def _keys(name: str, n_q: int, radius: int = 1, *, n_k: int | None = None) -> Bool[np.ndarray, "n_q n_k"]:
    """Which keys each query shares its weight among: → (n_q, n_k), square unless n_k is given."""
    if n_k is None:
        n_k = n_q = checks.count("n", n_q)
    query, key = np.arange(n_q)[:, None] + n_k - n_q, np.arange(n_k)
    everything = np.ones((n_q, n_k), dtype=bool)
    keys: np.ndarray = {
        "diagonal": key == query,
        "previous_token": (key == np.maximum(query - 1, 0)) & (query >= 0),
        "first_token": everything & (key == 0),
        "uniform": everything,
        "causal_uniform": key <= query,
        "local": abs(key - query) <= radius,
    }[name]
    return keys


def _even(keys: Bool[np.ndarray, "n_q n_k"]) -> Float[np.ndarray, "n_q n_k"]:
    """The same weight for each of a query's keys, 1 together."""
    even: np.ndarray = keys / np.maximum(keys.sum(axis=-1, keepdims=True), 1)
    return even


def _plain(values: np.ndarray) -> Any:
    """One entry per head, or the entry itself if there is a single matrix and no head axis."""
    return values if values.ndim else values.item()
