from __future__ import annotations

import inspect
import tracemalloc

import ml_dtypes
import numpy as np
import pytest

from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.textbook.flash import flash_attention
from clearhead.textbook.masks import create_causal_mask


@pytest.mark.parametrize("block_size", [1, 4, 13, 1000])
@pytest.mark.parametrize("shape", [None, (17,), (13, 1), (13, 17), (3, 1, 17), (2, 1, 13, 17), (2, 3, 13, 17)])
def test_equals_the_whole(rng, block_size, shape):
    Q, K, V = (rng.standard_normal((2, 3, n, d)) for n, d in ((13, 11), (17, 11), (17, 7)))
    mask = None if shape is None else rng.random(shape) < 0.6
    got = flash_attention(Q, K, V, mask, block_size=block_size)
    np.testing.assert_allclose(got, scaled_dot_product_attention(Q, K, V, mask)[0], rtol=0, atol=1e-13)


def test_a_maximum_that_rises_from_tile_to_tile(rng):
    """Each tile brings a far larger score than all before it, so each time everything is scaled down."""
    Q, V = np.ones((5, 1)), rng.standard_normal((41, 13))
    K = np.arange(41.0)[:, None]
    for keys in (K, -K, 100 * K, np.sin(K) * 300):
        expected = scaled_dot_product_attention(Q, keys, V)[0]
        np.testing.assert_allclose(flash_attention(Q, keys, V, block_size=3), expected, rtol=0, atol=1e-13)


def test_tiles_that_are_masked_whole(rng):
    Q, K, V = (rng.standard_normal((n, 11)) for n in (13, 17, 17))
    mask = np.zeros((13, 17), dtype=bool)
    mask[4:9, 5:9] = True  # the first tiles of every row are empty, and whole rows are
    got = flash_attention(Q, K, V, mask, block_size=4)
    np.testing.assert_allclose(got, scaled_dot_product_attention(Q, K, V, mask)[0], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(got[:4], np.zeros((4, 11)))


def test_an_additive_mask_and_a_scale(rng):
    Q, K, V = (rng.standard_normal((3, n, 11)) for n in (13, 17, 17))
    mask = np.where(rng.random((3, 13, 17)) < 0.7, rng.standard_normal((13, 17)), -np.inf)
    for scale in (0.0, 0.7):
        expected = scaled_dot_product_attention(Q, K, V, mask, scale=scale)[0]
        np.testing.assert_allclose(flash_attention(Q, K, V, mask, scale=scale), expected, rtol=0, atol=1e-13)


def test_grouped_heads_and_missing_dimensions(rng):
    Q, K, V = rng.standard_normal((2, 6, 37, 11)), rng.standard_normal((3, 41, 11)), rng.standard_normal((2, 3, 41, 13))
    mask = create_causal_mask(37, 41)
    expected = scaled_dot_product_attention(Q, K, V, mask)[0]
    np.testing.assert_allclose(flash_attention(Q, K, V, mask), expected, rtol=0, atol=1e-13)
    more = rng.standard_normal((5, 2, 3, 41, 13))  # only the values bring a batch
    expected = scaled_dot_product_attention(Q, K, more, mask)[0]
    np.testing.assert_allclose(flash_attention(Q, K, more, mask), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("dtype", "spacing"), [(np.float16, 2**-10), (ml_dtypes.bfloat16, 2**-7), (np.float32, 2**-21)]
)
def test_half_precision_is_rounded_once(rng, dtype, spacing):
    Q, K, V = (rng.standard_normal((n, 16)).astype(dtype) for n in (5, 1009, 1009))
    V = (V.astype(np.float32) + 1).astype(dtype)
    output = flash_attention(Q, K, V, block_size=64)
    assert output.dtype == dtype
    exact = scaled_dot_product_attention(*(x.astype(np.float64) for x in (Q, K, V)))[0]
    np.testing.assert_allclose(output.astype(float), exact, rtol=0.52 * spacing, atol=1e-6)


def test_values_may_be_of_another_type(rng):
    Q, K = (rng.standard_normal((n, 11)).astype(np.float32) for n in (5, 7))
    V = rng.standard_normal((7, 13))
    output = flash_attention(Q, K, V, block_size=2)
    assert output.dtype == np.float32
    np.testing.assert_allclose(output, scaled_dot_product_attention(Q, K, V)[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("n_q", "n_k"), [(0, 7), (5, 0), (0, 0)])
def test_nothing_to_do(n_q, n_k):
    output = flash_attention(np.ones((2, n_q, 11)), np.ones((2, n_k, 11)), np.ones((2, n_k, 13)))
    np.testing.assert_array_equal(output, np.zeros((2, n_q, 13)))


def test_the_matrix_is_never_whole(rng):
    n = 1000
    Q, K, V = (rng.standard_normal((n, 8)) for _ in range(3))
    tracemalloc.start()
    flash_attention(Q, K, V, np.arange(n) % 7 > 0, block_size=50)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * n / 10


def test_it_fits_on_one_screen():
    assert len(inspect.getsource(flash_attention).splitlines()) <= 45


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"block_size": 0}, ValueError, "block_size must be at least 1, got 0"),
        ({"block_size": 1.5}, TypeError, "block_size must be a whole number, got 1.5 of type float"),
        ({"scale": "1"}, TypeError, "scale must be a number, got '1' of type str"),
        (
            {"mask": np.ones((3, 5, 7), dtype=bool)},
            ValueError,
            r"mask of shape \(3, 5, 7\) does not broadcast to the scores' shape \(2, 5, 7\); its last two axes are n_q",
        ),
        ({"mask": np.ones((5, 7), dtype=int)}, TypeError, r"mask must be boolean \(True = may attend\) or float"),
        ({"V": np.ones((2, 5, 13))}, ValueError, "there are 7 keys but 5 values; each key needs one value"),
        ({"K": np.ones((2, 7, 13))}, ValueError, "keys have 13 columns but queries have 11"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused(change, error, said):
    arguments = {"Q": np.ones((2, 5, 11)), "K": np.ones((2, 7, 11)), "V": np.ones((2, 7, 13))}
    with pytest.raises(error, match=said):
        flash_attention(**arguments | change)
