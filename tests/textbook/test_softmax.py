from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from clearhead.textbook.softmax import log_sum_exp, softmax

HALF = [np.float16, ml_dtypes.bfloat16]
scores = arrays(np.float64, array_shapes(min_dims=1, max_dims=3), elements=st.floats(-1e4, 1e4) | st.just(-np.inf))


@given(scores, st.data())
def test_softmax_is_its_definition(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    result = softmax(x, axis=axis)
    rows, answers = (np.moveaxis(array, axis, -1).reshape(-1, x.shape[axis]) for array in (x, result))
    for row, answer in zip(rows.tolist(), answers, strict=True):
        top = max(row)
        exponentials = [0.0 if score == -math.inf else math.exp(score - top) for score in row]
        total = math.fsum(exponentials) or 1.0
        np.testing.assert_allclose(answer, [e / total for e in exponentials], rtol=1e-12, atol=0)


@given(scores)
def test_rows_sum_to_1_or_0(x):
    sums = softmax(x).sum(axis=-1)
    empty = np.isneginf(x).all(axis=-1)
    np.testing.assert_allclose(sums, np.where(empty, 0, 1), rtol=0, atol=1e-13)


@given(scores)
def test_log_sum_exp_turns_scores_into_weights(x):
    lse = log_sum_exp(x)
    assert lse.shape == x.shape[:-1]
    np.testing.assert_array_equal(np.isneginf(lse), np.isneginf(x).all(axis=-1))
    weights = np.exp(x - np.where(np.isneginf(lse), 0, lse)[..., None])
    np.testing.assert_allclose(weights, softmax(x), rtol=1e-11, atol=0)


def test_adding_a_number_to_a_row_changes_nothing(rng):
    x = rng.integers(-50, 50, (5, 7)).astype(float)  # whole numbers, so that the sums below are exact
    np.testing.assert_array_equal(softmax(x + 1e6), softmax(x))
    np.testing.assert_allclose(log_sum_exp(x + 1e6), log_sum_exp(x) + 1e6, rtol=1e-15)


def test_huge_scores_do_not_overflow():
    np.testing.assert_array_equal(softmax(np.array([1e308, -1e308, 1e308])), [0.5, 0, 0.5])
    np.testing.assert_array_equal(softmax(np.array([-1e308, -np.inf])), [1, 0])


def test_a_row_of_minus_inf_gives_zeros_and_minus_inf():
    x = np.array([[-np.inf, -np.inf], [0.0, -np.inf]])
    np.testing.assert_array_equal(softmax(x), [[0, 0], [1, 0]])
    np.testing.assert_array_equal(log_sum_exp(x), [-np.inf, 0])


def test_nothing_to_choose_from():
    assert softmax(np.zeros((3, 0))).shape == (3, 0)
    np.testing.assert_array_equal(log_sum_exp(np.zeros((3, 0))), [-np.inf] * 3)


def test_nan_stays_in_its_row():
    result = softmax(np.array([[0.0, np.nan], [0.0, 0.0]]))
    assert np.isnan(result[0]).all()
    np.testing.assert_array_equal(result[1], [0.5, 0.5])


def test_axis():
    x = np.arange(2 * 3 * 5, dtype=float).reshape(2, 3, 5)
    np.testing.assert_array_equal(softmax(x, axis=0), np.moveaxis(softmax(np.moveaxis(x, 0, -1)), -1, 0))
    np.testing.assert_array_equal(log_sum_exp(x, axis=1), log_sum_exp(np.moveaxis(x, 1, -1)))


@pytest.mark.parametrize("dtype", HALF)
def test_half_precision_is_rounded_once(rng, dtype):
    x = rng.standard_normal((3, 4099)).astype(dtype)
    once = softmax(x.astype(np.float64)).astype(dtype)
    result = softmax(x)
    assert result.dtype == dtype
    spacing = np.spacing(np.abs(once)).astype(np.float64)
    assert (abs(result.astype(np.float64) - once.astype(np.float64)) <= spacing).all()
    assert (result == once).mean() > 0.99
    assert log_sum_exp(x).dtype == dtype


def test_float32_stays_float32_and_integers_become_float64():
    assert softmax(np.zeros(3, np.float32)).dtype == np.float32
    assert softmax(np.array([0, 0, 0])).dtype == log_sum_exp(np.array([0, 0])).dtype == np.float64
    assert log_sum_exp(np.array([0, 0])) == pytest.approx(math.log(2))


@pytest.mark.usefixtures("unchecked")
def test_a_single_number_has_all_the_weight():
    assert softmax(5.0) == 1.0


@pytest.mark.parametrize("function", [softmax, log_sum_exp])
@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_scores_is_refused(function):
    with pytest.raises(TypeError, match=r"x must be float16, .* or float64, got bool \(convert it first"):
        function(np.array([True, False]))
    with pytest.raises(TypeError, match="got complex128"):
        function(np.array([1j]))
    with pytest.raises(ValueError, match="axis 2 is out of bounds for array of dimension 2"):
        function(np.zeros((2, 3)), axis=2)
