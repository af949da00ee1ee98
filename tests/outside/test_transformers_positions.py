"""transformers' own code judges every way of telling positions: RoPE, T5's buckets, ALiBi, Shaw's relative keys.

Models are small and drawn at random; nothing is downloaded. Where transformers computes in float32, the tolerance is
what float32 allows; everything else is held to float64.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from transformers import BloomConfig, CohereConfig, GlmConfig, GPTNeoXConfig, LlamaConfig, T5Config, Wav2Vec2BertConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import BloomAttention, build_alibi_tensor
from transformers.models.cohere import modeling_cohere
from transformers.models.glm import modeling_glm
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.gptj import modeling_gptj
from transformers.models.llama import modeling_llama
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import Wav2Vec2BertSelfAttention

from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.textbook.masks import create_causal_mask
from clearhead.textbook.relative import alibi, alibi_slopes, relative_attention, t5_bias, t5_buckets
from clearhead.textbook.rope import rope
from clearhead.textbook.rope_scaling import (
    dynamic_ntk_scaling,
    linear_scaling,
    llama3_scaling,
    longrope_scaling,
    ntk_scaling,
    proportional_scaling,
    rope_frequencies,
    yarn_scaling,
)

FLOAT32 = {"rtol": 2e-6, "atol": 0}
SCALINGS = {
    "linear": linear_scaling,
    "dynamic": dynamic_ntk_scaling,
    "yarn": yarn_scaling,
    "longrope": longrope_scaling,
    "llama3": llama3_scaling,
    "proportional": proportional_scaling,
}


def drawn_rope(rope_type, seed, *, longest):
    """A configuration of one RoPE variant, and the same in clearhead's words: config, width, base, scaling."""
    rng = np.random.default_rng([seed, sorted(SCALINGS).index(rope_type)])
    head_dim = int(rng.choice([8, 12, 16, 32, 64]))
    base = float(rng.choice([500.0, 10_000.0, 500_000.0]))
    original_length = int(rng.integers(11, longest))
    share = float(rng.choice([0.5, 1.0]))
    width = head_dim if rope_type == "proportional" else int(head_dim * share)
    own = {"factor": float(rng.uniform(1.0, 16.0))}
    if rope_type == "yarn":
        own |= [
            {},
            {"truncate": False},
            {"beta_fast": 19.0, "beta_slow": 3.0},
            {"attention_factor": 1.37},
            {"mscale": 0.707, "mscale_all_dim": 1.3},
            {"factor": 1.0},
        ][seed % 6]
    if rope_type == "longrope":
        own |= {name: rng.uniform(1, 9, width // 2).tolist() for name in ("short_factor", "long_factor")}
        own |= [{}, {"attention_factor": 1.19}, {"factor": 1.0}][seed % 3]
    if rope_type == "llama3":
        own |= {"low_freq_factor": float(rng.uniform(0.5, 1.5)), "high_freq_factor": float(rng.uniform(2, 8))}
    ours = dict(own)
    if rope_type in ("yarn", "longrope", "llama3"):
        own |= {"original_max_position_embeddings": original_length}
    if rope_type in ("dynamic", "yarn", "longrope", "llama3"):
        ours |= {"original_length": original_length}
    if rope_type == "proportional":
        ours |= {"partial_rotary_factor": share}
    config = LlamaConfig(
        hidden_size=3 * head_dim,
        num_attention_heads=3,
        head_dim=head_dim,
        max_position_embeddings=original_length if rope_type == "dynamic" else 8 * original_length,
        rope_parameters={"rope_type": rope_type, "rope_theta": base, "partial_rotary_factor": share, **own},
    )
    return config, width, base, original_length, partial(SCALINGS[rope_type], **ours)


def test_every_rope_variant_is_here():
    assert set(SCALINGS) == set(ROPE_INIT_FUNCTIONS)


@pytest.mark.parametrize("rope_type", sorted(SCALINGS))
@pytest.mark.parametrize("seed", range(12))
def test_frequencies_and_attention_factor(rope_type, seed):
    config, width, base, original_length, scaling = drawn_rope(rope_type, seed, longest=9000)
    for length in (1, original_length, original_length + 1, 5 * original_length):
        expected, attention_factor = ROPE_INIT_FUNCTIONS[rope_type](config, seq_len=length)
        frequencies, factor = scaling(width, base, length)
        np.testing.assert_allclose(frequencies, expected.numpy(), **FLOAT32)
        assert factor == pytest.approx(attention_factor, rel=1e-12)


@pytest.mark.parametrize("stretch", [2, 3, 7])
def test_static_ntk_is_dynamic_ntk_at_the_length_that_needs_it(stretch):
    # transformers has no static NTK of its own; its dynamic one with factor 1 raises the base by length / original.
    rope_parameters = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 1.0}
    config = LlamaConfig(head_dim=26, max_position_embeddings=101, rope_parameters=rope_parameters)
    expected, _ = ROPE_INIT_FUNCTIONS["dynamic"](config, seq_len=101 * stretch)
    np.testing.assert_allclose(ntk_scaling(26, factor=float(stretch))[0], expected.numpy(), **FLOAT32)


@pytest.mark.parametrize("base", [100.0, 10_000.0])
@pytest.mark.parametrize("head_dim", [2, 14, 128])
def test_plain_frequencies(head_dim, base):
    config = LlamaConfig(head_dim=head_dim, rope_parameters={"rope_type": "default", "rope_theta": base})
    expected = modeling_llama.LlamaRotaryEmbedding(config).inv_freq
    np.testing.assert_allclose(rope_frequencies(head_dim, base), expected.numpy(), **FLOAT32)


def rotated(module, embedding, head_dim, positions, seed):
    """q and k, before and after the model has turned them."""
    rng = np.random.default_rng(seed)
    q, k = (rng.standard_normal((1, heads, len(positions), head_dim), np.float32) for heads in (3, 2))
    cos, sin = embedding(torch.from_numpy(q), torch.from_numpy(positions)[None])
    turned = module.apply_rotary_pos_emb(torch.from_numpy(q), torch.from_numpy(k), cos, sin)
    return [(q, turned[0].numpy()), (k, turned[1].numpy())]


@pytest.mark.parametrize("rope_type", sorted(SCALINGS))
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("beyond", [False, True], ids=["within", "beyond"])
def test_half_split_rotation_in_every_variant(rope_type, seed, beyond):
    # GPT-NeoX turns the first columns only, if told so; otherwise it is Llama's rotation.
    config, width, base, original_length, scaling = drawn_rope(rope_type, seed, longest=100)
    positions = np.arange(7) + (original_length if beyond else 0)
    embedding = modeling_llama.LlamaRotaryEmbedding(config)
    for x, expected in rotated(modeling_gpt_neox, embedding, config.head_dim, positions, seed):
        actual = rope(x, positions, base=base, width=width, scaling=scaling)
        # transformers rounds the angle, up to the position, to float32
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6 + 4e-7 * positions[-1])


def test_llama_rotation():
    config = LlamaConfig(head_dim=22, rope_parameters={"rope_type": "default", "rope_theta": 700.0})
    embedding = modeling_llama.LlamaRotaryEmbedding(config)
    positions = np.array([0, 3, 4, 11, 2])
    for x, expected in rotated(modeling_llama, embedding, 22, positions, 0):
        np.testing.assert_allclose(rope(x, positions, base=700.0), expected, rtol=0, atol=5e-6)


def test_gpt_neox_turns_a_part_of_each_head():
    config = GPTNeoXConfig(
        hidden_size=3 * 20, num_attention_heads=3, rope_parameters={"rope_theta": 900.0, "partial_rotary_factor": 0.3}
    )
    embedding = modeling_gpt_neox.GPTNeoXRotaryEmbedding(config)
    positions = np.arange(11)
    for x, expected in rotated(modeling_gpt_neox, embedding, 20, positions, 1):
        np.testing.assert_allclose(rope(x, base=900.0, width=6), expected, rtol=0, atol=5e-6)
        np.testing.assert_array_equal(rope(x, base=900.0, width=6)[..., 6:], x[..., 6:])


def test_cohere_is_interleaved():
    config = CohereConfig(hidden_size=3 * 14, num_attention_heads=3, rope_parameters={"rope_theta": 800.0})
    embedding = modeling_cohere.CohereRotaryEmbedding(config)
    positions = np.arange(5) + 13
    for x, expected in rotated(modeling_cohere, embedding, 14, positions, 2):
        np.testing.assert_allclose(rope(x, positions, base=800.0, interleaved=True), expected, rtol=0, atol=1e-5)


def test_glm_is_interleaved_in_a_part_of_each_head():
    config = GlmConfig(
        hidden_size=3 * 20,
        num_attention_heads=3,
        head_dim=20,
        rope_parameters={"rope_theta": 600.0, "partial_rotary_factor": 0.5},
    )
    embedding = modeling_glm.GlmRotaryEmbedding(config)
    positions = np.arange(7)
    for x, expected in rotated(modeling_glm, embedding, 20, positions, 3):
        actual = rope(x, base=600.0, width=10, interleaved=True)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=5e-6)


def test_gptj_is_interleaved(rng):
    x = rng.standard_normal((2, 11, 3, 10), np.float32)  # (b, n, h, d): GPT-J turns before it moves the heads
    sin, cos = modeling_gptj.create_sinusoidal_positions(11, 10).chunk(2, dim=-1)
    expected = modeling_gptj.apply_rotary_pos_emb(torch.from_numpy(x), sin[None], cos[None]).numpy()
    actual = rope(x.swapaxes(1, 2), interleaved=True).swapaxes(1, 2)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=5e-6)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("num_buckets", "max_distance"), [(32, 128), (18, 128), (54, 125), (4, 5), (6, 300), (64, 65)])
def test_t5_buckets(bidirectional, num_buckets, max_distance):
    relative_positions = np.arange(-1000, 1001)
    expected = T5Attention._relative_position_bucket(
        torch.from_numpy(relative_positions), bidirectional, num_buckets, max_distance
    )
    actual = t5_buckets(
        relative_positions, bidirectional=bidirectional, num_buckets=num_buckets, max_distance=max_distance
    )
    np.testing.assert_array_equal(actual, expected.numpy())


def t5_layer(*, is_decoder):
    torch.manual_seed(0)
    config = T5Config(
        d_model=13,
        d_kv=5,
        num_heads=3,
        relative_attention_num_buckets=10,
        relative_attention_max_distance=17,
        is_decoder=is_decoder,
        attn_implementation="eager",
    )
    return T5Attention(config, has_relative_attention_bias=True, layer_idx=0).double().eval()


@torch.no_grad()
@pytest.mark.parametrize("is_decoder", [False, True])
def test_t5_bias(is_decoder):
    layer = t5_layer(is_decoder=is_decoder)
    table = layer.relative_attention_bias.weight.numpy()
    how = {"bidirectional": not is_decoder, "max_distance": 17}
    square = layer.compute_bias(23, 23)[0].numpy()
    np.testing.assert_array_equal(t5_bias(23, 23, table, **how), square)
    cached = layer.compute_bias(7, 23, past_seen_tokens=16)[0].numpy()
    np.testing.assert_array_equal(t5_bias(7, 23, table, **how), cached)
    top_left = layer.compute_bias(7, 23)[0].numpy()
    np.testing.assert_array_equal(t5_bias(7, 23, table, offset=0, **how), top_left)


@torch.no_grad()
def test_t5_attention():
    layer = t5_layer(is_decoder=False)
    x = torch.randn(2, 29, 13, dtype=torch.float64)
    _, _, expected = layer(x)
    heads = [np.moveaxis(w(x).numpy().reshape(2, 29, 3, 5), 1, 2) for w in (layer.q, layer.k, layer.v)]
    bias = t5_bias(29, 29, layer.relative_attention_bias.weight.numpy(), max_distance=17)
    _, weights = scaled_dot_product_attention(*heads, bias=bias, scale=1.0)
    np.testing.assert_allclose(weights, expected.numpy(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("num_heads", [1, 2, 3, 5, 7, 8, 12, 16, 23, 112])
def test_alibi_against_bloom(num_heads):
    n = 13
    expected = build_alibi_tensor(torch.ones(1, n), num_heads, torch.float64).numpy()[:, 0]  # (h, n): slope · j
    np.testing.assert_allclose(alibi_slopes(num_heads), expected[:, 1], **FLOAT32)
    bias = alibi(n, n, num_heads)
    for i in range(n):  # Bloom's bias is that of the last query; for the others it is off by a constant of the row
        past = np.s_[:, : i + 1]
        np.testing.assert_allclose(bias[:, i][past], (expected - expected[:, i : i + 1])[past], rtol=2e-6, atol=1e-6)


@torch.no_grad()
def test_bloom_attention():
    torch.manual_seed(0)
    config = BloomConfig(hidden_size=5 * 7, n_head=5, hidden_dropout=0.0, attention_dropout=0.0)
    layer = BloomAttention(config, layer_idx=0).double().eval()
    x, causal = torch.randn(2, 11, 35, dtype=torch.float64), create_causal_mask(11)
    _, expected = layer(
        x,
        residual=torch.zeros_like(x),
        alibi=build_alibi_tensor(torch.ones(2, 11), 5, torch.float64),
        attention_mask=torch.from_numpy(np.where(causal, 0, -np.inf)),
        output_attentions=True,
    )
    Q, K, V = (part.numpy() for part in layer._reshape(layer.query_key_value(x)))
    _, weights = scaled_dot_product_attention(Q, K, V, causal, bias=alibi(11, 11, 5))
    np.testing.assert_allclose(weights, expected.numpy(), rtol=0, atol=1e-6)  # Bloom's softmax is float32


@torch.no_grad()
@pytest.mark.parametrize(("left", "right"), [(7, 3), (2, 2), (0, 5), (40, 40)])
def test_relative_keys_against_wav2vec2_bert(left, right):
    torch.manual_seed(0)
    config = Wav2Vec2BertConfig(
        hidden_size=3 * 11,
        num_attention_heads=3,
        position_embeddings_type="relative_key",
        left_max_position_embeddings=left,
        right_max_position_embeddings=right,
        attention_dropout=0.0,
        attn_implementation="eager",
    )
    layer = Wav2Vec2BertSelfAttention(config).double().eval()
    x = torch.randn(2, 17, 33, dtype=torch.float64)
    expected_output, expected_weights = layer(x)
    heads = [
        np.moveaxis(w(x).numpy().reshape(2, 17, 3, 11), 1, 2) for w in (layer.linear_q, layer.linear_k, layer.linear_v)
    ]
    output, weights = relative_attention(*heads, layer.distance_embedding.weight.numpy(), left=left)
    np.testing.assert_allclose(weights, expected_weights.numpy(), rtol=0, atol=1e-13)
    joined = torch.from_numpy(np.moveaxis(output, 1, 2).reshape(2, 17, 33))
    np.testing.assert_allclose(layer.linear_out(joined).numpy(), expected_output.numpy(), rtol=0, atol=1e-13)
