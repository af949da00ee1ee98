"""self_attention, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def by_einsum(X, W_Q, W_K, W_V, mask=None):
    scores = np.einsum("...im,md,...jn,nd->...ij", X, W_Q, X, W_K) / np.sqrt(W_Q.shape[1])
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None])
    return np.einsum("...ij,...jm,mv->...iv", weights, X, W_V), weights


def sentence_by_sentence(X, W_Q, W_K, W_V):
    if X.ndim > 2:
        answers = [sentence_by_sentence(sentence, W_Q, W_K, W_V) for sentence in X]
        return np.stack([output for output, _ in answers]), np.stack([weights for _, weights in answers])
    between = W_Q @ W_K.T / W_Q.shape[-1] ** 0.5
    scores = np.array([[word @ between @ other for other in X] for word in X])
    powers = np.exp(scores - scores.max(1)[:, None])
    weights = (powers.T / powers.sum(1)).T
    return weights @ X @ W_V, weights


def by_the_textbook(X, W_Q, W_K, W_V):
    return ch.self_attention(X, W_Q, W_K, W_V)


RIGHT = {"self_attention": (by_the_textbook, by_einsum, sentence_by_sentence)}
