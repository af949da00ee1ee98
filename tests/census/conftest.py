"""A small model and a corpus on a disk, and one Ray for all tests that need it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from . import small


@pytest.fixture(autouse=True)
def one_torch_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    return small.model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    return small.corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def taken(model, corpus, tmp_path_factory) -> Path:
    """A census of the small corpus, taken in this process, without Ray."""
    return small.taken_plainly(model, [corpus], tmp_path_factory.mktemp("taken") / "out")


@pytest.fixture(scope="session")
def ray_address(tmp_path_factory) -> Iterator[str]:
    """One Ray on this machine, for this process and those it starts."""
    with small.ray_running() as address:
        yield address
