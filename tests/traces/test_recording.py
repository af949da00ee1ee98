"""Calls that come again: gradient checkpointing computes layers once more on the way back, and they are not others."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import torch
import transformers as t
from tests.hf.models import SIZES, made, tokens
from torch.utils.checkpoint import checkpoint

import clearhead as ch


@contextlib.contextmanager
def checkpointed(model, reentrant):
    """A model that forgets what is in its layers, and computes it again; it does so in training only."""
    model.train()
    model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    try:
        yield
    finally:
        model.gradient_checkpointing_disable()
        model.disable_input_require_grads()
        model.eval()
        model.zero_grad()


def traced(model, *texts, **options):
    """A trace with a backward pass of each text, and the gradients of the first projection."""
    with ch.trace(model, gradients=True, **options) as trace:
        logits = [model(ids).logits[0, -1, 7] for ids in texts]
        for logit in logits:
            logit.backward()
    gradient = model.model.layers[0].self_attn.q_proj.weight.grad.clone()
    model.zero_grad()
    return trace, gradient


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize(
    "change",
    [{}, {"ablate": {(0, 1): "mean"}}, {"cut_scores": {(1, 0): (slice(5, None), 0)}}, {"cut_weights": {1: (9, 2)}}],
)
def test_layers_that_are_computed_again_are_no_second_call(reentrant, change):
    model, texts = made("llama"), (tokens(1), tokens(1, 13, seed=5))
    expected, own = traced(model, *texts, **change)
    with checkpointed(model, reentrant):
        trace, gradient = traced(model, *texts, **change)
    assert trace.names == expected.names
    assert len(trace.calls) == len(expected.calls) == 2
    torch.testing.assert_close(gradient, own, rtol=1e-5, atol=1e-6 * float(own.abs().max()))
    for got, wanted in zip(trace.calls, expected.calls, strict=True):
        for name in trace.names:
            np.testing.assert_array_equal(got[name].weights(), wanted[name].weights())
            a, b = (each._takes[0].piece(name, 0).gradient for each in (got, wanted))
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6 * np.abs(b).max())


@pytest.mark.parametrize("reentrant", [True, False])
def test_one_text_twice_and_a_file(reentrant, tmp_path):
    """Each backward pass finds its own call, though what was kept of both is the same."""
    model, ids, path = made("llama"), tokens(1), tmp_path / "x.safetensors"
    expected, _ = traced(model, ids)
    with checkpointed(model, reentrant), ch.trace(model, gradients=True, keep=path) as trace:
        for factor in (1, 3):
            (factor * model(ids).logits[0, -1, 7]).backward()
    name = trace.names[1]
    wanted = expected._takes[0].piece(name, 0).gradient
    for factor, call in zip((1, 3), trace.calls, strict=True):
        np.testing.assert_allclose(call._takes[0].piece(name, 0).gradient, factor * wanted, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(trace.calls[0].relevance(), expected.relevance(), rtol=1e-5)


def test_a_module_that_is_used_for_every_layer():
    torch.manual_seed(0)
    config = t.AlbertConfig(**SIZES, embedding_size=16, attn_implementation="eager")
    model = t.AlbertModel(config).eval()
    with ch.trace(model, gradients=True) as expected:
        model(tokens(1)).last_hidden_state[0, 0, 3].backward()
    with ch.trace(model, gradients=True) as trace:
        states = checkpoint(lambda x: model.encoder(x)[0], model.embeddings(tokens(1)), use_reentrant=True)
        states[0, 0, 3].backward()
    assert trace.names == expected.names
    for name in trace.names:
        a, b = (each._takes[0].piece(name, 0).gradient for each in (trace, expected))
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6 * np.abs(b).max())


def test_what_is_only_computed_again_was_not_called():
    """The model was called before the block."""
    model = made("llama")
    with checkpointed(model, True):
        logit = model(tokens(1)).logits[0, -1, 7]
        with pytest.raises(ValueError, match="was not called in the block"), ch.trace(model):
            logit.backward()
