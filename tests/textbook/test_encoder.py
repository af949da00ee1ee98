from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from clearhead.textbook.encoder import EncoderBlock
from clearhead.textbook.feed_forward import FeedForward
from clearhead.textbook.masks import create_causal_mask, create_padding_mask
from clearhead.textbook.multi_head import MultiHeadAttention
from clearhead.textbook.norms import RMSNorm, layer_norm
from clearhead.textbook.rope import rope

TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
LEADING = [(), (2,), (2, 3)]


def drawn_norms(block, rng):
    """Norms that do something, so that leaving one out or moving it shows."""
    for name, array in block.parameters().items():
        if "norm" in name:
            array[:] = rng.normal(1, 0.5, array.shape)
    return block


def test_post_norm_is_add_then_norm(rng):
    block = drawn_norms(EncoderBlock(10, 2, 13), rng)
    x = rng.normal(size=(7, 10))
    attended, weights = block.attention(x)
    middle = layer_norm(x + attended, block.attention_norm.gamma, block.attention_norm.beta)
    expected = layer_norm(
        middle + block.feed_forward(middle), block.feed_forward_norm.gamma, block.feed_forward_norm.beta
    )
    got = block(x)
    np.testing.assert_allclose(got.output, expected, rtol=1e-12)
    np.testing.assert_array_equal(got.weights, weights)


def test_pre_norm_is_norm_then_add(rng):
    block = drawn_norms(EncoderBlock(10, 2, 13, norm_first=True, norm="rms", activation="swiglu"), rng)
    assert isinstance(block.attention_norm, RMSNorm)
    x = rng.normal(size=(7, 10))
    middle = x + block.attention(block.attention_norm(x))[0]
    expected = middle + block.feed_forward(block.feed_forward_norm(middle))
    np.testing.assert_allclose(block(x).output, expected, rtol=1e-12)


def test_a_silent_pre_norm_block_passes_its_input_on(rng):
    block = EncoderBlock(10, 2, 13, norm_first=True)
    block.attention.W_O[:], block.feed_forward.W_2[:] = 0, 0
    x = rng.normal(size=(7, 10))
    np.testing.assert_array_equal(block(x).output, x)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("leading", LEADING)
def test_leading_dimensions_and_padding(rng, norm_first, leading):
    block = drawn_norms(EncoderBlock(15, 3, 11, norm_first=norm_first, activation="gelu"), rng)
    x = rng.normal(size=(*leading, 7, 15))
    ids = np.ones((*leading, 7), int)
    ids[..., 5:] = 0
    output, weights = block(x, create_padding_mask(ids))
    assert (weights[..., 5:] == 0).all()
    for index in np.ndindex(*leading):
        alone, alone_weights = block(x[index][:5])
        np.testing.assert_allclose(output[index][:5], alone, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(weights[index][:, :5, :5], alone_weights, rtol=1e-12)
    x[..., 5:, :] = np.nan
    np.testing.assert_array_equal(block(x, create_padding_mask(ids)).output[..., :5, :], output[..., :5, :])


def test_rope_and_grouped_heads_reach_the_attention(rng):
    block = EncoderBlock(24, 6, 11, num_kv_heads=2, rope=rope, bias=False, eps=0.25, seed=3)
    twin = MultiHeadAttention(24, 6, num_kv_heads=2, rope=rope, bias=False, seed=3)
    x = rng.normal(size=(7, 24))
    np.testing.assert_array_equal(block(x, create_causal_mask(7)).weights, twin(x, mask=create_causal_mask(7))[1])
    assert block.feed_forward_norm.eps == 0.25
    assert list(block.parameters()) == [
        *("attention.W_Q", "attention.W_K", "attention.W_V", "attention.W_O", "attention_norm.gamma"),
        *("feed_forward.W_1", "feed_forward.W_2", "feed_forward_norm.gamma"),
    ]


@pytest.mark.parametrize("dtype", TYPES)
def test_the_input_type_comes_back(rng, dtype):
    block = EncoderBlock(10, 2, 13, dtype=dtype)
    output, weights = block(rng.normal(size=(7, 10)).astype(dtype))
    assert {array.dtype for array in (output, weights, *block.parameters().values())} == {np.dtype(dtype)}


def test_num_parameters_is_the_sum_of_its_parts():
    block = EncoderBlock(10, 2, 13)
    parts = MultiHeadAttention(10, 2).num_parameters + FeedForward(10, 13).num_parameters + 2 * 2 * 10
    assert block.num_parameters == parts


@pytest.mark.parametrize("settings", [{}, {"norm_first": True, "norm": "rms", "activation": "swiglu", "bias": False}])
def test_save_and_load(tmp_path, rng, settings):
    block = drawn_norms(EncoderBlock(12, 6, 7, num_kv_heads=3, seed=9, **settings), rng)
    block.save(tmp_path / "block")
    x = rng.normal(size=(5, 12))
    np.testing.assert_array_equal(EncoderBlock.load(tmp_path / "block")(x).output, block(x).output)


def test_errors(unchecked):
    with pytest.raises(ValueError, match="d_model = 10 cannot be divided among num_heads = 3"):
        EncoderBlock(10, 3, 13)
    with pytest.raises(ValueError, match="d_ff must be at least 1, got 0"):
        EncoderBlock(10, 2, 0)
    with pytest.raises(ValueError, match="norm must be one of 'layer', 'rms', got 'batch'"):
        EncoderBlock(10, 2, 13, norm="batch")
    with pytest.raises(ValueError, match="activation must be one of 'relu', 'gelu', 'gelu_tanh', 'swiglu', got 'elu'"):
        EncoderBlock(10, 2, 13, activation="elu")
    with pytest.raises(ValueError, match="2 query heads cannot share 3 key/value heads evenly"):
        EncoderBlock(10, 2, 13, num_kv_heads=3)
    with pytest.raises(ValueError, match="eps must be greater than 0, got 0"):
        EncoderBlock(10, 2, 13, eps=0.0)
    with pytest.raises(TypeError, match="rope must be a function"):
        EncoderBlock(10, 2, 13, rope=True)
    block = EncoderBlock(10, 2, 13)
    with pytest.raises(ValueError, match=r"x must be d_model = 10 wide, shape \(…, n, 10\), got shape \(7, 11\)"):
        block(np.ones((7, 11)))
    with pytest.raises(ValueError, match=r"mask of shape \(5, 5\) does not broadcast"):
        block(np.ones((7, 10)), np.ones((5, 5), bool))
