"""Gradient × attention, against autograd through the weights that eager attention writes out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as t
from tests.hf.models import IMAGE, SIZES, inputs, made, tokens

import clearhead as ch
from clearhead.traces.scratch import OnDisk


def by_autograd(model, number, given):
    """R as a matrix, by the definition: number(output) is what is differentiated."""
    output = model(**given, output_attentions=True)
    gradients = torch.autograd.grad(number(output), output.attentions)
    n = output.attentions[0].shape[-1]
    found = torch.eye(n, dtype=torch.float64)
    for weights, gradient in zip(output.attentions, gradients, strict=True):
        found = found + (weights * gradient)[0].double().clamp(min=0).mean(0) @ found
    return found.detach().numpy()


def last_logit(output):
    return output.logits[0, -1, 7]


def first_column(output):
    return output.last_hidden_state[0, 0, 3]


@pytest.mark.parametrize(
    ("name", "number", "position"),
    [("llama", last_logit, -1), ("gpt2", last_logit, -1), ("bert", first_column, 0), ("llama", last_logit, 4)],
)
def test_one_row_of_the_matrix(name, number, position, tmp_path):
    model, given = made(name), {"input_ids": tokens(1)}
    expected = by_autograd(model, number, given)[position]
    with ch.trace(model, gradients=True) as trace:
        output = model(**given)
    number(output).backward()
    model.zero_grad()
    found = trace.relevance(position)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * np.abs(expected).max())
    others = expected - np.eye(11)[position]
    assert np.abs(others).max() > 1e-3, "something besides the position itself is relevant, or nothing was shown"
    trace.save(tmp_path / "x.safetensors")
    np.testing.assert_allclose(ch.load_trace(tmp_path / "x.safetensors").relevance(position), found)


def by_the_rules(model, number, given):
    """R_dd and R_de as matrices, by the published rules on the weights that eager attention writes out."""
    output = model(**given, output_attentions=True)
    kinds = [output.encoder_attentions, output.decoder_attentions, output.cross_attentions]
    every = [weights for kind in kinds for weights in kind]
    gradients = iter(torch.autograd.grad(number(output), every))
    encoder, decoder, cross = (
        [(weights * next(gradients))[0].double().clamp(min=0).mean(0).detach().numpy() for weights in kind]
        for kind in kinds
    )
    R_ee, R_dd = (np.eye(len(kind[0])) for kind in (encoder, decoder))
    R_de = np.zeros((len(R_dd), len(R_ee)))
    for attention in encoder:
        R_ee = R_ee + attention @ R_ee
    for own, other in zip(decoder, cross, strict=True):
        R_dd, R_de = R_dd + own @ R_dd, R_de + own @ R_de
        R_de = R_de + normalised(R_dd).T @ other @ normalised(R_ee)
    return R_dd, R_de


def normalised(R):
    added = R - np.eye(len(R))
    sums = added.sum(axis=-1, keepdims=True)
    return np.eye(len(R)) + np.divide(added, sums, out=np.zeros_like(added), where=sums > 0)


@pytest.mark.parametrize("name", ["bart", "t5", "whisper"])
def test_an_encoder_and_a_decoder(name, tmp_path):
    """What the decoder takes from the encoder, and from itself, for two positions."""
    model, given = made(name), {key: x[:1] for key, x in inputs(name).items()}
    n = given["decoder_input_ids"].shape[-1]
    own, source = by_the_rules(model, last_logit, given)
    with ch.trace(model, gradients=True) as trace:
        last_logit(model(**given)).backward()
    model.zero_grad()
    trace.save(tmp_path / "x.safetensors")
    for found in (trace, ch.load_trace(tmp_path / "x.safetensors")):
        for position in (-1, 3):
            got = found.relevance(position)
            expected = source[position]
            assert expected.max() > 1e-4, "something is relevant, or nothing was shown"
            np.testing.assert_allclose(got, expected, rtol=0, atol=5e-5 * expected.max())
            np.testing.assert_array_equal(found.relevance(position, among="source"), got)
            assert np.abs(own[position] - np.eye(n)[position]).max() > 1e-5
            got = found.relevance(position, among="own")
            np.testing.assert_allclose(got, own[position], rtol=0, atol=5e-5)


def test_a_padded_source_of_a_batch():
    model, given = made("bart"), inputs("bart", "right")
    with ch.trace(model, gradients=True) as trace:
        model(**given).logits[1, -1, 7].backward()
    model.zero_grad()
    alone = {"input_ids": given["input_ids"][1:2, :8], "decoder_input_ids": given["decoder_input_ids"][1:2]}
    _, expected = by_the_rules(model, last_logit, alone)
    got = trace.sequences[1].relevance()
    np.testing.assert_allclose(got, expected[-1], rtol=0, atol=2e-4 * expected[-1].max())


@pytest.mark.parametrize("name", ["llama", "bart"])
def test_strips_of_a_few_queries_give_the_same(name, monkeypatch):
    model, given = made(name), {key: x[:1] for key, x in inputs(name).items()}
    with ch.trace(model, gradients=True) as trace:
        last_logit(model(**given)).backward()
    model.zero_grad()
    whole = trace.relevance()
    monkeypatch.setattr("clearhead.traces.relevance.MOST_PLACES", 4 * 11 * 3)
    np.testing.assert_allclose(trace.relevance(), whole, rtol=1e-12)


def test_a_sequence_of_a_padded_batch():
    model, given = made("llama"), inputs("llama", "left")
    with ch.trace(model, gradients=True) as trace:
        model(**given).logits[1, -1, 7].backward()
    model.zero_grad()
    alone = {"input_ids": given["input_ids"][1:2, 3:]}
    expected = by_autograd(model, last_logit, alone)[-1]
    np.testing.assert_allclose(trace.sequences[1].relevance(), expected, rtol=0, atol=1e-4 * expected.max())


def test_two_calls_with_a_cache_and_one_backward_pass():
    """The gradient of each call is its own, and both make up that of the text."""
    model, ids = made("llama"), tokens(1)
    with ch.trace(model, gradients=True) as at_once:
        last_logit(model(ids)).backward()
    with ch.trace(model, gradients=True) as trace:
        first = model(ids[:, :7], use_cache=True)
        last_logit(model(ids[:, 7:], past_key_values=first.past_key_values)).backward()
    model.zero_grad()
    assert len(trace.calls) == 1
    name = "model.layers.0.self_attn"
    expected = at_once._takes[0].piece(name, 0).gradient
    parts = trace._takes[0].forward.layers[name].parts
    np.testing.assert_allclose(parts[1].gradient[0], expected[:, 7:], rtol=0, atol=1e-5 * np.abs(expected).max())
    got = trace._takes[0].piece(name, 0).gradient
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_gradients_go_to_the_file_too(tmp_path):
    model, path = made("llama"), tmp_path / "x.safetensors"
    with ch.trace(model, gradients=True) as expected:
        last_logit(model(tokens(1))).backward()
    with ch.trace(model, gradients=True, keep=path) as trace:
        logit = last_logit(model(tokens(1)))
        logit.backward(retain_graph=True)
        part = trace._takes[0].forward.layers["model.layers.0.self_attn"].parts[0]
        assert isinstance(part.gradient, OnDisk)
    np.testing.assert_array_equal(trace.relevance(), expected.relevance())
    logit.backward()  # too late, and no error of the user's
    model.zero_grad()
    np.testing.assert_array_equal(ch.load_trace(path).relevance(), expected.relevance())


def test_a_file_cannot_wait_for_gradients(tmp_path):
    options = {"gradients": True, "keep": tmp_path / "x.safetensors"}
    message = r"no gradient came before x.safetensors was to be written, at the end of the block: call backward in the"
    with pytest.raises(ValueError, match=message), ch.trace(made("llama"), **options):
        made("llama")(tokens(1))
    assert list(tmp_path.iterdir()) == []


class TestMistakes:
    def test_no_backward_pass(self):
        with ch.trace(made("llama"), gradients=True) as trace:
            made("llama")(tokens(1))
        with pytest.raises(ValueError, match=r"no gradient reached the heads of model.layers.1.self_attn: .*backward"):
            trace.relevance()
        with pytest.raises(ValueError, match="position 11 is out of range; there are 11 positions"):
            trace.relevance(11)

    def test_several_stacks(self):
        torch.manual_seed(0)
        sizes = {
            "text_config": t.CLIPTextConfig(**SIZES).to_dict(),
            "vision_config": t.CLIPVisionConfig(**IMAGE).to_dict(),
        }
        model = t.CLIPModel(t.CLIPConfig(**sizes, projection_dim=16)).eval()
        with ch.trace(model, gradients=True) as trace:
            model(input_ids=tokens(1), pixel_values=torch.randn(1, 3, 12, 12)).logits_per_text[0, 0].backward()
        with pytest.raises(
            NotImplementedError, match="one stack of layers, or an encoder and a decoder, and there are 2"
        ):
            trace.relevance()

    def test_among(self, unchecked):
        with ch.trace(made("llama"), gradients=True) as trace:
            last_logit(made("llama")(tokens(1))).backward()
        made("llama").zero_grad()
        with pytest.raises(ValueError, match="there is no encoder whose positions could be relevant"):
            trace.relevance(among="source")
        with pytest.raises(ValueError, match="among must be"):
            trace.relevance(among="target")

    def test_some_layers(self, tmp_path):
        """Of a file too."""
        model = made("llama")
        with ch.trace(model, layers=1, gradients=True) as trace:
            last_logit(model(tokens(1))).backward()
        model.zero_grad()
        trace.save(tmp_path / "x.safetensors")
        for found in (trace, ch.load_trace(tmp_path / "x.safetensors")):
            with pytest.raises(ValueError, match=r"all layers, and model.layers.0.self_attn were not kept; leave lay"):
                found.relevance()
