from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.textbook.dropout import dropout_mask


def hashed_bits(seed, head, row, column):
    """The 32 bits of one cell, in Python's own whole numbers."""

    def mix64(x):
        x = (x + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    key = mix64((head << 32 | row) ^ mix64(seed))
    x = (column + key % 2**32) % 2**32
    x = (x ^ x >> 16) * 0x7FEB352D % 2**32
    x ^= key >> 32
    x = (x ^ x >> 15) * 0x846CA68B % 2**32
    return x ^ x >> 16


@pytest.mark.parametrize("seed", [0, 7, 2**63 + 11, 2**64 + 7])
def test_each_cell_hashes_its_own_address(seed):
    mask = dropout_mask((3, 5, 7), 0.3, seed)
    for head, row, column in np.ndindex(3, 5, 7):
        kept = hashed_bits(seed % 2**64, head, row, column) >= round(0.3 * 2**32)
        assert mask[head, row, column] == (1 / 0.7 if kept else 0)


def test_a_cell_does_not_know_how_large_the_matrix_is():
    large = dropout_mask((5, 11, 13), 0.4, 3)
    np.testing.assert_array_equal(dropout_mask((2, 5, 7), 0.4, 3), large[:2, :5, :7])
    np.testing.assert_array_equal(dropout_mask((11, 13), 0.4, 3), large[0])


def test_leading_dimensions_are_counted_in_order():
    flat = dropout_mask((6, 5, 7), 0.4, 3)
    np.testing.assert_array_equal(dropout_mask((2, 3, 5, 7), 0.4, 3), flat.reshape(2, 3, 5, 7))


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_as_many_are_dropped_as_asked_and_the_mean_stays_1(rate):
    mask = dropout_mask((4, 499, 503), rate, seed=11)
    assert set(np.unique(mask)) <= {0.0, 1 / (1 - rate)}
    error = 4 * np.sqrt(rate * (1 - rate) / mask.size)
    assert abs((mask == 0).mean() - rate) <= error
    assert mask.mean() == pytest.approx(1, abs=error / (1 - rate))
    for axis in (0, 1, 2):  # and not in stripes
        other = tuple(i for i in range(3) if i != axis)
        shares = (mask == 0).mean(axis=other)
        assert abs(shares - rate).max() <= 5 * np.sqrt(rate * (1 - rate) * mask.shape[axis] / mask.size) + 1e-15


def test_seeds_rows_and_heads_are_independent():
    dropped = dropout_mask((3, 101, 1009), 0.5, seed=1) == 0
    other = dropout_mask((3, 101, 1009), 0.5, seed=2) == 0
    bound = 4 * 0.5 / np.sqrt(dropped.size)
    for a, b in ((dropped, other), (dropped[:, 1:], dropped[:, :-1]), (dropped[1:], dropped[:-1])):
        assert abs((a == b).mean() - 0.5) < 1.5 * bound


def test_a_rate_next_to_1_drops_everything():
    assert not dropout_mask((5, 7), 1 - 1e-12, 0).any()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_attention_returns_the_weights_that_made_the_output(rng, dtype):
    Q, K, V = (rng.standard_normal((2, 3, n, 5)).astype(dtype) for n in (7, 11, 11))
    output, weights = scaled_dot_product_attention(Q, K, V, dropout=0.4, seed=5)
    plain = scaled_dot_product_attention(Q, K, V)[1]
    assert output.dtype == weights.dtype == dtype
    spacing = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-12}[np.dtype(dtype).name]
    expected = plain.astype(float) * dropout_mask(plain.shape, 0.4, 5)
    np.testing.assert_allclose(weights.astype(float), expected, rtol=2 * spacing, atol=1e-6)
    np.testing.assert_allclose(
        output.astype(float), weights.astype(float) @ V.astype(float), rtol=2 * spacing, atol=4 * spacing
    )


def test_dropout_of_0_needs_no_seed_and_changes_nothing(rng):
    Q, K, V = (rng.standard_normal((n, 5)) for n in (7, 11, 11))
    np.testing.assert_array_equal(
        scaled_dot_product_attention(Q, K, V, dropout=0.0)[0], scaled_dot_product_attention(Q, K, V)[0]
    )


def test_the_average_over_seeds_is_attention(rng):
    Q, K, V = (rng.standard_normal((n, 5)) for n in (3, 11, 11))
    outputs = np.stack([scaled_dot_product_attention(Q, K, V, dropout=0.3, seed=s)[0] for s in range(2000)])
    error = 5 * outputs.std(axis=0) / np.sqrt(len(outputs))
    assert (abs(outputs.mean(axis=0) - scaled_dot_product_attention(Q, K, V)[0]) <= error).all()


@pytest.mark.parametrize(
    ("shape", "rate", "seed", "error", "said"),
    [
        ((5, 7), 1.0, 0, ValueError, "dropout must be at least 0 and less than 1, got 1"),
        ((5, 7), -0.1, 0, ValueError, "dropout must be at least 0 and less than 1, got -0.1"),
        ((5, 7), np.nan, 0, ValueError, "dropout must be finite, got nan"),
        ((5, 7), "0.1", 0, TypeError, "dropout must be a number, got '0.1' of type str"),
        ((5, 7), True, 0, TypeError, "dropout must be a number, got True of type bool"),
        ((5, 7), 0.1, None, ValueError, "dropout=0.1 needs a seed: the same seed always drops the same weights"),
        ((5, 7), 0.1, -1, ValueError, "seed must be at least 0, got -1"),
        ((5, 7), 0.1, 1.5, TypeError, "seed must be a whole number, got 1.5 of type float"),
        ((7,), 0.1, 0, ValueError, r"shape must be that of weights, \(…, n_q, n_k\), got \(7,\)"),
        ((5, -7), 0.1, 0, ValueError, "each size of shape must be at least 0, got -7"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_dropped_is_refused(shape, rate, seed, error, said):
    with pytest.raises(error, match=said):
        dropout_mask(shape, rate, seed)
