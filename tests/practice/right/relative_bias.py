"""relative_bias, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def by_windows_of_a_longer_table(table, n):
    m = len(table) // 2
    longer = np.pad(table, n, mode="edge")
    return np.stack([longer[n + m - i : 2 * n + m - i] for i in range(n)])


def diagonal_by_diagonal(table, n):
    m = (len(table) - 1) // 2
    bias = np.zeros((n, n))
    for step in range(-n + 1, n):
        bias += np.diag(np.full(n - abs(step), table[m + sorted((-m, step, m))[1]]), step)
    return bias


def by_the_textbook(table, n):
    """Scores that are nothing but the bias: queries of 1, keys of 0, and the table as the vectors of the distances."""
    words = np.zeros((n, 1))
    _, weights = ch.relative_attention(words + 1, words, words, table[:, None])
    own = np.log(np.diag(weights)) - table[len(table) // 2]
    return np.log(weights) - own[:, None]


RIGHT = {"relative_bias": (by_the_textbook, by_windows_of_a_longer_table, diagonal_by_diagonal)}
