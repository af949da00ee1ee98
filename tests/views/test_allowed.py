"""Which keys a query may attend to, and how many, in every way a mask can be said."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import biases, masks
from clearhead.call import prepare
from clearhead.views import allowed as module
from clearhead.views.allowed import allowed, allowed_at, counts, every_head, heads_share_mask, union_size

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
    "a bias and a rule": {"bias": FORBIDS, "mask": ~masks.dilated(3)},
    "a period": {"mask": masks.dilated(3)},
    "a bias, runs and a period": {"bias": FORBIDS, "mask": masks.dilated(3) & masks.causal()},
    "a float mask": {"mask": FORBIDS},
    "a relative bias": {"bias": biases.RelativeBias(lambda far: np.where(far[None] > 7, -np.inf, 0.0))},
    "alibi": {"bias": biases.alibi(3), "mask": masks.causal()},
}


def written_out(mask=None, bias=None) -> np.ndarray:
    places = np.ones((2, 3, N_Q, N_K), bool)
    if isinstance(mask, masks.Mask):
        places = places & mask.array(N_Q, N_K, batch_shape=(2,), heads=3)
    elif mask is not None:
        places = places & (mask if mask.dtype == bool else ~np.isneginf(mask))
    if isinstance(bias, biases.RelativeBias):
        bias = bias.array(N_Q, N_K)
    return places if bias is None else places & ~np.isneginf(bias)


@pytest.fixture(params=CALLS)
def call(request):
    q, k = draw(2, 3, N_Q, 7), draw(2, 3, N_K, 7, seed=1)
    return prepare(q, k, k, **CALLS[request.param]), written_out(**CALLS[request.param])


def test_what_may_be_attended_is_what_the_mask_written_out_says(call):
    found, expected = call
    for batch, head in every_head(found):
        window = allowed(found, batch, head, np.arange(5, 23)[:, None], np.arange(3, 50, 2))
        np.testing.assert_array_equal(window, expected[(*batch, head)][5:23, 3:50:2])


def test_how_many_they_are(call, monkeypatch):
    found, expected = call
    np.testing.assert_array_equal(counts(found), expected.sum(axis=-1))
    monkeypatch.setattr(module, "MOST_PLACES", 5 * N_K)
    np.testing.assert_array_equal(counts(found), expected.sum(axis=-1))


def test_how_many_of_some_there_are(call):
    found, expected = call
    among = draw(2, N_K, seed=4) > 0.5
    np.testing.assert_array_equal(counts(found, among), (expected & among[:, None, None]).sum(axis=-1))


def test_one_key_of_each_query(call):
    found, expected = call
    keys = np.random.default_rng(5).integers(-3, N_K + 3, (2, N_Q))
    there = (keys >= 0) & (keys < N_K)
    wanted = np.take_along_axis(expected, np.where(there, keys, 0)[:, None, :, None], axis=-1)[..., 0]
    np.testing.assert_array_equal(allowed_at(found, keys), wanted & there[:, None])


def test_masks_that_heads_share_are_told(call):
    """It may take masks for different that are not, and never the other way round."""
    found, expected = call
    alike = bool((expected == expected[:, :1]).all())
    assert alike or not heads_share_mask(found)
    if found.rule is None:
        assert heads_share_mask(found) is alike


def test_keys_in_runs_that_overlap_are_counted_once():
    low, high = np.array([[0, 5, 9], [2, 0, 3]]), np.array([[4, 5, 12], [7, 3, 10]])
    np.testing.assert_array_equal(union_size(low, high), [7, 3, 9])
