"""Four ranks for all tests of a run, of which some use the first two as a group of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.torch.parallel.ranks import Ranks, started


@pytest.fixture(scope="session")
def four() -> Iterator[Ranks]:
    with started(4) as ranks:
        yield ranks
