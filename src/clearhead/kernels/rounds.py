"""What the threads of a call share, and how each of them does its part without Python.

A round is a few words in memory: the queue that tasks are taken from, which kernel does them, and where its
description and its scratch lie. Whoever joins in, one of the crew or one of torch's team, is handed the address of the
round and nothing else.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype

from clearhead.kernels.atomics import I64, count_up, load_word, nanoseconds, pause, raise_word, replace_word, store_word
from clearhead.kernels.compiler import helper, kernel
from clearhead.kernels.memory import add_long, peek_long, poke_long
from clearhead.kernels.structs import WORD, first_word, view


class Round(NamedTuple):
    """A call, or as much of it as is done between two looks at whether Ctrl-C was pressed."""

    next: int  # the task to be taken next; with `stop`, what a kernel knows as its progress
    stop: int  # not 0: take no more
    kernel: int  # its address, as `entry` gives it
    bits: int  # of the number that tells it its type
    job: int  # the address of its description
    memory: int  # the address of scratch for all
    room: int  # bytes of it for each
    most: int  # tasks that each takes at most
    places: int  # how many may join in
    joined: int  # how many have
    latest: int  # when the last of them did, in nanoseconds
    given: int  # how many of the crew were told of it
    done: int  # how many of those have done their part


# Which word each is, and how many there are.
NEXT, STOP, JOB, MEMORY, MOST, PLACES, JOINED, LATEST, GIVEN, DONE = (
    first_word(Round, name)
    for name in ("next", "stop", "job", "memory", "most", "places", "joined", "latest", "given", "done")
)
WORDS = len(Round._fields)

# One of the crew waits at its post. Its first word says what it does, or is the address of a round it is to join; its
# second whether it is still to be woken.
FREE, TAKEN, ASLEEP, LEAVING = range(4)
WAKE = WORD
POST = 64  # bytes from one post to the next, a cache line


@functools.cache
def entry(compiled: Any, kind: np.dtype[Any]) -> int:
    """The address of a kernel for one type, to be called as C calls a function."""
    return entry_for(compiled, from_dtype(kind), *[types.intp] * 4)


def entry_for(compiled: Any, *kinds: Any) -> int:
    """The address of a compiled function for arguments of these types, to be called as C calls a function."""
    compiled.compile(kinds)
    result = compiled.overloads[kinds]
    return result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)


# What tells a kernel its type, by how many bits it has.
_NUMBERS = {64: ir.DoubleType(), 32: ir.FloatType(), 16: ir.IntType(16)}


@intrinsic
def call_kernel(typing: Any, bits: Any, place: Any, job: Any, memory: Any, progress: Any, most: Any) -> Any:
    """Call the kernel at an address, which is told its type by a number of so many bits."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        bits, place, *rest = args
        for size, number in _NUMBERS.items():
            with builder.if_then(builder.icmp_signed("==", bits, ir.Constant(I64, size))):
                function = builder.inttoptr(place, ir.FunctionType(I64, [number, *[I64] * 4]).as_pointer())
                builder.call(function, [ir.Constant(number, 0), *rest])
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), codegen


@helper
def join_in(address):
    """Do tasks of a round until there are no more."""
    shared = view(Round, 0.0, address)
    place = count_up(address + WORD * JOINED)
    if place < shared.places:
        raise_word(address + WORD * LATEST, nanoseconds())
        memory = shared.memory + place * shared.room
        call_kernel(shared.bits, shared.kernel, shared.job, memory, address, shared.most)


@kernel
def as_one_of_a_team(address):
    """What each thread of a team calls, the caller among them."""
    join_in(address)
    return 0


@kernel
def serve(post, patience):
    """Join one round after another, until for so many nanoseconds there is none; whether to come back when woken."""
    since = nanoseconds()
    while True:
        seen = load_word(post)
        if seen > LEAVING:
            if replace_word(post, seen, TAKEN):
                join_in(seen)
                store_word(post, FREE)  # first, so that whoever waits for this round finds this post free for the next
                count_up(seen + WORD * DONE)
                since = nanoseconds()
        elif seen == LEAVING:
            return False
        elif seen == ASLEEP:  # no longer
            replace_word(post, ASLEEP, FREE)
        elif nanoseconds() - since >= patience and replace_word(post, FREE, ASLEEP):
            return True
        else:
            pause()


@kernel
def offer(posts, count, word, tally, wake):
    """Leave a word, the address of a round as a rule, with those who have nothing to do; asleep only if `wake` is 1.

    How many got it is added at the address `tally`. Whoever was asleep is marked, and has to be woken by the caller.
    """
    for n in range(count):
        post = posts + POST * n
        if replace_word(post, FREE, word):
            add_long(tally, 1)
        elif wake == 1 and replace_word(post, ASLEEP, word):
            poke_long(post + WAKE, 1)
            add_long(tally, 1)


@kernel
def settle(posts, count, address, patience):
    """Take a round back from those who have not begun, and wait so many nanoseconds for the others to be done."""
    given = address + WORD * GIVEN
    for n in range(count):
        post = posts + POST * n
        if replace_word(post, address, ASLEEP if peek_long(post + WAKE) == 1 else FREE):
            add_long(given, -1)
    since = nanoseconds()
    while load_word(address + WORD * DONE) < peek_long(given):
        if nanoseconds() - since >= patience:
            return False
        pause()
    return True
