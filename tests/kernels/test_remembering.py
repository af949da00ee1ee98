"""What is remembered is bounded, the oldest goes first, and threads may add at once."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from clearhead.kernels.remembering import Remembered


def test_the_oldest_goes_first():
    seen = Remembered(3)
    for n in range(5):
        seen.keep(n, str(n))
    assert [seen.get(n) for n in range(5)] == [None, None, "2", "3", "4"]


def test_the_bytes_are_counted():
    seen = Remembered(100, most_bytes=10)
    for n in range(5):
        seen.keep(n, n, size=4)
    assert list(seen.values) == [3, 4]
    seen.keep("large", 0, size=11)
    assert list(seen.values) == [3, 4]


def test_what_is_kept_twice_counts_once():
    seen = Remembered(100, most_bytes=10)
    for size in (4, 6, 5, 5):
        seen.keep("same", size, size=size)
    seen.keep("other", 0, size=5)
    assert list(seen.values) == ["same", "other"]
    seen.forget()
    seen.keep("whole", 0, size=10)
    assert list(seen.values) == ["whole"]


def test_threads_that_add_at_once():
    seen = Remembered(3)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: seen.keep(n, n, size=1), range(3000)))
    finally:
        sys.setswitchinterval(before)
    assert len(seen.values) == 3
