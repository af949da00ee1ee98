from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead.matrices import StoredMatrix, between_groups, cell_length, is_matrix, pool
from clearhead.textbook.masks import create_causal_mask
from clearhead.textbook.patterns import diagonal, first_token
from clearhead.textbook.softmax import softmax


@pytest.fixture
def weights(rng):
    return softmax(2 * rng.normal(size=(3, 5, 7)))


def test_an_array_answers_what_is_asked_of_a_matrix(weights):
    matrix = StoredMatrix(weights)
    assert is_matrix(matrix)
    assert not is_matrix(weights)
    assert (matrix.heads, matrix.n_q, matrix.n_k, matrix.lead, matrix.batch_shape) == (3, 5, 7, (3,), ())
    np.testing.assert_array_equal(matrix.weights(1, slice(1, 4), slice(2, 6)), weights[1, 1:4, 2:6])
    np.testing.assert_array_equal(matrix.weights(), weights)
    np.testing.assert_array_equal(matrix.received, weights.sum(axis=-2))
    one = StoredMatrix(weights[0])
    assert (one.heads, one.lead, one.batch_shape) == (1, (), ())
    np.testing.assert_array_equal(one.weights(0), weights[0])
    np.testing.assert_array_equal(one.average().weights(0), weights[0])


def test_a_batch_of_them(rng):
    weights = softmax(rng.normal(size=(2, 11, 3, 5, 7)))
    matrix = StoredMatrix(weights)
    assert (matrix.heads, matrix.lead, matrix.batch_shape) == (3, (2, 11, 3), (2, 11))
    np.testing.assert_array_equal(matrix.weights(2, 3, batch=(1, 4)), weights[1, 4, 2, 3])
    np.testing.assert_array_equal(matrix.max_weight, weights.max(axis=-1))
    np.testing.assert_allclose(matrix.average().weights(0), weights.mean(axis=2), rtol=1e-14)
    assert matrix.tile(size=2).shape == (2, 11, 3, 2, 2)


def test_statistics_are_what_they_say(rng):
    weights = softmax(rng.normal(size=(2, 3, 7)) + np.where(create_causal_mask(7)[4:], 0, -np.inf))
    matrix = StoredMatrix(weights)
    places = abs(np.arange(4, 7)[:, None] - np.arange(7))
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    np.testing.assert_allclose(matrix.entropy, -(weights * logarithms).sum(axis=-1), rtol=1e-13)
    np.testing.assert_allclose(matrix.distance, (weights * places).sum(axis=-1), rtol=1e-13)
    np.testing.assert_allclose(matrix.on_self, np.diagonal(weights, 4, axis1=1, axis2=2), rtol=1e-15)
    np.testing.assert_array_equal(matrix.on_first, weights[..., 0])
    np.testing.assert_array_equal(matrix.max_weight, weights.max(axis=-1))
    np.testing.assert_array_equal(StoredMatrix(np.zeros((2, 3))).distance, [0, 0])


def test_a_mean_of_heads_is_masked_where_all_are_and_has_the_entropy_of_the_mean():
    matrix = StoredMatrix(np.stack([diagonal(6), first_token(6)]))
    np.testing.assert_allclose(matrix.average().entropy[0], [0, *[np.log(2)] * 5], rtol=1e-12)
    np.testing.assert_array_equal(matrix.average().weights(0), (diagonal(6) + first_token(6)) / 2)
    masked = StoredMatrix(matrix.array, allowed=np.stack([np.tri(6), np.eye(6)]) > 0).average()
    np.testing.assert_array_equal(np.isnan(masked.tile(0, size=6)), ~np.tri(6, dtype=bool))


# Cells


@pytest.mark.parametrize(
    ("n", "size", "length"), [(1, 1, 1), (0, 5, 1), (8, 8, 1), (9, 8, 2), (32768, 256, 128), (32769, 256, 256)]
)
def test_a_cell_is_the_smallest_power_of_two_that_fits(n, size, length):
    assert cell_length(n, size) == length


@given(st.integers(1, 200), st.integers(1, 70))
def test_cells_are_few_enough_and_no_larger_than_they_must_be(n, size):
    length = cell_length(n, size)
    assert -(-n // length) <= size
    assert length == 1 or -(-n // (length // 2)) > size


@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_a_tile_is_the_window_in_cells_over_what_is_not_masked(rng, reduce):
    n_q, n_k = 23, 29
    weights = softmax(rng.normal(size=(2, n_q, n_k)))
    allowed = rng.random((2, n_q, n_k)) < 0.2
    tile = StoredMatrix(weights, allowed=allowed).tile(1, slice(2, 21), slice(5, 29), (5, 12), reduce=reduce)
    assert tile.shape == (5, 12)
    for i, j in np.ndindex(tile.shape):
        place = (1, slice(2 + 4 * i, min(2 + 4 * i + 4, 21)), slice(5 + 2 * j, 5 + 2 * j + 2))
        block = weights[place][allowed[place]]
        np.testing.assert_allclose(tile[i, j], getattr(block, reduce)() if block.size else np.nan, rtol=1e-14)
    assert np.isnan(tile).any()


def test_coarser_cells_are_made_of_finer_ones(rng):
    matrix = StoredMatrix(softmax(rng.normal(size=(64, 64))))
    fine, coarse = matrix.tile(size=32), matrix.tile(size=16)
    np.testing.assert_allclose(coarse, fine.reshape(16, 2, 16, 2).mean(axis=(1, 3)), rtol=1e-14)


def test_keys_left_out_do_not_count(rng):
    weights = softmax(rng.normal(size=(4, 8)))
    tile = StoredMatrix(weights).without([0, 4, 5]).tile(size=(1, 4))
    np.testing.assert_allclose(tile[0], [weights[:, 1].mean(), weights[:, 2:4].mean(), np.nan, weights[:, 6:].mean()])


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
    for pooled in (pool(weights, 3, 4096), StoredMatrix(weights).tile(size=1)):
        assert pooled.dtype == np.float32
        np.testing.assert_allclose(pooled, float(weights[0, 0]), rtol=1e-5)


def test_an_unknown_reduction():
    with pytest.raises(ValueError, match="reduce must be one of 'mean', 'max', got 'sum'"):
        pool(np.ones((2, 2)), 2, 2, reduce="sum")


# Groups


def test_groups_are_summed_over_keys_and_averaged_over_queries(rng):
    weights = rng.dirichlet(np.ones(7), (2, 3, 5))
    found = between_groups(weights, np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, -1, 1, 2, 2]))
    for word, rows in enumerate(([0, 1], [2, 3, 4])):
        for other, columns in enumerate(([0, 1, 2], [4], [5, 6])):
            expected = sum(weights[..., row, column] for row in rows for column in columns) / len(rows)
            np.testing.assert_allclose(found[..., word, other], expected, rtol=1e-12)


def test_a_group_without_queries_looks_at_nothing():
    np.testing.assert_array_equal(between_groups(np.ones((1, 1)), np.array([1]), np.array([0])), [[0], [1]])


# What can be looked at


def test_tensors_of_any_kind_are_read(weights):
    torch = pytest.importorskip("torch")
    for tensor in (torch.tensor(weights, requires_grad=True), torch.tensor(weights).bfloat16()):
        found = StoredMatrix(tensor).weights()
        assert found.dtype in (np.float32, np.float64)
        np.testing.assert_array_equal(found, tensor.detach().double().numpy())


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        (np.ones(3) / 3, ValueError, r"\(n_q, n_k\) or \(h, n_q, n_k\), got shape \(3,\) \(weights\[None, :\]"),
        (np.ones((3, 3), int), TypeError, "weights must be float16, .* got int64"),
        (np.zeros((0, 2, 3)), ValueError, r"shape \(0, 2, 3\) are empty"),
        (np.array([[0.5, np.nan]]), ValueError, "must be finite, got nan at head 0, query 0, key 1"),
        (np.array([[[1.0]], [[np.inf]]]), ValueError, "must be finite, got inf at head 1, query 0, key 0"),
        (np.array([[0.5, 0.5], [1.5, -0.5]]), ValueError, "negative, got -0.5 at head 0, query 1, key 1.*softmax"),
    ],
)
def test_weights_that_cannot_be(weights, error, words):
    with pytest.raises(error, match=words):
        StoredMatrix(weights).weights()
