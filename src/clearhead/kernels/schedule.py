"""Who does the work of a call: the calling thread, and others beside it where that is worth while.

A kernel runs without the GIL and takes tasks from a shared counter until there are none left. Those who help are the
threads that torch keeps, where there is torch (`teams`), or threads of our own (`crew`); numba's pools could not be
used from several threads at once, or not after a fork. The calling thread works too, so small calls need no other
thread, and it comes back to Python every few milliseconds, so that Ctrl-C is heard.
"""

from __future__ import annotations

import array
import functools
import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from clearhead import checks
from clearhead.kernels.crew import Crew, crew
from clearhead.kernels.rounds import GIVEN, JOINED, MEMORY, NEXT, STOP, Round, entry
from clearhead.kernels.structs import WORD
from clearhead.kernels.teams import Team, team_of, torchs_threads

VARIABLE = "CLEARHEAD_NUM_THREADS"
SPEED = 100  # operations that one thread does in a nanosecond, roughly
LEAST = 1e6  # operations that are worth sharing with one who is awake
SMALL = 4e6  # and with one who has to be woken
TURN = 2e9  # operations between two looks at whether Ctrl-C was pressed, about 20 ms

# kernel(a number of its type, address of its description, of scratch, of its progress, most tasks) → tasks done
Kernel = Callable[[Any, int, int, int, int], int]

_threads: int | None = None  # what set_num_threads or the environment says; 0 for nothing


def get_num_threads() -> int:
    """How many threads a call may use.

    What set_num_threads says, else CLEARHEAD_NUM_THREADS, else as many as torch uses where torch is loaded, else one
    for each core there is.
    """
    global _threads
    if _threads is None:
        _threads = _from_environment()
    return _threads or torchs_threads() or _cores()


def set_num_threads(threads: int) -> None:
    """Use this many threads from the next call on. The result does not depend on it, to the last bit."""
    global _threads
    _threads = checks.count("threads", threads)


def _from_environment() -> int:
    asked = os.environ.get(VARIABLE, "").strip()
    if not asked:
        return 0
    if not asked.isdecimal() or int(asked) < 1:
        raise ValueError(f"{VARIABLE} must be a whole number of at least 1, got {asked!r}")
    return int(asked)


@functools.cache
def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_own = threading.local()


def scratch(size: int) -> int:
    """The address of `size` bytes of this thread's own working memory, at the start of a cache line.

    Kept from call to call: fresh memory would have to be mapped in page by page, a third of the time of a small call.
    """
    if getattr(_own, "size", -1) < size:
        _own.memory = np.empty(size + 64, np.uint8)
        _own.address = -(-_own.memory.ctypes.data // 64) * 64
        _own.size = size
    return _own.address


class Work(NamedTuple):
    """What is to be done."""

    kernel: Kernel
    job: int  # the address of the kernel's description
    kind: np.dtype[Any]  # in which it computes
    tasks: int
    room: int  # bytes of scratch that each thread needs
    operations: float  # that all tasks take together

    @property
    def alone(self) -> float:
        """Nanoseconds that one thread would take."""
        return self.operations / SPEED

    @property
    def turn(self) -> int:
        """Tasks that a thread does before it looks whether Ctrl-C was pressed."""
        return max(1, int(TURN * self.tasks / max(self.operations, 1)))

    def round(self, places: int, joined: int, most: int) -> array.array[int]:
        """What so many threads share, of whom some are there already."""
        words = Round(
            next=0, stop=0, kernel=entry(self.kernel, self.kind), bits=8 * self.kind.itemsize, job=self.job,
            memory=scratch(places * self.room), room=self.room, most=most, places=places, joined=joined, latest=0,
            given=0, done=0,
        )  # fmt: skip
        return array.array("q", words)


def spread(work: Work) -> None:
    """Do it, on as many threads as that is worth."""
    threads = get_num_threads() if work.operations > LEAST and work.tasks > 1 else 1
    team = team_of(threads) if threads > 1 else None
    if team is not None and team.is_worth(work.alone):
        _on_team(work, team, threads)
        return
    helpers = crew()
    members = helpers.ready(min(threads, work.tasks) - 1)
    if members:
        _with_crew(work, helpers, members)
    else:
        _lead(work, array.array("q", (0, 0)), scratch(work.room))


def _lead(work: Work, progress: array.array[int], memory: int) -> None:
    """Do tasks in the calling thread until there are no more."""
    like, address, most = work.kind.type(0), progress.buffer_info()[0], work.turn
    while work.kernel(like, work.job, memory, address, most) == most:
        pass


def _on_team(work: Work, team: Team, threads: int) -> None:
    """Do it with torch's threads. Between two turns nobody but the caller is at it, so it may be left at any time."""
    shared = work.round(threads, 0, work.turn)
    team.run(shared, threads)
    while shared[NEXT] < work.tasks:
        shared[JOINED] = 0
        team.run(shared, threads)


def _with_crew(work: Work, helpers: Crew, members: int) -> None:
    """Do it with threads of our own, as many as are free."""
    shared = work.round(members + 1, 1, work.tasks)
    address = shared.buffer_info()[0]
    try:
        # Somebody is woken for a large call, or if calls follow so close that there will be more to do than to wait.
        wake = work.operations > SMALL or helpers.idle() < work.alone
        helpers.offer(address, address + WORD * GIVEN, members, wake=wake)
        _lead(work, shared, shared[MEMORY])
    except BaseException:
        shared[STOP] = 1
        raise
    finally:
        _settle(helpers, members, shared)


def _settle(helpers: Crew, members: int, shared: array.array[int]) -> None:
    """Return only when no other thread touches the caller's arrays any more, even if Ctrl-C is pressed meanwhile."""
    interrupted: BaseException | None = None
    while True:
        try:
            helpers.settle(shared.buffer_info()[0], members)
            break
        except BaseException as error:
            interrupted, shared[STOP] = error, 1
    if interrupted is not None:
        raise interrupted
