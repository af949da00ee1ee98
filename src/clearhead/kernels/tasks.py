"""The queue that all threads of a call take from: a shared counter, and a word that says to stop."""

from __future__ import annotations

from clearhead.kernels.compiler import helper
from clearhead.kernels.memory import fetch_add, peek_long
from clearhead.kernels.rounds import NEXT, STOP


@helper
def taken(progress, tasks, most):
    """Up to `most` of a call's tasks, one after another, none of which anybody else gets."""
    done = 0
    while done < most and peek_long(progress + 8 * STOP) == 0:
        task = fetch_add(progress + 8 * NEXT, 1)
        if task >= tasks:
            break
        yield task
        done += 1
