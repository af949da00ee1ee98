from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch
from torch.nn import functional

from clearhead.textbook.norms import LayerNorm, RMSNorm, layer_norm, layer_statistics, make_norm, rms_norm

TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
LEADING = [(), (3,), (2, 3, 5)]


def test_layer_norm_by_hand():
    # mean 4, variance 5
    expected = np.array([-3, -1, 1, 3]) / np.sqrt(5 + 0.25) * 2 + 1
    got = layer_norm(np.array([1.0, 3.0, 5.0, 7.0]), np.full(4, 2.0), np.ones(4), eps=0.25)
    np.testing.assert_allclose(got, expected, rtol=1e-15)


def test_rms_norm_by_hand():
    # mean of squares 12.5
    got = rms_norm(np.array([3.0, -4.0]), np.array([2.0, 1.0]), eps=3.5)
    np.testing.assert_allclose(got, [1.5, -1.0], rtol=1e-15)


@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("ndim", [1, 2])
def test_against_torch(rng, leading, ndim):
    normalised = (7, 11)[-ndim:]
    x = rng.normal(2, 3, (*leading, *normalised))
    gamma, beta = rng.normal(size=normalised), rng.normal(size=normalised)
    tensor, weight, shift = map(torch.from_numpy, (x, gamma, beta))
    expected = functional.layer_norm(tensor, normalised, weight, shift, eps=1e-3)
    np.testing.assert_allclose(layer_norm(x, gamma, beta, eps=1e-3, axis=-ndim), expected, rtol=1e-12, atol=1e-13)
    expected = functional.layer_norm(tensor, normalised, weight, eps=1e-5)
    np.testing.assert_allclose(layer_norm(x, gamma, axis=-ndim), expected, rtol=1e-12, atol=1e-13)
    expected = functional.rms_norm(tensor, normalised, weight, eps=1e-5)
    np.testing.assert_allclose(rms_norm(x, gamma, axis=-ndim), expected, rtol=1e-12, atol=1e-13)


def test_statistics_keep_their_axes(rng):
    x = rng.normal(size=(3, 5, 7))
    mean, inverse_std = layer_statistics(x, eps=1e-9, axis=1)
    np.testing.assert_allclose(mean, x.reshape(3, 35).mean(axis=1)[:, None, None], rtol=1e-12)
    np.testing.assert_allclose(inverse_std, 1 / np.sqrt(x.reshape(3, 35).var(axis=1) + 1e-9)[:, None, None], rtol=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_input_type_comes_back_and_half_is_computed_in_float32(rng, dtype):
    x = rng.normal(100, 1, (3, 257)).astype(dtype)
    gamma, beta = rng.normal(size=(2, 257)).astype(dtype)
    wide = x.astype(np.float64 if dtype == np.float64 else np.float32)
    for got, expected in (
        (layer_norm(x, gamma, beta), layer_norm(wide, gamma.astype(wide.dtype), beta.astype(wide.dtype))),
        (rms_norm(x, gamma), rms_norm(wide, gamma.astype(wide.dtype))),
    ):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, expected.astype(dtype))
    assert layer_statistics(x).mean.dtype == wide.dtype


def test_each_position_is_alone(rng):
    x = rng.normal(size=(5, 7))
    gamma = rng.normal(size=7)
    before = layer_norm(x, gamma), rms_norm(x, gamma)
    x[3] = np.nan
    for old, new in zip(before, (layer_norm(x, gamma), rms_norm(x, gamma)), strict=True):
        np.testing.assert_array_equal(np.delete(new, 3, axis=0), np.delete(old, 3, axis=0))


def test_modules_use_their_parameters(rng):
    x = rng.normal(size=(3, 5))
    norm = LayerNorm(5, eps=0.5)
    norm.gamma, norm.beta = rng.normal(size=(2, 5))
    np.testing.assert_array_equal(norm(x), layer_norm(x, norm.gamma, norm.beta, eps=0.5))
    norm = RMSNorm(5, eps=0.5)
    norm.gamma = rng.normal(size=5)
    np.testing.assert_array_equal(norm(x), rms_norm(x, norm.gamma, eps=0.5))


def test_make_norm():
    assert list(make_norm("layer", 5, eps=0.5, bias=True, dtype="float32").parameters()) == ["gamma", "beta"]
    assert list(make_norm("layer", 5, eps=0.5, bias=False, dtype="float32").parameters()) == ["gamma"]
    norm = make_norm("rms", 5, eps=0.5, bias=True, dtype="float32")
    assert (type(norm), norm.eps, norm.gamma.dtype) == (RMSNorm, 0.5, np.float32)


def test_errors(unchecked):
    x = np.ones((2, 3))
    with pytest.raises(TypeError, match="x must be float16, bfloat16, float32 or float64, got int64"):
        layer_norm(x.astype(int), np.ones(3))
    with pytest.raises(
        ValueError, match=r"gamma must have shape \(3,\), the axes of x that are normalised, got \(2,\)"
    ):
        layer_norm(x, np.ones(2))
    with pytest.raises(
        ValueError, match=r"gamma must have shape \(2, 3\), the axes of x that are normalised, got \(3,"
    ):
        rms_norm(x, np.ones(3), axis=0)
    with pytest.raises(ValueError, match=r"beta must have shape \(3,\), the axes of x that are normalised, got \(1,\)"):
        layer_norm(x, np.ones(3), np.ones(1))
    for axis in (2, -3):
        with pytest.raises(ValueError, match=rf"axis must be in \[-2, 1\] for x of shape \(2, 3\), got {axis}"):
            layer_statistics(x, axis=axis)
    for norm in (layer_norm, rms_norm):
        with pytest.raises(ValueError, match="eps must be greater than 0, got -1"):
            norm(x, np.ones(3), eps=-1.0)
    for norm in (LayerNorm, RMSNorm):
        with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
            norm(0)
        with pytest.raises(ValueError, match="eps must be greater than 0, got 0"):
            norm(3, eps=0.0)
        with pytest.raises(TypeError, match="dtype must be one of"):
            norm(3, dtype=int)
    with pytest.raises(ValueError, match="norm must be one of 'layer', 'rms', got 'batch'"):
        make_norm("batch", 3, eps=1e-5, bias=True, dtype=float)
