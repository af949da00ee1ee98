from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch

from clearhead.textbook.linear_map import linear


def test_torch_agrees(rng):
    judge = torch.nn.Linear(7, 11, dtype=torch.float64)
    x = rng.standard_normal((2, 3, 5, 7))
    got = linear(x, judge.weight.detach().numpy().T, judge.bias.detach().numpy())
    np.testing.assert_allclose(got, judge(torch.from_numpy(x)).detach().numpy(), rtol=0, atol=1e-13)


def test_one_row_is_enough(rng):
    x, W = rng.standard_normal(7), rng.standard_normal((7, 11))
    np.testing.assert_allclose(linear(x, W), [sum(x[i] * W[i, j] for i in range(7)) for j in range(11)], atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_is_rounded_once(rng, dtype):
    x, W, b = (rng.standard_normal(shape).astype(dtype) for shape in ((5, 4099), (4099, 3), (3,)))
    y = linear(x, W, b)
    assert y.dtype == dtype
    exact = x.astype(float) @ W.astype(float) + b.astype(float)
    np.testing.assert_allclose(y.astype(float), exact, rtol=0.51 * 2 ** (-10 if dtype == np.float16 else -7), atol=1e-4)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: linear(np.zeros((5, 7)), np.zeros((3, 7)), name="W_Q"),
            ValueError,
            r"W_Q must have shape \(d_in, d_out\) with d_in = 7, the width of its input, got \(3, 7\)",
        ),
        (lambda: linear(np.zeros((5, 7)), np.zeros(7)), ValueError, r"W must have shape \(d_in, d_out\).* got \(7,\)"),
        (lambda: linear(np.zeros((5, 7)), np.zeros((7, 3), int)), TypeError, "W must be float16, .* got int64"),
        (
            lambda: linear(np.zeros((5, 7), int), np.zeros((7, 3))),
            TypeError,
            r"x must be float16, .*did you pass token",
        ),
        (lambda: linear(np.float64(3), np.zeros((7, 3))), ValueError, r"x needs at least 1 dimension, got shape \(\)"),
        (
            lambda: linear(np.zeros((3, 7)), np.zeros((7, 3)), np.zeros((3, 3))),
            ValueError,
            r"b must have shape \(3,\), one number per column of W, got \(3, 3\)",
        ),
        (lambda: linear(np.zeros((3, 7)), np.zeros((7, 3)), np.zeros(3, int)), TypeError, "b must be float16"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()
