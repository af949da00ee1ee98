"""Threads of our own that help with calls, and wait for the next one without Python.

A Python thread takes 20 µs to be woken. So one that has just helped waits a little in compiled code, where it sees the
next round at once, and only then goes to sleep. Nobody waits for one that has not begun: a caller who is done takes the
round back. Whoever finds nobody free works alone, so any number of threads may call at once.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time

import numpy as np

from clearhead.kernels.machine_code import Kernel
from clearhead.kernels.rounds import CLOCK, LEAVING, POST, WAKE
from clearhead.kernels.structs import WORD

SERVE = Kernel("clearhead.kernels.serving", "serve", numbers=2)
OFFER = Kernel("clearhead.kernels.serving", "offer", numbers=5)
SETTLE = Kernel("clearhead.kernels.serving", "settle")
MOST = 255  # members, of whom only those that are needed are started
PATIENCE = 0 if CLOCK is None else 200_000  # nanoseconds that one who has nothing to do stays awake
WATCHED = 0 if CLOCK is None else 50_000  # nanoseconds that a caller waits for another before it lets its core go
NAP = 50e-6  # seconds for which it then does


class Crew:
    """Threads, each at its post, and a bell to wake each by."""

    def __init__(self) -> None:
        self.memory = np.zeros((MOST + 1) * POST, np.uint8)
        self.posts = -(-self.memory.ctypes.data // POST) * POST
        start = self.posts - self.memory.ctypes.data
        self.marks = self.memory[start + WAKE :].view(np.int64)[:: POST // WORD]
        self.bells: list[threading.Lock] = []
        self.threads: list[threading.Thread] = []
        self.lock = threading.Lock()
        self.dismissed = False
        self.ended = 0
        self.tell, self.wait_for = OFFER.function(), SETTLE.function()

    def idle(self) -> int:
        """Nanoseconds since the last round."""
        return time.perf_counter_ns() - self.ended

    def ready(self, members: int) -> int:
        """How many of so many members there are, after they were started; none while Python is shutting down."""
        if len(self.threads) < members and not self.dismissed:
            with self.lock:
                self._start(min(members, MOST))
        return 0 if self.dismissed else min(len(self.threads), members)

    def _start(self, members: int) -> None:
        for number in range(len(self.threads), members):
            bell = threading.Lock()
            bell.acquire()
            name, post = f"clearhead_{number}", self.posts + POST * number
            thread = threading.Thread(target=_stand_by, args=(post, bell), name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is shutting down, or there are too many threads
                return
            self.bells.append(bell)
            self.threads.append(thread)

    def offer(self, word: int, tally: int, members: int, *, wake: bool) -> None:
        """Tell the first so many members of a round; those who sleep only if `wake`. How many were is added up."""
        self.tell(self.posts, members, word, tally, int(wake))
        if wake:
            for number in range(members):
                if self.marks[number]:
                    with contextlib.suppress(RuntimeError):  # somebody else woke it meanwhile
                        self.bells[number].release()
                    self.marks[number] = 0

    def settle(self, address: int, members: int) -> None:
        """Return when none of the members will touch a round any more. May be interrupted, and called again."""
        patience = WATCHED
        while not self.wait_for(self.posts, members, address, patience):
            time.sleep(NAP)
            patience = 0
        self.ended = time.perf_counter_ns()

    def dismiss(self) -> None:
        """Let those go that have nothing to do: Python is shutting down."""
        self.dismissed = True
        tally = np.zeros(1, np.int64)
        self.offer(LEAVING, tally.ctypes.data, len(self.threads), wake=True)
        for thread in self.threads[: tally[0]]:
            thread.join(timeout=0.1)


def _stand_by(post: int, bell: threading.Lock) -> None:
    serve = SERVE.function()
    while serve(post, PATIENCE):
        bell.acquire()


_crew: Crew | None = None
_lock = threading.Lock()


def crew() -> Crew:
    """The crew of this process."""
    global _crew
    if _crew is None:
        with _lock:
            if _crew is None:
                _crew = Crew()
                atexit.register(_crew.dismiss)
    return _crew


def _after_fork() -> None:
    """Threads do not survive a fork, and neither does a lock that one held."""
    global _crew, _lock
    _crew, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
