"""multi_head_attention, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def by_einsum(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    W_Q, W_K, W_V = (W.reshape(len(W), num_heads, -1) for W in (W_Q, W_K, W_V))
    Q, K, V = (np.einsum("...nm,mhd->...hnd", X, W) for W in (W_Q, W_K, W_V))
    scores = np.einsum("...hqd,...hkd->...hqk", Q, K) / np.sqrt(V.shape[-1])
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -np.inf)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    back = W_O.reshape(num_heads, -1, W_O.shape[-1])
    return np.einsum("...hqk,...hkd,hdm->...qm", weights, V, back), weights


def head_by_head(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    d = X.shape[-1] // num_heads
    n = X.shape[-2]
    seen = np.broadcast_to(True if mask is None else mask, (*X.shape[:-2], num_heads, n, n))
    answers, tables = [], []
    for head in range(num_heads):
        mine = range(head * d, head * d + d)
        scores = (X @ W_Q[:, mine]) @ (X @ W_K[:, mine]).swapaxes(-1, -2) * d**-0.5
        scores = np.where(seen[..., head, :, :], scores, -np.inf)
        powers = np.exp(scores - scores.max(-1)[..., None])
        tables.append(powers / powers.sum(-1)[..., None])
        answers.append(tables[-1] @ (X @ W_V[:, mine]))
    return np.concatenate(answers, axis=-1) @ W_O, np.stack(tables, axis=-3)


def by_the_textbook(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    layer = ch.MultiHeadAttention(X.shape[-1], num_heads, bias=False)
    layer.W_Q, layer.W_K, layer.W_V, layer.W_O = W_Q, W_K, W_V, W_O
    return layer(X, mask=mask)


RIGHT = {"multi_head_attention": (by_the_textbook, by_einsum, head_by_head)}
