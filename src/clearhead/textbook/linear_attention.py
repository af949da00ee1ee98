"""Linear attention: without the softmax, the keys and values can be summed up once for all queries.

Softmax attention weighs by exp(q · k), which must be known for every pair. Weigh by φ(q) · φ(k) instead, with φ a
feature map that is never negative, and the sum over keys can be taken first,

    output_i = Σ_j (φ(q_i) · φ(k_j)) v_j / Σ_j φ(q_i) · φ(k_j)
             = φ(q_i) S / φ(q_i) z      with  S = Σ_j φ(k_j) v_jᵀ  and  z = Σ_j φ(k_j)

so that time grows with n, not n². What is given up is sharpness: S is a d × d_v summary of the whole past.
`linear_attention_weights` is the first line, spelled out in O(n²); `linear_attention` computes the second.
The same summary with a gate, or with the power to overwrite, is in `recurrent_attention`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from clearhead import checks
from clearhead.masks import Mask
from clearhead.textbook.attention import checked, share_heads
from clearhead.textbook.masks import create_causal_mask

FeatureMap = Callable[[np.ndarray], np.ndarray]


def elu_plus_one(x: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """elu(x) + 1: x + 1 where x is positive, exp(x) elsewhere. Never negative and smooth."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_attention(
    Q: Float[np.ndarray, "... n_q d"],
    K: Float[np.ndarray, "... n_k d"],
    V: Float[np.ndarray, "... n_k d_v"],
    *,
    causal: bool = False,
    offset: int | None = None,
    key_mask: Bool[np.ndarray, "... n_k"] | None = None,
    feature_map: FeatureMap = elu_plus_one,
) -> Float[np.ndarray, "... n_q d_v"]:
    """Mix the rows of V by φ(q) · φ(k), in time that grows with n_q + n_k.

    Q (…, n_q, d)  K (…, n_k, d)  V (…, n_k, d_v)  key_mask (…, n_k), True = may be attended
    → output (…, n_q, d_v)

    Causal, query i sees the keys j ≤ i + offset, where offset is n_k − n_q unless given. `feature_map` takes (…, d)
    to (…, d_features). A query that no key is left for, or whose features meet none, gets zeros.
    """
    Q, K, V = checked(Q, K, V)
    query_features, key_features, values = _summands(Q, K, V, key_mask, feature_map)
    n_q, n_k = Q.shape[-2], K.shape[-2]
    if not causal:
        return _read(query_features, *_sums(key_features, values)).astype(Q.dtype)

    offset = n_k - n_q if offset is None else checks.count("offset", offset, least=None)
    summary, total = _sums(key_features[..., :0, :], values[..., :0, :])
    rows, num_summed = [], 0
    for i in range(n_q):
        num_visible = min(max(i + offset + 1, 0), n_k)
        new_keys = np.s_[..., num_summed:num_visible, :]
        new_summary, new_total = _sums(key_features[new_keys], values[new_keys])
        summary, total, num_summed = summary + new_summary, total + new_total, max(num_summed, num_visible)
        rows.append(_read(query_features[..., i : i + 1, :], summary, total))
    leading = np.broadcast_shapes(query_features.shape[:-2], summary.shape[:-2])
    return np.concatenate([np.empty((*leading, 0, V.shape[-1])), *rows], axis=-2).astype(Q.dtype)


def linear_attention_weights(
    Q: Float[np.ndarray, "... n_q d"],
    K: Float[np.ndarray, "... n_k d"],
    *,
    causal: bool = False,
    offset: int | None = None,
    key_mask: Bool[np.ndarray, "... n_k"] | None = None,
    feature_map: FeatureMap = elu_plus_one,
) -> Float[np.ndarray, "... n_q n_k"]:
    """The weights that linear attention never writes down: its definition, in O(n²).

    Q (…, n_q, d)  K (…, n_k, d) → weights (…, n_q, n_k), and weights @ V is the output of `linear_attention`
    """
    Q, K, _ = checked(Q, K, K)
    query_features, key_features, _ = _summands(Q, K, K, key_mask, feature_map)
    weights: np.ndarray = query_features @ key_features.swapaxes(-1, -2)
    if causal:
        weights = np.where(create_causal_mask(Q.shape[-2], K.shape[-2], offset=offset), weights, 0)
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return weights.astype(Q.dtype)


def _summands(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, key_mask: np.ndarray | None, feature_map: FeatureMap
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """φ(Q), φ(K) and V, with key/value heads shared out and zeros for the keys that may not be attended."""
    kind = checks.compute_type(Q.dtype, K.dtype, V.dtype)
    K, V = share_heads(K, Q).astype(kind), share_heads(V, Q).astype(kind)
    if key_mask is not None:
        if isinstance(key_mask, Mask):
            raise TypeError(
                f"key_mask must be a boolean array (…, n_k), True = may be attended, got the mask {key_mask!r}; "
                "key_lengths(lengths).array(1, n_k, batch_shape=…)[…, 0, :] is one, and causal=True is a causal mask"
            )
        key_mask = checks.as_array("key_mask", key_mask)
        if key_mask.dtype != np.bool_:
            raise TypeError(f"key_mask must be boolean, True = may be attended, got {key_mask.dtype.name}")
        try:
            allowed = np.broadcast_to(key_mask, K.shape[:-1])[..., None]
        except ValueError:
            raise ValueError(
                f"key_mask of shape {key_mask.shape} does not broadcast to the keys' {K.shape[:-1]}, "
                "which is (…, n_k) (with a head axis, masks of each text (b, n_k) are passed as key_mask[:, None])"
            ) from None
        V = np.where(allowed, V, 0)
        K = np.where(allowed, K, 0)  # not only their features: NaN would warn on its way through the feature map
    query_features, key_features = _features(feature_map, Q.astype(kind)), _features(feature_map, K)
    if key_mask is not None:
        key_features = np.where(allowed, key_features, 0)
    return query_features, key_features, V


def _features(feature_map: FeatureMap, x: np.ndarray) -> np.ndarray:
    features = np.asarray(feature_map(x))
    if features.shape[:-1] != x.shape[:-1]:
        raise ValueError(
            f"feature_map must turn (…, d) into (…, d_features), got {features.shape} from {x.shape}; "
            "it may only change the last axis"
        )
    return features.astype(x.dtype)


def _sums(key_features: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S = Σ φ(k) vᵀ, (…, d, d_v), and z = Σ φ(k), (…, d, 1)."""
    return key_features.swapaxes(-1, -2) @ values, key_features.sum(axis=-2)[..., None]


def _read(query_features: np.ndarray, summary: np.ndarray, total: np.ndarray) -> np.ndarray:
    """φ(q) S / φ(q) z, or zeros where the denominator is."""
    denominator = query_features @ total
    output: np.ndarray = (query_features @ summary) / np.where(denominator == 0, 1, denominator)
    return output
