"""Models on devices without kernels are traced like others: what is kept of them comes to the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.hf.models import inputs, made, tokens
from tests.traces.elsewhere import elsewhere

import clearhead as ch


def test_the_game_is_played_by_the_rules():
    with elsewhere() as device:
        there = torch.arange(3, device="cpu")
        with pytest.raises(AssertionError, match="numpy of a tensor that is on another device"):
            there.numpy()
        with pytest.raises(AssertionError, match="of tensors on two devices"):
            there + torch.arange(3)
        assert (there.cpu() + torch.arange(3)).numpy().tolist() == [0, 2, 4]
        assert device.crossings == 1


@pytest.mark.parametrize(("name", "side"), [("llama", "left"), ("gpt_oss", "right"), ("gemma2", None), ("t5", "right")])
def test_the_same_is_seen(name, side):
    model, given = made(name), inputs(name, side)
    with torch.no_grad(), ch.trace(model) as expected:
        wanted = model(**given).logits
    with torch.no_grad(), elsewhere() as device, ch.trace(model) as trace:
        got = model(**given).logits
    assert device.crossings >= 2 * len(trace.names)
    real = given.get("decoder_attention_mask", given.get("attention_mask", torch.ones(got.shape[:2])))
    real = torch.ones(got.shape[:2]) if real.shape != got.shape[:2] else real
    torch.testing.assert_close(got[real.bool()], wanted[real.bool()], rtol=1e-4, atol=1e-4)
    for one, other in zip(trace.sequences, expected.sequences, strict=True):
        for layer in expected.names:
            np.testing.assert_allclose(one[layer].weights(), other[layer].weights(), atol=2e-5)
            np.testing.assert_allclose(one[layer].entropy, other[layer].entropy, atol=2e-4)


def test_generation_values_and_ablation(tmp_path):
    model, ids = made("llama"), tokens(1)
    options = {"max_new_tokens": 4, "do_sample": False, "pad_token_id": 0}
    ablate = {(0, 1): "zero", (1, 2): "mean"}
    with ch.trace(model, values=True, ablate=ablate) as expected:
        wanted = model.generate(ids, **options)
    with elsewhere(), ch.trace(model, values=True, ablate=ablate, keep=tmp_path / "x.safetensors") as trace:
        got = model.generate(ids, **options)
    assert torch.equal(got, wanted)
    for layer in expected.names:
        np.testing.assert_allclose(trace[layer].weights(), expected[layer].weights(), atol=2e-5)
