from __future__ import annotations

import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead import masks
from clearhead.textbook.linear_attention import elu_plus_one, linear_attention, linear_attention_weights


def by_the_loop(Q, K, V, visible, feature_map):
    """Σ_j (φ(q_i) · φ(k_j)) v_j / Σ_j φ(q_i) · φ(k_j), one pair at a time; visible[i, j] says which pairs there are."""
    output = np.zeros((len(Q), V.shape[1]))
    for i, q in enumerate(Q):
        total = 0.0
        for j, (k, v) in enumerate(zip(K, V, strict=True)):
            if visible[i, j]:
                weight = feature_map(q) @ feature_map(k)
                output[i] += weight * v
                total += weight
        if total:
            output[i] /= total
    return output


def squares(x):
    """A feature map that changes the width."""
    return np.concatenate([x**2, np.ones_like(x[..., :1])], axis=-1)


def relu(x):
    return np.maximum(x, 0)


@pytest.mark.parametrize("feature_map", [elu_plus_one, squares, relu])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n_q", "n_k", "offset"), [(7, 7, None), (3, 11, None), (3, 11, 0), (11, 5, None), (5, 7, 30)])
def test_all_three_forms_agree(rng, n_q, n_k, offset, causal, masked, feature_map):
    Q, K, V = (rng.standard_normal((2, 3, n, d)) for n, d in ((n_q, 5), (n_k, 5), (n_k, 2)))
    key_mask = rng.random((2, 1, n_k)) < 0.6 if masked else None
    how = {"causal": causal, "offset": offset, "key_mask": key_mask, "feature_map": feature_map}
    output, weights = linear_attention(Q, K, V, **how), linear_attention_weights(Q, K, **how)
    np.testing.assert_allclose(output, weights @ V, rtol=0, atol=1e-13)
    shift = n_k - n_q if offset is None else offset
    for b, h in np.ndindex(2, 3):
        visible = np.array([[not causal or j <= i + shift for j in range(n_k)] for i in range(n_q)])
        visible &= True if key_mask is None else key_mask[b]
        expected = by_the_loop(Q[b, h], K[b, h], V[b, h], visible, feature_map)
        np.testing.assert_allclose(output[b, h], expected, rtol=0, atol=1e-13)


@given(st.integers(0, 2**32), st.integers(0, 13), st.integers(0, 13), st.booleans())
def test_rows_sum_to_one_or_zero(seed, n_q, n_k, causal):
    rng = np.random.default_rng(seed)
    Q, K = 10 * rng.standard_normal((n_q, 3)), 10 * rng.standard_normal((n_k, 3))
    sums = linear_attention_weights(Q, K, causal=causal).sum(axis=-1)
    visible = np.arange(n_q) + n_k - n_q >= 0 if causal else np.full(n_q, n_k > 0)
    np.testing.assert_allclose(sums, visible, rtol=0, atol=1e-12)


def test_elu_plus_one():
    x = np.array([-1000.0, -1.0, 0.0, 2.0, 1000.0])
    np.testing.assert_allclose(elu_plus_one(x), [0, np.exp(-1), 1, 3, 1001], rtol=1e-15)


def test_the_future_changes_nothing(rng):
    Q, K, V = rng.standard_normal((3, 2, 11, 5))
    before = linear_attention(Q, K, V, causal=True)
    for x in (Q, K, V):
        x[:, 7:] = np.nan
    np.testing.assert_array_equal(linear_attention(Q, K, V, causal=True)[:, :7], before[:, :7])


def test_masked_keys_never_reach_the_output(rng):
    Q, K, V = rng.standard_normal((3, 2, 11, 5))
    key_mask = rng.random((2, 11)) < 0.5
    before = linear_attention(Q, K, V, key_mask=key_mask)
    K[~key_mask], V[~key_mask] = np.inf, np.nan
    np.testing.assert_array_equal(linear_attention(Q, K, V, key_mask=key_mask), before)


def test_permuting_keys_with_values_changes_nothing(rng):
    Q, K, V = rng.standard_normal((3, 2, 11, 5))
    order = rng.permutation(11)
    shuffled = linear_attention(Q, K[:, order], V[:, order])
    np.testing.assert_allclose(linear_attention(Q, K, V), shuffled, rtol=0, atol=1e-14)


@pytest.mark.parametrize("causal", [False, True])
def test_query_heads_share_key_heads(rng, causal):
    Q, K, V = rng.standard_normal((6, 7, 5)), rng.standard_normal((2, 7, 5)), rng.standard_normal((2, 7, 3))
    output = linear_attention(Q, K, V, causal=causal)
    for head in range(6):
        expected = linear_attention(Q[head], K[head // 3], V[head // 3], causal=causal)
        np.testing.assert_allclose(output[head], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("causal", [False, True])
def test_no_n_by_n_matrix_is_ever_made(rng, causal):
    n = 4001
    Q, K, V = rng.standard_normal((3, n, 2))
    tracemalloc.start()
    linear_attention(Q, K, V, causal=causal)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * n / 40  # the matrix alone would take 128 MB


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_the_type_stays(rng, kind, causal):
    Q, K, V = (rng.standard_normal((2, 11, 5)).astype(kind) for _ in range(3))
    output, weights = linear_attention(Q, K, V, causal=causal), linear_attention_weights(Q, K, causal=causal)
    exact = linear_attention(*(x.astype(np.float64) for x in (Q, K, V)), causal=causal)
    assert output.dtype == weights.dtype == kind
    np.testing.assert_allclose(output.astype(np.float64), exact, rtol=0, atol=4 * float(ml_dtypes.finfo(kind).eps))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n_q", "n_k"), [(0, 5), (5, 0), (0, 0)])
def test_no_keys_or_no_queries(n_q, n_k, causal):
    output = linear_attention(np.ones((2, n_q, 3)), np.ones((2, n_k, 3)), np.ones((2, n_k, 7)), causal=causal)
    np.testing.assert_array_equal(output, np.zeros((2, n_q, 7)))


X = np.ones((2, 3, 5, 7))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: linear_attention(X.astype(int), X, X), TypeError, "Q must be float16"),
        (lambda: linear_attention(X, X[..., :3], X), ValueError, "keys have 3 columns but queries have 7"),
        (lambda: linear_attention(X, X, X[:, :, :3]), ValueError, "there are 5 keys but 3 values"),
        (
            lambda: linear_attention(X, X, X, causal=True, offset=0.5),
            TypeError,
            "offset must be a whole number, got 0.5",
        ),
        (
            lambda: linear_attention(X, X, X, key_mask=masks.key_lengths([3])),
            TypeError,
            r"key_mask must be a boolean array .* got the mask key_lengths\(\[3\]\); .* causal=True is a causal mask",
        ),
        (lambda: linear_attention(X, X, X, key_mask=np.ones(5)), TypeError, "key_mask must be boolean.*got float64"),
        (
            lambda: linear_attention(X, X, X, key_mask=np.ones((2, 5), bool)),
            ValueError,
            r"key_mask of shape \(2, 5\) does not broadcast to the keys' \(2, 3, 5\).*key_mask\[:, None\]",
        ),
        (
            lambda: linear_attention(X, X, X, feature_map=lambda x: x.sum(-1)),
            ValueError,
            r"feature_map must turn \(…, d\) into \(…, d_features\), got \(2, 3, 5\) from \(2, 3, 5, 7\)",
        ),
        (lambda: linear_attention_weights(X, X[..., :3]), ValueError, "keys have 3 columns but queries have 7"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
