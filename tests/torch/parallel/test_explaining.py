from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.torch.parallel.alone import group_of_one
from tests.torch.parallel.cases import TABLE, Case
from tests.torch.parallel.ranks import Ranks

from clearhead import masks
from clearhead.torch import parallel

MEASURED = [name for name, case in TABLE.items() if 4 in case.only]
BALANCED = Case(n=8192, heads=1, kv_heads=1, batch=(), d=4, d_v=4, mask="masks.causal()", dtype="float32")


@pytest.mark.parametrize("name", MEASURED)
def test_the_bytes_are_those_that_are_really_sent(four: Ranks, name: str):
    for rank, (told, forward, backward) in enumerate(four.run("cases.bytes_sent", TABLE[name], 4)):
        others = np.arange(4) != rank
        np.testing.assert_array_equal(told.sent[rank][others], np.array(forward)[others])
        np.testing.assert_array_equal(told.returned[rank][others], np.array(backward)[others])


@pytest.mark.parametrize(
    "name", ["causal", "padding by heads", "block sparse by head, split by heads", "a boolean tensor"]
)
def test_scores_are_those_that_the_mask_allows(four: Ranks, name: str):
    from tests.torch.parallel.cases import draw

    case, mask = TABLE[name], draw(TABLE[name]).mask
    mask = mask if isinstance(mask, masks.Mask) else masks.array(mask.numpy())
    told = four.run("cases.bytes_sent", case, 4)[0][0]
    assert sum(told.scores) == mask.array(case.n, batch_shape=case.batch, heads=case.heads).sum()


def test_a_window_fetches_from_neighbours_only(four: Ranks):
    case = Case(n=4096, heads=2, kv_heads=2, batch=(), d=8, d_v=8, dtype="float32", mask="masks.window(256)", lse=False)
    told = four.run("cases.bytes_sent", case, 4)[0][0]
    one = 255 * 2 * (8 + 8) * 4  # the last 255 keys of the rank before, of two heads, with their values
    np.testing.assert_array_equal(told.sent, np.diag([one] * 3, k=1))
    np.testing.assert_array_equal(told.returned, np.diag([one] * 3, k=-1))


def test_zigzag_balances_causal_work(four: Ranks):
    from dataclasses import replace

    contiguous, zigzag = (
        four.run("cases.bytes_sent", replace(BALANCED, layout=layout), 4)[0][0] for layout in ("contiguous", "zigzag")
    )
    assert contiguous.balance > 1.7
    assert zigzag.balance <= 1.05
    assert max(zigzag.tiles) / np.mean(zigzag.tiles) <= 1.05


def test_printed_it_is_a_few_lines():
    sent = np.array([[0, 2**21], [512, 0]])
    told = parallel.Explanation("queries", "zigzag", (7, 6), (7, 6), sent, sent.T, (30, 10), (2, 1))
    assert str(told).splitlines() == [
        "call       split by queries, zigzag: 2 ranks, 13 queries, 13 keys",
        "sent       2.0 MiB forward, 2.0 MiB backward",
        "  rank 0   2.0 MiB to rank 1",
        "  rank 1   512 bytes to rank 0",
        "work       30, 10 scores; the most is 1.50 of the mean",
    ]


def test_one_rank_alone_sends_nothing():
    q = torch.randn(2, 3, 11, 5)
    with group_of_one():
        told = parallel.explain(q, q, q, masks.causal())
    assert told.sent.tolist() == [[0]]
    assert told.scores == (2 * 3 * 66,)
    assert told.balance == 1
    assert "rank 0   nothing" in str(told)
