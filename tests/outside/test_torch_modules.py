"""torch's attention, encoder, decoder and Transformer modules against clearhead's, with copied weights, in float64.

torch's boolean masks say True = masked out; clearhead's say True = may attend. Weights are transposed: torch keeps
(out, in), clearhead (in, out).
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from clearhead.textbook.decoder import DecoderBlock
from clearhead.textbook.encoder import EncoderBlock
from clearhead.textbook.masks import create_causal_mask, create_padding_mask
from clearhead.textbook.multi_head import MultiHeadAttention
from clearhead.textbook.transformer import Transformer

TOLERANCE = {"rtol": 1e-10, "atol": 1e-11}
D_MODEL, HEADS, D_FF = 21, 3, 13
BLOCKS = [
    {"norm_first": norm_first, "activation": activation, "bias": bias}
    for norm_first in (False, True)
    for activation in ("relu", "gelu")
    for bias in (True, False)
]


def drawn(module, seed=0):
    """The torch module in float64 with every parameter drawn, biases and norms too, ready for inference."""
    generator = torch.Generator().manual_seed(seed)
    module = module.double().eval().requires_grad_(False)
    for name, parameter in module.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        parameter.copy_(noise / parameter.shape[-1] ** 0.5 + (parameter.ndim == 1 and "norm" in name))
    return module


def attention_parameters(module):
    """nn.MultiheadAttention's, under our names."""
    parameters = dict(zip(("W_Q", "W_K", "W_V"), module.in_proj_weight.chunk(3), strict=True))
    parameters["W_O"] = module.out_proj.weight
    parameters = {name: weight.T for name, weight in parameters.items()}
    if module.in_proj_bias is not None:
        parameters |= zip(("b_Q", "b_K", "b_V"), module.in_proj_bias.chunk(3), strict=True)
        parameters["b_O"] = module.out_proj.bias
    return {name: tensor.numpy() for name, tensor in parameters.items()}


def linear_parameters(module, name):
    biases = {} if module.bias is None else {f"b_{name}": module.bias.numpy()}
    return {f"W_{name}": module.weight.T.numpy()} | biases


def norm_parameters(module):
    return {"gamma": module.weight.numpy()} | ({} if module.bias is None else {"beta": module.bias.numpy()})


def under(prefix, parameters):
    return {f"{prefix}.{name}": array for name, array in parameters.items()}


def encoder_parameters(layer):
    return (
        under("attention", attention_parameters(layer.self_attn))
        | under("attention_norm", norm_parameters(layer.norm1))
        | under("feed_forward", linear_parameters(layer.linear1, "1") | linear_parameters(layer.linear2, "2"))
        | under("feed_forward_norm", norm_parameters(layer.norm2))
    )


def decoder_parameters(layer):
    return (
        under("self_attention", attention_parameters(layer.self_attn))
        | under("self_attention_norm", norm_parameters(layer.norm1))
        | under("cross_attention", attention_parameters(layer.multihead_attn))
        | under("cross_attention_norm", norm_parameters(layer.norm2))
        | under("feed_forward", linear_parameters(layer.linear1, "1") | linear_parameters(layer.linear2, "2"))
        | under("feed_forward_norm", norm_parameters(layer.norm3))
    )


def torch_mask(allowed):
    return None if allowed is None else torch.from_numpy(~allowed)


def some_allowed(rng, *shape):
    """A drawn mask in which every query keeps a key: torch answers NaN otherwise."""
    return (rng.random(shape) < 0.6) | np.eye(*shape[-2:], dtype=bool)


def padding(*lengths, n):
    """Token ids 1, and 0 from each length on."""
    return (np.arange(n) < np.array(lengths)[:, None]).astype(int)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["plain", "boolean", "additive", "padding", "both", "per head"])
@pytest.mark.parametrize("cross", [False, True], ids=["self", "cross"])
def test_multihead_attention(rng, bias, kind, cross):
    theirs = drawn(nn.MultiheadAttention(D_MODEL, HEADS, bias=bias, batch_first=True))
    ours = MultiHeadAttention(D_MODEL, HEADS, bias=bias)
    ours.load_parameters(attention_parameters(theirs))
    b, n_q, n_k = 2, 5, 11 if cross else 5
    Q = rng.normal(size=(b, n_q, D_MODEL))
    K, V = rng.normal(size=(2, b, n_k, D_MODEL)) if cross else (Q, Q)

    mask, masks = None, {}
    if kind in ("boolean", "both"):
        mask = some_allowed(rng, n_q, n_k)
        masks["attn_mask"] = torch_mask(mask)
    if kind == "additive":
        mask = rng.normal(size=(n_q, n_k))
        mask[:, 3] = -np.inf
        masks["attn_mask"] = torch.from_numpy(mask)
    if kind == "per head":  # torch's three axes are batch and heads in one
        mask = some_allowed(rng, b, HEADS, n_q, n_k)
        masks["attn_mask"] = torch_mask(mask.reshape(b * HEADS, n_q, n_k))
    if kind in ("padding", "both"):
        ids = padding(n_k, n_k - 2, n=n_k)
        if kind == "both":
            mask[:, 0] = True
            masks["attn_mask"] = torch_mask(mask)
        masks["key_padding_mask"] = torch.from_numpy(ids == 0)
        mask = create_padding_mask(ids) if mask is None else create_padding_mask(ids) & mask

    expected, weights = theirs(*map(torch.from_numpy, (Q, K, V)), average_attn_weights=False, **masks)
    got = ours(Q, K, V, mask) if cross else ours(Q, mask=mask)
    np.testing.assert_allclose(got[0], expected, **TOLERANCE)
    np.testing.assert_allclose(got[1], weights, **TOLERANCE)


def test_multihead_attention_without_a_batch(rng):
    theirs = drawn(nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True))
    ours = MultiHeadAttention(D_MODEL, HEADS)
    ours.load_parameters(attention_parameters(theirs))
    Q, K = rng.normal(size=(5, D_MODEL)), rng.normal(size=(11, D_MODEL))
    expected, weights = theirs(*map(torch.from_numpy, (Q, K, K)), average_attn_weights=False)
    got = ours(Q, K)
    np.testing.assert_allclose(got[0], expected, **TOLERANCE)
    np.testing.assert_allclose(got[1], weights, **TOLERANCE)


@pytest.mark.parametrize("settings", BLOCKS, ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_encoder_layer(rng, settings, masked):
    theirs = drawn(
        nn.TransformerEncoderLayer(D_MODEL, HEADS, D_FF, dropout=0, batch_first=True, layer_norm_eps=1e-3, **settings)
    )
    ours = EncoderBlock(D_MODEL, HEADS, D_FF, eps=1e-3, **settings)
    ours.load_parameters(encoder_parameters(theirs))
    x = rng.normal(size=(2, 7, D_MODEL))
    allowed = some_allowed(rng, 7, 7) if masked else np.ones((7, 7), bool)
    allowed[:, 0] = True
    ids = padding(7, 5, n=7) if masked else padding(7, 7, n=7)
    expected = theirs(torch.from_numpy(x), torch_mask(allowed), torch.from_numpy(ids == 0))
    got = ours(x, create_padding_mask(ids) & allowed)
    kept = ids == 1
    np.testing.assert_allclose(got.output[kept], expected.numpy()[kept], **TOLERANCE)


@pytest.mark.parametrize("settings", BLOCKS, ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_decoder_layer(rng, settings, masked):
    theirs = drawn(
        nn.TransformerDecoderLayer(D_MODEL, HEADS, D_FF, dropout=0, batch_first=True, layer_norm_eps=1e-3, **settings)
    )
    ours = DecoderBlock(D_MODEL, HEADS, D_FF, eps=1e-3, **settings)
    ours.load_parameters(decoder_parameters(theirs))
    x, memory = rng.normal(size=(2, 7, D_MODEL)), rng.normal(size=(2, 11, D_MODEL))
    ids, memory_ids = padding(7, 5, n=7), padding(11, 8, n=11)
    memory_allowed = some_allowed(rng, 7, 11)
    memory_allowed[:, 0] = True
    causal = create_causal_mask(7)
    if not masked:
        expected = theirs(torch.from_numpy(x), torch.from_numpy(memory), tgt_mask=torch_mask(causal))
        np.testing.assert_allclose(ours(x, memory).output, expected, **TOLERANCE)
        return
    expected = theirs(
        torch.from_numpy(x),
        torch.from_numpy(memory),
        tgt_mask=torch_mask(causal),
        memory_mask=torch_mask(memory_allowed),
        tgt_key_padding_mask=torch.from_numpy(ids == 0),
        memory_key_padding_mask=torch.from_numpy(memory_ids == 0),
    )
    got = ours(x, memory, create_padding_mask(ids), create_padding_mask(memory_ids) & memory_allowed)
    np.testing.assert_allclose(got.output, expected, **TOLERANCE)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # torch on its own defaults, with odd heads
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_transformer(rng, norm_first, activation):
    theirs = drawn(
        nn.Transformer(
            D_MODEL, HEADS, 2, 3, D_FF, 0.0, activation, batch_first=True, norm_first=norm_first, layer_norm_eps=1e-3
        )
    )
    ours = Transformer(
        19,
        17,
        d_model=D_MODEL,
        num_heads=HEADS,
        num_layers=2,
        num_decoder_layers=3,
        d_ff=D_FF,
        norm_first=norm_first,
        activation=activation,
        final_norm=True,
        eps=1e-3,
    )
    copied = {name: array for name, array in ours.parameters().items() if "." not in name}  # embeddings and output
    for i, layer in enumerate(theirs.encoder.layers):
        copied |= under(f"encoder.{i}", encoder_parameters(layer))
    for i, layer in enumerate(theirs.decoder.layers):
        copied |= under(f"decoder.{i}", decoder_parameters(layer))
    copied |= under("encoder_norm", norm_parameters(theirs.encoder.norm))
    copied |= under("decoder_norm", norm_parameters(theirs.decoder.norm))
    ours.load_parameters(copied)

    source = rng.integers(1, 19, (2, 11)) * padding(11, 8, n=11)
    target = rng.integers(1, 17, (2, 7)) * padding(5, 7, n=7)
    expected = theirs(
        torch.from_numpy(embedded(source, ours.source_embedding)),
        torch.from_numpy(embedded(target, ours.target_embedding)),
        tgt_mask=torch_mask(create_causal_mask(7)),
        src_key_padding_mask=torch.from_numpy(source == 0),
        tgt_key_padding_mask=torch.from_numpy(target == 0),
        memory_key_padding_mask=torch.from_numpy(source == 0),
    )
    np.testing.assert_allclose(ours(source, target).logits, expected.numpy() @ ours.W_out + ours.b_out, **TOLERANCE)


def embedded(ids, table):
    """Rows of the table times √d_model plus sines and cosines, written out once more."""
    position, column = np.arange(ids.shape[-1])[:, None], np.arange(D_MODEL)
    angle = position / 10000 ** (column // 2 * 2 / D_MODEL)
    return table[ids] * np.sqrt(D_MODEL) + np.where(column % 2, np.cos(angle), np.sin(angle))
