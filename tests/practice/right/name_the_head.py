"""name_the_head, written otherwise."""

from __future__ import annotations

import numpy as np

from clearhead.textbook import patterns

MADE = {
    "self": patterns.diagonal,
    "previous_token": patterns.previous_token,
    "next_token": patterns.next_token,
    "first_token": patterns.first_token,
}


def by_the_zoo(weights):
    """How much of the weights lies on the textbook's own matrix of each pattern."""
    best, score = "mixed", 0.0
    for name, make in MADE.items():
        shared = np.einsum("ij,ij->", weights, make(len(weights))) / len(weights)
        if shared > score:
            best, score = name, shared
    if score < 0.5:
        powers = np.power(weights, -weights, where=weights > 0, out=np.ones_like(weights))
        best = "uniform" if 2 * powers.prod(axis=1).mean() >= len(weights) else "mixed"
    return best


def by_diagonals(weights):
    n = len(weights)
    main, low, high = np.trace(weights), np.trace(weights, -1), np.trace(weights, 1)
    sums = [main, low + weights[0, 0], high + weights[n - 1, n - 1], weights[:, 0].sum()]
    if max(sums) >= n / 2:
        return ["self", "previous_token", "next_token", "first_token"][sums.index(max(sums))]
    bits = [-sum(w * np.log2(w) for w in row if w) for row in weights]
    return "mixed" if sum(2**h for h in bits) < n * n / 2 else "uniform"


RIGHT = {"name_the_head": (by_the_zoo, by_diagonals)}
