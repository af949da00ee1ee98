"""Direct logit attribution: its sum is the logit of attention's part, and each head's is what a hook on W_O says."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from tests.hf.models import inputs, made, tokens

import clearhead as ch
from clearhead.traces import Attribution

PROJECTIONS = {
    "llama": lambda model, layer: model.model.layers[layer].self_attn.o_proj,
    "gpt2": lambda model, layer: model.transformer.h[layer].attn.c_proj,
    "qwen2": lambda model, layer: model.model.layers[layer].self_attn.o_proj,
    "opt": lambda model, layer: model.model.decoder.layers[layer].self_attn.out_proj,
}
FINAL = {
    "llama": lambda model: model.model.norm,
    "gpt2": lambda model: model.transformer.ln_f,
    "qwen2": lambda model: model.model.norm,
    "opt": lambda model: model.model.decoder.final_layer_norm,
}


def captured(name, given):
    """What goes into each output projection, what comes out, and what goes into and out of the last norm."""
    model, kept, handles = made(name), {}, []
    modules = {("heads", layer): PROJECTIONS[name](model, layer) for layer in range(2)} | {"norm": FINAL[name](model)}
    for key, module in modules.items():
        handles.append(module.register_forward_hook(lambda _, x, y, key=key: kept.update({key: (x[0], y)})))
    with torch.no_grad():
        kept["logits"] = model(**given).logits
    for handle in handles:
        handle.remove()
    return {key: tuple(y.double() for y in x) if isinstance(x, tuple) else x.double() for key, x in kept.items()}


def frozen(name, kept, entry, position, part):
    """What a part of the stream adds to every logit, with the scale of the last norm held fast: (vocabulary,)"""
    before = kept["norm"][0][entry, position]
    norm, unembedding = FINAL[name](made(name)), made(name).lm_head.weight.double()
    weight = norm.weight.double()
    if isinstance(norm, torch.nn.LayerNorm):
        part = part - part.mean()
        scale = (before.var(unbiased=False) + norm.eps).rsqrt()
    else:
        scale = (before.square().mean() + norm.variance_epsilon).rsqrt()
    return (unembedding @ (part * scale * weight)).detach()


@pytest.mark.parametrize("side", [None, "left"])
@pytest.mark.parametrize("name", ["llama", "gpt2", "qwen2"])
def test_the_sum_over_heads_is_the_logit_of_attentions_part(name, side):
    given = inputs(name, side)
    kept = captured(name, given)
    with ch.trace(made(name), values=True) as trace, torch.no_grad():
        made(name)(**given)
    for entry, sequence in enumerate(trace.sequences):
        n = sequence[0].n_q
        start = 11 - n
        for position, token in ((n - 1, 7), (2, 40)):
            found = sequence.attribution(token, position)
            assert isinstance(found, Attribution)
            part = sum(kept["heads", layer][1][entry, start + position] for layer in range(2))
            expected = float(frozen(name, kept, entry, start + position, part)[token])
            assert found.total == pytest.approx(expected, rel=2e-5, abs=2e-5)
            assert abs(expected) > 1e-3


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_each_head_and_each_source_token(name):
    given, token, position = {"input_ids": tokens(1)}, 11, 8
    kept = captured(name, given)
    with torch.no_grad():
        weights = made(name)(**given, output_attentions=True).attentions
    with ch.trace(made(name), values=True) as trace, torch.no_grad():
        made(name)(**given)
    found = trace.attribution(token, position)
    for layer, path in enumerate(trace.names):
        module = PROJECTIONS[name](made(name), layer)
        W_O = (module.weight if name == "gpt2" else module.weight.T).double()
        values = trace._takes[0].piece(path, 0).v
        for head in range(4):
            rows = slice(8 * head, 8 * head + 8)
            mixed = kept["heads", layer][0][0, position, rows] @ W_O[rows]
            expected = float(frozen(name, kept, 0, position, mixed)[token])
            assert found[path][head] == pytest.approx(expected, rel=1e-4, abs=2e-5)
            for key in range(11):
                v = torch.from_numpy(values[head // (4 // len(values)), key]).double()
                moved = float(weights[layer][0, head, position, key]) * (v @ W_O[rows])
                by_key = float(frozen(name, kept, 0, position, moved)[token])
                assert found.sources[path][head, key] == pytest.approx(by_key, rel=1e-4, abs=2e-5)
        np.testing.assert_allclose(found.sources[path].sum(-1), found[path], atol=1e-12)
        assert (found.sources[path][:, position + 1 :] == 0).all()


def test_the_difference_of_two_logits():
    with ch.trace(made("gpt2"), values=True) as trace, torch.no_grad():
        made("gpt2")(tokens(1))
    one, other, both = trace.attribution(5), trace.attribution(9), trace.attribution(5, against=9)
    np.testing.assert_allclose(both.array, one.array - other.array, atol=1e-9)
    assert both.total == pytest.approx(one.total - other.total)
    assert "logit of 5 − logit of 9 at 10" in str(both)


def test_some_layers_are_said_to_be_some():
    found = []
    for layers in (None, 1):
        with ch.trace(made("gpt2"), layers, values=True) as trace, torch.no_grad():
            made("gpt2")(tokens(1))
        found.append(trace.attribution(5))
    whole, part = found
    np.testing.assert_allclose(part["transformer.h.1.attn"], whole["transformer.h.1.attn"], atol=1e-9)
    assert "logit of 5 at 10, of the layers kept" in str(part)
    assert "of the layers kept" not in str(whole)


def test_a_text_that_was_generated_and_a_file(tmp_path):
    """Position 12 is one that the model wrote."""
    with ch.trace(made("llama"), values=True) as trace:
        out = made("llama").generate(tokens(1), max_new_tokens=4, min_new_tokens=4, do_sample=False, pad_token_id=0)
    with ch.trace(made("llama"), values=True) as at_once, torch.no_grad():
        made("llama")(out[:, :-1])
    expected = at_once.attribution(3, 12)
    np.testing.assert_allclose(trace.attribution(3, 12).array, expected.array, atol=2e-5)
    trace.save(tmp_path / "x.safetensors")
    loaded = ch.load_trace(tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="does not know its model any more; give it: model=model"):
        loaded.attribution(3, 12)
    np.testing.assert_allclose(loaded.attribution(3, 12, model=made("llama")).array, expected.array, atol=2e-5)


def hooks(model):
    return [list(hooks) for module in model.modules() for hooks in (module._forward_hooks, module._forward_pre_hooks)]


def test_no_hook_stays():
    model = made("llama")
    model(tokens(1))  # transformers has hooks of its own, which come with the first call
    before = hooks(model)

    def stopped():
        with ch.trace(model, values=True):
            model(tokens(1))
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        stopped()
    assert hooks(model) == before


@pytest.mark.parametrize("outlier", [False, True], ids=["", "a column of 200"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_what_adds_to_the_stream_is_told_apart_in_every_precision(dtype, outlier):
    """By each number's own rounding, beside which the largest of all is no measure."""
    for name, adds in (("llama", True), ("gpt2", True), ("gemma2", False)):
        model = copy.deepcopy(made(name)).to(dtype)
        if outlier:
            with torch.no_grad():
                model.get_input_embeddings().weight[:, 3] = 200
        with ch.trace(model, values=True) as trace, torch.no_grad():
            model(tokens(1))
        assert bool(trace.facts.added) == adds, (name, trace.facts)
        assert not adds or trace.facts.norm is not None, trace.facts.missing


class TestRefusals:
    def traced(self, name, **options):
        with ch.trace(made(name), **options) as trace, torch.no_grad():
            made(name)(**inputs(name))
        return trace.sequences[0]

    @pytest.mark.parametrize("name", ["gemma2", "gemma3"])
    def test_a_norm_behind_the_output_projection(self, name):
        trace = self.traced(name, values=True)
        with pytest.raises(NotImplementedError, match=r"model.layers.0 does not add to its input just what the output"):
            trace.attribution(5)

    def test_a_stream_that_is_normed_between_blocks(self):
        with pytest.raises(NotImplementedError, match="or the stream is normed between blocks"):
            self.traced("bart", values=True).attribution(5)

    def test_a_factor_before_the_logits(self):
        """T5's, where embeddings are tied."""
        with pytest.raises(NotImplementedError, match=r"T5ForConditionalGeneration cannot be attributed: between the"):
            self.traced("t5", values=True).attribution(5)

    def test_no_logits(self):
        with pytest.raises(NotImplementedError, match=r"does not add|makes no logits"):
            self.traced("vit", values=True).attribution(5)

    def test_no_values_and_no_such_token(self):
        with pytest.raises(ValueError, match=r"which were not kept: trace\(model, values=True\)"):
            self.traced("llama").attribution(5)
        trace = self.traced("llama", values=True)
        with pytest.raises(ValueError, match="token 97 is out of range; the model has 97"):
            trace.attribution(97)
        with pytest.raises(ValueError, match="position 11 is out of range; there are 11 positions"):
            trace.attribution(5, 11)

    @pytest.mark.parametrize(
        "options", [{"ablate": {(0, 1): "zero"}}, {"cut_weights": {(0, 1): (5, 2)}}, {"train": True}], ids=str
    )
    def test_what_heads_gave_was_changed(self, options, tmp_path):
        """Their weights and values do not say so; but an edge that is cut before the softmax is in the weights."""
        options = dict(options)
        model = made("gpt2")
        model.train(options.pop("train", False))  # its dropout is 0.1
        try:
            with ch.trace(model, gradients=True, **options) as trace:
                model(tokens(1)).logits[0, -1, 7].backward()
        finally:
            model.eval().zero_grad()
        trace.save(tmp_path / "x.safetensors")
        for found in (trace, ch.load_trace(tmp_path / "x.safetensors")):
            with pytest.raises(ValueError, match=r"heads of transformer.h.[01].attn gave was changed .* model.eval"):
                found.attribution(5, model=model)
            with pytest.raises(ValueError, match=r"heads of transformer.h.[01].attn gave was changed .* model.eval"):
                found.relevance()

    def test_an_edge_cut_before_the_softmax_is_in_the_weights(self):
        whole, cut = (self.traced("gpt2", values=True, **x) for x in ({}, {"cut_scores": {(0, 1): (10, 2)}}))
        assert cut.attribution(5).sources["transformer.h.0.attn"][1, 2] == 0
        assert whole.attribution(5).sources["transformer.h.0.attn"][1, 2] != 0
