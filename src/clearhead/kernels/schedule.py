"""Who does the work: a queue of tasks, the calling thread, and a few threads beside it.

A kernel runs without the GIL and takes tasks from a shared counter until there are none left. Python threads are
enough for that, and unlike numba's own pools they can be used from several threads at once and after a fork. The
calling thread works too, so small calls need no other thread, and it comes back to Python every few milliseconds,
so that Ctrl-C is heard.
"""

from __future__ import annotations

import array
import contextlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np

from clearhead import checks

VARIABLE = "CLEARHEAD_NUM_THREADS"
SMALL = 4e6  # operations that one thread does in the time it takes to wake another
TURN = 2e9  # operations between two looks at whether Ctrl-C was pressed, about 20 ms

# The progress of a call, two words that its threads share: the next task to be taken, and whether to stop taking them.
NEXT, STOP = range(2)

# work(address of the progress, most) → tasks done
Work = Callable[[int, int], int]

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_threads: int | None = None


def get_num_threads() -> int:
    """How many threads a call may use: set_num_threads, else CLEARHEAD_NUM_THREADS, else the cores there are."""
    global _threads
    if _threads is None:
        _threads = _from_environment()
    return _threads


def set_num_threads(threads: int) -> None:
    """Use this many threads from the next call on. The result does not depend on it, to the last bit."""
    global _threads
    threads = checks.count("threads", threads)
    with _lock:
        _threads = threads
        _forget_pool()


def _from_environment() -> int:
    asked = os.environ.get(VARIABLE, "").strip()
    if not asked:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        raise ValueError(f"{VARIABLE} must be a whole number of at least 1, got {asked!r}")
    return int(asked)


def _forget_pool() -> None:
    """The next call starts a new pool. Threads do not survive a fork, and neither does a lock that one held."""
    global _pool
    _pool = None


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _forget_pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


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


def _helpers() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(get_num_threads() - 1, 1), thread_name_prefix="clearhead")
        return _pool


def spread(work: Work, tasks: int, operations: float) -> None:
    """Do `tasks` tasks that cost `operations` in all, on as many threads as that is worth."""
    progress = array.array("q", (0, 0))
    address = progress.buffer_info()[0]
    others: list[Future[int]] = []
    if operations > SMALL and tasks > 1 and get_num_threads() > 1:
        pool = _helpers()
        with contextlib.suppress(RuntimeError):  # the interpreter is shutting down: this thread will do
            others += [pool.submit(work, address, tasks) for _ in range(min(get_num_threads(), tasks) - 1)]
    most = max(1, int(TURN * tasks / max(operations, 1)))
    try:
        while work(address, most) == most:
            pass
    except BaseException:
        progress[STOP] = 1
        raise
    finally:
        _settle(others, progress)


def _settle(others: list[Future[int]], progress: array.array[int]) -> None:
    """Return only when no other thread touches the caller's arrays any more, even if Ctrl-C is pressed meanwhile."""
    if not others:
        return
    interrupted: BaseException | None = None
    while True:
        try:
            running = [f for f in others if not f.cancel()]  # one that has not begun has nothing left to do
            if interrupted is not None:
                progress[STOP] = 1
            wait(running)
            break
        except BaseException as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted
    for future in running:
        future.result()
