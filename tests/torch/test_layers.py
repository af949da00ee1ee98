"""The textbook's blocks judge those that are trained, and plain torch their gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from clearhead import masks, textbook
from clearhead.torch.layers import DecoderBlock, DecoderBlockCache, EncoderBlock, FeedForward, LayerNorm, RMSNorm
from clearhead.torch.rope import rope

B, N, N_MEMORY, D, H, D_FF = 2, 11, 7, 20, 5, 13
KINDS = [
    {"norm_first": norm_first, **rest}
    for norm_first in (False, True)
    for rest in (
        {},
        {"activation": "gelu", "bias": False},
        {"activation": "gelu_tanh", "eps": 1e-2},
        {"activation": "swiglu", "norm": "rms", "num_kv_heads": 1},
    )
]


def drawn(module, seed=0):
    """In float64 with every parameter drawn, biases and norms too."""
    generator = torch.Generator().manual_seed(seed)
    module = module.double()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(noise / parameter.shape[-1] ** 0.5 + ("gamma" in name))
    return module


def in_numpy(module, made):
    """The textbook's object with the same weights, under the same names."""
    made.load_parameters({name: p.detach().numpy() for name, p in module.named_parameters()})
    return made


def randn(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def close(got, expected):
    np.testing.assert_allclose(got.detach().numpy(), expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("leading", [(), (B,), (2, 3)], ids=str)
def test_norms(leading):
    x = randn(*leading, N, D)
    for ours, theirs in (
        (LayerNorm(D, eps=1e-2), textbook.LayerNorm(D, eps=1e-2)),
        (LayerNorm(D, bias=False), textbook.LayerNorm(D, bias=False)),
        (RMSNorm(D, eps=1e-2), textbook.RMSNorm(D, eps=1e-2)),
    ):
        close(drawn(ours)(x), in_numpy(ours, theirs)(x.numpy()))


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "swiglu"])
@pytest.mark.parametrize("bias", [True, False])
def test_feed_forward(activation, bias):
    ours = drawn(FeedForward(D, D_FF, activation=activation, bias=bias))
    theirs = in_numpy(ours, textbook.FeedForward(D, D_FF, activation=activation, bias=bias))
    x = randn(B, N, D)
    close(ours(x), theirs(x.numpy()))
    assert list(ours.state_dict()) == list(theirs.parameters())


@pytest.mark.parametrize("settings", KINDS, ids=str)
@pytest.mark.parametrize("rotary", [False, True])
def test_encoder_block(settings, rotary):
    ours = drawn(EncoderBlock(D, H, D_FF, **settings, rope=rope if rotary else None))
    theirs = in_numpy(ours, textbook.EncoderBlock(D, H, D_FF, **settings, rope=textbook.rope if rotary else None))
    x, mask = randn(B, N, D), masks.key_lengths([N, 6])
    close(ours(x, mask), theirs(x.numpy(), mask.array(N, batch_shape=(B,), heads=1)).output)
    assert set(ours.state_dict()) == set(theirs.parameters())


@pytest.mark.parametrize("settings", KINDS, ids=str)
@pytest.mark.parametrize("rotary", [False, True])
def test_decoder_block(settings, rotary):
    ours = drawn(DecoderBlock(D, H, D_FF, **settings, rope=rope if rotary else None))
    theirs = in_numpy(ours, textbook.DecoderBlock(D, H, D_FF, **settings, rope=textbook.rope if rotary else None))
    x, memory = randn(B, N, D), randn(B, N_MEMORY, D, seed=2)
    mask, memory_mask = masks.key_lengths([N, 6]), masks.key_lengths([N_MEMORY, 3])
    expected = theirs(
        x.numpy(),
        memory.numpy(),
        mask.array(N, batch_shape=(B,), heads=1),
        memory_mask.array(N, N_MEMORY, batch_shape=(B,), heads=1),
    ).output
    close(ours(x, memory, mask, memory_mask), expected)
    assert set(ours.state_dict()) == set(theirs.parameters())

    cache, parts = DecoderBlockCache.empty(), []
    for start, end in ((0, 4), (4, 5), (5, N)):
        seen = masks.array(mask.array(N, batch_shape=(B,), heads=1)[..., start:end, :end])
        parts.append(ours(x[:, start:end], memory, seen, memory_mask, cache=cache))
    close(torch.cat(parts, dim=1), expected)


def test_selected_caches_go_on_by_themselves():
    block = drawn(DecoderBlock(D, H, D_FF))
    x, memory = randn(B, N, D), randn(B, N_MEMORY, D, seed=2)
    cache = DecoderBlockCache.empty()
    block(x[:, :6], memory, cache=cache)
    order = torch.tensor([1, 1, 0])
    got = block(x[order, 6:], memory[order], cache=cache.select(order))
    close(got, block(x, memory)[order, 6:].detach().numpy())


def test_dropout_is_in_four_places_and_in_training_only():
    block, x = drawn(EncoderBlock(D, H, D_FF, dropout=0.3)), randn(B, N, D)

    def run(seed):
        torch.manual_seed(seed)
        return block(x)

    assert torch.equal(run(3), run(3))
    assert not torch.equal(run(3), run(4))
    dropped = FeedForward(D, D_FF, dropout=0.3).double()
    hidden_only = torch.stack([dropped(x) for _ in range(3)])
    assert not torch.equal(hidden_only[0], hidden_only[1])
    block.eval()
    expected = in_numpy(block, textbook.EncoderBlock(D, H, D_FF))(x.numpy()).output
    close(run(3), expected)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: EncoderBlock(D, H, D_FF, norm="batch"), ValueError, "norm must be one of 'layer', 'rms', got 'batch'"),
        (lambda: FeedForward(D, D_FF, activation="tanh"), ValueError, "activation must be one of 'relu', 'gelu'"),
        (lambda: FeedForward(D, 0), ValueError, "d_ff must be at least 1, got 0"),
        (lambda: LayerNorm(D, eps=0.0), ValueError, "eps must be greater than 0, got 0"),
        (lambda: RMSNorm(0), ValueError, "d_model must be at least 1, got 0"),
        (lambda: DecoderBlock(D, H, D_FF, dropout=-0.1), ValueError, "dropout must be at least 0"),
        (lambda: FeedForward(D, D_FF)(torch.zeros(3, 4)), ValueError, "x must be d_model = 20 wide"),
        (lambda: EncoderBlock(D, H, D_FF, norm_first=True)(torch.zeros(3, 4)), ValueError, "x must be d_model = 20"),
        (lambda: DecoderBlock(D, H, D_FF)(torch.zeros(3, 4), torch.zeros(3, D)), ValueError, "x must be d_model = 20"),
        (lambda: DecoderBlock(D, H, D_FF)(torch.zeros(3, D), torch.zeros(3, 4)), ValueError, "memory must be d_model"),
    ],
)
def test_errors(make, kind, message, unchecked):
    with pytest.raises(kind, match=message):
        make()
