from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead.figures.pooling import factor, note, pool
from clearhead.textbook.softmax import softmax


@given(st.integers(1, 13), st.integers(1, 11), st.integers(1, 5), st.integers(1, 7), st.sampled_from(["mean", "max"]))
def test_each_cell_is_the_reduction_of_its_block(n_q, n_k, by_q, by_k, reduce):
    weights = softmax(np.random.default_rng(n_q * 100 + n_k).normal(size=(n_q, n_k)))
    pooled = pool(weights, by_q, by_k, reduce=reduce)
    assert pooled.shape == (-(-n_q // by_q), -(-n_k // by_k))
    for i, j in np.ndindex(pooled.shape):
        block = weights[i * by_q : (i + 1) * by_q, j * by_k : (j + 1) * by_k]
        # The mean of row means is the mean, since the rows of a block are equally long.
        np.testing.assert_allclose(pooled[i, j], getattr(block, reduce)(), rtol=1e-13)


@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_what_is_no_weight_does_not_count(reduce):
    weights = np.arange(1.0, 36.0).reshape(5, 7)
    weights[0, :4] = weights[2:4, 4:6] = np.nan
    pooled = pool(weights, 2, 2, reduce=reduce)
    for i, j in np.ndindex(pooled.shape):
        block = weights[2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
        expected = getattr(np, f"nan{reduce}")(block) if np.isfinite(block).any() else np.nan
        np.testing.assert_allclose(pooled[i, j], expected, rtol=1e-15)
    assert np.isnan(pooled).sum() == 1


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_does_not_accumulate(dtype):
    weights = np.full((3, 4096), 1 / 4096, dtype)
    pooled = pool(weights, 3, 4096)
    assert pooled.dtype == np.float32
    np.testing.assert_allclose(pooled, float(weights[0, 0]), rtol=1e-5)


def test_factor_is_the_least_that_fits():
    assert [factor(n, 100) for n in (1, 100, 101, 200, 201, 2000)] == [1, 1, 2, 2, 3, 20]


def test_the_note_says_how_many_and_nothing_if_there_is_nothing_to_say():
    assert note(5, 7, 1, 1, reduce="mean") == ""
    said = note(2000, 5000, 3, 7, reduce="max")
    assert "largest of 3 × 7 weights (queries × keys)" in said
    assert "2,000 × 5,000" in said
    assert "mean of about 3.91 × 7.81 weights" in note(2000, 4000, 2000 / 512, 4000 / 512, reduce="mean")


def test_an_unknown_reduction():
    with pytest.raises(ValueError, match="reduce must be one of 'mean', 'max', got 'sum'"):
        pool(np.ones((2, 2)), 2, 2, reduce="sum")
