"""A bias by distance is traced as the table that it is, and views recompute from it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

import clearhead as ch
import clearhead.torch as cht
from clearhead import biases, masks
from clearhead.torch.watching import Position, attend
from clearhead.traces.by_distance import ByDistance, joined


class Slanted(cht.SelfAttention):
    """Self-attention with a bias by distance, of some queries of a text, as with a cache."""

    def __init__(self, bias, mask=None, **options):
        super().__init__(d_model=24, num_heads=4, **options)
        self.added, self.mask = bias, mask

    def forward(self, x, start=0, end=13):
        q, k, v = ((x @ w).unflatten(-1, (4, 6)).transpose(1, 2) for w in (self.W_Q, self.W_K, self.W_V))
        mask = masks.causal() if self.mask is None else self.mask[..., start:end, :end]
        options = {"mask": mask, "bias": self.added}
        place = Position(grows=True, first_query=start)
        return attend(self, place, q[:, :, start:end], k[:, :, :end], v[:, :, :end], **options)


def traced(layer, x, steps=(0,)):
    """A trace of a text that is read in several calls."""
    with ch.trace(layer) as trace, torch.no_grad():
        for start, end in zip(steps, (*steps[1:], 13), strict=True):
            layer(x, start, end)
    return trace


def expected(layer, x, added, mask=None):
    """The weights that the formula gives: added (4, n, n)"""
    q, k = ((x @ w).unflatten(-1, (4, 6)).transpose(1, 2)[0] for w in (layer.W_Q, layer.W_K))
    scores = q @ k.mT / 6**0.5 + torch.as_tensor(np.array(added), dtype=x.dtype)
    seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    scores = scores.masked_fill(~seen, -torch.inf) if mask is None else scores + mask
    return functional.softmax(scores, dim=-1).detach().numpy()


@pytest.fixture
def x():
    torch.manual_seed(1)
    return torch.randn(1, 13, 24)


STRUCTURES = {
    "of tensors": lambda: cht.biases.alibi(torch.tensor([0.5, 0.25, 0.1, 2.0], requires_grad=True)),
    "of arrays": lambda: biases.t5(np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)),
    "with an offset": lambda: biases.alibi(4, offset=3),
}


@pytest.mark.parametrize(
    ("kind", "steps"),
    [(kind, (0,)) for kind in STRUCTURES] + [(kind, (0, 7, 8, 9)) for kind in ("of tensors", "of arrays")],
)
def test_weights_are_recomputed_from_the_table(x, kind, steps, tmp_path):
    bias = STRUCTURES[kind]()
    layer = Slanted(bias)
    trace = traced(layer, x, steps)
    added = bias.table(13, 13)
    added = added.detach().numpy() if isinstance(added, torch.Tensor) else added
    added = added[:, np.arange(13)[:, None] - np.arange(13) + 12]
    weights = expected(layer, x, added)
    np.testing.assert_allclose(trace[""].weights(), weights, atol=2e-6)
    piece = trace._takes[0].piece("", 0)
    assert isinstance(piece.bias, ByDistance)
    assert piece.bias.table.shape[1] <= 2 * 13
    trace.save(tmp_path / "x.safetensors")
    loaded = ch.load_trace(tmp_path / "x.safetensors")[""]
    np.testing.assert_allclose(loaded.weights(), weights, atol=2e-6)
    np.testing.assert_allclose(loaded.distances().mean, trace[""].distances().mean)


def test_what_differs_from_call_to_call_is_written_out(x):
    """With an offset of its own, the first query of every call is at distance 3 from the first key."""
    layer = Slanted(biases.alibi(4, offset=3))
    trace = traced(layer, x, (0, 7))
    slopes, i, j = -biases.alibi(4).of(np.array([1]))[:, 0], np.arange(13)[:, None], np.arange(13)
    added = -slopes[:, None, None] * np.abs(np.where(i < 7, i, i - 7) - j + 3)
    assert isinstance(trace._takes[0].piece("", 0).bias, np.ndarray)
    np.testing.assert_allclose(trace[""].weights(), expected(layer, x, added), atol=2e-6)


def test_beside_a_mask_of_floats(x):
    mask = torch.randn(13, 13)
    layer = Slanted(biases.alibi(4), mask)
    trace = traced(layer, x)
    np.testing.assert_allclose(trace[""].weights(), expected(layer, x, biases.alibi(4).array(13), mask), atol=2e-6)


def test_tables_of_several_calls():
    first = ByDistance(np.arange(3.0)[None], -1)
    assert joined([first, first.moved(0)]).table.tolist() == [[0, 1, 2]]
    longer = ByDistance(np.array([[2.0, 7.0]]), 1)
    both = joined([first, longer])
    assert (both.first, both.table.tolist()) == (-1, [[0, 1, 2, 7]])
    assert both.at(np.array([-5, 0, 2])).tolist() == [[0, 1, 7]]
    assert joined([first, first.moved(1)]) is None
