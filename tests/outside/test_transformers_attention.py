"""transformers' own attention judges sinks (gpt-oss) and softcap (Gemma 2), with grouped heads and a causal mask."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers.models.gemma2.modeling_gemma2 import eager_attention_forward as gemma2_attention
from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward as gpt_oss_attention

from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.textbook.masks import create_causal_mask

SHAPES = [  # batch, query heads, key/value heads, n_q, n_k, d
    (2, 6, 3, 7, 7, 5),
    (3, 5, 5, 2, 11, 13),
    (1, 7, 1, 13, 17, 3),
]


def drawn(shape):
    b, h, h_kv, n_q, n_k, d = shape
    rng = np.random.default_rng(shape)
    Q = 3 * rng.standard_normal((b, h, n_q, d))
    K, V = rng.standard_normal((2, b, h_kv, n_k, d))
    return Q, K, V, create_causal_mask(n_q, n_k), rng


def judged(attention, Q, K, V, mask, **options):
    """What the model's eager attention answers, with heads before positions: output and weights."""
    module = SimpleNamespace(
        num_key_value_groups=Q.shape[1] // K.shape[1],
        training=False,
        head_dim=Q.shape[-1],
        sinks=options.pop("sinks", None),
    )
    tensors = [torch.from_numpy(x) for x in (Q, K, V, np.where(mask, 0, -np.inf))]
    output, weights = attention(module, *tensors, **options)
    return output.numpy().swapaxes(1, 2), weights.numpy()


@pytest.mark.parametrize("shape", SHAPES)
def test_sinks_against_gpt_oss(shape):
    Q, K, V, mask, rng = drawn(shape)
    sinks = 2 * rng.standard_normal(shape[1])
    expected = judged(gpt_oss_attention, Q, K, V, mask, scaling=0.37, sinks=torch.from_numpy(sinks))
    actual = scaled_dot_product_attention(Q, K, V, mask, scale=0.37, sinks=sinks)
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)
    assert (actual[1].sum(axis=-1) < 1).all()


@pytest.mark.parametrize("softcap", [0.7, 5.0, 50.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_softcap_against_gemma2(shape, softcap):
    Q, K, V, mask, _ = drawn(shape)
    expected = judged(gemma2_attention, Q, K, V, mask, scaling=0.37, softcap=softcap)
    actual = scaled_dot_product_attention(Q, K, V, mask, scale=0.37, softcap=softcap)
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)  # Gemma's softmax is float32
