"""Whole models compute the same with attention swapped, and are put back as they were."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import torch
from benchmarks import measure, models
from benchmarks.rows import INTERFACE, SPEED
from tests.bench.examples import MINIMAL, SIZE, named

import clearhead.torch as cht


@pytest.mark.parametrize("name", ["BERT n=512", "Llama n=512", "Mistral window 512 n=4096"])
def test_the_same_states_in_place(name):
    work = named(name).build(SIZE * 4, 1)
    truth = work.problem.truth()
    for call in work.calls.values():
        np.testing.assert_allclose(call.read(measure.once(call)), truth, atol=2e-5 * np.abs(truth).max())
    assert work.problem.model.config._attn_implementation == "sdpa"


def test_the_same_words_are_generated():
    work = named("Llama generate n=512").build(SIZE, 1)
    truth = work.problem.truth()
    assert truth.shape == (1, 8 + 3)
    for call in work.calls.values():
        np.testing.assert_array_equal(call.read(measure.once(call)), truth)


def test_each_runs_on_its_own_attention(monkeypatch):
    seen = []
    swapped = cht.swapped

    @contextlib.contextmanager
    def counted(*given):
        with swapped(*given) as swap:
            yield swap
        seen.append(swap.calls)

    monkeypatch.setattr(cht, "swapped", counted)
    work = named("Llama n=64").build(SIZE, 1)
    for call in work.calls.values():
        measure.once(call)
    assert seen == [2], "ours, a call for each layer; torch's is not swapped"


def test_the_interface_is_called_too():
    row = named("BERT n=64").measure(MINIMAL, 1, SIZE)
    assert row.values.keys() == {SPEED, INTERFACE}
    assert row.peers.keys() == {measure.OURS, measure.THEIRS, measure.THROUGH_INTERFACE}
    model = models.made("Llama", SIZE)
    with models.through_interface(model):
        assert model.config._attn_implementation == "clearhead"
    assert model.config._attn_implementation == "sdpa"


def test_the_weights_are_the_same_every_time():
    state = torch.random.get_rng_state()
    first, second = (models.made("BERT", SIZE) for _ in range(2))
    assert all(torch.equal(x, y) for x, y in zip(first.parameters(), second.parameters(), strict=True))
    assert torch.equal(torch.random.get_rng_state(), state)


def test_what_the_models_are():
    config = models.made("Llama", 1).config
    assert (config.num_hidden_layers, config.hidden_size) == (6, 512)
    assert (config.num_attention_heads, config.num_key_value_heads) == (8, 2)
    config = models.made("BERT", 1).config
    assert (config.num_hidden_layers, config.hidden_size, config.num_attention_heads) == (6, 384, 12)
    assert models.made("Mistral", 1).config.sliding_window == 512
