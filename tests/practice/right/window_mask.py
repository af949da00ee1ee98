"""window_mask, written otherwise."""

from __future__ import annotations

import numpy as np

from clearhead import masks


def by_triangles(n, window, n_k=None):
    n_k = n if n_k is None else n_k
    own = n_k - n
    return np.tri(n, n_k, own, dtype=bool) & ~np.tri(n, n_k, own - window, dtype=bool)


def key_by_key(n, window, n_k=None):
    n_k = n_k or n
    return np.array([[0 <= n_k - n + i - j < window for j in range(n_k)] for i in range(n)])


def by_sums_of_diagonals(n, window, n_k=None):
    n_k = n if n_k is None else n_k
    return sum(np.eye(n, n_k, n_k - n - back) for back in range(window)) > 0


def by_the_library(n, window, n_k=None):
    return masks.window(window).array(n, n_k)


RIGHT = {"window_mask": (by_triangles, key_by_key, by_sums_of_diagonals, by_the_library)}
