from __future__ import annotations

import tracemalloc

import ml_dtypes
import numpy as np
import pytest

from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.textbook.masks import create_causal_mask
from clearhead.textbook.memory_efficient import memory_efficient_attention


@pytest.mark.parametrize("chunk_size", [1, 4, 13, 1000])
@pytest.mark.parametrize("shape", [None, (17,), (13, 1), (13, 17), (3, 1, 17), (2, 1, 13, 17), (2, 3, 13, 17)])
def test_equals_the_whole(rng, chunk_size, shape):
    Q, K, V = (rng.standard_normal((2, 3, n, d)) for n, d in ((13, 11), (17, 11), (17, 7)))
    mask = None if shape is None else rng.random(shape) < 0.6
    got = memory_efficient_attention(Q, K, V, chunk_size, mask)
    np.testing.assert_allclose(got, scaled_dot_product_attention(Q, K, V, mask)[0], rtol=0, atol=1e-13)


def test_the_default_chunk_is_32_queries(rng):
    Q, K, V = (rng.standard_normal((n, 11)) for n in (97, 41, 41))
    mask = rng.standard_normal((97, 41))
    np.testing.assert_array_equal(
        memory_efficient_attention(Q, K, V, mask=mask, scale=0.3),
        np.concatenate(
            [
                scaled_dot_product_attention(Q[i : i + 32], K, V, mask[i : i + 32], scale=0.3)[0]
                for i in range(0, 97, 32)
            ]
        ),
    )


def test_grouped_heads_and_missing_dimensions(rng):
    Q, K, V = rng.standard_normal((2, 6, 37, 11)), rng.standard_normal((3, 41, 11)), rng.standard_normal((2, 3, 41, 13))
    mask = create_causal_mask(37, 41)
    np.testing.assert_allclose(
        memory_efficient_attention(Q, K, V, 7, mask),
        scaled_dot_product_attention(Q, K, V, mask)[0],
        rtol=0,
        atol=1e-13,
    )
    few = rng.standard_normal((37, 11))  # the keys bring the batch
    batched = rng.random((3, 37, 41)) < 0.5
    np.testing.assert_allclose(
        memory_efficient_attention(few, K, V[0], 7, batched),
        scaled_dot_product_attention(few, K, V[0], batched)[0],
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_the_type_is_kept(rng, dtype):
    Q, K, V = (rng.standard_normal((n, 11)).astype(dtype) for n in (37, 41, 41))
    output = memory_efficient_attention(Q, K, V, 5)
    assert output.dtype == dtype
    whole = scaled_dot_product_attention(Q, K, V)[0].astype(float)
    # Half types are summed in float32, so only their last rounding may differ. Of float32 the sums themselves run in
    # another order, and a number next to 0 is off by as much as a large one: they are sums of the same terms.
    roundings = 16 if dtype == np.float32 else 1
    noise = roundings * float(ml_dtypes.finfo(dtype).eps) * abs(whole).max()
    np.testing.assert_allclose(output.astype(float), whole, rtol=0, atol=noise)


@pytest.mark.parametrize(("n_q", "n_k"), [(0, 7), (5, 0), (0, 0)])
def test_nothing_to_do(n_q, n_k):
    output = memory_efficient_attention(np.ones((2, n_q, 11)), np.ones((2, n_k, 11)), np.ones((2, n_k, 13)))
    np.testing.assert_array_equal(output, np.zeros((2, n_q, 13)))


def test_the_matrix_is_never_whole(rng):
    n = 1000
    Q, K, V = (rng.standard_normal((n, 8)) for _ in range(3))
    mask = np.arange(n) % 7 > 0

    def peak(function):
        tracemalloc.start()
        function()
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    matrix = 8 * n * n
    assert peak(lambda: scaled_dot_product_attention(Q, K, V, mask)) > matrix
    assert peak(lambda: memory_efficient_attention(Q, K, V, 10, mask)) < matrix / 10


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"chunk_size": 0}, ValueError, "chunk_size must be at least 1, got 0"),
        ({"chunk_size": -3}, ValueError, "chunk_size must be at least 1, got -3"),
        ({"chunk_size": 2.0}, TypeError, "chunk_size must be a whole number, got 2.0 of type float"),
        (
            {"mask": np.ones((3, 5, 7), dtype=bool)},
            ValueError,
            r"mask of shape \(3, 5, 7\) does not broadcast to the scores' shape \(2, 5, 7\); its last two axes are n_q",
        ),
        (
            {"mask": np.ones((2, 3, 5, 7), dtype=bool)},
            ValueError,
            r"mask of shape \(2, 3, 5, 7\) does not broadcast to the scores' shape \(2, 5, 7\)",
        ),
        ({"mask": np.ones((7, 5), dtype=bool)}, ValueError, r"mask of shape \(7, 5\) does not broadcast"),
        ({"mask": np.ones((5, 7), dtype=int)}, TypeError, r"mask must be boolean \(True = may attend\) or float"),
        (
            {"chunk_size": np.ones((5, 7), dtype=bool)},
            TypeError,
            "chunk_size must be a whole number, got a mask; pass it by its name, mask=",
        ),
        ({"V": np.ones((2, 5, 13))}, ValueError, "there are 7 keys but 5 values; each key needs one value"),
        ({"K": np.ones((2, 7, 13))}, ValueError, "keys have 13 columns but queries have 11"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused(change, error, said):
    arguments = {"Q": np.ones((2, 5, 11)), "K": np.ones((2, 7, 11)), "V": np.ones((2, 7, 13))}
    with pytest.raises(error, match=said):
        memory_efficient_attention(**arguments | change)
