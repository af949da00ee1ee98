"""A view over two and four ranks beside one machine's, in all that is asked of it."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.torch.parallel import sights
from tests.torch.parallel.alone import group_of_one
from tests.torch.parallel.cases import ALIBI, BY_HEAD, CAUSAL, FLOAT_MASK, GROUPED, PADDED, PREFIX, Case, shards
from tests.torch.parallel.ranks import Ranks

from clearhead import masks
from clearhead.torch import parallel
from clearhead.views.view import look

LEFT_PADDED = "torch.from_numpy((np.arange(n_k) >= np.array([[9], [0]]))[:, None, None, :])"
LONG: dict[str, Any] = {"n": 700, "d": 16, "d_v": 16}

SEEN = {
    "causal": Case(mask=CAUSAL, layout="zigzag"),
    "padding": Case(mask=PADDED, only=(4,)),
    "padding at the front": Case(mask=LEFT_PADDED, only=(4,)),
    "grouped heads, a window, sinks": Case(**GROUPED, mask="masks.window(6)", sinks="leaf('sinks', heads)"),
    "fewer heads of keys than ranks": Case(heads=4, kv_heads=2, mask=CAUSAL, options={"softcap": 2.0}, only=(4,)),
    "a bias by distance, uneven shards": Case(bias=ALIBI, lengths=(11, 3, 0, 23), only=(4,)),
    "a rule that knows heads": Case(mask=BY_HEAD, only=(4,)),
    "a float mask": Case(mask=FLOAT_MASK, layout="zigzag", only=(2,)),
    "fewer queries, one head": Case(n=17, n_k=41, heads=1, kv_heads=1, batch=(), mask=CAUSAL, only=(4,)),
    "keys from the middle on": Case(**LONG, dtype="float32", mask="masks.window(50)", only=(4,)),
    "float32, zigzag": Case(**LONG, dtype="float32", mask=CAUSAL, layout="zigzag", only=(2,)),
    "two runs of keys": Case(**LONG, mask=PREFIX, only=(2,)),
}

# Sums over queries are made of each rank's own, which moves the last digits; all else has the bits of one machine.
SUMMED = ("received", "a map", "a tile")
NOISE = {"float64": 4e-15, "float32": 4e-7}


@functools.cache
def expected(name: str) -> dict[str, Any]:
    return sights.expected(SEEN[name])


def compare(case: Case, what: str, found: np.ndarray, wanted: np.ndarray) -> None:
    if what not in SUMMED:
        np.testing.assert_array_equal(found, wanted, err_msg=what)
        return
    largest = float(np.nanmax(np.abs(wanted), initial=0))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=NOISE[case.dtype] * largest, err_msg=what)


@pytest.mark.parametrize(("name", "ranks"), [(name, n) for name, case in SEEN.items() for n in case.only])
def test_rows_have_the_bits_of_one_machine_and_sums_over_them_its_numbers(four: Ranks, name: str, ranks: int):
    case, whole = SEEN[name], expected(name)
    answers = four.run("sights.seen", case, ranks, ranks=list(range(ranks)))
    for rank, found in enumerate(answers):
        queries, keys = (shards(case, ranks, n)[rank].numpy() for n in (case.n, case.n_k or case.n))
        compare(case, "entropy", found.pop("own entropy"), whole["entropy"][..., queries])
        compare(case, "received", found.pop("own received"), whole["received"][..., keys])
        assert found.keys() == whole.keys()
        for what, x in found.items():
            compare(case, what, x, whole[what])
            np.testing.assert_array_equal(x, answers[0][what], err_msg=f"{what} is not the same on every rank")


def test_without_values_there_is_no_output(four: Ranks):
    said = four.run("sights.without_values", replace(SEEN["causal"], layout="contiguous"), 4)
    assert set(said) == {
        "GroupView(4 heads, 37 queries × 37 keys over 4 ranks): there is no output without values: look(q, k, v) gives "
        "one, look(q, k) does not"
    }


def test_only_what_the_mask_needs_is_sent(four: Ranks):
    case = Case(n=4096, heads=2, kv_heads=2, batch=(), d=8, d_v=8, dtype="float32", mask="masks.window(256)")
    fetched, returned = four.run("sights.bytes_sent", case, 4)[1]
    one = 255 * 2 * 8 * 4  # the last 255 keys of the rank before, of two heads
    assert [fetched[other] for other in (0, 2, 3)] == [0, one, 0]
    assert [returned[other] for other in (0, 2, 3)] == [255 * 2 * 8, 0, 0]  # what they receive, in float64


WORDS = [f"word{i}" for i in range(12)]
LABELS = [
    ("padding", np.arange(12) < 2, None),
    ("padding", np.arange(12) < 2, np.arange(12) < 3),
    ("padding", False, None),
    ("tokens", WORDS, None),
    ("tokens", WORDS, WORDS[::-1]),
    ("key_tokens", WORDS, [*WORDS[:-1], "<pad>"]),
]


@pytest.mark.parametrize(("name", "own", "others"), LABELS)
def test_ranks_that_name_positions_otherwise_are_told_so_everywhere(four: Ranks, name: str, own: Any, others: Any):
    said = {str(x) for x in four.ask("sights.other_labels", name, own, others)}
    assert len(said) == 1
    assert f"the ranks do not agree on {name}: rank 0 has " in said.pop()


def test_labels_that_cannot_be_read_are_told_as_on_one_machine():
    q = torch.ones(2, 3, 5)
    with group_of_one(), pytest.raises(ValueError, match="inhomogeneous"):
        parallel.look(q, q, q, padding=[[1, 0], [1]])
    with group_of_one():  # tokens are any objects, of which an array need not be made
        assert parallel.look(q, q, q, tokens=[(1,), (2, 3), "\ud800"]).entropy.shape == (2, 3)


def test_without_heads_and_without_a_map():
    q, k, v = torch.randn(3, 11, 5)
    with group_of_one():
        view = parallel.look(q, k, v, masks.causal(), map_size=0)
        alone = look(q, k, v, masks.causal(), map_size=0)
        assert repr(view) == "GroupView(1 heads, 11 queries × 11 keys over 1 ranks)"
        for name in ("output", "entropy", "received", "on_first", "distance"):
            assert torch.equal(getattr(view, name), getattr(alone, name)), name
        assert torch.equal(view.weights(), alone.weights())
        assert view.patterns().labels == alone.patterns().labels
        with pytest.raises(ValueError, match="made with map_size=0"):
            view.map()
        with pytest.raises(AttributeError, match=r"a view of a group has no .*entropi.*entropy"):
            view.entropi  # noqa: B018
        with pytest.raises(ValueError, match="rows 11 is out of range"):
            view.weights(rows=11)
        with pytest.raises(ValueError, match="top_k must be at least 0"):
            parallel.look(q, k, v, top_k=-1)
