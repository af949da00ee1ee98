"""Relative positions: what matters is how far apart two tokens are, not where they stand.

Three ways to say it. Shaw et al. learn a vector for each distance and let queries meet it as they meet keys. T5
learns one number for each distance and head, with one bucket for many long distances. ALiBi learns nothing: each
head subtracts a fixed slope times the distance. The last two are a bias for `scaled_dot_product_attention`.

A distance is query position − key position, here and wherever clearhead speaks of one: positive for what came
before, negative for what is to come. Where there are more keys than queries, the queries are the last positions,
unless an offset says otherwise: query i stands at key i + offset.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.textbook.attention import attention_scores, attention_weights, checked, mask_scores, mix_values
from clearhead.textbook.masks import AnyMask


def distances(n_q: int, n_k: int, *, offset: int | None = None) -> Int[np.ndarray, "n_q n_k"]:
    """How far each key lies before each query: i + offset − j, negative if it comes after.

    → distances (n_q, n_k), offset n_k − n_q unless given
    """
    n_q, n_k = checks.count("n_q", n_q, least=0), checks.count("n_k", n_k, least=0)
    offset = n_k - n_q if offset is None else checks.count("offset", offset, least=None)
    return np.arange(n_q)[:, None] + offset - np.arange(n_k)


def relative_attention(
    Q: Float[np.ndarray, "... n_q d"],
    K: Float[np.ndarray, "... n_k d"],
    V: Float[np.ndarray, "... n_k d_v"],
    key_table: Float[np.ndarray, "... rows d"],
    value_table: Float[np.ndarray, "... rows d_v"] | None = None,
    mask: AnyMask | None = None,
    *,
    left: int | None = None,
    offset: int | None = None,
    scale: float | None = None,
) -> tuple[Float[np.ndarray, "... n_q d_v"], Float[np.ndarray, "... n_q n_k"]]:
    """Attention in which each key and each value also carries a vector for its distance from the query.

    Q (…, n_q, d)  K (…, n_k, d)  V (…, n_k, d_v)  mask (…, n_q, n_k), True = may attend
    key_table (rows, d)  value_table (rows, d_v), or (h, rows, …) for a table per head
    → output (…, n_q, d_v), weights (…, n_q, n_k)

        score_ij = q_i · (k_j + key_table[r]) · scale        output_i = Σ_j weight_ij (v_j + value_table[r])

    where r is the row of the distance from i to j. A table's rows are in the order in which keys come: row `left` is
    for distance 0, row r for distance left − r, and whatever is further away uses the outermost row. It is symmetric
    unless `left` is given, so a table of 2m + 1 rows knows the distances −m … m.
    """
    Q, K, V = checked(Q, K, V)
    key_table = _checked_table("key_table", key_table, Q, width=Q.shape[-1])
    rows = _rows(distances(Q.shape[-2], K.shape[-2], offset=offset), key_table.shape[-2], left)  # (n_q, n_k)

    kind = checks.compute_type(Q.dtype, K.dtype)
    scale = 1 / np.sqrt(max(Q.shape[-1], 1)) if scale is None else checks.number("scale", scale)
    with np.errstate(invalid="ignore", over="ignore"):  # the row of a masked distance may hold inf, as a masked key may
        by_distance = (key_table[..., rows, :].astype(kind) @ Q.astype(kind)[..., None])[..., 0] * kind.type(scale)
        scores = mask_scores(attention_scores(Q, K, scale=scale) + by_distance, mask)

    weights, allowed = attention_weights(scores), ~np.isneginf(scores)
    output = mix_values(weights, V, allowed=allowed)
    if value_table is not None:
        value_table = _checked_table("value_table", value_table, Q, width=V.shape[-1])
        if value_table.shape[-2] != key_table.shape[-2]:
            raise ValueError(
                f"key_table has {key_table.shape[-2]} rows and value_table {value_table.shape[-2]}; "
                "both need one row for each distance"
            )
        carried = np.where(allowed[..., None], value_table[..., rows, :], 0).astype(kind)  # (…, n_q, n_k, d_v)
        output = output + (weights[..., None, :] @ carried)[..., 0, :]
    return output.astype(Q.dtype), weights.astype(Q.dtype)


def t5_buckets(
    relative_position: ArrayLike, *, bidirectional: bool = True, num_buckets: int = 32, max_distance: int = 128
) -> Int[np.ndarray, "*shape"]:
    """The bucket of each distance: one each for the near ones, ever wider ones up to max_distance, one for the rest.

    relative_position (…) → buckets (…), 0 ≤ bucket < num_buckets

    What T5 calls a relative position is key position − query position, so it is minus the distance. Bidirectional (an
    encoder), half of the buckets are for keys after the query. Otherwise (a decoder) they are all for keys before it,
    and a key after it shares the bucket of distance 0.
    """
    relative_position = np.asarray(relative_position)
    if relative_position.dtype.kind not in "iu":
        raise TypeError(f"relative_position must be integers, got {relative_position.dtype.name}")
    distance = -relative_position.astype(np.int64)
    num_buckets = checks.count("num_buckets", num_buckets, least=4 if bidirectional else 2)
    if bidirectional and num_buckets % 2:
        raise ValueError(f"num_buckets must be even when bidirectional, half for each side, got {num_buckets}")
    one_side = num_buckets // 2 if bidirectional else num_buckets
    exact = one_side // 2
    max_distance = checks.count("max_distance", max_distance, least=exact + 1)

    apart = np.abs(distance) if bidirectional else np.maximum(distance, 0)
    # float32, because T5 was trained on its rounding: a distance on the edge of a bucket must not change sides.
    ratio = np.maximum(apart, exact).astype(np.float32) / np.float32(exact)
    grown = np.log(ratio) / np.float32(np.log(max_distance / exact))  # 0 where the exact ones end, 1 at max_distance
    wide = exact + (grown * np.float32(one_side - exact)).astype(np.int64)
    bucket: np.ndarray = np.where(apart < exact, apart, np.minimum(wide, one_side - 1))
    return np.where(distance < 0, bucket + one_side, bucket) if bidirectional else bucket


def t5_bias(
    n_q: int,
    n_k: int,
    table: Float[np.ndarray, "num_buckets h"],
    *,
    bidirectional: bool = True,
    max_distance: int = 128,
    offset: int | None = None,
) -> Float[np.ndarray, "h n_q n_k"]:
    """What T5 adds to the scores: one learned number for each bucket and head.

    table (num_buckets, h) → bias (h, n_q, n_k), in the table's type. T5 itself attends with scale=1.0.
    """
    table = checks.float_array("table", table)
    if table.ndim != 2:
        raise ValueError(f"table must have shape (num_buckets, h), one number per bucket and head, got {table.shape}")
    buckets = t5_buckets(
        -distances(n_q, n_k, offset=offset),
        bidirectional=bidirectional,
        num_buckets=table.shape[0],
        max_distance=max_distance,
    )
    return np.moveaxis(table[buckets], -1, 0)


def alibi_slopes(num_heads: int) -> Float[np.ndarray, " h"]:
    """How fast each head's attention fades: a geometric series that ends at 2⁻⁸.

    → slopes (h,), float64. The series is 2^(−8/h), 2^(−16/h), … where h is a power of two. Otherwise the largest
    power of two below h has its own series, and the other heads take every second one of twice as many heads.
    """
    num_heads = checks.count("num_heads", num_heads)
    power = 2 ** (num_heads.bit_length() - 1)
    slopes = 2.0 ** (-8 / power * np.arange(1, power + 1))
    between = 2.0 ** (-8 / (2 * power) * np.arange(1, 2 * power + 1, 2))
    return np.concatenate([slopes, between[: num_heads - power]])


def alibi(n_q: int, n_k: int, num_heads: int, *, offset: int | None = None) -> Float[np.ndarray, "h n_q n_k"]:
    """What ALiBi adds to the scores: the further the key, the lower, at a slope of each head's own.

    → bias (h, n_q, n_k), float64: −slope · |distance|. It does not mask: for causal attention, also pass the mask.
    """
    bias: np.ndarray = -alibi_slopes(num_heads)[:, None, None] * np.abs(distances(n_q, n_k, offset=offset))
    return bias


def _checked_table(name: str, table: ArrayLike, Q: np.ndarray, *, width: int) -> np.ndarray:
    """A table of the right width, (rows, width), or one for each head, (h, rows, width)."""
    table = checks.float_array(name, table, ndim=2)
    if table.shape[-1] != width:
        whose = "the queries and keys" if name == "key_table" else "the values"
        raise ValueError(f"{name} has {table.shape[-1]} columns but {whose} have {width}; both must be equally wide")
    if table.ndim > 2 and (table.ndim > 3 or Q.ndim < 3 or table.shape[0] != Q.shape[-3]):
        raise ValueError(
            f"{name} must have shape (rows, {width}), or (h, rows, {width}) with a table for each of the query heads, "
            f"got {table.shape} with queries of shape {Q.shape}"
        )
    return table


def _rows(distance: np.ndarray, rows: int, left: int | None) -> np.ndarray:
    """Which row of a table each distance uses: row `left` is distance 0, and the ends stand for all that is beyond."""
    if left is None and rows % 2 == 0:
        raise ValueError(
            f"key_table has {rows} rows; a table for distances -m … m has 2m + 1, an odd number "
            "(left= says how many rows come before distance 0)"
        )
    left = rows // 2 if left is None else checks.count("left", left, least=0)
    if left >= rows:
        raise ValueError(f"left must be less than the {rows} rows of key_table, got {left}")
    clipped: np.ndarray = np.clip(left - distance, 0, rows - 1)
    return clipped
