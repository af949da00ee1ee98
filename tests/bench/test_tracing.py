"""A traced model computes the same, and what is seen of it is what its own weights say."""

from __future__ import annotations

import numpy as np
from benchmarks import measure
from benchmarks.rows import COST, SPEED
from tests.bench.examples import MINIMAL, SIZE, named


def test_entropies_are_those_of_its_own_weights():
    work = named("trace Llama n=2048").build(SIZE, 1)
    truth = work.problem.truth()
    assert truth.shape == (2, 8, 34)
    assert work.calls.keys() == {measure.OURS, measure.THEIRS, measure.ALONE}
    for name in (measure.OURS, measure.THEIRS):
        call = work.calls[name]
        np.testing.assert_allclose(call.read(measure.once(call)), truth, atol=2e-5)
    assert work.problem.of.model.config._attn_implementation == "sdpa"


def test_states_are_those_of_the_model_alone():
    work = named("trace Llama n=8192, run").build(SIZE / 4, 1)
    truth = work.problem.truth()
    for call in work.calls.values():
        np.testing.assert_allclose(np.asarray(measure.once(call)), truth, atol=2e-5 * np.abs(truth).max())


def test_what_it_costs_is_measured_against_the_model_alone():
    row = named("trace Llama n=8192, run").measure(MINIMAL, 1, SIZE / 8)
    assert set(row.values) == {COST}
    row = named("trace Llama n=2048").measure(MINIMAL, 1, SIZE)
    assert {SPEED, COST} <= set(row.values)
