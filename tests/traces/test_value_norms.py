"""Attention × value norm, against A · ‖v W_Oʰ‖ written out on eager weights; output projections, found or given."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from tests.hf.models import inputs, made, tokens
from torch import nn

import clearhead as ch
import clearhead.torch as cht

PROJECTIONS = {
    "llama": lambda model, layer: model.model.layers[layer].self_attn.o_proj.weight.T,
    "gpt2": lambda model, layer: model.transformer.h[layer].attn.c_proj.weight,
    "bert": lambda model, layer: model.encoder.layer[layer].attention.output.dense.weight.T,
    "deepseek_v3": lambda model, layer: model.model.layers[layer].self_attn.o_proj.weight.T,
    "vit": lambda model, layer: model.layers[layer].attention.o_proj.weight.T,
}


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert", "deepseek_v3"])
def test_on_eager_weights(name):
    given = {key: x[:1] for key, x in inputs(name).items()}
    with torch.no_grad():
        attentions = made(name)(**given, output_attentions=True).attentions
    with ch.trace(made(name), values=True) as trace, torch.no_grad():
        made(name)(**given)
    found = trace.value_norms()
    assert list(found) == trace.names
    for layer, path in enumerate(trace.names):
        W_O = PROJECTIONS[name](made(name), layer).detach().numpy()
        v = trace._takes[0].piece(path, 0).v
        heads, d_v = attentions[layer].shape[1], v.shape[-1]
        v = np.repeat(v, heads // len(v), axis=0)
        norms = np.stack([np.linalg.norm(v[h] @ W_O[h * d_v : (h + 1) * d_v], axis=-1) for h in range(heads)])
        np.testing.assert_allclose(found[path], norms, rtol=1e-4)
        expected = attentions[layer][0].numpy() * norms[:, None]
        atol = 5e-6 * norms.max()
        np.testing.assert_allclose(found.weights(path), expected, rtol=0, atol=atol)
        np.testing.assert_allclose(found.weights(path, 2, 5), expected[2, 5], rtol=0, atol=atol)
        window = found.weights(path, head=[1, 3], rows=slice(2, 9), cols=slice(0, 4))
        np.testing.assert_allclose(window, expected[[1, 3], 2:9, :4], rtol=0, atol=atol)
        np.testing.assert_allclose(found.received(path), expected.sum(-2), rtol=0, atol=20 * atol)
        np.testing.assert_allclose(found.moved()[path], expected.sum((-2, -1)) / expected.shape[-2], rtol=1e-4)


def test_modules_of_clearhead_torch():
    torch.manual_seed(0)
    ours, stand_in = cht.SelfAttention(d_model=24, num_heads=4), cht.MultiheadAttention(24, 4, batch_first=True)
    x = torch.randn(1, 7, 24)
    with ch.trace(ours, values=True) as trace, torch.no_grad():
        ours(x)
    v = ours.keys_and_values(x)[1][0].detach().numpy()
    expected = np.linalg.norm(v @ ours.W_O.detach().numpy().reshape(4, 6, 24), axis=-1)
    np.testing.assert_allclose(trace.value_norms()[""], expected, rtol=1e-5)
    with ch.trace(stand_in, values=True) as trace, torch.no_grad():
        stand_in(x, x, x)
    v = trace._takes[0].piece("", 0).v
    expected = np.linalg.norm(v @ stand_in.out_proj.weight.detach().numpy().T.reshape(4, 6, 24), axis=-1)
    np.testing.assert_allclose(trace.value_norms()[""], expected, rtol=1e-5)


class Gate(nn.Module):
    """What goes into a projection, changed on the way."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(2 * x)


def test_a_projection_that_is_not_found_can_be_given():
    model, ids = made("llama"), tokens(1)
    attention = model.model.layers[1].self_attn
    plain = attention.o_proj
    attention.o_proj = Gate(plain)
    try:
        with ch.trace(model, values=True) as trace, torch.no_grad():
            model(ids)
        with pytest.raises(
            ValueError, match=r"projection of model.layers.1.self_attn was not found: no Linear .* gate"
        ):
            trace.value_norms()
        path = trace.names[1]
        by_module = trace.value_norms(projections={path: plain})
        by_matrix = trace.value_norms(projections={path: 2 * plain.weight.T})
        np.testing.assert_allclose(by_matrix[path], 2 * by_module[path], rtol=1e-6)
        with pytest.raises(ValueError, match=r"a row for each of its 4 · 8 columns of heads, \(32, width\), got shape"):
            trace.value_norms(projections={path: plain.weight[:, :7].T})
    finally:
        attention.o_proj = plain


def test_values_must_be_kept():
    with ch.trace(made("llama")) as trace, torch.no_grad():
        made("llama")(tokens(1))
    with pytest.raises(ValueError, match=r"which were not kept: trace\(model, values=True\)"):
        trace.value_norms()


class Adapted(nn.Module):
    """A projection with something of low rank beside it, as PEFT has it: it calls the inner weight its own."""

    def __init__(self, base_layer, dropout=0.0):
        super().__init__()
        generator = torch.Generator().manual_seed(6)
        self.base_layer, self.dropout = base_layer, nn.Dropout(dropout)
        wide, out = self.both(base_layer).shape
        self.lora_A, self.lora_B = nn.Linear(wide, 3, bias=False), nn.Linear(3, out, bias=False)
        for part in (self.lora_A, self.lora_B):
            part.weight.data = torch.randn(part.weight.shape, generator=generator) / 4

    @staticmethod
    def both(module):
        """Its matrix (in, out)."""
        return module.weight if type(module).__name__ == "Conv1D" else module.weight.T

    @property
    def weight(self):
        return self.base_layer.weight

    @property
    def bias(self):
        return self.base_layer.bias

    def forward(self, x):
        return self.base_layer(x) + 2 * self.lora_B(self.lora_A(self.dropout(x)))

    def merged(self):
        """The same in one matrix."""
        plain = copy.deepcopy(self.base_layer)
        self.both(plain).data += 2 * (self.lora_B.weight @ self.lora_A.weight).T.data
        return plain


def adapted(name, *where, **options):
    """A model with adapters, and the same model with their matrices merged into its own."""
    wrapped = copy.deepcopy(made(name))
    for path in where:
        wrapped.set_submodule(path, Adapted(wrapped.get_submodule(path), **options))
    merged = copy.deepcopy(wrapped)
    for path in where:
        merged.set_submodule(path, merged.get_submodule(path).merged())
    return wrapped, merged


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("llama", ["model.layers.1.self_attn.o_proj", "model.layers.0.self_attn.v_proj"]),
        ("gpt2", ["transformer.h.0.attn.c_proj", "transformer.h.1.attn.c_attn"]),
        ("bert", ["encoder.layer.1.attention.output.dense"]),
    ],
)
def test_adapters_count_as_what_they_multiply_by(name, where, tmp_path):
    wrapped, merged = adapted(name, *where)
    found = []
    for model in (wrapped, merged, made(name)):
        with ch.trace(model, values=True) as trace, torch.no_grad():
            model(tokens(1))
        found.append((trace.value_norms(), None if name == "bert" else trace.attribution(7).array, trace))
    (norms, heads, trace), (expected, expected_heads, _), (plain, _, _) = found
    for layer in norms:
        np.testing.assert_allclose(norms[layer], expected[layer], rtol=2e-4)
    assert not np.allclose(norms[layer], plain[layer], rtol=0.02), "the adapters change something"
    if heads is not None:
        np.testing.assert_allclose(heads, expected_heads, rtol=0, atol=2e-4 * np.abs(expected_heads).max())
    trace.save(tmp_path / "x.safetensors")
    again = ch.load_trace(tmp_path / "x.safetensors").value_norms(model=wrapped)
    np.testing.assert_array_equal(again[layer], norms[layer])


def test_adapters_that_are_no_matrix_are_refused_by_name():
    path = "model.layers.1.self_attn"
    wrapped, _ = adapted("llama", f"{path}.o_proj", dropout=0.5)
    with ch.trace(wrapped.train(), values=True) as trace, torch.no_grad():
        wrapped(tokens(1))
    where = rf"{path}.o_proj, a Adapted, is around {path}.o_proj.base_layer and does not multiply by one matrix"
    with pytest.raises(ValueError, match=rf"the output projection of {path} was not found: {where}.*model.eval\(\)"):
        trace.value_norms()
    with pytest.raises(ValueError, match=rf"projection of {path}, a Adapted, does not multiply by one matrix"):
        trace.value_norms(projections={path: wrapped.get_submodule(f"{path}.o_proj")})


def test_an_adapted_unembedding_is_refused_by_name():
    wrapped, _ = adapted("llama", "lm_head")
    with ch.trace(wrapped, values=True) as trace, torch.no_grad():
        wrapped(tokens(1))
    with pytest.raises(
        NotImplementedError, match="lm_head is a Adapted, which may multiply by something else than its"
    ):
        trace.attribution(7)
