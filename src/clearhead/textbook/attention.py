"""Attention, in the order it happens: scores, mask, weights, mix.

The four steps are functions of their own, because the models of the field differ in exactly these places, and
`scaled_dot_product_attention` is nothing but the four in a row. The rules of meaning hold from here on: True may
attend, a query with no key left gets zeros, and what is masked never reaches the output, not even as NaN.

The steps hand each other float32 or float64, so that half precision is rounded once, at the end of the whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks, names
from clearhead.textbook.dropout import dropout_mask
from clearhead.textbook.linear_map import linear
from clearhead.textbook.masks import AnyMask, as_option, create_causal_mask, mask_for_scores
from clearhead.textbook.softmax import softmax


@names.own_options
def scaled_dot_product_attention(
    Q: Float[np.ndarray, "... n_q d"],
    K: Float[np.ndarray, "... n_k d"],
    V: Float[np.ndarray, "... n_k d_v"],
    mask: AnyMask | None = None,
    *,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | float | None = None,
    dropout: float = 0.0,
    seed: int | None = None,
) -> tuple[Float[np.ndarray, "... n_q d_v"], Float[np.ndarray, "... n_q n_k"]]:
    """Mix the rows of V by how well each query matches each key.

    Q (…, n_q, d)  K (…, n_k, d)  V (…, n_k, d_v)  mask (…, n_q, n_k), True = may attend
    → output (…, n_q, d_v), weights (…, n_q, n_k)

    The order is scale → softcap → bias → mask → sinks → softmax → dropout. The mask is boolean, or floats that are
    added like a bias, or one of `clearhead.masks`. With a head axis, (…, h, n_q, d) and (…, h_kv, n_k, d), query head
    i uses key head i // (h / h_kv). The weights returned are those after dropout: the ones that made the output.

    Raises:
        TypeError: Q, K or V are not floats, or the mask is neither boolean nor float.
        ValueError: widths, lengths, head counts or the mask's shape do not fit together.
    """
    Q, K, V = checked(Q, K, V)
    scores = attention_scores(Q, K, scale=scale, softcap=softcap)
    scores = mask_scores(scores, mask, bias=bias)
    weights = attention_weights(scores, sinks=sinks)
    if dropout:
        weights = weights * dropout_mask(weights.shape, dropout, seed).astype(weights.dtype)
    output = mix_values(weights, V, allowed=~np.isneginf(scores))
    return output.astype(Q.dtype), weights.astype(Q.dtype)


def attention_scores(
    Q: Float[np.ndarray, "... n_q d"],
    K: Float[np.ndarray, "... n_k d"],
    *,
    scale: float | None = None,
    softcap: float | None = None,
) -> Float[np.ndarray, "... n_q n_k"]:
    """How well each query matches each key: Q Kᵀ · scale, squeezed into (−softcap, softcap) if that is given.

    Q (…, n_q, d)  K (…, n_k, d) → scores (…, n_q, n_k), in float32 or float64
    """
    Q, K = checks.float_array("Q", Q, ndim=2), checks.float_array("K", K, ndim=2)
    checks.same_width(Q, K)
    leading_shape(Q=Q, K=K)
    kind = checks.compute_type(Q.dtype, K.dtype)
    scale = 1 / np.sqrt(max(Q.shape[-1], 1)) if scale is None else checks.number("scale", scale)
    K = share_heads(K, Q)
    with np.errstate(invalid="ignore", over="ignore"):  # a masked key may hold anything; its score is not used
        scores: np.ndarray = (Q.astype(kind) @ K.astype(kind).swapaxes(-1, -2)) * kind.type(scale)
    if softcap is not None:
        softcap = checks.number("softcap", softcap, above=0.0)
        scores = np.tanh(scores / kind.type(softcap)) * kind.type(softcap)
    return scores


def mask_scores(
    scores: Float[np.ndarray, "... n_q n_k"],
    mask: AnyMask | None = None,
    *,
    bias: ArrayLike | None = None,
) -> Float[np.ndarray, "... n_q n_k"]:
    """Add the bias, then give every key that may not be attended the score −inf.

    scores (…, n_q, n_k)  mask (…, n_q, n_k) boolean or additive  bias (…, n_q, n_k) → scores (…, n_q, n_k)

    The mask may also be one of `clearhead.masks`. Only −inf forbids: a finite number, however low, leaves the key's
    score finite.
    """
    scores = checks.float_array("scores", scores, ndim=2)
    scores = scores.astype(checks.compute_type(scores.dtype))
    additions = [] if bias is None else [checks.additive("bias", checks.float_array("bias", bias), scores.shape)]
    if mask is not None:
        mask = mask_for_scores(mask, scores.shape)
        additions.append(np.where(mask, 0.0, -np.inf) if mask.dtype == np.bool_ else mask)
    limits = np.finfo(scores.dtype)
    for addition in additions:
        with np.errstate(invalid="ignore", over="ignore"):
            total = (scores + addition).astype(scores.dtype)
        total = np.where(np.isfinite(scores), np.clip(total, limits.min, limits.max), total)
        # Selected, not summed: NaN + −inf is NaN, and a masked key must not be able to say NaN.
        scores = np.where(np.isneginf(addition), -np.inf, total).astype(scores.dtype)
    return scores


def attention_weights(
    scores: Float[np.ndarray, "... n_q n_k"],
    *,
    sinks: ArrayLike | float | None = None,
) -> Float[np.ndarray, "... n_q n_k"]:
    """Softmax over the keys. A sink is one more score per head that takes weight and gives no value.

    scores (…, n_q, n_k)  sinks (h,), or a number if there is no head axis → weights (…, n_q, n_k)
    """
    scores = checks.float_array("scores", scores, ndim=2)
    scores = scores.astype(checks.compute_type(scores.dtype))
    if sinks is None:
        return softmax(scores)
    extra = sink_column(sinks, scores.shape).astype(scores.dtype)
    return softmax(np.concatenate([scores, extra], axis=-1))[..., :-1]


def mix_values(
    weights: Float[np.ndarray, "... n_q n_k"],
    V: Float[np.ndarray, "... n_k d_v"],
    *,
    allowed: np.ndarray | None = None,
) -> Float[np.ndarray, "... n_q d_v"]:
    """The weighted average of the values: weights V.

    weights (…, n_q, n_k)  V (…, n_k, d_v)  allowed (…, n_q, n_k) → output (…, n_q, d_v)

    0 · NaN is NaN, so values that are not finite are kept out of the product and added for those queries that may
    attend to them and no others. Without `allowed`, every key of positive weight counts as attended.
    """
    weights, V = checks.float_array("weights", weights, ndim=2), checks.float_array("V", V, ndim=2)
    if weights.shape[-1] != V.shape[-2]:
        raise ValueError(
            f"weights have {weights.shape[-1]} columns but there are {V.shape[-2]} values; each key needs one value "
            "(weights are (…, n_q, n_k) and V is (…, n_k, d_v))"
        )
    leading_shape(weights=weights, V=V)
    kind = checks.compute_type(weights.dtype, V.dtype)
    weights, V = weights.astype(kind), share_heads(V, weights).astype(kind)
    allowed = weights > 0 if allowed is None else checks.allowed_array(allowed, weights.shape)
    finite = np.isfinite(V)
    output: np.ndarray = weights @ np.where(finite, V, 0)
    for j in range(V.shape[-2]):
        if not finite[..., j, :].all():
            with np.errstate(invalid="ignore"):  # weight 0 · inf, or inf − inf: the answer is NaN and should be
                share = weights[..., :, j, None] * np.where(finite[..., j, :], 0, V[..., j, :])[..., None, :]
                output = np.where(allowed[..., :, j, None], output + share, output)
    return output


def self_attention(
    X: Float[np.ndarray, "... n d_model"],
    W_Q: Float[np.ndarray, "d_model d"],
    W_K: Float[np.ndarray, "d_model d"],
    W_V: Float[np.ndarray, "d_model d_v"],
    mask: AnyMask | None = None,
) -> tuple[Float[np.ndarray, "... n d_v"], Float[np.ndarray, "... n n"]]:
    """Let every position of X look at every other.

    X (…, n, d_model)  W_Q, W_K (d_model, d)  W_V (d_model, d_v) → output (…, n, d_v), weights (…, n, n)
    """
    X = checks.float_array("X", X, ndim=2)
    option: dict[str, Any] = {}
    if mask is not None:  # there are no heads here, so the leading dimensions of X are a batch
        option = as_option(mask_for_scores(mask, (*X.shape[:-1], X.shape[-2]), has_heads=False))
    return scaled_dot_product_attention(
        linear(X, W_Q, name="W_Q"), linear(X, W_K, name="W_K"), linear(X, W_V, name="W_V"), **option
    )


def causal_self_attention(
    X: Float[np.ndarray, "... n d_model"],
    W_Q: Float[np.ndarray, "d_model d"],
    W_K: Float[np.ndarray, "d_model d"],
    W_V: Float[np.ndarray, "d_model d_v"],
) -> tuple[Float[np.ndarray, "... n d_v"], Float[np.ndarray, "... n n"]]:
    """Self-attention in which position i sees positions 0 … i and nothing later.

    X (…, n, d_model)  W_Q, W_K (d_model, d)  W_V (d_model, d_v) → output (…, n, d_v), weights (…, n, n)
    """
    X = checks.float_array("X", X, ndim=2)
    return self_attention(X, W_Q, W_K, W_V, create_causal_mask(X.shape[-2]))


def checked(Q: ArrayLike, K: ArrayLike, V: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Q, K and V as float arrays whose shapes fit together."""
    Q, K, V = (checks.float_array(name, x, ndim=2) for name, x in (("Q", Q), ("K", K), ("V", V)))
    checks.same_width(Q, K)
    checks.same_length(K, V)
    leading_shape(Q=Q, K=K, V=V)
    return Q, K, V


def leading_shape(**arrays: np.ndarray) -> tuple[int, ...]:
    """The leading dimensions the arrays have together, with one key/value head for each head of the first."""
    first = next(iter(arrays.values()))
    try:
        return np.broadcast_shapes(*(share_heads(x, first).shape[:-2] for x in arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items())
        raise ValueError(f"the leading dimensions of {shapes} do not fit together: {error}") from None


def share_heads(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Repeat key/value heads so that there is one for each query head: (…, h_kv, n_k, d) → (…, h, n_k, d)."""
    if x.ndim < 3 or like.ndim < 3 or x.shape[-3] in (1, like.shape[-3]):
        return x
    return np.repeat(x, checks.head_groups(like.shape[-3], x.shape[-3], like.shape, x.shape), axis=-3)


def sink_column(sinks: ArrayLike | float, shape: tuple[int, ...]) -> np.ndarray:
    """The sinks as one more column of scores: (h,) → (…, h, n_q, 1)."""
    sinks = checks.sink_per_head(sinks, shape[-3] if len(shape) >= 3 else 1)
    return np.broadcast_to(sinks[:, None, None] if len(shape) >= 3 and sinks.ndim else sinks, (*shape[:-1], 1))
