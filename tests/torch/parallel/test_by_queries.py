"""What ranks keep where they are is in `test_function.py`; here is one rank, with shape annotations running."""

from __future__ import annotations

import pytest
import torch
from tests.torch.parallel.alone import group_of_one
from tests.torch.parallel.cases import NOISE

import clearhead.torch as cht
from clearhead import masks
from clearhead.torch import parallel


@pytest.mark.parametrize("split", ["queries", "heads"])
def test_one_rank_alone_is_one_machine(split):
    q, k, v = (torch.randn(2, 3, 11, 5, dtype=torch.float64, requires_grad=True) for _ in range(3))
    options = {"mask": masks.causal(), "sinks": torch.zeros(3, dtype=torch.float64), "return_lse": True}
    with group_of_one():
        output, lse = parallel.attention(q, k, v, split=split, layout="zigzag", **options)
    expected, sums = cht.attention(q, k, v, **options)
    torch.testing.assert_close(output, expected, rtol=0, atol=NOISE["float64"])
    torch.testing.assert_close(lse, sums, rtol=0, atol=NOISE["float64"])


@pytest.mark.parametrize("split", ["queries", "heads"])
def test_what_is_constant_is_not_summed_over_the_ranks(split, monkeypatch):
    q, k, v = (torch.randn(2, 3, 11, 5, dtype=torch.float64, requires_grad=True) for _ in range(3))
    bias, sinks = torch.randn(3, 11, 11, dtype=torch.float64), torch.zeros(3, dtype=torch.float64, requires_grad=True)
    sent = []
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda x, **_: sent.append(tuple(x.shape)))
    with group_of_one():
        parallel.attention(q, k, v, split=split, bias=bias, sinks=sinks).sum().backward()
    assert sent == [(3,)]


def test_under_autocast_what_is_sent_is_small():
    q = torch.randn(2, 3, 11, 5)
    with group_of_one(), torch.autocast("cpu", torch.bfloat16):
        assert parallel.attention(q, q, q).dtype == torch.bfloat16


def test_a_compiled_function_leaves_the_graph_for_it():
    q = torch.randn(2, 11, 5)
    with group_of_one():
        found = torch.compile(lambda x: parallel.attention(x + 1, x, x) * 2, backend="eager")(q)
        assert found.equal(parallel.attention(q + 1, q, q) * 2)


def test_options_of_other_libraries_are_answered():
    q = torch.randn(2, 11, 5)
    with group_of_one(), pytest.raises(TypeError, match=r"attention has no is_causal=; write mask=masks\.causal\(\)"):
        parallel.attention(q, q, q, is_causal=True)
