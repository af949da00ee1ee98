"""The team of threads that torch keeps: whoever is in a torch process had better work with it than beside it.

After every product torch's threads go on spinning on their cores for a while, to be there for the next one. Another
thread would have to share a core with one of them; but they do whatever their OpenMP library is asked to do, and begin
with it within 2 µs. The price is that a team waits for each of its threads, and on a machine that is busy with
something else one may take milliseconds to begin. So how late they are is measured, and a call that would be done
before they begin goes another way.

That is not always with threads of our own. Between two calls of a model torch's threads have other work, for which
one of ours would take their core from them. What a caller does between two calls is not known, only that it does
something: a short call that does not follow another at once is done by its caller alone. On two busy cores a product
of torch's and a call over 128 positions together take 5 to 6 ms so, and 7 to 9 with a thread of ours.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import functools
import os
import sys
import time
from pathlib import Path
from typing import Any

from clearhead.kernels.machine_code import Kernel
from clearhead.kernels.rounds import CLOCK, LATEST, NUMBER

MEMBER = Kernel("clearhead.kernels.serving", "as_one_of_a_team", numbers=1)
PROMPT = 50_000  # nanoseconds: a team that begins so soon is neither asleep nor kept from its cores
FIRST_PAUSE, LONGEST_PAUSE = 16, 1024  # calls that go another way before the team is tried again
BRIEF = 1_500_000  # nanoseconds that others would save a call, not to be worth a thread beside torch's
AT_ONCE = 50_000  # nanoseconds between two calls without any work between them
LIBRARY = {"darwin": "libtorch_cpu.dylib", "win32": "torch_cpu.dll"}.get(sys.platform, "libtorch_cpu.so")


class Team:
    """torch's threads, as its OpenMP library offers them."""

    def __init__(self, path: str) -> None:
        self.parallel: Any = ctypes.CDLL(path).GOMP_parallel
        self.parallel.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
        self.parallel.restype = None
        self.size: Any = ctypes.PyDLL(path).omp_get_max_threads  # for this thread, as torch.set_num_threads has set it
        number = ctypes.cast(ctypes.CDLL(path).omp_get_thread_num, ctypes.c_void_p).value
        assert number is not None  # or looking it up would have failed
        self.number = number  # the address of a function that tells a thread which of the team it is
        self.last = self.delay = 0  # how late it was, and the smaller of the last two: one delay is an accident
        self.pause = FIRST_PAUSE
        self.passed_by = 0
        self.left = 0  # when the last call that might have been the team's ended

    @functools.cached_property
    def member(self) -> int:
        return MEMBER.address()

    def is_worth(self, nanoseconds: float) -> bool:
        """Whether a call that takes one thread so long is sooner done by the team, as far as is known."""
        if 2 * self.delay <= nanoseconds:
            return True
        self.passed_by += 1
        if self.passed_by < self.pause:
            return False
        self.passed_by = 0
        self.pause = min(2 * self.pause, LONGEST_PAUSE)
        return True

    def wants_its_cores(self, nanoseconds: float, threads: int) -> bool:
        """Whether a call that is not worth it, and takes one thread so long, had better not wake any other thread."""
        return nanoseconds * (1 - 1 / threads) < BRIEF and time.perf_counter_ns() - self.left > AT_ONCE

    def leave(self) -> None:
        """Remember when a call ended, whoever did it."""
        self.left = time.perf_counter_ns()

    def run(self, words: array.array[int], threads: int) -> None:
        """Let the team, which is of so many threads, do a round, and see how late the last of them joined in."""
        member, address = self.member, words.buffer_info()[0]
        words[NUMBER] = self.number
        began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.parallel(member, address, threads, 0)
        self.note(words[LATEST] - began)

    def note(self, delay: int) -> None:
        """Remember how late the team was, in nanoseconds."""
        self.delay, self.last = min(delay, self.last), delay
        if delay < PROMPT:
            self.pause = FIRST_PAUSE


def torchs_team() -> Team | None:
    """The threads that torch keeps, if torch is there."""
    return _found_team() if "torch" in sys.modules else None


@functools.cache
def _found_team() -> Team | None:
    """The OpenMP library that torch was linked with, which need not be the only one in the process."""
    path = Path(sys.modules["torch"].__file__ or "").parent / "lib" / LIBRARY
    if CLOCK is None or not path.exists():
        return None
    with contextlib.suppress(OSError, AttributeError):  # built without OpenMP, or with one that has no such function
        return Team(str(path))
    return None


forked = False  # a team does not survive a fork, and its library would wait for it for ever


def _after_fork() -> None:
    global forked
    forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
