"""linear_attention, written otherwise."""

from __future__ import annotations

import numpy as np

from clearhead.textbook.linear_attention import linear_attention


def phi(x):
    return np.maximum(x, 0) + np.exp(np.minimum(x, 0))


def key_by_key(Q, K, V, *, causal=False):
    n_q, n_k = Q.shape[-2], K.shape[-2]
    if not causal:
        S, z = np.einsum("...jd,...jv->...dv", phi(K), V), np.einsum("...jd->...d", phi(K))
        return np.einsum("...id,...dv->...iv", phi(Q), S) / np.einsum("...id,...d->...i", phi(Q), z)[..., None]
    S, z, rows = 0.0, 0.0, []
    for j in range(n_k):
        k = phi(K[..., j, :])
        S, z = S + k[..., :, None] * V[..., j, None, :], z + k
        if j >= n_k - n_q:
            q = phi(Q[..., j - n_k + n_q, :])
            rows.append((q[..., None, :] @ S)[..., 0, :] / (q * z).sum(-1)[..., None])
    return np.stack(rows, axis=-2)


def by_the_matrix(Q, K, V, *, causal=False):
    weights = np.einsum("...id,...jd->...ij", phi(Q), phi(K))
    if causal:
        weights = np.tril(weights, K.shape[-2] - Q.shape[-2])
    return np.einsum("...ij,...jv->...iv", weights, V) / weights.sum(-1)[..., None]


def by_the_textbook(Q, K, V, *, causal=False):
    return linear_attention(Q, K, V, causal=causal)


RIGHT = {"linear_attention": (key_by_key, by_the_matrix, by_the_textbook)}
