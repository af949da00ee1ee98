"""Attention a few queries at a time: the same answer, without ever holding the whole n_q × n_k matrix."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearhead import checks
from clearhead.masks import Mask
from clearhead.textbook.attention import checked, leading_shape, scaled_dot_product_attention
from clearhead.textbook.masks import AnyMask, as_option, mask_for_scores


def memory_efficient_attention(
    Q: Float[np.ndarray, "... n_q d"],
    K: Float[np.ndarray, "... n_k d"],
    V: Float[np.ndarray, "... n_k d_v"],
    chunk_size: int = 32,
    mask: AnyMask | None = None,
    *,
    scale: float | None = None,
) -> Float[np.ndarray, "... n_q d_v"]:
    """Each query's softmax is its own affair, so queries can be handled in chunks.

    Q (…, n_q, d)  K (…, n_k, d)  V (…, n_k, d_v)  mask (…, n_q, n_k) → output (…, n_q, d_v)
    """
    Q, K, V = checked(Q, K, V)
    if isinstance(chunk_size, (np.ndarray, Mask)):
        raise TypeError("chunk_size must be a whole number, got a mask; pass it by its name, mask=")
    chunk_size = checks.count("chunk_size", chunk_size)
    n_q, n_k = Q.shape[-2], K.shape[-2]
    if mask is not None:
        mask = mask_for_scores(mask, (*leading_shape(Q=Q, K=K), n_q, n_k))
        mask = np.broadcast_to(mask, (*mask.shape[:-2], n_q, n_k))
    parts = []
    for start in range(0, max(n_q, 1), chunk_size):
        rows = slice(start, start + chunk_size)
        part = {} if mask is None else as_option(mask, rows, slice(None))
        parts.append(scaled_dot_product_attention(Q[..., rows, :], K, V, **part, scale=scale)[0])
    return np.concatenate(parts, axis=-2)
