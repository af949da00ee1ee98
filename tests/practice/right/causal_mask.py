"""causal_mask, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def by_the_last_rows_of_a_triangle(n, n_k=None):
    size = n_k or n
    return np.tril(np.ones((size, size), dtype=bool))[size - n :]


def row_by_row(n, n_k=None):
    n_k = n if n_k is None else n_k
    return np.array([[key + n - n_k <= query for key in range(n_k)] for query in range(n)])


def by_what_is_hidden(n, n_k=None):
    n_k = n if n_k is None else n_k
    return np.logical_not(np.triu(np.ones((n, n_k)), k=n_k - n + 1))


def by_the_textbook(n, n_k=None):
    return ch.create_causal_mask(n, n_k)


RIGHT = {"causal_mask": (by_the_textbook, by_the_last_rows_of_a_triangle, row_by_row, by_what_is_hidden)}
