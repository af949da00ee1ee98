"""Flash attention, to be read: the online softmax, tile by tile.

A query does not need all its scores at once. It keeps three things: the largest score so far, the sum of
exponentials so far, and the sum of values weighted by them. When a tile brings a larger score, the two sums are
scaled down to the new maximum and nothing else has to be known about the past.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearhead import checks
from clearhead.textbook.attention import attention_scores, checked, leading_shape, mask_scores, mix_values
from clearhead.textbook.masks import AnyMask, as_option, mask_for_scores


def flash_attention(
    Q: Float[np.ndarray, "... n_q d"],
    K: Float[np.ndarray, "... n_k d"],
    V: Float[np.ndarray, "... n_k d_v"],
    mask: AnyMask | None = None,
    *,
    scale: float | None = None,
    block_size: int = 16,
) -> Float[np.ndarray, "... n_q d_v"]:
    """Attention with memory for one tile of scores at a time.

    Q (…, n_q, d)  K (…, n_k, d)  V (…, n_k, d_v)  mask (…, n_q, n_k) → output (…, n_q, d_v)
    """
    Q, K, V = checked(Q, K, V)
    block_size = checks.count("block_size", block_size)
    kind = checks.compute_type(Q.dtype, K.dtype, V.dtype)
    n_q, n_k = Q.shape[-2], K.shape[-2]
    shape = (*leading_shape(Q=Q, K=K), n_q, n_k)
    mask = np.broadcast_to(True if mask is None else mask_for_scores(mask, shape), shape)

    output = np.zeros((*leading_shape(Q=Q, K=K, V=V), n_q, V.shape[-1]), kind)
    for i in range(0, n_q, block_size):
        rows = slice(i, i + block_size)
        top = np.full((*mask[..., rows, :].shape[:-1], 1), -np.inf, kind)  # the largest score so far
        total = np.zeros_like(top)  # Σ exp(score − top)
        mixed = np.zeros_like(output[..., rows, :])  # Σ exp(score − top) · value
        for j in range(0, n_k, block_size):
            keys = slice(j, j + block_size)
            scores = attention_scores(Q[..., rows, :], K[..., keys, :], scale=scale)
            scores = mask_scores(scores, **as_option(mask, rows, keys))
            new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
            reference = np.where(np.isneginf(new_top), 0, new_top)  # nothing seen yet: any reference will do
            with np.errstate(invalid="ignore", over="ignore"):  # inf − inf and 0 · inf are NaN, as in the whole
                shrink, exponentials = np.exp(top - reference), np.exp(scores - reference)
                total = total * shrink + exponentials.sum(axis=-1, keepdims=True)
                mixed = mixed * shrink + mix_values(exponentials, V[..., keys, :], allowed=~np.isneginf(scores))
            top = new_top
        output[..., rows, :] = mixed / np.where(total == 0, 1, total)
    return output.astype(Q.dtype)
