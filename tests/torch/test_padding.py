from __future__ import annotations

import numpy as np
import pytest
import torch

from clearhead import masks
from clearhead.torch.padding import both, mask_of, real_keys

N_Q, N_K = 3, 7


def written(mask, batch=2):
    return mask.array(N_Q, N_K, batch_shape=(batch,), heads=5)


@pytest.mark.parametrize(
    ("rows", "ranges"),
    [
        ([[1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1]], True),
        ([[0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]], True),
        ([[0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]], True),
        ([[0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0]], True),
        ([[1, 1, 0, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0]], False),
    ],
    ids=["at the end", "all of it", "at the start", "on both sides", "inside"],
)
def test_padding_means_the_same_in_either_form(rows, ranges):
    real = torch.tensor(rows, dtype=torch.bool)
    mask = real_keys(real)
    expected = np.broadcast_to(real.numpy()[:, None, None, :], (2, 5, N_Q, N_K))
    np.testing.assert_array_equal(written(mask), expected)
    assert (mask.ranges(masks.Sizes(N_Q, N_K, (2,), 5)) is not None) == ranges


def test_without_padding_there_is_no_mask():
    assert real_keys(torch.ones(2, N_K, dtype=torch.bool)) is None
    assert real_keys(torch.ones(2, 0, dtype=torch.bool)) is None


def test_more_and_fewer_batch_axes():
    real = torch.arange(N_K) < torch.tensor([[3, 7, 0], [1, 2, 5]])[..., None]
    for flags in (real, real.flip(-1)):
        got = real_keys(flags).array(N_Q, N_K, batch_shape=(2, 3), heads=5)
        np.testing.assert_array_equal(got, np.broadcast_to(flags.numpy()[:, :, None, None], got.shape))
    for row in (real[0, 0], ~real[0, 0]):
        got = real_keys(row).array(N_Q, N_K)
        np.testing.assert_array_equal(got, np.broadcast_to(row.numpy(), got.shape))


def test_masks_join_and_nothing_allows_everything():
    causal, drawn = masks.causal(), mask_of(torch.rand(N_Q, N_K) < 0.5)
    assert both(None, None) is None
    assert both(causal, None) is causal
    assert both(None, causal) is causal
    np.testing.assert_array_equal(written(both(causal, drawn)), written(causal) & written(drawn))
