"""memory_efficient_attention, written otherwise."""

from __future__ import annotations

import numpy as np

from clearhead.textbook import memory_efficient


def by_einsum_into_one_array(Q, K, V, chunk_size=32, mask=None):
    output = np.empty((*Q.shape[:-1], V.shape[-1]))
    mask = None if mask is None else np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2]))
    i = 0
    while i < Q.shape[-2]:
        part = np.s_[..., i : i + chunk_size, :]
        scores = np.einsum("...id,...jd->...ij", Q[part], K) / Q.shape[-1] ** 0.5
        if mask is not None:
            scores[~mask[part]] = -np.inf
        scores -= np.maximum(scores.max(-1, keepdims=True), -1e300)
        powers = np.exp(scores)
        output[part] = np.einsum("...ij,...jv->...iv", powers, V) / np.maximum(powers.sum(-1), 1e-300)[..., None]
        i += chunk_size
    return output


def query_by_query(Q, K, V, chunk_size=32, mask=None):
    rows = []
    mask = np.broadcast_to(np.ones(K.shape[-2], bool) if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1])
    for q, may in zip(np.moveaxis(Q, -2, 0), np.moveaxis(mask, -2, 0), strict=True):
        scores = np.where(may, (K @ q[..., None])[..., 0] * q.shape[-1] ** -0.5, -np.inf)
        weights = np.nan_to_num(np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)))
        rows.append((weights[..., None, :] @ V)[..., 0, :])
    return np.stack(rows, axis=-2)


def by_the_textbook(Q, K, V, chunk_size=32, mask=None):
    return memory_efficient.memory_efficient_attention(Q, K, V, chunk_size, mask)


RIGHT = {"memory_efficient_attention": (by_einsum_into_one_array, query_by_query, by_the_textbook)}
