"""A kernel that counts which of its tasks were done, and takes its time over each."""

from __future__ import annotations

import array

import numpy as np

from clearhead.kernels.atomics import nanoseconds
from clearhead.kernels.compiler import kernel
from clearhead.kernels.machine_code import Kernel
from clearhead.kernels.memory import add_long, peek_long, poke_long
from clearhead.kernels.schedule import SPEED, Work, spread
from clearhead.kernels.structs import WORD
from clearhead.kernels.tasks import taken

ROOM = 4096
COUNT = Kernel(__name__, "count")
_TASKS, _NANOSECONDS, _COUNTS = range(3)


@kernel
def count(like, address, memory, progress, most):
    """Add 1 to the word of each task, and write the task over this thread's scratch to see that it is its own."""
    done = 0
    for task in taken(progress, memory, peek_long(address + WORD * _TASKS), most):
        poke_long(memory, task)
        end = nanoseconds() + peek_long(address + WORD * _NANOSECONDS)
        while nanoseconds() < end:
            pass
        add_long(address + WORD * (_COUNTS + peek_long(memory)), 1)
        poke_long(address + WORD * (_COUNTS + peek_long(address + WORD * _TASKS) + task), memory)
        done += 1
    return done


class Counted:
    """So many tasks of so many seconds each, and how often each was done."""

    def __init__(self, tasks: int, seconds: float = 0.0, *, operations: float | None = None) -> None:
        self.words = array.array("q", [tasks, round(1e9 * seconds), *[0] * (2 * tasks)])
        operations = 1e9 * seconds * tasks * SPEED if operations is None else operations
        self.work = Work(COUNT, np.dtype(np.float32), tasks, ROOM, operations)

    def run(self) -> None:
        """Do them; nothing but this object holds on to what they count in."""
        spread(self.work, self.work.round(self.words.buffer_info()[0]))

    @property
    def counts(self) -> list[int]:
        return list(self.words[_COUNTS:][: self.work.tasks])

    @property
    def did(self) -> list[int]:
        """Who did each task, by the scratch they used."""
        return list(self.words[_COUNTS:][self.work.tasks :])

    @property
    def threads(self) -> int:
        """How many threads had a part in it."""
        return len(set(self.did))
