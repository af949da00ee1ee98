"""Who watches a thread sees what its modules compute, and may say what they get."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn

from clearhead import masks
from clearhead.torch.function import attention
from clearhead.torch.watching import Position, attend, watched

MODULE, HERE = nn.Identity(), Position(grows=False)


def given():
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(2, 3, 5, 4, generator=generator) for _ in "qkv"]


def test_nobody_watches():
    q, k, v = given()
    assert torch.equal(attend(MODULE, HERE, q, k, v, mask=masks.causal()), attention(q, k, v, mask=masks.causal()))


def test_a_watcher_sees_the_call_and_gives_the_output():
    q, k, v = given()
    seen = []

    def watcher(module, compute, position, q, k, v, **options):
        seen.append((module, position, options))
        return 2 * compute(q, k, v, **options)

    with watched(watcher):
        got = attend(MODULE, HERE, q, k, v, scale=0.5)
    assert torch.equal(got, 2 * attention(q, k, v, scale=0.5))
    assert seen == [(MODULE, HERE, {"scale": 0.5})]
    attend(MODULE, HERE, q, k, v)
    assert len(seen) == 1


def test_the_last_to_come_is_the_outermost():
    q, k, v = given()

    def adding(number):
        return lambda module, compute, position, q, k, v, **options: compute(q, k, v, **options) * 2 + number

    with watched(adding(1)), watched(adding(5)):
        got = attend(MODULE, HERE, q, k, v)
    torch.testing.assert_close(got, (attention(q, k, v) * 2 + 1) * 2 + 5)


def test_other_threads_and_exceptions():
    q, k, v = given()
    seen = []

    def watcher(module, compute, position, q, k, v, **options):
        seen.append(module)
        return compute(q, k, v, **options)

    def fail():
        thread = threading.Thread(target=lambda: attend(MODULE, HERE, q, k, v))
        thread.start()
        thread.join()
        raise KeyError

    with pytest.raises(KeyError), watched(watcher):
        fail()
    attend(MODULE, HERE, q, k, v)
    assert seen == []
