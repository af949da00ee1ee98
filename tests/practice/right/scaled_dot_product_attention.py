"""scaled_dot_product_attention, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def by_einsum(Q, K, V, mask=None):
    scores = np.einsum("...qd,...kd->...qk", Q, K) * Q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -np.inf)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.einsum("...qk,...kv->...qv", weights, V), weights


def query_by_query(Q, K, V, mask=None):
    shape = (*Q.shape[:-1], K.shape[-2])
    allowed = np.ones(shape, bool) if mask is None else np.broadcast_to(mask, shape)
    weights = np.zeros(shape)
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for place in np.ndindex(Q.shape[:-1]):
        seen = allowed[place]
        scores = K[place[:-1]][seen] @ (Q[place] / np.sqrt(len(Q[place])))
        scores = np.exp(scores - scores.max())
        weights[place][seen] = scores / scores.sum()
        output[place] = weights[place] @ V[place[:-1]]
    return output, weights


def renormalised_after_the_mask(Q, K, V, mask=None):
    scores = (Q / np.sqrt(Q.shape[-1])) @ np.moveaxis(K, -1, -2)
    allowed = np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-np.inf)
    powers = np.exp(np.minimum(scores - top, 0)) * allowed
    weights = powers / powers.sum(-1)[..., None]
    return weights @ V, weights


def by_the_textbook(Q, K, V, mask=None):
    return ch.scaled_dot_product_attention(Q, K, V, mask)


RIGHT = {"scaled_dot_product_attention": (by_the_textbook, by_einsum, query_by_query, renormalised_after_the_mask)}
