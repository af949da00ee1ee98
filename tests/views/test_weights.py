"""Counting and cutting: which keys a query may attend to, in every way a mask can be said."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import biases, masks
from clearhead.call import prepare
from clearhead.kernels import launch, recompute
from clearhead.views import weights
from clearhead.views.weights import Weights, union_size

N_Q, N_K = 37, 53


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


FLAGS = draw(2, 1, N_Q, N_K, seed=1) > 0
FORBIDS = np.where(draw(3, 1, N_K, seed=2) > 0, 0.0, -np.inf)
CALLS = {
    "nothing": {},
    "ranges": {"mask": masks.causal() & masks.window(11)},
    "runs that overlap": {"mask": masks.window(40) | masks.prefix(30)},
    "runs of each batch entry": {"mask": masks.key_lengths([19, 0]) | masks.window(3)},
    "an array": {"mask": FLAGS},
    "an array and ranges": {"mask": masks.array(FLAGS) & masks.causal()},
    "a rule": {"mask": masks.where(lambda b, h, i, j: (b + h + i + j) % 3 > 0)},
    "a bias": {"bias": FORBIDS},
    "a bias and a rule": {"bias": FORBIDS, "mask": masks.dilated(3)},
    "a float mask": {"mask": FORBIDS},
    "a relative bias": {"bias": biases.RelativeBias(lambda far: np.where(far[None] > 7, -np.inf, 0.0))},
    "alibi": {"bias": biases.alibi(3), "mask": masks.causal()},
}


def written_out(mask=None, bias=None) -> np.ndarray:
    allowed = np.ones((2, 3, N_Q, N_K), bool)
    if isinstance(mask, masks.Mask):
        allowed = allowed & mask.array(N_Q, N_K, batch_shape=(2,), heads=3)
    elif mask is not None:
        allowed = allowed & (mask if mask.dtype == bool else ~np.isneginf(mask))
    if isinstance(bias, biases.RelativeBias):
        bias = bias.array(N_Q, N_K)
    return allowed if bias is None else allowed & ~np.isneginf(bias)


@pytest.fixture
def recomputed(request):
    q, k = draw(2, 3, N_Q, 7), draw(2, 3, N_K, 7, seed=1)
    call = prepare(q, k, k, lse=True, **CALLS[request.param])
    return Weights(call, launch.sums_of(call)), written_out(**CALLS[request.param])


@pytest.mark.parametrize("recomputed", CALLS, indirect=True)
def test_what_may_be_attended_is_what_the_mask_written_out_says(recomputed):
    found, allowed = recomputed
    np.testing.assert_array_equal(found.counts(), allowed.sum(axis=-1))
    for batch, head in found.heads():
        window = found.allowed(batch, head, np.arange(5, 23)[:, None], np.arange(3, 50, 2))
        np.testing.assert_array_equal(window, allowed[(*batch, head)][5:23, 3:50:2])
        assert not found.window(batch, head, slice(None), slice(None))[~allowed[(*batch, head)]].any()


@pytest.mark.parametrize("recomputed", CALLS, indirect=True)
def test_one_key_of_its_own_for_each_query(recomputed):
    found, _ = recomputed
    keys = np.random.default_rng(3).integers(-2, N_K + 2, N_Q)
    got = found.at(keys)
    for batch, head in found.heads():
        whole = np.pad(found.window(batch, head, slice(None), slice(None)), ((0, 0), (2, 2)))
        np.testing.assert_allclose(got[(*batch, head)], whole[np.arange(N_Q), keys + 2], rtol=1e-12)


@pytest.mark.parametrize("recomputed", ["ranges", "a rule", "a bias"], indirect=True)
def test_strips_change_nothing(recomputed, monkeypatch):
    found, allowed = recomputed
    before = found.window((1,), 2, slice(None), slice(None))
    monkeypatch.setattr(weights, "STRIP", 5 * N_K)
    monkeypatch.setattr(recompute, "STRIP", 5)
    np.testing.assert_array_equal(found.window((1,), 2, slice(None), slice(None)), before)
    np.testing.assert_array_equal(found.counts(), allowed.sum(axis=-1))


def test_keys_in_runs_that_overlap_are_counted_once():
    low, high = np.array([[0, 5, 9], [2, 0, 3]]), np.array([[4, 5, 12], [7, 3, 10]])
    np.testing.assert_array_equal(union_size(low, high), [7, 3, 9])
