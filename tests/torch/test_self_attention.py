"""The textbook's MultiHeadAttention judges the layers built on the kernels, with their weights under the same names."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from torch.nn import functional

from clearhead import masks, textbook
from clearhead.torch.cache import KeyValueCache
from clearhead.torch.layers import DecoderBlock, EncoderBlock, FeedForward, LayerNorm, RMSNorm
from clearhead.torch.rope import rope
from clearhead.torch.self_attention import CrossAttention, SelfAttention
from clearhead.torch.transformer import Transformer

B, N, N_MEMORY, D, H = 2, 11, 7, 30, 5
TIGHT = {"rtol": 1e-10, "atol": 1e-12}
LAYERS = {
    "plain": {"rope": None},
    "rope": {},
    "other rope": {"rope": functools.partial(rope, base=70.0, width=4, interleaved=True)},
    "window": {"window": 3},
    "both ways": {"causal": False},
    "both ways in a window": {"causal": False, "window": 3},
    "grouped": {"num_kv_heads": 1, "bias": False},
}
LEADING = [(), (B,), (2, 3)]


def drawn(layer):
    """In float64 with every parameter drawn, biases too."""
    generator = torch.Generator().manual_seed(0)
    layer = layer.double()
    with torch.no_grad():
        for parameter in layer.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(noise / parameter.shape[-1] ** 0.5)
    return layer


def self_attention(**options):
    return drawn(SelfAttention(d_model=D, num_heads=H, **options))


def cross_attention(**options):
    return drawn(CrossAttention(d_model=D, num_heads=H, **options))


def randn(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def close(got, expected, **tolerance):
    np.testing.assert_allclose(got.detach().numpy(), expected, **(tolerance or TIGHT))


def allowed(layer, n=N):
    own = layer.own_mask()
    return np.ones((n, n), bool) if own is None else own.array(n)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("leading", LEADING, ids=str)
def test_it_is_the_textbooks(kind, leading):
    layer = self_attention(**LAYERS[kind])
    x = randn(*leading, N, D)
    expected, _ = layer.to_textbook()(x.numpy(), mask=allowed(layer))
    close(layer(x), expected)


def test_which_keys_are_seen():
    i, j = np.arange(N)[:, None], np.arange(N)
    seen = {
        "plain": j <= i,
        "window": (j <= i) & (i - j < 3),
        "both ways": np.ones((N, N), bool),
        "both ways in a window": abs(i - j) < 3,
    }
    for kind, expected in seen.items():
        np.testing.assert_array_equal(allowed(self_attention(**LAYERS[kind])), expected)


@pytest.mark.parametrize("kind", LAYERS)
def test_masks_forbid_more(kind):
    layer = self_attention(**LAYERS[kind])
    x = randn(B, N, D)
    documents = np.array([[0] * 4 + [1] * 7, [3] * 9 + [2] * 2])
    per_head = randn(B, H, N, N).gt(-0.5)
    for given, written in (
        (masks.documents(documents), masks.documents(documents).array(N, batch_shape=(B,), heads=1)),
        (per_head, per_head.numpy()),
    ):
        expected, _ = layer.to_textbook()(x.numpy(), mask=written & allowed(layer))
        close(layer(x, given), expected)


@pytest.mark.parametrize("kind", ["rope", "grouped", "window", "both ways"])
def test_gradients_are_those_of_plain_torch(kind):
    layer, x = self_attention(**LAYERS[kind]), randn(B, N, D).requires_grad_()

    def plain(x):
        q, k, v = (
            (x @ W + (0 if b is None else b)).unflatten(-1, (-1, D // H)).transpose(-3, -2)
            for W, b in ((layer.W_Q, layer.b_Q), (layer.W_K, layer.b_K), (layer.W_V, layer.b_V))
        )
        mask = torch.from_numpy(allowed(layer).copy())
        mixed = functional.scaled_dot_product_attention(rope(q), rope(k), v, attn_mask=mask, enable_gqa=True)
        return mixed.transpose(-3, -2).flatten(-2) @ layer.W_O + (0 if layer.b_O is None else layer.b_O)

    towards = randn(B, N, D, seed=2)
    inputs = [x, *layer.parameters()]
    for got, expected in zip(
        torch.autograd.grad((layer(x) * towards).sum(), inputs),
        torch.autograd.grad((plain(x) * towards).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", ["plain", "rope", "other rope", "window", "grouped"])
@pytest.mark.parametrize("steps", [[1] * N, [4, 6, 1]], ids=str)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad])
def test_step_by_step_is_the_whole(kind, steps, mode):
    layer, x = self_attention(**LAYERS[kind]), randn(B, N, D)
    with mode():
        whole, cache, parts = layer(x), KeyValueCache(), []
        for part in x.split(steps, dim=-2):
            parts.append(layer(part, cache=cache))
        close(torch.cat(parts, dim=-2), whole.detach().numpy())
    assert cache.length == N


def test_a_mask_covers_what_is_cached():
    layer, x = self_attention(), randn(B, N, D)
    real = torch.ones(B, 1, 1, N, dtype=torch.bool)
    real[1, ..., 2:4] = False
    whole, cache = layer(x, real), KeyValueCache()
    layer(x[:, :5], real[..., :5], cache=cache)
    close(layer(x[:, 5:], real, cache=cache), whole[:, 5:].detach().numpy())


def test_a_failed_call_leaves_the_cache_as_it_was():
    layer, x, cache = self_attention(), randn(B, N, D), KeyValueCache()
    layer(x[:, :5], cache=cache)
    with pytest.raises(ValueError, match="does not broadcast"):
        layer(x[:, 5:], torch.ones(3, 3, dtype=torch.bool), cache=cache)
    close(layer(x[:, 5:], cache=cache), layer(x)[:, 5:].detach().numpy())


def test_what_comes_later_changes_no_bit():
    layer, x = self_attention(), randn(B, N, D)
    changed = x.clone()
    changed[:, 6:] = torch.nan
    assert torch.equal(layer(x)[:, :6], layer(changed)[:, :6])


@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 1}, {"bias": False}], ids=str)
def test_cross_attention_is_the_textbooks(options):
    layer = cross_attention(**options)
    x, memory = randn(B, N, D), randn(B, N_MEMORY, D, seed=3)
    real = torch.arange(N_MEMORY) < torch.tensor([5, 7])[:, None, None, None]
    expected, _ = layer.to_textbook()(x.numpy(), memory.numpy(), mask=real.numpy())
    cache = KeyValueCache()
    close(layer(x, memory, real), expected)
    close(layer(x[:, :4], memory, masks.key_lengths([5, 7]), cache=cache), expected[:, :4])
    for parameter in (layer.W_K, layer.W_V):
        parameter.data.zero_()  # the memory is not projected again
    close(layer(x[:, 4:], memory, masks.key_lengths([5, 7]), cache=cache), expected[:, 4:])


def test_dropout_follows_torchs_seed_and_ends_with_training():
    layer, x = self_attention(dropout=0.4), randn(B, N, D)

    def run(seed):
        torch.manual_seed(seed)
        return layer(x)

    assert torch.equal(run(3), run(3))
    assert not torch.equal(run(3), run(4))
    layer.eval()
    close(run(3), self_attention()(x).detach().numpy())


def test_weights_go_to_the_textbook_and_back():
    for layer in (self_attention(), self_attention(num_kv_heads=1, bias=False), cross_attention()):
        arrays = layer.to_textbook().parameters()
        assert list(arrays) == list(layer.state_dict())
        for name, parameter in layer.named_parameters():
            np.testing.assert_array_equal(arrays[name], parameter.detach().numpy())
            assert not np.shares_memory(arrays[name], parameter.detach().numpy())


def test_initial_weights_are_spread_like_the_textbooks():
    torch.manual_seed(0)
    ours, theirs = SelfAttention(d_model=120, num_heads=4), textbook.MultiHeadAttention(120, 4)
    for name, parameter in ours.named_parameters():
        array = theirs.parameters()[name]
        assert parameter.shape == array.shape
        assert parameter.std(correction=0).item() == pytest.approx(array.std(), rel=0.03)
        assert parameter.abs().max().item() == pytest.approx(np.abs(array).max(), rel=0.01)


def test_types_and_places_are_torchs():
    layer = SelfAttention(d_model=D, num_heads=H, dtype=torch.bfloat16)
    assert {p.dtype for p in layer.parameters()} == {torch.bfloat16}
    x = randn(B, N, D).bfloat16()
    assert layer(x).dtype == torch.bfloat16
    torch.testing.assert_close(layer(x).double(), layer.double()(x.double()), rtol=0, atol=0.05)
    assert repr(layer) == "SelfAttention(d_model=30, num_heads=5, own_mask=causal())"


@pytest.mark.filterwarnings("ignore")  # torch's own, while it compiles
def test_torch_compile_may_break_the_graph_but_not_the_answer(unchecked):
    layer, x = self_attention(window=3), randn(B, N, D)
    compiled = torch.compile(layer, backend="eager")
    torch.testing.assert_close(compiled(x), layer(x), rtol=1e-12, atol=1e-13)


# Errors


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"d_model": 0}, ValueError, "d_model must be at least 1, got 0"),
        ({"num_heads": 7}, ValueError, "d_model = 30 cannot be divided among num_heads = 7 heads evenly"),
        ({"num_kv_heads": 2}, ValueError, "5 query heads cannot share 2 key/value heads evenly"),
        ({"window": 0}, ValueError, "window must be at least 1, got 0"),
        ({"rope": 3}, TypeError, r"rope must be a function \(x, positions\) → x or None, got 3"),
        ({"dropout": 1.0}, ValueError, "dropout must be at least 0 and less than 1, got 1"),
        ({"dropout": "much"}, TypeError, "dropout must be a number, got 'much'"),
    ],
)
def test_settings_that_are_refused(options, kind, message, unchecked):
    with pytest.raises(kind, match=message):
        SelfAttention(**{"d_model": D, "num_heads": H} | options)


def test_calls_that_are_refused(unchecked):
    layer, across = self_attention(), cross_attention()
    x = randn(B, N, D)
    with pytest.raises(TypeError, match=r"x must be floats, got torch.int64 \(did you pass token ids\?\)"):
        layer(torch.zeros(B, N, D, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"x must be d_model = 30 wide, shape \(…, n, 30\), got shape \(2, 11, 29\)"):
        layer(x[..., 1:])
    with pytest.raises(ValueError, match=r"memory must be d_model = 30 wide"):
        across(x, x[..., 1:])
    with pytest.raises(
        TypeError, match=r"mask must be a mask or a boolean tensor \(True = may attend\), got torch.float"
    ):
        layer(x, torch.zeros(N, N))
    with pytest.raises(TypeError, match="got ndarray"):
        layer(x, np.ones((N, N), bool))
    with pytest.raises(ValueError, match=r"rope must return the shape it was given, .*6\), got \(2, 5, 11, 3\)"):
        self_attention(rope=lambda x, positions: x[..., ::2])(x)
    with pytest.raises(ValueError, match=r"cannot be translated to NumPy; use clearhead.torch.rope"):
        self_attention(rope=lambda x, positions: x).to_textbook()
    cache = KeyValueCache()
    layer(x, cache=cache)
    with pytest.raises(ValueError, match="give each its own cache"):
        across(x, x, cache=cache)


@pytest.mark.parametrize("mask", [masks.causal(), torch.ones(5, 5, dtype=torch.bool)], ids=["mask", "boolean"])
def test_a_mask_in_the_place_of_the_memory_is_told_its_name(mask, unchecked):
    with pytest.raises(TypeError, match=r"memory must be floats \(…, n, 12\), got a mask; pass it by its name, mask="):
        CrossAttention(d_model=12, num_heads=3)(torch.zeros(2, 5, 12), mask)


def test_an_array_in_the_place_of_a_tensor(unchecked):
    with pytest.raises(TypeError, match=r"x must be a torch tensor, got ndarray \(torch.as_tensor\(x\) may make one"):
        SelfAttention(d_model=12, num_heads=3)(np.zeros((2, 5, 12), np.float32))


@pytest.mark.parametrize(
    ("layer", "others"),
    [
        (SelfAttention(d_model=12, num_heads=3, strict=True), 0),
        (CrossAttention(d_model=12, num_heads=3, strict=True), 1),
        (EncoderBlock(12, 3, 8, strict=True), 0),
        (DecoderBlock(12, 3, 8, strict=True), 1),
    ],
    ids=["self", "cross", "encoder", "decoder"],
)
def test_a_strict_layer_refuses_what_is_slow(layer, others):
    x = torch.zeros(2, 5, 12)
    layer(x, *[x] * others, masks.causal())
    with pytest.raises(ValueError, match="strict: this call would be slow: the mask cannot be said in runs of keys"):
        layer(x, *[x] * others, ~masks.dilated(2))


def test_a_strict_transformer_has_strict_layers(tmp_path):
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 8}
    model = Transformer(7, 5, **sizes, strict=True)
    model.save(tmp_path / "model")
    for made in (model, Transformer.load(tmp_path / "model", strict=True)):
        layers = [m for m in made.modules() if isinstance(m, (SelfAttention, CrossAttention))]
        assert len(layers) == 6
        assert all(layer.strict for layer in layers)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (
            SelfAttention(d_model=12, num_heads=6, num_kv_heads=2, window=4),
            "SelfAttention(d_model=12, num_heads=6, num_kv_heads=2, own_mask=window(4))",
        ),
        (SelfAttention(d_model=12, num_heads=3), "SelfAttention(d_model=12, num_heads=3, own_mask=causal())"),
        (SelfAttention(d_model=12, num_heads=3, causal=False), "SelfAttention(d_model=12, num_heads=3)"),
        (CrossAttention(d_model=12, num_heads=3), "CrossAttention(d_model=12, num_heads=3)"),
        (FeedForward(12, 7), "FeedForward(d_model=12, d_ff=7, activation='relu')"),
        (LayerNorm(12), "LayerNorm(d_model=12, eps=1e-05)"),
        (RMSNorm(12), "RMSNorm(d_model=12, eps=1e-05)"),
        (KeyValueCache(), "<KeyValueCache: 0 keys>"),
    ],
)
def test_what_is_printed(layer, text):
    assert repr(layer) == text
