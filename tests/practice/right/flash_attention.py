"""flash_attention, written otherwise."""

from __future__ import annotations

import numpy as np

from clearhead.textbook import flash


def keys_outside(Q, K, V, mask=None, *, block_size=16):
    """All queries at once, one block of keys after the other, joined by log-sum-exp."""
    scale = Q.shape[-1] ** -0.5
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    output, lse = np.zeros((*Q.shape[:-1], V.shape[-1])), np.full((*Q.shape[:-1], 1), -np.inf)
    for j in range(0, K.shape[-2], block_size):
        scores = np.einsum("...id,...jd->...ij", Q, K[..., j : j + block_size, :]) * scale
        scores = np.where(mask[..., j : j + block_size], scores, -np.inf)
        of_block = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
        both = np.logaddexp(lse, of_block)
        safe = np.where(np.isneginf(both), 0, both)
        output = output * np.exp(lse - safe) + np.exp(scores - safe) @ V[..., j : j + block_size, :]
        lse = both
    return output


def query_by_query(Q, K, V, mask=None, *, block_size=16):
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for place in np.ndindex(Q.shape[:-1]):
        top, total, mixed = -np.inf, 0.0, np.zeros(V.shape[-1])
        for j in np.flatnonzero(mask[place]):
            score = Q[place] @ K[(*place[:-1], j)] / np.sqrt(Q.shape[-1])
            higher = max(top, score)
            total = total * np.exp(top - higher) + np.exp(score - higher)
            mixed = mixed * np.exp(top - higher) + np.exp(score - higher) * V[(*place[:-1], j)]
            top = higher
        output[place] = mixed / (total or 1)
    return output


def by_the_textbook(Q, K, V, mask=None, *, block_size=16):
    return flash.flash_attention(Q, K, V, mask, block_size=block_size)


RIGHT = {"flash_attention": (keys_outside, query_by_query, by_the_textbook)}
