"""Backward passes like one before, of which nothing is new but where their arrays lie: see `known`.

A layer that is trained is differentiated once for each step. Preparing its call again and packing what the kernel is
told took three quarters of the time of a small one.
"""

from __future__ import annotations

import array
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels import known
from clearhead.kernels.backward_job import Backward
from clearhead.kernels.backward_pass import BACKWARD, MORE, Pass
from clearhead.kernels.job import Job
from clearhead.kernels.known import LONGEST, MOST, MOST_FAMILIES
from clearhead.kernels.known_call import SUMS
from clearhead.kernels.plan import Plan, Shape, backward_plan, shape_of
from clearhead.kernels.relatives import kin_of, lie_alike, pointing_to, size_of_runs
from clearhead.kernels.remembering import Remembered
from clearhead.kernels.rounds import JOB, WORDS
from clearhead.kernels.schedule import Work, spread
from clearhead.kernels.structs import WORD, first_word
from clearhead.kernels.sums import Sums
from clearhead.masks import Ranges

# Where a pass has its addresses, behind the words of its round; it begins with a job.
_QUERY, _KEY, _VALUE, _OUTPUT, _TOP, _TOTAL = (
    WORDS + first_word(Job, name) for name in ("query", "key", "value", "output", "top", "total")
)
_GRADIENT, _D_QUERY, _D_KEY, _D_VALUE = (
    WORDS + first_word(Backward, name) for name in ("gradient", "d_query", "d_key", "d_value")
)


class Addresses(NamedTuple):
    """Where the arrays of a pass lie."""

    q: int
    k: int
    v: int
    top: int
    total: int
    output: int
    gradient: int
    d_q: int  # (splits, *q.shape), and like d_k and d_v of the type that is computed in
    d_k: int
    d_v: int


class KnownGradients(NamedTuple):
    """What is the same in all backward passes like one."""

    work: Work
    words: array.array[int]  # its round, and behind it the pass, packed
    splits: int  # parts of the keys, over which the queries' gradient is summed
    strides: tuple[tuple[int, ...], ...]  # how many numbers lie from one to the next, in d_q, d_k and d_v
    kind: np.dtype[Any]  # in which it is computed
    runs: Ranges | None  # the keys that its mask leaves to each query, to which the packed pass points

    def fill(self, at: Addresses) -> None:
        """Fill the gradients of a pass whose arrays lie there."""
        words = self.words[:]
        words[JOB] = words.buffer_info()[0] + WORD * WORDS
        words[_QUERY], words[_KEY], words[_VALUE], words[_OUTPUT] = at.q, at.k, at.v, at.output
        words[_TOP], words[_TOTAL], words[_GRADIENT] = at.top, at.total, at.gradient
        words[_D_QUERY], words[_D_KEY], words[_D_VALUE] = at.d_q, at.d_k, at.d_v
        spread(self.work, words)


class Kin(NamedTuple):
    """Passes whose masks leave other runs of keys to the queries: see `relatives`."""

    known: KnownGradients  # one of them
    shape: Shape
    plan: Plan


passes: Remembered[KnownGradients] = Remembered(MOST)
kin: Remembered[Kin] = Remembered(MOST_FAMILIES)


def find(key: Any) -> KnownGradients | None:
    """What is known of a pass, by its key: it is like one before, or has other runs of keys."""
    found = passes.get(key)
    if found is None and (found := _with_other_runs(key)) is not None:
        _keep(key, found)
    return found


def _with_other_runs(key: Any) -> KnownGradients | None:
    """The same for a pass whose mask leaves other runs: those that are known of its call."""
    relatives, call = kin.get(kin_of(key)), known.calls.get((*key[:-1], SUMS))
    if relatives is None or call is None or call.runs is None or not call.only_runs:
        return None
    found, shape, plan = relatives
    same = call.seen == shape.seen or backward_plan(shape._replace(seen=call.seen), False) == plan
    if not same or not lie_alike(call.runs, found.runs):
        return None
    work = found.work.taking(MORE * call.work.operations)
    return found._replace(work=work, words=pointing_to(call.runs, found.words), runs=call.runs)


def _keep(key: Hashable, found: KnownGradients) -> None:
    passes.keep(key, found, size_of_runs(found.runs))


def remember(key: Hashable, call: Call, sums: Sums, output: np.ndarray, gradient: np.ndarray) -> None:
    """Know the backward pass of a call without bias and sinks from now on, if it is one that can be."""
    if (
        call.slow or call.rule is not None or call.allowed is not None or call.many_axes is not None
        or call.n_q > LONGEST
    ):  # fmt: skip
        return
    whole = Pass(call, sums, output, gradient)
    broadcast = whole.d_q[0].size != call.q.size or whole.d_k.size != call.k.size or whole.d_v.size != call.v.size
    if broadcast or not whole.plan.tasks:
        return
    work = Work(BACKWARD, whole.computed_as, whole.plan.tasks, whole.room, whole.operations)
    packed = whole.packed(*whole.arrays())
    strides = tuple(tuple([n // x.itemsize for n in x.strides]) for x in (whole.d_q, whole.d_k, whole.d_v))
    found = KnownGradients(work, work.round() + packed, whole.plan.splits, strides, call.kind, call.ranges)
    _keep(key, found)
    if call.ranges is not None and call.period == 1:
        kin.keep(kin_of(key), Kin(found, shape_of(call), whole.plan), size_of_runs(call.ranges))
