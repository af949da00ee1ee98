"""What the threads of a call share.

A round is a few words in memory: the queue that tasks are taken from, which kernel does them, and where its
description and its scratch lie. Whoever joins in, one of the crew or one of torch's team, is handed the address of the
round and nothing else (`serving`).
"""

from __future__ import annotations

import time
from typing import NamedTuple

from clearhead.kernels.structs import WORD, first_word


class Round(NamedTuple):
    """A call, or as much of it as is done between two looks at whether Ctrl-C was pressed."""

    next: int  # which tasks are taken: see `tasks`; with `stop`, what a kernel knows as its progress
    stop: int  # not 0: take no more
    kernel: int  # its address
    job: int  # the address of its description
    memory: int  # the address of scratch for all
    room: int  # bytes of it for each
    most: int  # tasks that each takes at most
    together: int  # and at once
    places: int  # how many may join in
    joined: int  # how many have
    latest: int  # when the last of them did, in nanoseconds
    given: int  # how many of the crew were told of it
    done: int  # how many of those have done their part
    number: int  # the address of a function that tells each thread of a team its number


# Which word each is, and how many there are.
NEXT, STOP, JOB, MEMORY, MOST, TOGETHER, PLACES, JOINED, LATEST, GIVEN, DONE, NUMBER = (
    first_word(Round, name)
    for name in (
        "next",
        "stop",
        "job",
        "memory",
        "most",
        "together",
        "places",
        "joined",
        "latest",
        "given",
        "done",
        "number",
    )
)
WORDS = len(Round._fields)

FEW = 62  # tasks of which it is known one by one whether they are taken

# One of the crew waits at its post. Its first word says what it does, or is the address of a round it is to join; its
# second whether it is still to be woken.
FREE, TAKEN, ASLEEP, LEAVING = range(4)
WAKE = WORD
POST = 64  # bytes from one post to the next, a cache line

CLOCK = getattr(time, "CLOCK_MONOTONIC", None)  # by which they tell the time; None where there is none
