"""Pieces of several files as one array, in which files are shown and not copied."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clearhead.traces import end_to_end as module
from clearhead.traces.end_to_end import PAGE, before, end_to_end
from clearhead.traces.tensor_files import Place


@pytest.fixture
def written(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Makes files with a piece each, somewhere inside, and what all of them are together."""
    return functools.partial(write, request, tmp_path)


def write(
    request: pytest.FixtureRequest, folder: Path, sizes: list[int], *, aligned: bool = True
) -> tuple[list[Place], np.ndarray]:
    rng, places, whole, begun = np.random.default_rng(3), [], [], 0
    for number, size in enumerate(sizes):
        head = 1000 + 17 * number
        start = head + (before(head, begun) if aligned else 1)
        content = rng.integers(256, size=size, dtype=np.uint8)
        path = folder / f"{number}.bin"
        path.write_bytes(b"?" * start + content.tobytes() + b"!" * 99)
        whole_file = np.fromfile(path, np.uint8)
        descriptor = os.open(path, os.O_RDONLY)
        request.addfinalizer(functools.partial(os.close, descriptor))
        places.append(Place(whole_file[start : start + size], path, descriptor, start))
        whole.append(content)
        begun += size
    return places, np.concatenate(whole)


def shown_files() -> int:
    """How many bytes of files of the test are mapped into this process."""
    total = 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(".bin"):
            first, last = (int(x, 16) for x in line.split()[0].split("-"))
            total += last - first
    return total


SIZES = {
    "large ones": [5 * PAGE + 123, 3 * PAGE + 7, 4 * PAGE],
    "a small one between": [2 * PAGE, 100, 3 * PAGE],
    "all small": [10, 20, 30],
    "one that ends with a page": [2 * PAGE, 2 * PAGE],
    "an empty one": [3 * PAGE, 0, 2 * PAGE],
    "one alone": [3 * PAGE + 5],
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("aligned", [True, False])
def test_pieces_follow_one_another(written: Callable[..., Any], name: str, aligned: bool):
    places, whole = written(SIZES[name], aligned=aligned)
    np.testing.assert_array_equal(end_to_end(places), whole)


@pytest.mark.skipif(sys.platform != "linux", reason="reads what is mapped from /proc")
def test_nothing_is_copied_but_pages_in_which_pieces_meet(written: Callable[..., Any]):
    places, whole = written(SIZES["large ones"])
    found = end_to_end(places)
    mapped = shown_files()
    assert len(whole) - mapped <= 4 * PAGE
    assert mapped >= 9 * PAGE
    np.testing.assert_array_equal(found, whole)
    del found
    assert shown_files() == 0


def test_what_is_shown_cannot_be_written_to(written: Callable[..., Any]):
    places, _ = written(SIZES["large ones"])
    with pytest.raises(ValueError, match="read-only"):
        end_to_end(places)[0] = 1


def test_a_system_that_maps_otherwise_copies(written: Callable[..., Any], monkeypatch: pytest.MonkeyPatch):
    places, whole = written(SIZES["large ones"])
    monkeypatch.setattr(module, "FIXED", None)
    np.testing.assert_array_equal(end_to_end(places), whole)


def test_a_file_that_is_shorter_than_it_says_is_refused(written: Callable[..., Any], tmp_path: Path):
    places, _ = written(SIZES["large ones"])
    with (tmp_path / "1.bin").open("rb+") as file:
        file.truncate(places[1].start + PAGE)
    with pytest.raises(ValueError, match=r"1.bin is damaged: it ends before its arrays do"):
        end_to_end(places)
