"""Whatever a benchmark sets is put back."""

from __future__ import annotations

import pytest
import torch
from benchmarks import measure
from tests.bench.examples import MINIMAL

import clearhead as ch


@pytest.fixture(autouse=True)
def same_threads_afterwards():
    before = ch.get_num_threads(), torch.get_num_threads()
    yield
    ch.set_num_threads(before[0])
    torch.set_num_threads(before[1])


@pytest.fixture
def minimal(monkeypatch):
    monkeypatch.setattr(measure, "QUICK", MINIMAL)
