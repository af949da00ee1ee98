"""How each of the threads of a call does its part, without Python: see `rounds`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from clearhead.kernels.atomics import I64, count_up, load_word, nanoseconds, pause, raise_word, replace_word, store_word
from clearhead.kernels.compiler import helper, kernel
from clearhead.kernels.memory import add_long, peek_long, poke_long
from clearhead.kernels.rounds import (
    ASLEEP,
    DONE,
    FREE,
    GIVEN,
    JOINED,
    LATEST,
    LEAVING,
    POST,
    TAKEN,
    WAKE,
    Round,
)
from clearhead.kernels.struct_types import view
from clearhead.kernels.structs import WORD


@intrinsic
def call_number(typing: Any, place: Any) -> Any:
    """What the C function at an address, without arguments, returns."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        function = builder.inttoptr(args[0], ir.FunctionType(ir.IntType(32), []).as_pointer())
        return builder.sext(builder.call(function, []), I64)

    return types.intp(types.intp), codegen


@intrinsic
def call_kernel(typing: Any, place: Any, job: Any, memory: Any, progress: Any, most: Any) -> Any:
    """Call the kernel at an address."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        place, *rest = args
        builder.call(builder.inttoptr(place, ir.FunctionType(I64, [I64] * 4).as_pointer()), rest)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 5), codegen


@helper
def take_part(address, place):
    """Do tasks of a round until there are no more, as the one at this place."""
    shared = view(Round, 0.0, address)
    if place < shared.places:
        raise_word(address + WORD * LATEST, nanoseconds())
        memory = shared.memory + place * shared.room
        call_kernel(shared.kernel, shared.job, memory, address, shared.most)


@helper
def join_in(address):
    """The same at the next place that is free."""
    take_part(address, count_up(address + WORD * JOINED))


@kernel
def as_one_of_a_team(address):
    """What each thread of a team calls, the caller among them: each has its own place, the same in every round."""
    take_part(address, call_number(view(Round, 0.0, address).number))
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
