"""A view over two and four ranks has the bits of one machine's, in all that is asked of it."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.torch.parallel import sights
from tests.torch.parallel.cases import ALIBI, CAUSAL, GROUPED, PADDED, Case, shards
from tests.torch.parallel.ranks import Ranks

SEEN = {
    "causal": Case(mask=CAUSAL, layout="zigzag"),
    "padding": Case(mask=PADDED),
    "grouped heads, a window, sinks": Case(**GROUPED, mask="masks.window(6)", sinks="leaf('sinks', heads)"),
    "fewer heads of keys than ranks": Case(heads=4, kv_heads=2, mask=CAUSAL, options={"softcap": 2.0}),
    "a bias by distance, uneven shards": Case(bias=ALIBI, lengths=(11, 3, 0, 23), only=(4,)),
    "a rule that knows heads": Case(mask="masks.where(lambda b, h, i, j: (i + j + h + b) % 3 == 0) & masks.causal()"),
}


@functools.cache
def expected(name: str) -> dict[str, Any]:
    return sights.expected(SEEN[name])


@pytest.mark.parametrize(("name", "ranks"), [(name, n) for name, case in SEEN.items() for n in case.only])
def test_everything_has_the_bits_of_one_machine(four: Ranks, name: str, ranks: int):
    case, whole = SEEN[name], expected(name)
    answers = four.run("sights.seen", case, ranks, ranks=list(range(ranks)))
    for rank, found in enumerate(answers):
        rows = shards(case, ranks, case.n)[rank].numpy()
        np.testing.assert_array_equal(found.pop("own entropy"), whole["entropy"][..., rows])
        np.testing.assert_array_equal(found.pop("own received"), whole["received"][..., rows])
        assert found.keys() == whole.keys()
        for what, x in found.items():
            np.testing.assert_array_equal(x, whole[what], err_msg=what)


def test_without_values_there_is_no_output(four: Ranks):
    said = four.run("sights.without_values", replace(SEEN["causal"], layout="contiguous"), 4)
    assert set(said) == {
        "GroupView(4 heads, 37 queries × 37 keys over 4 ranks): there is no output without values: look(q, k, v) gives "
        "one, look(q, k) does not"
    }


def test_without_heads_it_is_refused_everywhere(four: Ranks):
    assert {str(x) for x in four.ask("sights.without_heads")} == {
        "parallel.look needs an axis of heads: q (…, h, n_q, d); q[None] has one"
    }
