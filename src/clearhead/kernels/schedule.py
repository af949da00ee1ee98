"""Who does the work of a call: the calling thread, and others beside it where that is worth while.

A kernel runs without the GIL and takes tasks from a shared queue until there are none left. Those who help are the
threads that torch keeps, where there is torch (`teams`), or threads of our own (`crew`); numba's pools could not be
used from several threads at once, or not after a fork. The calling thread works too, so small calls need no other
thread, and it comes back to Python several times a second, so that Ctrl-C is heard.
"""

from __future__ import annotations

import array
import functools
import os
import threading
from typing import Any

import numpy as np

from clearhead import checks
from clearhead.kernels import teams
from clearhead.kernels.crew import Crew, crew
from clearhead.kernels.machine_code import Kernel
from clearhead.kernels.rounds import FEW, GIVEN, JOB, JOINED, MEMORY, MOST, NEXT, PLACES, STOP, TOGETHER, Round
from clearhead.kernels.structs import WORD
from clearhead.kernels.teams import Team, torchs_team

VARIABLE = "CLEARHEAD_NUM_THREADS"
SPEED = 100  # operations that one thread does in a nanosecond, roughly
LEAST = 1e6  # operations that are worth sharing with one who is awake
SMALL = 4e6  # and with one who has to be woken
# Operations between two looks at whether Ctrl-C was pressed, about 50 ms of two threads. The members of a team wait for
# one another there: five times as often, looking under a causal mask, whose tasks are large, took 11 % longer.
TURN = 1e10
APART = 1000  # turns are this much longer than the tasks that a thread takes at once, which nobody can help it with

_threads: int | None = None  # what set_num_threads or the environment says; 0 for nothing


def get_num_threads() -> int:
    """How many threads a call may use.

    What set_num_threads says, else CLEARHEAD_NUM_THREADS, else as many as torch uses where torch is loaded, else one
    for each core there is.
    """
    return _hands()[0]


def _hands() -> tuple[int, Team | None]:
    """How many threads a call may use, and torch's team, if it may be that.

    A team of another size would have to be taken apart and built again for every call.
    """
    global _threads
    if _threads is None:
        _threads = _from_environment()
    team = torchs_team()
    if team is None:
        return _threads or _cores(), None
    size = team.size()
    threads = _threads or size
    return threads, team if threads == size and not teams.forked else None


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


class Work:
    """What is to be done, as far as it is the same in all calls like one."""

    __slots__ = (
        "alone",
        "every",
        "kernel",
        "large",
        "operations",
        "room",
        "run",
        "shared",
        "tasks",
        "together",
        "turn",
    )

    def __init__(self, kernel: Kernel, kind: np.dtype[Any], tasks: int, room: int, operations: float) -> None:
        """`tasks` that take so many operations together, in each thread with so many bytes of scratch.

        kernel: of the addresses of its description, of scratch, of its progress, and the most tasks → tasks done
        """
        self.kernel, self.run, self.tasks, self.room = kernel.address(kind), kernel.function(kind), tasks, room
        self.every = (1 << tasks) - 1 if tasks <= FEW else tasks  # what a round's `next` has reached when all are taken
        self._takes(operations)

    def _takes(self, operations: float) -> None:
        self.operations = operations
        self.alone = operations / SPEED  # nanoseconds that one thread would take
        self.turn = max(1, int(TURN * self.tasks / max(operations, 1)))  # tasks between two looks at Ctrl-C
        self.together = max(1, self.turn // APART)  # tasks taken at once
        self.shared = operations > LEAST and self.tasks > 1
        self.large = operations > SMALL

    def taking(self, operations: float) -> Work:
        """The same with another number of operations in all."""
        other = Work.__new__(Work)
        other.kernel, other.run, other.tasks, other.room = self.kernel, self.run, self.tasks, self.room
        other.every = self.every
        other._takes(operations)
        return other

    def round(self, job: int = 0) -> array.array[int]:
        """What the threads share that do the job at an address. The words of the job itself may be added behind."""
        words = Round(
            next=0, stop=0, kernel=self.kernel, job=job, memory=0, room=self.room,
            most=self.turn, together=self.together, places=0, joined=0, latest=0, given=0, done=0, number=0,
        )  # fmt: skip
        return array.array("q", words)


def spread(work: Work, words: array.array[int]) -> None:
    """Do a round of it, on as many threads as that is worth."""
    if not work.shared:
        _alone(work, words)
        return
    threads, team = _hands()
    if team is None or threads == 1:
        _with_own(work, words, threads)
        return
    if team.is_worth(work.alone):
        _with_team(work, words, team, threads)
    else:
        _with_own(work, words, 1 if team.wants_its_cores(work.alone, threads) else threads)
    team.leave()


def _with_team(work: Work, words: array.array[int], team: Team, threads: int) -> None:
    """Do it with torch's threads."""
    words[MEMORY], words[PLACES], words[MOST] = scratch(threads * work.room), threads, work.turn
    words[TOGETHER] = work.together
    team.run(words, threads)
    while words[NEXT] < work.every:  # between two turns nobody is at it, so Ctrl-C may end it here
        team.run(words, threads)


def _with_own(work: Work, words: array.array[int], threads: int) -> None:
    """Do it with up to so many threads, of which all but the caller's are our own."""
    members = crew().ready(min(threads, work.tasks) - 1) if threads > 1 else 0
    if not members:
        _alone(work, words)
        return
    words[MEMORY] = scratch((members + 1) * work.room)
    _with_crew(work, words, crew(), members)


def _alone(work: Work, words: array.array[int]) -> None:
    """Do it without any other thread."""
    words[MEMORY] = scratch(work.room)
    _lead(work, words)


def _lead(work: Work, words: array.array[int]) -> None:
    """Do tasks in the calling thread until there are no more."""
    run, job, memory, address, most = work.run, words[JOB], words[MEMORY], words.buffer_info()[0], work.turn
    while run(job, memory, address, most) == most:
        pass


def _with_crew(work: Work, words: array.array[int], helpers: Crew, members: int) -> None:
    """Do it with threads of our own, as many as are free."""
    address = words.buffer_info()[0]
    words[PLACES], words[JOINED], words[MOST] = members + 1, 1, work.tasks
    words[TOGETHER] = work.together
    try:
        # Somebody is woken for a large call, or if calls follow so close that there will be more to do than to wait.
        wake = work.large or helpers.idle() < work.alone
        helpers.offer(address, address + WORD * GIVEN, members, wake=wake)
        _lead(work, words)
    except BaseException:
        words[STOP] = 1
        raise
    finally:
        _settle(helpers, members, words)


def _settle(helpers: Crew, members: int, words: array.array[int]) -> None:
    """Return only when no other thread touches the caller's arrays any more, even if Ctrl-C is pressed meanwhile."""
    interrupted: BaseException | None = None
    while True:
        try:
            helpers.settle(words.buffer_info()[0], members)
            break
        except BaseException as error:
            interrupted, words[STOP] = error, 1
    if interrupted is not None:
        raise interrupted
