"""flash_attention, written otherwise."""

from __future__ import annotations

import numpy as np


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


def in_two_passes(Q, K, V, mask=None, *, block_size=16):
    """The largest score of each query first, tile by tile, and then the sums: nothing is ever scaled down."""
    n_q, n_k = Q.shape[-2], K.shape[-2]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    tops, totals, sums = (np.zeros((*Q.shape[:-1], width)) for width in (1, 1, V.shape[-1]))
    for i in range(0, n_q, block_size):
        rows = np.s_[..., i : i + block_size, :]

        def tile(j, rows=rows):
            keys = slice(j, j + block_size)
            scores = Q[rows] @ K[..., keys, :].swapaxes(-1, -2) * Q.shape[-1] ** -0.5
            return np.where(mask[rows][..., keys], scores, -np.inf)

        blocks = range(0, n_k, block_size)
        tops[rows] = np.nan_to_num(np.max([tile(j).max(axis=-1, keepdims=True) for j in blocks], axis=0), neginf=0.0)
        for j in blocks:
            powers = np.exp(tile(j) - tops[rows])
            totals[rows] += powers.sum(axis=-1, keepdims=True)
            sums[rows] += powers @ V[..., j : j + block_size, :]
    return sums / np.maximum(totals, 1e-300)


RIGHT = {"flash_attention": (keys_outside, query_by_query, in_two_passes)}
