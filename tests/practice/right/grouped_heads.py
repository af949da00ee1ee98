"""grouped_heads, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def by_einsum_over_groups(Q, K, V):
    *leading, h, n_q, d = Q.shape
    grouped = Q.reshape(*leading, K.shape[-3], -1, n_q, d)
    scores = np.einsum("...hgqd,...hkd->...hgqk", grouped, K) / d**0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    output = np.einsum("...hgqk,...hkv->...hgqv", weights, V)
    return output.reshape(*leading, h, n_q, -1), weights.reshape(*leading, h, n_q, -1)


def head_by_head(Q, K, V):
    group = Q.shape[-3] // K.shape[-3]
    outputs, tables = [], []
    for head in range(Q.shape[-3]):
        scores = Q[..., head, :, :] @ K[..., head // group, :, :].swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        tables.append(powers / powers.sum(-1, keepdims=True))
        outputs.append(tables[-1] @ V[..., head // group, :, :])
    return np.stack(outputs, -3), np.stack(tables, -3)


def by_the_textbook(Q, K, V):
    return ch.scaled_dot_product_attention(Q, K, V)


RIGHT = {"grouped_heads": (by_the_textbook, by_einsum_over_groups, head_by_head)}
