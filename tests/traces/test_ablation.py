"""A head that is taken out, against a hook on the output projection that does the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.hf.models import inputs, made, padded, tokens

import clearhead as ch

D = 8  # columns of a head

PROJECTIONS = {
    "llama": lambda model, layer: model.model.layers[layer].self_attn.o_proj,
    "gpt2": lambda model, layer: model.transformer.h[layer].attn.c_proj,
    "bert": lambda model, layer: model.encoder.layer[layer].attention.output.dense,
    "t5": lambda model, layer: model.decoder.block[layer].layer[1].EncDecAttention.o,
}
PATHS = {"t5": "decoder.block.{}.layer.1.EncDecAttention"}


def hooked(name, given, layer, change):
    """The model's output with what goes into an output projection changed: (b, n, h·d)."""
    model = made(name)
    handle = PROJECTIONS[name](model, layer).register_forward_pre_hook(
        lambda _, args: (change(args[0].clone()), *args[1:])
    )
    try:
        with torch.no_grad():
            return model(**given)[0]
    finally:
        handle.remove()


def traced(name, given, ablate, **options):
    with ch.trace(made(name), ablate=ablate, **options) as trace, torch.no_grad():
        return made(name)(**given)[0], trace


def columns(head):
    return slice(head * D, (head + 1) * D)


@pytest.mark.parametrize("name", PROJECTIONS)
def test_zero(name):
    given, layer, head = inputs(name), 1, 2

    def zero(x):
        x[..., columns(head)] = 0
        return x

    expected = hooked(name, given, layer, zero)
    key = PATHS[name].format(layer) if name in PATHS else layer
    got, _ = traced(name, given, {(key, head): "zero"})
    torch.testing.assert_close(got, expected, rtol=0, atol=5e-5 * float(expected.abs().max()))
    with torch.no_grad():
        assert (made(name)(**given)[0] - expected).abs().max() > 1e-3, "the head does something"


def test_mean_of_what_is_no_padding():
    given, layer, head = inputs("llama", "left"), 0, 1
    real = given["attention_mask"][..., None].float()

    def mean(x):
        own = x[..., columns(head)]
        x[..., columns(head)] = (own * real).sum(1, keepdim=True) / real.sum(1, keepdim=True)
        return x

    expected = hooked("llama", given, layer, mean)
    got, _ = traced("llama", given, {(layer, head): "mean"})
    here = given["attention_mask"].bool()
    torch.testing.assert_close(got[here], expected[here], rtol=0, atol=1e-4)


def test_a_whole_layer_and_several_heads():
    given = inputs("llama")
    expected = hooked("llama", given, 1, torch.zeros_like)
    for ablate in ({1: "zero"}, {(1, head): "zero" for head in range(4)}, {"model.layers.1.self_attn": "zero"}):
        got, _ = traced("llama", given, ablate)
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-4)


def test_a_head_of_another_input():
    """Patching: what the head is on other tokens."""
    clean, other = tokens(2), tokens(2, seed=9)
    kept = []
    handle = PROJECTIONS["llama"](made("llama"), 0).register_forward_pre_hook(lambda _, args: kept.append(args[0]))
    with ch.trace(made("llama"), values=True) as source, torch.no_grad():
        made("llama")(other)
    handle.remove()

    def patch(x):
        x[..., columns(3)] = kept[0][..., columns(3)]
        return x

    expected = hooked("llama", {"input_ids": clean}, 0, patch)
    got, _ = traced("llama", {"input_ids": clean}, {(0, 3): source})
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-4)
    alone, _ = traced("llama", {"input_ids": clean[1:]}, {(0, 3): source.sequences[1]})
    torch.testing.assert_close(alone, expected[1:], rtol=0, atol=1e-4)


def test_a_saved_trace_can_be_taken_from(tmp_path):
    ids = tokens(1)
    with ch.trace(made("llama"), values=True, keep=tmp_path / "x.safetensors"), torch.no_grad():
        expected = made("llama")(ids)[0]
    source = ch.load_trace(tmp_path / "x.safetensors")
    got, _ = traced("llama", {"input_ids": ids}, {0: source, 1: source})
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-4)


def test_what_is_traced_is_the_model_without_the_head():
    """Layers after it see another input; the weights of the head itself are those that it has."""
    given = {"input_ids": tokens(1)}
    _, with_it = traced("llama", given, None)
    _, without = traced("llama", given, {(0, 0): "zero"})
    np.testing.assert_allclose(without[0].weights(), with_it[0].weights(), atol=1e-6)
    assert np.abs(without[1].weights() - with_it[1].weights()).max() > 1e-3


def test_generation_goes_on_without_it():
    ids, real = tokens(), padded(tokens(), "left")
    options = {"max_new_tokens": 5, "do_sample": False, "pad_token_id": 0}

    def zero(_, args):
        return (torch.zeros_like(args[0]),)

    handle = PROJECTIONS["llama"](made("llama"), 1).register_forward_pre_hook(zero)
    expected = made("llama").generate(ids, attention_mask=real, **options)
    handle.remove()
    with ch.trace(made("llama"), ablate={1: "zero"}):
        got = made("llama").generate(ids, attention_mask=real, **options)
    assert torch.equal(got, expected)


class TestMistakes:
    def fails(self, ablate, given=None):
        traced("llama", given or {"input_ids": tokens(1)}, ablate)

    def test_heads_and_layers_that_are_not_there(self):
        with pytest.raises(ValueError, match=r"has 4 heads, and there is no head 7 to ablate"):
            self.fails({(0, 7): "zero"})
        with pytest.raises(ValueError, match=r"no layer 9 was called, .*; model.layers.0.self_attn, .* were"):
            self.fails({(9, 0): "zero"})

    def test_keys_and_ways(self, unchecked):
        with pytest.raises(TypeError, match=r"ablate names heads as \(layer, head\)"):
            self.fails({(0, 1, 2): "zero"})
        with pytest.raises(TypeError, match=r"ablate must be a mapping"):
            self.fails([(0, 1)])
        with pytest.raises(ValueError, match=r'by "zero", "mean" or what a trace has'):
            self.fails({(0, 1): "noise"})

    def test_a_trace_that_does_not_fit(self):
        with ch.trace(made("llama")) as bare, torch.no_grad():
            made("llama")(tokens(1))
        with pytest.raises(ValueError, match=r"only from a trace that kept the values: .*values=True"):
            self.fails({(0, 1): bare})
        with ch.trace(made("llama"), values=True) as short, torch.no_grad():
            made("llama")(tokens(1, 6))
        with pytest.raises(ValueError, match="must be called with as many tokens"):
            self.fails({(0, 1): short})
        with ch.trace(made("llama"), values=True) as twice, torch.no_grad():
            made("llama")(tokens(1)), made("llama")(tokens(1))
        with pytest.raises(ValueError, match=r"from the trace of one forward; trace.calls\[0\]"):
            self.fails({(0, 1): twice})
