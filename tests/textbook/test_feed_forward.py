from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
import torch
from torch.nn import functional

from clearhead.textbook.feed_forward import FeedForward, erf, gelu, gelu_tanh, relu, silu

TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
JUDGES = {
    relu: functional.relu,
    gelu: functional.gelu,
    gelu_tanh: lambda x: functional.gelu(x, approximate="tanh"),
    silu: functional.silu,
}


@pytest.mark.parametrize("activation", JUDGES, ids=lambda function: function.__name__)
@pytest.mark.parametrize("leading", [(), (3,), (2, 3, 5)])
def test_activations_against_torch(rng, activation, leading):
    x = np.concatenate([rng.normal(0, 3, (*leading, 11)), np.zeros((*leading, 1))], axis=-1)
    np.testing.assert_allclose(activation(x), JUDGES[activation](torch.from_numpy(x)), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("activation", JUDGES, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", TYPES)
def test_activations_in_every_type(rng, activation, dtype):
    x = rng.normal(0, 3, (5, 7)).astype(dtype)
    wide = x.astype(np.float64 if dtype == np.float64 else np.float32)
    assert activation(x).dtype == dtype
    np.testing.assert_array_equal(activation(x), activation(wide).astype(dtype))


@pytest.mark.parametrize("activation", JUDGES, ids=lambda function: function.__name__)
def test_activations_far_out(activation):
    got = activation(np.array([-1e4, -750.0, 750.0, 1e4]))
    np.testing.assert_array_equal(got, [0, 0, 750, 1e4])


def test_erf_is_exact():
    x = np.linspace(-4, 4, 35).reshape(5, 7)
    assert erf(x)[3, 2] == math.erf(x[3, 2])
    assert erf(x[:0]).shape == (0, 7)


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh"])
def test_two_maps_with_an_activation_between(rng, activation):
    layer = FeedForward(5, 11, activation=activation, seed=3)
    layer.b_1, layer.b_2 = rng.normal(size=11), rng.normal(size=5)
    x = rng.normal(size=(2, 3, 5))
    bent = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh}[activation](x @ layer.W_1 + layer.b_1)
    np.testing.assert_allclose(layer(x), bent @ layer.W_2 + layer.b_2, rtol=1e-12)


def test_swiglu_is_gated(rng):
    layer = FeedForward(5, 11, activation="swiglu", seed=3)
    layer.b_1, layer.b_gate, layer.b_2 = rng.normal(size=11), rng.normal(size=11), rng.normal(size=5)
    x = rng.normal(size=(3, 5))
    gate = torch.from_numpy(x @ layer.W_gate + layer.b_gate)
    expected = (functional.silu(gate).numpy() * (x @ layer.W_1 + layer.b_1)) @ layer.W_2 + layer.b_2
    np.testing.assert_allclose(layer(x), expected, rtol=1e-12)
    layer.W_gate[:], layer.b_gate[:] = 0, -1e4  # a shut gate lets nothing through
    np.testing.assert_array_equal(layer(x), np.broadcast_to(layer.b_2, (3, 5)))


@pytest.mark.parametrize(
    ("activation", "bias", "count"),
    [("relu", True, 2 * 5 * 11 + 11 + 5), ("relu", False, 2 * 5 * 11), ("swiglu", True, 3 * 5 * 11 + 22 + 5)],
)
def test_num_parameters(activation, bias, count):
    assert FeedForward(5, 11, activation=activation, bias=bias).num_parameters == count


@pytest.mark.parametrize("dtype", TYPES)
def test_the_input_type_comes_back(rng, dtype):
    x = rng.normal(size=(3, 5)).astype(dtype)
    for activation in ("relu", "gelu", "gelu_tanh", "swiglu"):
        layer = FeedForward(5, 11, activation=activation, seed=3, dtype=dtype)
        got = layer(x)
        assert got.dtype == dtype
        exact = FeedForward(5, 11, activation=activation, seed=3)
        exact.load_parameters(layer.parameters())
        error = np.abs(got.astype(np.float64) - exact(x.astype(np.float64))).max()
        assert error < 8 * float(ml_dtypes.finfo(dtype).eps)


def test_seed():
    first, second, other = FeedForward(5, 11, seed=1), FeedForward(5, 11, seed=1), FeedForward(5, 11, seed=2)
    np.testing.assert_array_equal(first.W_2, second.W_2)
    assert (first.W_2 != other.W_2).all()


def test_errors(unchecked):
    with pytest.raises(ValueError, match="activation must be one of 'relu', 'gelu', 'gelu_tanh', 'swiglu', got 'tanh'"):
        FeedForward(5, 11, activation="tanh")
    with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
        FeedForward(0, 11)
    with pytest.raises(ValueError, match="d_ff must be at least 1, got -3"):
        FeedForward(5, -3)
    with pytest.raises(TypeError, match=r"d_ff must be a whole number, got 2\.5"):
        FeedForward(5, 2.5)
    layer = FeedForward(5, 11)
    with pytest.raises(ValueError, match=r"x must be d_model = 5 wide, shape \(…, n, 5\), got shape \(2, 7\)"):
        layer(np.ones((2, 7)))
    with pytest.raises(TypeError, match="x must be float16"):
        layer(np.ones((2, 5), int))
    layer.W_2 = np.ones((7, 5))
    with pytest.raises(ValueError, match=r"W_2 must have shape \(d_in, d_out\) with d_in = 11"):
        layer(np.ones((2, 5)))
    for activation in JUDGES:
        with pytest.raises(TypeError, match="x must be float16"):
            activation(np.ones(3, int))
