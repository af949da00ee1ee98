"""alibi, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def by_outer_differences(n_q, n_k, num_heads):
    far = np.abs(np.subtract.outer(np.arange(n_k)[n_k - n_q :], np.arange(n_k)))
    slope = 0.5 ** (8 / num_heads)
    return np.stack([-far * slope**k for k in range(1, num_heads + 1)])


def by_the_last_rows_of_a_square(n_q, n_k, num_heads):
    seats = np.arange(n_k)
    square = np.minimum(seats - seats[:, None], seats[:, None] - seats)
    return np.einsum("h,qk->hqk", np.exp2(-8 / num_heads * (1 + np.arange(num_heads))), square[-n_q:])


def by_the_textbook(n_q, n_k, num_heads):
    return ch.alibi(n_q, n_k, num_heads)


RIGHT = {"alibi": (by_the_textbook, by_outer_differences, by_the_last_rows_of_a_square)}
