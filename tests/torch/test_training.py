"""A small GPT trained twice from one seed, on torch's attention and on clearhead's: the same curve."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from benchmarks.training import ATTENTION, Shape, Training

STEPS = 200
SHAPE = Shape(d_model=32, num_heads=4, num_layers=2, vocab=11, n=23, b=13)
# What the two may differ by, in the loss, at any of the steps. Rounding is all there is between them: a loss is about
# 2, so float32 has 2.4e-7 from one number to the next, and float64 4.4e-16.
TOLERANCE = {torch.float32: 5e-6, torch.float64: 1e-13}


def curve(attend, dtype=torch.float32, steps=STEPS):
    training = Training(SHAPE, attend, dtype=dtype)
    return np.array([training.step() for _ in range(steps)])


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_both_learn_along_the_same_curve(dtype):
    ours, theirs = (curve(ATTENTION[name], dtype) for name in ("clearhead", "torch"))
    assert ours[:5].mean() > 2.2, "at first it knows nothing: ln 11 = 2.4"
    assert ours[-5:].mean() < 1.0, "it learns"
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE[dtype])


def test_the_curve_would_show_a_gradient_that_is_missing():
    whole = ATTENTION["clearhead"]
    without_queries = curve(lambda q, k, v, **options: whole(q.detach(), k, v, **options), steps=50)
    assert np.abs(without_queries - curve(whole, steps=50)).max() > 0.01


def test_the_same_seed_gives_the_same_bits():
    np.testing.assert_array_equal(*(curve(ATTENTION["clearhead"], steps=20) for _ in range(2)))
