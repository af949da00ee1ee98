from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from clearhead.textbook.decoder import DecoderBlock, DecoderBlockCache
from clearhead.textbook.feed_forward import FeedForward
from clearhead.textbook.masks import create_causal_mask, create_padding_mask
from clearhead.textbook.multi_head import MultiHeadAttention
from clearhead.textbook.rope import rope

TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
LEADING = [(), (2,), (2, 3)]
KINDS = [
    {},
    {"norm_first": True},
    {"norm_first": True, "norm": "rms", "activation": "swiglu", "num_kv_heads": 2, "rope": rope},
    {"norm": "rms", "activation": "gelu_tanh", "bias": False},
]


def block_of(rng, **changes):
    """A block 24 wide, with norms that do something, so that leaving one out or moving it shows."""
    block = DecoderBlock(24, 6, 13, **changes)
    for name, array in block.parameters().items():
        if "norm" in name:
            array[:] = rng.normal(1, 0.5, array.shape)
    return block


def test_post_norm_is_add_then_norm(rng):
    block = block_of(rng)
    x, memory = rng.normal(size=(7, 24)), rng.normal(size=(11, 24))
    attended, self_weights = block.self_attention(x, mask=create_causal_mask(7))
    first = block.self_attention_norm(x + attended)
    attended, cross_weights = block.cross_attention(first, memory)
    second = block.cross_attention_norm(first + attended)
    got = block(x, memory)
    np.testing.assert_array_equal(got.output, block.feed_forward_norm(second + block.feed_forward(second)))
    np.testing.assert_array_equal(got.self_weights, self_weights)
    np.testing.assert_array_equal(got.cross_weights, cross_weights)


def test_pre_norm_is_norm_then_add(rng):
    block = block_of(rng, norm_first=True)
    x, memory = rng.normal(size=(7, 24)), rng.normal(size=(11, 24))
    first = x + block.self_attention(block.self_attention_norm(x), mask=create_causal_mask(7))[0]
    second = first + block.cross_attention(block.cross_attention_norm(first), memory)[0]
    expected = second + block.feed_forward(block.feed_forward_norm(second))
    np.testing.assert_array_equal(block(x, memory).output, expected)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), n=st.integers(2, 13), cut=st.integers(1, 12))
def test_changing_what_comes_later_changes_no_bit_before(seed, kind, n, cut):
    rng = np.random.default_rng(seed)
    cut = min(cut, n - 1)
    blocks = [block_of(rng, **kind) for _ in range(2)]
    x, memory = rng.normal(size=(n, 24)), rng.normal(size=(5, 24))
    changed = x.copy()
    changed[cut:] = rng.normal(size=(n - cut, 24))
    for block in blocks:
        x, changed = block(x, memory).output, block(changed, memory).output
        np.testing.assert_array_equal(x[:cut], changed[:cut])
    assert (x[cut:] != changed[cut:]).any()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)) or "plain")
@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("steps", [[1] * 7, [3, 1, 3]], ids=str)
def test_step_by_step_is_the_whole_pass(rng, kind, leading, steps):
    block = block_of(rng, **kind)
    x, memory = rng.normal(size=(*leading, 7, 24)), rng.normal(size=(*leading, 11, 24))
    allowed = rng.random((*leading, 1, 1, 7)) < 0.7
    memory_mask = rng.random((*leading, 1, 1, 11)) < 0.7
    whole = block(x, memory, allowed, memory_mask)
    cache, start = DecoderBlockCache.empty(), 0
    for n in steps:
        end = start + n
        part = block(x[..., start:end, :], memory, allowed[..., :end], memory_mask, cache=cache)
        np.testing.assert_allclose(part.output, whole.output[..., start:end, :], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(part.self_weights, whole.self_weights[..., start:end, :end], rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(part.cross_weights, whole.cross_weights[..., start:end, :], rtol=1e-11, atol=1e-13)
        start = end


def test_select_picks_sentences_from_both_caches(rng):
    block = block_of(rng)
    x, memory = rng.normal(size=(3, 7, 24)), rng.normal(size=(3, 11, 24))
    cache = DecoderBlockCache.empty()
    block(x[:, :6], memory, cache=cache)
    order = np.array([2, 2, 0, 1])
    part = block(x[order, 6:], memory[order], cache=cache.select(order))
    np.testing.assert_allclose(part.output, block(x, memory).output[order, 6:], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("leading", LEADING)
def test_padding_changes_nothing(rng, norm_first, leading):
    block = block_of(rng, norm_first=norm_first)
    x, memory = rng.normal(size=(*leading, 7, 24)), rng.normal(size=(*leading, 11, 24))
    mask = create_padding_mask(np.array([1, 1, 1, 1, 1, 0, 0]))
    memory_mask = create_padding_mask(np.array([1] * 8 + [0] * 3))
    expected = block(x[..., :5, :], memory[..., :8, :])
    x[..., 5:, :], memory[..., 8:, :] = np.nan, np.nan
    got = block(x, memory, mask, memory_mask)
    np.testing.assert_allclose(got.output[..., :5, :], expected.output, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(got.self_weights[..., :5, :5], expected.self_weights, rtol=1e-12)
    np.testing.assert_allclose(got.cross_weights[..., :5, :8], expected.cross_weights, rtol=1e-12)
    assert (got.cross_weights[..., :5, 8:] == 0).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_an_additive_mask_is_added_and_stays_causal(rng, dtype):
    block = block_of(rng)
    x, memory = rng.normal(size=(7, 24)), rng.normal(size=(11, 24))
    allowed = rng.random((7, 7)) < 0.7
    additive = np.where(allowed, 0, -np.inf).astype(dtype)
    got = block(x, memory, additive)
    np.testing.assert_array_equal(got.output, block(x, memory, allowed).output)
    assert (got.self_weights[:, ~create_causal_mask(7)] == 0).all()


def test_rope_turns_the_self_attention_only():
    block = DecoderBlock(24, 6, 13, rope=rope)
    assert block.self_attention.rope is rope
    assert block.cross_attention.rope is None


@pytest.mark.parametrize("dtype", TYPES)
def test_the_input_type_comes_back(rng, dtype):
    block = block_of(rng, dtype=dtype)
    got = block(rng.normal(size=(7, 24)).astype(dtype), rng.normal(size=(11, 24)).astype(dtype))
    assert {array.dtype for array in (*got, *block.parameters().values())} == {np.dtype(dtype)}


def test_num_parameters_is_the_sum_of_its_parts():
    parts = 2 * MultiHeadAttention(24, 6).num_parameters + FeedForward(24, 13).num_parameters + 3 * 2 * 24
    assert DecoderBlock(24, 6, 13).num_parameters == parts


def test_save_and_load(tmp_path, rng):
    block = block_of(rng, norm_first=True, norm="rms", activation="swiglu", num_kv_heads=2, rope=rope, seed=9)
    block.save(tmp_path / "block")
    x, memory = rng.normal(size=(7, 24)), rng.normal(size=(11, 24))
    again = DecoderBlock.load(tmp_path / "block", rope=rope)
    np.testing.assert_array_equal(again(x, memory).output, block(x, memory).output)


def test_errors(rng, unchecked):
    with pytest.raises(ValueError, match="d_model = 24 cannot be divided among num_heads = 5"):
        DecoderBlock(24, 5, 13)
    with pytest.raises(ValueError, match="norm must be one of 'layer', 'rms', got 'batch'"):
        DecoderBlock(24, 6, 13, norm="batch")
    with pytest.raises(TypeError, match="rope must be a function"):
        DecoderBlock(24, 6, 13, rope=True)
    block = DecoderBlock(24, 6, 13)
    x, memory = np.ones((2, 7, 24)), np.ones((2, 11, 24))
    with pytest.raises(ValueError, match=r"x must be d_model = 24 wide, shape \(…, n, 24\), got shape \(7, 11\)"):
        block(np.ones((7, 11)), memory)
    with pytest.raises(ValueError, match=r"memory must be d_model = 24 wide, shape \(…, n, 24\), got shape \(7, 11\)"):
        block(x, np.ones((7, 11)))
    with pytest.raises(TypeError, match="memory must be float16"):
        block(x, memory.astype(int))
    with pytest.raises(ValueError, match=r"mask of shape \(2, 7, 7\) has 2 where the 6 heads belong"):
        block(x, memory, np.ones((2, 7, 7), bool))
    with pytest.raises(
        ValueError, match=r"mask of shape \(11,\) does not broadcast to the scores' shape \(2, 6, 7, 7\)"
    ):
        block(x, memory, np.ones(11, bool))
    with pytest.raises(
        ValueError, match=r"mask of shape \(7,\) does not broadcast to the scores' shape \(2, 6, 7, 11\)"
    ):
        block(x, memory, None, np.ones(7, bool))
    with pytest.raises(TypeError, match="mask must be boolean"):
        block(x, memory, np.ones((7, 7), int))
