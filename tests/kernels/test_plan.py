from __future__ import annotations

import numpy as np
import pytest

from clearhead import attention, masks, scaled_dot_product_attention
from clearhead.call import prepare
from clearhead.kernels import launch, plan
from clearhead.kernels.gradients import gradients
from clearhead.kernels.job import BLOCK
from clearhead.kernels.plan import (
    FEW_TASKS,
    LEAST_BACKWARD_SPLIT,
    LEAST_SPLIT,
    backward_plan,
    backward_split,
    forward_plan,
    forward_split,
    shape_of,
)
from clearhead.kernels.target import PANEL, TARGET

rng = np.random.default_rng(0)
LANES = TARGET.lanes(4)
MASKS = {
    "none": None,
    "causal": masks.causal(),
    "window": masks.window(13),
    "lengths": masks.key_lengths([37, 70]),
    "both": masks.causal() & masks.key_lengths([50, 61]),
}


def call_of(n_q, n_k, mask=None, heads=2, kv_heads=2):
    shapes = (2, heads, n_q, 8), (2, kv_heads, n_k, 8), (2, kv_heads, n_k, 8)
    q, k, v = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
    return prepare(q, k, v, lse=True, mask=mask)


def width_of(*sizes, **options):
    return forward_plan(shape_of(call_of(*sizes, **options))).width


class TestPanels:
    def test_are_no_wider_than_their_queries(self):
        assert width_of(LANES, 100) == LANES
        assert width_of(LANES + 1, 100) == width_of(5 * LANES, 100) == PANEL * LANES

    def test_are_narrow_where_each_query_sees_a_few_keys_more(self):
        narrow = TARGET.narrow * LANES
        assert width_of(100, 100, mask=masks.causal()) == width_of(900, 900, mask=masks.window(40)) == narrow
        assert width_of(100, 100, mask=masks.key_lengths([9, 100])) == PANEL * LANES
        assert width_of(2000, 2000, mask=masks.causal()) == PANEL * LANES

    def test_heads_share_one_unless_the_mask_parts_their_queries(self):
        calls = {name: call_of(LANES + 3, 90, MASKS[name], 4, 2) for name in ("none", "causal")}
        folded = {name: forward_plan(shape_of(call)).folded for name, call in calls.items()}
        assert folded == {"none": 2, "causal": 1}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_the_width_of_a_panel_changes_no_bit(mask, monkeypatch):
    """Sums run over the keys in one order, however many queries a panel has and whatever keys the others see."""
    call = call_of(70, 70, mask)
    found = []
    for vectors in (1, PANEL):
        own = forward_plan.__wrapped__
        monkeypatch.setattr(launch, "forward_plan", own)
        monkeypatch.setattr(plan, "_panel_vectors", lambda *_, vectors=vectors: vectors)
        assert launch.plan_of(call).vectors == vectors
        found.append(launch.compute(call))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_masks_of_one_shape_have_panels_of_their_own():
    """A packed job of one must not be taken for one of the other."""
    q, k, v = (rng.standard_normal((2, 70, 8), dtype=np.float32) for _ in range(3))
    for mask in (masks.causal(), masks.where(lambda b, h, i, j: j < 50), masks.key_lengths(50), masks.window(9)):
        expected = scaled_dot_product_attention(q, k, v, mask.array(70, 70, heads=2))[0]
        np.testing.assert_allclose(attention(q, k, v, mask), expected, atol=1e-5)


@pytest.mark.parametrize("tasks", [1, 2, 5, 15])
@pytest.mark.parametrize("n_k", [1, 767, 768, 1024, 1535, 1536, 2048, 5000, 40_000])
def test_parts_of_the_keys_are_large_and_not_too_many(tasks, n_k):
    split = forward_split(n_k, tasks)
    parts = -(-n_k // split)
    assert parts <= max(n_k // LEAST_SPLIT, 1)
    assert (parts - 1) * tasks < FEW_TASKS
    assert parts == 1 or split % BLOCK == 0


def test_keys_are_not_cut_into_a_part_and_a_rest():
    assert [forward_split(n_k, 2) for n_k in (1024, 1535, 1536, 2048)] == [1152, 1536, 768, 1152]


@pytest.mark.parametrize("wanted", [1, 2, 3, 8, 16])
@pytest.mark.parametrize("n_k", [0, 1, 255, 385, 500, 700, 768, 1024, 1537, 2048, 3073, 3841, 4096, 40_000])
def test_parts_of_the_backward_pass_are_alike(wanted, n_k):
    split = backward_split(n_k, wanted)
    cut = [min(split, n_k - start) for start in range(0, n_k, split)]
    assert len(cut) in (0, 1, 2, 4, 8, 16)
    assert len(cut) < 2 * wanted
    assert len(cut) >= min(wanted, n_k // LEAST_BACKWARD_SPLIT) / 2
    assert len(cut) <= 1 or (min(cut) > max(cut) - 4 * len(cut) and max(cut) >= LEAST_BACKWARD_SPLIT)


def gradients_of(q, k, v, mask):
    call = prepare(q, k, v, lse=True, mask=mask)
    output, lse, sums = launch.compute_with_sums(call)
    return gradients(call, output, lse, v, sums=sums, shapes=[x.shape for x in (q, k, v)], of_bias=False)[:3]


def test_gradients_under_masks_of_one_shape_have_panels_of_their_own():
    inputs = [rng.standard_normal((2, 70, 8), dtype=np.float32) for _ in range(3)]
    for mask in (masks.causal(), masks.key_lengths(50), masks.window(9), None):
        expected = gradients_of(*(x.astype(np.float64) for x in inputs), mask)
        for one, other in zip(gradients_of(*inputs, mask), expected, strict=True):
            np.testing.assert_allclose(one, other, atol=2e-5)


def test_under_a_causal_mask_panels_of_the_backward_pass_are_narrow():
    narrow, wide = (backward_plan(shape_of(call_of(200, 200, mask)), False).vectors for mask in (masks.causal(), None))
    assert narrow == min(TARGET.narrow, wide)
