"""What a document shows of every head, against the weights that the model's own eager attention writes out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.census.heads import read, seen
from clearhead.census.kinds import KINDS
from clearhead.census.measures import BINS, DISTANCES, FARTHEST, LABELS, MASS_STEPS, MEASURES, PATTERNS, STEPS
from clearhead.textbook.patterns import name_pattern
from clearhead.traces.command import loaded

TEXT = "the cat sat on the mat , the dog ran under the cat because it was 42 . mats"


@pytest.fixture(scope="module")
def shown(model):
    network, tokenizer = loaded(str(model), with_tokenizer=True)
    network.set_attn_implementation("eager")
    given = tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        weights = np.stack([x[0].double().numpy() for x in network(**given, output_attentions=True).attentions])
        with ch.trace(network) as trace:
            network(**given)
    reading = read(given["input_ids"][0].tolist(), tokenizer, TEXT)
    return seen(trace, reading), reading, weights.reshape(-1, *weights.shape[-2:])  # (H, n, n)


def values(found, name):
    number = MEASURES.index(name)
    return found.steps[:, number] / STEPS[number]


def test_patterns_and_names(shown):
    found, reading, weights = shown
    judged = name_pattern(weights.astype(np.float32), np.tril(np.ones(weights.shape[-2:], bool)), reading.labels)
    for name in PATTERNS:
        if name == "separator":  # there is none in this text
            assert (found.steps[:, PATTERNS.index(name)] == -1).all()
        else:
            np.testing.assert_allclose(values(found, name), judged.scores[name], rtol=0, atol=2e-5)
    assert [LABELS[label] for label in found.labels] == judged.name.tolist()
    assert found.layers == [("model.layers.0.self_attn", 4), ("model.layers.1.self_attn", 4)]


def test_entropy_distance_and_sink(shown):
    found, _, weights = shown
    n = weights.shape[-1]
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1)
    relative = entropy[:, 1:] / np.log(np.arange(2, n + 1))
    np.testing.assert_allclose(values(found, "entropy"), relative.mean(-1), rtol=0, atol=2e-5)
    histogram = [np.histogram(row, BINS, (0, 1))[0] for row in relative]
    assert abs(found.entropies - np.array(histogram)).sum() <= 2  # a query may be on an edge, in float noise
    far = np.arange(n)[:, None] - np.arange(n)
    np.testing.assert_allclose(values(found, "distance"), (weights * far).sum(-1).mean(-1), rtol=0, atol=1 / 64)
    np.testing.assert_allclose(values(found, "sink"), weights[..., 0].mean(-1), rtol=0, atol=2e-5)
    mass = np.zeros((len(weights), DISTANCES))
    for back in range(n):
        mass[:, FARTHEST + back.bit_length()] += np.einsum("hqk->h", np.where(far == back, weights, 0)) * MASS_STEPS
    np.testing.assert_allclose(found.distances, mass, rtol=0, atol=1)


def test_received_by_kind(shown):
    found, reading, weights = shown
    received = weights.sum(axis=1)
    for number, kind in enumerate(KINDS):
        own = reading.kinds == number
        if own.any():
            share = received[:, own].sum(-1) / received.sum(-1)
            np.testing.assert_allclose(values(found, f"received_{kind}"), share, rtol=0, atol=2e-5)
        else:
            assert (values(found, f"received_{kind}") < 0).all()
    assert sum(values(found, f"received_{KINDS[kind]}") for kind in set(reading.kinds)) == pytest.approx(
        np.ones(8), abs=1e-4
    )


def test_a_model_in_which_nothing_looks_at_itself_is_refused(shown, model):
    network, tokenizer = loaded(str(model), with_tokenizer=True)
    with ch.trace(network) as trace, torch.no_grad():
        network(torch.tensor([[3, 4, 5]]))
    with pytest.raises(ValueError, match=r"in no layer of model\.layers\.0.* do the 2 tokens of a document look"):
        seen(trace, read([3, 4], tokenizer, "the a"))


def test_one_token_shows_no_pattern(model):
    """It can look nowhere but at itself, and would score 1 on every pattern of positions."""
    network, tokenizer = loaded(str(model), with_tokenizer=True)
    with ch.trace(network) as trace, torch.no_grad():
        network(torch.tensor([[3]]))
    found = seen(trace, read([3], tokenizer, "the"))
    assert (found.steps[:, : len(PATTERNS)] == -1).all()
