"""Gradients beside what is not finite: it reaches those who may see it, and no others.

That gradients of numbers are right is told by the table of calls, under torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clearhead import masks
from clearhead.call import prepare
from clearhead.kernels.gradients import Gradients, gradients
from clearhead.kernels.launch import compute_with_sums

N_Q, N_K, D = 5, 7, 3


@pytest.fixture
def arrays(rng) -> list[np.ndarray]:
    return [rng.standard_normal((2, n, D)).astype(np.float32) for n in (N_Q, N_K, N_K)]


def found(arrays: list[np.ndarray], **options: Any) -> Gradients:
    """The gradients of the sum of all outputs."""
    call = prepare(*arrays, lse=True, **options)
    output, lse, sums = compute_with_sums(call)
    assert lse is not None
    assert sums is not None
    shapes = [x.shape for x in arrays]
    return gradients(call, output, lse, np.ones_like(output), sums=sums, shapes=shapes, of_bias=True)


@pytest.mark.parametrize("options", [{}, {"bias": np.zeros((N_Q, N_K))}, {"softcap": 5.0}], ids=["", "bias", "softcap"])
@pytest.mark.parametrize("which", "qkv")
def test_nan_reaches_what_it_may_be_seen_with(arrays, which, options):
    """NaN in query 2, or in key or value 4, under a causal mask: query i may attend to key i + 2 and before."""
    arrays["qkv".index(which)][0, 2 if which == "q" else 4, 1] = np.nan
    of_q, of_k, of_v = found(arrays, mask=masks.causal(), **options)[:3]
    first_query, keys = (2, slice(0, 5)) if which == "q" else (2, slice(0, 7))
    assert np.isfinite(of_q[0, :first_query]).all()
    assert np.isnan(of_q[0, 2]).any()
    assert np.isfinite(of_q[0, 3:]).all() if which == "q" else np.isnan(of_q[0, 3:]).any()
    assert np.isnan(of_k[0, keys]).any(axis=-1).all()
    assert np.isfinite(of_k[0, keys.stop :]).all()
    assert np.isfinite(of_v[0, keys.stop :]).all()
    for gradient in (of_q, of_k, of_v):
        assert np.isfinite(gradient[1]).all()


def test_a_query_whose_only_key_scores_minus_infinity_takes_no_part(arrays):
    q, k, _ = arrays
    q[...], k[0, 0] = np.abs(q), -np.inf
    only = np.ones((N_Q, N_K), bool)
    only[1] = np.arange(N_K) == 0
    of_q, of_k, of_v = found(arrays, mask=masks.array(only))[:3]
    assert (of_q[0, 1] == 0).all()
    for gradient in (of_q, of_k, of_v):
        assert np.isfinite(gradient).all()


def test_a_query_that_is_nan_and_sees_nothing_but_a_sink(arrays):
    arrays[0][0, 1] = np.nan
    seen = np.ones((N_Q, N_K), bool)
    seen[1] = False
    for gradient in found(arrays, mask=masks.array(seen), sinks=np.array([0.5, 1.0])):
        assert gradient is None or np.isfinite(gradient).all()


def test_no_queries_and_a_bias_that_they_share(arrays, rng):
    arrays[0] = arrays[0][:, :0]
    bias = rng.standard_normal((1, N_K)).astype(np.float32)
    of = found(arrays, bias=bias)
    assert of.bias is not None
    assert of.bias.shape == bias.shape
    assert not any(gradient.any() for gradient in (of.k, of.v, of.bias))
