"""position_matters, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def by_undoing_the_shuffle(X, P, W_Q, W_K, W_V, order):
    changes = []
    for seats in (np.zeros_like(P), P):
        home, _ = ch.self_attention(X + seats, W_Q, W_K, W_V)
        away, _ = ch.self_attention(X[order] + seats, W_Q, W_K, W_V)
        changes.append(np.abs(away[np.argsort(order)] - home).max())
    return tuple(changes)


def word_by_word(X, P, W_Q, W_K, W_V, order):
    def attend(rows):
        scores = np.einsum("im,md,jn,nd->ij", rows, W_Q, rows, W_K) / W_K.shape[1] ** 0.5
        weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
        return weights @ (rows @ W_V)

    def change(home, away):
        return max(float(max(abs(away[seat] - home[word]))) for seat, word in enumerate(order))

    return [change(attend(X), attend(X[order])), change(attend(X + P), attend(X[order] + P))]


RIGHT = {"position_matters": (by_undoing_the_shuffle, word_by_word)}
