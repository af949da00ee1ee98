from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from clearhead import biases
from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.textbook.masks import create_causal_mask
from clearhead.textbook.relative import (
    alibi,
    alibi_slopes,
    distances,
    relative_attention,
    t5_bias,
    t5_buckets,
)
from clearhead.textbook.softmax import softmax

RISING = np.arange(-2.0, 3.0)[:, None]  # a table of relative attention: the later a key, the higher its score


def test_the_queries_are_the_last_positions():
    np.testing.assert_array_equal(distances(2, 5), [[3, 2, 1, 0, -1], [4, 3, 2, 1, 0]])
    np.testing.assert_array_equal(distances(2, 3, offset=0), [[0, -1, -2], [1, 0, -1]])
    np.testing.assert_array_equal(distances(2, 3, offset=-1), [[-1, -2, -3], [0, -1, -2]])


@pytest.mark.parametrize(("n_q", "n_k", "offset"), [(5, 7, None), (7, 5, None), (3, 11, 0), (5, 5, -2)])
def test_a_distance_has_one_sign_in_the_textbook_and_in_biases(n_q, n_k, offset):
    """A bias that is the distance itself, and ones that tell what came before from what is to come."""
    itself = biases.RelativeBias(lambda distance: distance[None], offset)
    np.testing.assert_array_equal(itself.array(n_q, n_k)[0], distances(n_q, n_k, offset=offset))
    table = np.random.default_rng(0).standard_normal((10, 3))
    for both in (True, False):
        ours = t5_bias(n_q, n_k, table, bidirectional=both, max_distance=11, offset=offset)
        theirs = biases.t5(table, bidirectional=both, max_distance=11, offset=offset).array(n_q, n_k)
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(
        relative_attention(np.ones((n_q, 1)), np.zeros((n_k, 1)), np.zeros((n_k, 1)), RISING, offset=offset)[1],
        softmax(-np.clip(distances(n_q, n_k, offset=offset), -2, 2).astype(float)),
    )


def by_the_loop(Q, K, V, key_table, value_table, mask, left, offset, scale):
    """Shaw et al.'s equations (3) and (4) for one head, one pair at a time."""
    n_q, n_k = len(Q), len(K)
    right = len(key_table) - 1 - left
    row = {(i, j): max(-left, min(right, j - (i + offset))) + left for i in range(n_q) for j in range(n_k)}
    scores, output = np.full((n_q, n_k), -np.inf), np.zeros((n_q, V.shape[1]))
    for (i, j), r in row.items():
        if mask[i, j]:
            scores[i, j] = Q[i] @ (K[j] + key_table[r]) * scale
    weights = softmax(scores)
    for (i, j), r in row.items():
        output[i] += weights[i, j] * (V[j] + value_table[r])
    return output, weights


@pytest.mark.parametrize(("left", "rows"), [(None, 5), (None, 1), (0, 3), (4, 5), (3, 6), (None, 41)])
@pytest.mark.parametrize(("n_q", "n_k", "offset"), [(7, 7, None), (3, 11, None), (3, 11, 0), (7, 5, 1)])
def test_it_is_the_definition(rng, left, rows, n_q, n_k, offset):
    Q, K, V = (rng.standard_normal((2, 3, n, d)) for n, d in ((n_q, 5), (n_k, 5), (n_k, 2)))
    key_table, value_table = rng.standard_normal((rows, 5)), rng.standard_normal((rows, 2))
    mask = rng.random((2, 1, n_q, n_k)) < 0.7
    output, weights = relative_attention(Q, K, V, key_table, value_table, mask, left=left, offset=offset, scale=0.3)
    plain_left, plain_offset = rows // 2 if left is None else left, n_k - n_q if offset is None else offset
    for at in np.ndindex(2, 3):
        expected = by_the_loop(
            Q[at], K[at], V[at], key_table, value_table, mask[at[0], 0], plain_left, plain_offset, 0.3
        )
        np.testing.assert_allclose(output[at], expected[0], rtol=0, atol=1e-13)
        np.testing.assert_allclose(weights[at], expected[1], rtol=0, atol=1e-14)


def test_tables_of_zeros_change_nothing(rng):
    Q, K, V = rng.standard_normal((3, 2, 7, 5))
    expected = scaled_dot_product_attention(Q, K, V)
    for ours, plain in zip(relative_attention(Q, K, V, np.zeros((3, 5)), np.zeros((3, 5))), expected, strict=True):
        np.testing.assert_allclose(ours, plain, rtol=0, atol=1e-15)


def test_without_a_value_table_the_values_are_plain(rng):
    Q, K, V = rng.standard_normal((3, 2, 7, 5))
    output, weights = relative_attention(Q, K, V, rng.standard_normal((3, 5)))
    np.testing.assert_allclose(output, weights @ V, rtol=0, atol=1e-14)


def test_each_head_may_have_its_own_tables_and_share_keys(rng):
    Q, K, V = rng.standard_normal((6, 7, 5)), rng.standard_normal((2, 7, 5)), rng.standard_normal((2, 7, 3))
    key_table, value_table = rng.standard_normal((6, 9, 5)), rng.standard_normal((6, 9, 3))
    output, weights = relative_attention(Q, K, V, key_table, value_table)
    for head in range(6):
        expected = relative_attention(Q[head], K[head // 3], V[head // 3], key_table[head], value_table[head])
        np.testing.assert_allclose(output[head], expected[0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(weights[head], expected[1], rtol=0, atol=1e-14)


def test_what_is_masked_never_reaches_the_output(rng):
    Q, K, V = rng.standard_normal((3, 5, 3))
    key_table, value_table = rng.standard_normal((2, 9, 3))
    causal = create_causal_mask(5)
    causal[2] = False
    clean = relative_attention(Q, K, V, key_table, value_table, causal)
    K[4], V[4], key_table[5:], value_table[5:] = np.nan, np.inf, np.inf, np.nan  # the last key, and the future
    dirty = relative_attention(Q[:4], K, V, key_table, value_table, causal[:4], offset=0)
    for before, after in zip(clean, dirty, strict=True):
        np.testing.assert_array_equal(before[:4], after)
        np.testing.assert_array_equal(after[2], 0)


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_the_type_stays(rng, kind):
    arrays = [rng.standard_normal(shape).astype(kind) for shape in ((2, 7, 5), (2, 7, 5), (2, 7, 3), (5, 5), (5, 3))]
    exact = relative_attention(*(x.astype(np.float64) for x in arrays))
    for ours, true in zip(relative_attention(*arrays), exact, strict=True):
        assert ours.dtype == kind
        np.testing.assert_allclose(ours.astype(np.float64), true, rtol=0, atol=4 * float(ml_dtypes.finfo(kind).eps))


def test_t5_buckets_by_hand():
    # 16 buckets a side: 0 … 7 each have their own, 8 … 127 share eight that widen by 2^½, the rest the last
    apart = np.array([0, 1, 7, 8, 11, 12, 15, 16, 64, 127, 128, 5000])
    expected = np.array([0, 1, 7, 8, 8, 9, 9, 10, 14, 15, 15, 15])
    np.testing.assert_array_equal(t5_buckets(-apart), expected)
    np.testing.assert_array_equal(t5_buckets(apart), np.where(apart > 0, expected + 16, 0))


def test_t5_buckets_of_a_decoder():
    relative_positions = np.arange(-300, 300)
    buckets = t5_buckets(relative_positions, bidirectional=False)
    assert (buckets[relative_positions >= 0] == 0).all()
    assert (np.diff(buckets[relative_positions <= 0]) <= 0).all()
    assert set(buckets) == set(range(32))
    np.testing.assert_array_equal(
        buckets[(relative_positions <= 0) & (relative_positions > -16)], np.arange(15, -1, -1)
    )


def test_t5_buckets_take_unsigned_numbers():
    np.testing.assert_array_equal(t5_buckets(np.arange(9, dtype=np.uint8), bidirectional=False), np.zeros(9))


def test_t5_bias_looks_up_each_distance(rng):
    table = rng.standard_normal((10, 3)).astype(np.float32)
    bias = t5_bias(5, 7, table, max_distance=11)
    assert bias.dtype == np.float32
    for head, i, j in np.ndindex(3, 5, 7):
        bucket = t5_buckets(np.array(j - (i + 2)), num_buckets=10, max_distance=11)
        assert bias[head, i, j] == table[bucket, head]
    np.testing.assert_array_equal(
        t5_bias(5, 7, table, offset=0, max_distance=11)[:, 2:], t5_bias(3, 7, table, offset=2, max_distance=11)
    )


def test_alibi_slopes_by_hand():
    np.testing.assert_array_equal(alibi_slopes(8), [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256])
    np.testing.assert_array_equal(alibi_slopes(1), [1 / 256])
    np.testing.assert_allclose(alibi_slopes(16)[::-1] * 256, 2 ** (np.arange(16) / 2), rtol=1e-14)
    # 6 heads: the series of 4, then the 1st and 3rd of the series of 8
    np.testing.assert_array_equal(alibi_slopes(6), [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8])


def test_alibi_is_slope_times_distance():
    bias = alibi(5, 7, 3)
    for head, i, j in np.ndindex(3, 5, 7):
        assert bias[head, i, j] == pytest.approx(-alibi_slopes(3)[head] * abs(j - (i + 2)), abs=1e-15)
    np.testing.assert_array_equal(alibi(5, 7, 3, offset=0)[:, 1:], alibi(4, 7, 3, offset=1))


def test_alibi_fades_by_the_same_ratio(rng):
    _, weights = scaled_dot_product_attention(
        np.zeros((2, 5, 3)), np.ones((2, 5, 3)), np.ones((2, 5, 3)), bias=alibi(5, 5, 2)
    )
    last = weights[:, -1]
    np.testing.assert_allclose(last[:, 1:] / last[:, :-1], np.exp(alibi_slopes(2))[:, None] * np.ones(4), rtol=1e-13)


Q3, TABLE = np.ones((3, 5, 7)), np.ones((3, 7))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: distances(-1, 2), ValueError, "n_q must be at least 0, got -1"),
        (lambda: distances(1, 2.0), TypeError, "n_k must be a whole number, got 2.0"),
        (lambda: distances(1, 2, offset=0.5), TypeError, "offset must be a whole number, got 0.5"),
        (
            lambda: relative_attention(Q3, Q3, Q3, np.ones((3, 6))),
            ValueError,
            "key_table has 6 columns but the queries and keys have 7",
        ),
        (
            lambda: relative_attention(Q3, Q3, Q3, TABLE, np.ones((3, 6))),
            ValueError,
            "value_table has 6 columns but the values have 7",
        ),
        (
            lambda: relative_attention(Q3, Q3, Q3, TABLE, np.ones((5, 7))),
            ValueError,
            "key_table has 3 rows and value_table 5; both need one row for each distance",
        ),
        (
            lambda: relative_attention(Q3, Q3, Q3, np.ones((4, 7))),
            ValueError,
            r"key_table has 4 rows; a table for distances -m … m has 2m \+ 1",
        ),
        (
            lambda: relative_attention(Q3, Q3, Q3, TABLE, left=3),
            ValueError,
            "left must be less than the 3 rows of key_table, got 3",
        ),
        (lambda: relative_attention(Q3, Q3, Q3, TABLE, left=-1), ValueError, "left must be at least 0, got -1"),
        (
            lambda: relative_attention(Q3, Q3, Q3, np.ones((2, 3, 7))),
            ValueError,
            r"a table for each of the query heads, got \(2, 3, 7\) with queries of shape \(3, 5, 7\)",
        ),
        (lambda: relative_attention(Q3, Q3, Q3, TABLE.astype(int)), TypeError, "key_table must be float16"),
        (lambda: relative_attention(Q3, Q3, Q3, TABLE, scale="x"), TypeError, "scale must be a number"),
        (lambda: relative_attention(Q3, Q3, Q3, TABLE, mask=np.ones((2, 2), bool)), ValueError, "mask of shape"),
        (lambda: relative_attention(Q3, Q3[:, :, :5], Q3, TABLE), ValueError, "keys have 5 columns but queries have 7"),
        (lambda: t5_buckets(np.ones(3)), TypeError, "relative_position must be integers, got float64"),
        (lambda: t5_buckets(3, num_buckets=7), ValueError, "num_buckets must be even when bidirectional.*got 7"),
        (lambda: t5_buckets(3, num_buckets=2), ValueError, "num_buckets must be at least 4, got 2"),
        (lambda: t5_buckets(3, num_buckets=32, max_distance=8), ValueError, "max_distance must be at least 9, got 8"),
        (lambda: t5_bias(3, 5, np.ones(32)), ValueError, r"table must have shape \(num_buckets, h\).*got \(32,\)"),
        (lambda: t5_bias(3, 5, np.ones((32, 2), int)), TypeError, "table must be float16"),
        (lambda: alibi_slopes(0), ValueError, "num_heads must be at least 1, got 0"),
        (lambda: alibi(3, -5, 2), ValueError, "n_k must be at least 0, got -5"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
