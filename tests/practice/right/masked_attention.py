"""masked_attention, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def query_by_query(Q, K, V, mask):
    shape = (*Q.shape[:-1], K.shape[-2])
    allowed = np.broadcast_to(mask, shape)
    weights, output = np.zeros(shape), np.zeros((*Q.shape[:-1], V.shape[-1]))
    for place in np.ndindex(*Q.shape[:-1]):
        seen = np.flatnonzero(allowed[place])
        if seen.size:
            scores = K[place[:-1]][seen] @ Q[place] / np.sqrt(Q.shape[-1])
            powers = np.exp(scores - scores.max())
            weights[place][seen] = powers / powers.sum()
            output[place] = weights[place][seen] @ V[place[:-1]][seen]
    return output, weights


def by_einsum_over_what_is_allowed(Q, K, V, mask):
    scores = np.einsum("...qd,...kd->...qk", Q, K) / Q.shape[-1] ** 0.5
    allowed = np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf, where=allowed)
    powers = np.zeros(scores.shape)
    np.exp(scores - np.where(allowed.any(-1, keepdims=True), top, scores), out=powers, where=allowed)
    total = np.einsum("...qk->...q", powers)[..., None]
    weights = np.divide(powers, total, out=np.zeros(scores.shape), where=total > 0)
    return np.einsum("...qk,...kv->...qv", weights, V), weights


def nan_mended_at_the_end(Q, K, V, mask):
    with np.errstate(invalid="ignore"):
        scores = np.where(mask, Q @ np.moveaxis(K, -1, -2) / np.sqrt(K.shape[-1]), -np.inf)
        powers = np.exp(scores - scores.max(-1)[..., None])
        weights = np.nan_to_num(powers / powers.sum(-1)[..., None])
    return weights @ V, weights


def by_the_textbook(Q, K, V, mask):
    return ch.scaled_dot_product_attention(Q, K, V, mask)


RIGHT = {"masked_attention": (by_the_textbook, query_by_query, by_einsum_over_what_is_allowed, nan_mended_at_the_end)}
