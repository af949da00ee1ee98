"""The highest scores of rows, of which some are equal."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from clearhead.torch.ranking import first_highest

from .forced import look_elsewhere


@pytest.mark.parametrize("k", [1, 3, 8, 40])
def test_equal_scores_are_taken_from_the_left(k):
    scores = torch.randint(0, 5, (50, 40), generator=torch.Generator().manual_seed(k)).float()
    scores[3:9, ::2] = -torch.inf
    order = np.argsort(-scores.numpy(), axis=-1, kind="stable")[:, :k]
    np.testing.assert_array_equal(first_highest(scores, k), np.sort(order, axis=-1))


def test_over_blocks_the_lower_key_comes_first_too():
    q = np.zeros((3, 100, 4), np.float32)
    view = look_elsewhere(q, q, top_k=5)
    np.testing.assert_array_equal(view.top_k[0], np.broadcast_to(np.arange(5), (3, 100, 5)))
