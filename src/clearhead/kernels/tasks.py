"""The queue that all threads of a call take from, and a word that says to stop.

Of a few tasks each thread begins with a stretch of its own and then helps the others with theirs, in the order of
their numbers. So in a call like the one before it, a thread gets the heads that it had there, and finds their keys and
values in its core's cache: torch hands out its work like this too, and what it wrote last lies with the same threads.
Which tasks are taken is a bit for each in one shared word. Short ones, heads of a short sequence, are taken several at
once, up to half of what is left of one's own stretch: about 1 % of the time at 64 and 128 positions. Of many tasks it
is a counter, and each gets the next one.
"""

from __future__ import annotations

from clearhead.kernels.atomics import first_bit, load_word, mark_bits
from clearhead.kernels.compiler import helper
from clearhead.kernels.memory import fetch_add, peek_long
from clearhead.kernels.rounds import FEW, NEXT, STOP, Round
from clearhead.kernels.struct_types import view


@helper
def taken(progress, memory, tasks, most):
    """Up to `most` of a call's tasks, one after another, none of which anybody else gets. memory: one's own scratch"""
    shared = view(Round, 0.0, progress)
    place = (memory - shared.memory) // shared.room
    first = place * tasks // max(shared.places, 1)
    own = tasks // max(shared.places, 1)
    done, mine = 0, 0
    while done < most and peek_long(progress + 8 * STOP) == 0:
        if tasks <= FEW:
            if mine == 0:
                free = ~load_word(progress + 8 * NEXT) & ((1 << tasks) - 1)
                if free == 0:
                    break
                ahead = free >> first << first
                next_one = first_bit(ahead if ahead != 0 else free)
                several = min((first + own - next_one) // 2, shared.together, most - done) if ahead != 0 else 1
                wanted = free & (((1 << max(several, 1)) - 1) << next_one)
                mine = wanted & ~mark_bits(progress + 8 * NEXT, wanted)
                continue
            task = first_bit(mine)
            mine &= mine - 1
        else:
            task = fetch_add(progress + 8 * NEXT, 1)
            if task >= tasks:
                break
        yield task
        done += 1
