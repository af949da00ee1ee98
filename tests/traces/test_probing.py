"""Published scores of heads, each by its own formula on the weights that eager attention writes out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.hf.models import made, tokens
from torch import nn

import clearhead as ch
from clearhead.traces import induction, sink_share, sinks


def test_induction_by_its_definition():
    """On a random sequence given twice, the mean of the diagonal 1 − L, on weights written out by eager attention."""
    length = 20
    found = ch.probe(made("llama"), length=length, seed=4)
    drawn = np.random.default_rng(4).integers(0, 97, length).tolist()
    ids = torch.tensor([[1, *drawn, *drawn]])
    with torch.no_grad():
        attentions = made("llama")(ids, output_attentions=True).attentions
    assert found.names == ["model.layers.0.self_attn", "model.layers.1.self_attn"]
    for layer, weights in enumerate(attentions):
        square = weights[0].double()
        second = slice(1 + length, None)
        induction = square.diagonal(1 - length, -2, -1)[..., -length:].mean(-1)
        np.testing.assert_allclose(found.induction[layer], induction, atol=1e-6)
        same = square[:, second, 1 : 1 + length].diagonal(0, -2, -1).mean(-1)
        np.testing.assert_allclose(found.duplicate_token[layer], same, atol=1e-6)
        np.testing.assert_allclose(found.previous_token[layer], square.diagonal(-1, -2, -1).mean(-1), atol=1e-6)


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_induction_on_a_text_by_two_definitions(name):
    """head_detector's D: what followed the same token, the query's own place too, and nothing after it."""
    ids = torch.tensor([[5, 9, 9, 7, 5, 9, 3, 9, 9, 9, 5, 7]])
    with torch.no_grad():
        weights = made(name)(ids, output_attentions=True).attentions[1][0].double()
    with ch.trace(made(name)) as trace, torch.no_grad():
        made(name)(ids)
    same = (ids[0][:, None] == ids[0]) & ~torch.eye(12, dtype=torch.bool)
    shifted = torch.cat([torch.zeros(12, 1, dtype=torch.bool), same[:, :-1]], dim=1)
    pattern = shifted.tril().double()
    found = induction(trace[1], ids[0])
    np.testing.assert_allclose(found.detector, (weights * pattern).sum((-2, -1)) / weights.sum((-2, -1)), atol=1e-6)
    repeated = (same.tril().sum(-1) > 0).sum()
    np.testing.assert_allclose(found.repeated, (weights * pattern).sum((-2, -1)) / repeated, atol=1e-6)


def test_sinks_by_their_definition():
    with ch.trace(made("gpt2")) as trace, torch.no_grad():
        made("gpt2")(tokens(1, 30))
    with torch.no_grad():
        output = made("gpt2")(tokens(1, 30), output_attentions=True)
    scores = []
    for view, weights in zip(trace, output.attentions, strict=True):
        expected = weights[0, :, :, 0].mean(-1)
        np.testing.assert_allclose(sinks(view), expected, atol=1e-6)
        scores += (expected > 0.3).tolist()
    assert sink_share(trace) == pytest.approx(np.mean(scores))


def test_what_a_probe_needs():
    with pytest.raises(ValueError, match=r"how many ids Linear has: probe\(model, vocabulary=…\)"):
        ch.probe(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="length must be at least 2"):
        ch.probe(made("llama"), length=1)
    found = ch.probe(made("bert"), length=6, vocabulary=50, first=3)
    assert found.induction.shape == (2, 4)
