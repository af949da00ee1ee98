"""The gradient of a bias: every number of it is written, and what several heads or batch entries share is added up."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.call import prepare
from clearhead.kernels.backward_pass import summed
from clearhead.kernels.gradients import gradients
from clearhead.kernels.launch import compute_with_sums
from clearhead.textbook.attention import scaled_dot_product_attention

HEADS, D = 4, 3


@pytest.mark.parametrize(("n_q", "n_k"), [(5, 7), (64, 208), (33, 800)])
@pytest.mark.parametrize("kv_heads", [1, 2])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("shape", [("b", "h"), ("b", 1), (1, "h"), ("h",), (1, 1), ()], ids=str)
def test_the_room_for_it_may_hold_anything(rng, monkeypatch, shape, batch, kv_heads, n_q, n_k):
    """It is not cleared where nothing is masked."""
    lead = [{"b": batch, "h": HEADS}.get(x, x) for x in shape]
    q, gradient = (rng.standard_normal((batch, HEADS, n_q, D)) for _ in range(2))
    k, v = (rng.standard_normal((batch, kv_heads, n_k, D)) for _ in range(2))
    bias = rng.standard_normal((*lead, n_q, n_k))
    bias[..., 2, :] = -np.inf  # sees nothing
    monkeypatch.setattr(np, "empty", _spoilt)
    call = prepare(q, k, v, bias=bias, lse=True)
    output, lse, sums = compute_with_sums(call)
    assert lse is not None
    assert sums is not None
    of = gradients(call, output, lse, gradient, sums=sums, shapes=[x.shape for x in (q, k, v)], of_bias=True)
    np.testing.assert_allclose(of.bias, _truth(q, k, v, bias, gradient), rtol=0, atol=1e-12)


def _spoilt(*args, **options) -> np.ndarray:
    """What np.empty may return."""
    x = np.zeros(*args, **options)
    return np.full_like(x, np.nan) if x.dtype.kind == "f" else x


def _truth(q: np.ndarray, k: np.ndarray, v: np.ndarray, bias: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """dS = P ∘ (dP − Δ), summed down to the bias's shape."""
    k, v = (np.repeat(x, HEADS // x.shape[1], axis=1) for x in (k, v))
    output, weights = scaled_dot_product_attention(q, k, v, bias)
    slopes = weights * (gradient @ v.mT - (gradient * output).sum(axis=-1, keepdims=True))
    return summed(slopes, bias.shape)
