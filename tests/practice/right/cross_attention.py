"""cross_attention, written otherwise."""

from __future__ import annotations

import numpy as np

from clearhead.textbook.attention import scaled_dot_product_attention


def by_einsum(X, memory, W_Q, W_K, W_V, mask=None):
    scores = np.einsum("...ta,ad,...sb,bd->...ts", X, W_Q, memory, W_K) / W_K.shape[1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - np.maximum(scores.max(-1, keepdims=True), -1e300))
    weights = np.nan_to_num(weights / np.maximum(np.sum(weights, -1, keepdims=True), 1e-300))
    return np.einsum("...ts,...sb,bv->...tv", weights, memory, W_V), weights


def one_query_at_a_time(X, memory, W_Q, W_K, W_V, mask=None):
    scale, rows, outputs = W_Q.shape[-1] ** -0.5, [], []
    mask = np.broadcast_to(True if mask is None else mask, (*X.shape[:-1], memory.shape[-2]))
    for t in range(X.shape[-2]):
        scores = (memory @ W_K @ (X[..., t, :] @ W_Q)[..., None])[..., 0] * scale
        powers = mask[..., t, :] * np.exp(scores - scores.max(-1, keepdims=True, where=mask[..., t, :], initial=-1e300))
        powers = np.where(mask[..., t, :], powers, 0)
        total = powers.sum(-1, keepdims=True)
        row = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
        rows.append(row)
        outputs.append((row[..., None, :] @ memory @ W_V)[..., 0, :])
    return np.stack(outputs, -2), np.stack(rows, -2)


def by_the_textbook(X, memory, W_Q, W_K, W_V, mask=None):
    return scaled_dot_product_attention(X @ W_Q, memory @ W_K, memory @ W_V, mask)


RIGHT = {"cross_attention": (by_einsum, one_query_at_a_time, by_the_textbook)}
