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
from clearhead.kernels import backward
from clearhead.kernels.backward_pass import Pass
from clearhead.kernels.job import Job
from clearhead.kernels.known import LONGEST, MOST
from clearhead.kernels.launch import launch_packed
from clearhead.kernels.remembering import Remembered
from clearhead.kernels.structs import first_word
from clearhead.kernels.sums import Sums

_QUERY, _KEY, _VALUE, _OUTPUT, _TOP, _TOTAL = (
    first_word(Job, name) for name in ("query", "key", "value", "output", "top", "total")
)
_GRADIENT, _DELTA, _D_QUERY, _D_KEY, _D_VALUE = (
    first_word(backward.Backward, name) for name in ("gradient", "delta", "d_query", "d_key", "d_value")
)


class Addresses(NamedTuple):
    """Where the arrays of a pass lie."""

    q: int
    k: int
    v: int
    top: int
    total: int
    gradient: int
    delta: int
    d_q: int  # (splits, *q.shape), and like d_k and d_v of the type that is computed in
    d_k: int
    d_v: int


class KnownGradients(NamedTuple):
    """What is the same in all backward passes like one."""

    packed: array.array[int]
    splits: int  # parts of the keys, over which the queries' gradient is summed
    kind: np.dtype[Any]  # in which it is computed
    tasks: int
    room: int
    operations: float
    alive: Any  # what is pointed to besides the arrays whose addresses are filled in

    def fill(self, at: Addresses) -> None:
        """Fill the gradients of a pass whose arrays lie there."""
        packed = self.packed[:]
        packed[_QUERY], packed[_KEY], packed[_VALUE], packed[_OUTPUT] = at.q, at.k, at.v, at.gradient  # has no output
        packed[_TOP], packed[_TOTAL], packed[_GRADIENT], packed[_DELTA] = at.top, at.total, at.gradient, at.delta
        packed[_D_QUERY], packed[_D_KEY], packed[_D_VALUE] = at.d_q, at.d_k, at.d_v
        launch_packed(backward.run, packed, self.kind, self.tasks, self.room, self.operations)


passes: Remembered[KnownGradients] = Remembered(MOST)


def remember(key: Hashable, call: Call, sums: Sums, gradient: np.ndarray) -> None:
    """Know the backward pass of a call without bias and sinks from now on, if it is one that can be."""
    if (
        call.slow or call.rule is not None or call.allowed is not None or call.many_axes is not None
        or call.n_q > LONGEST
    ):  # fmt: skip
        return
    whole = Pass(call, sums, gradient, np.empty(gradient.shape[:-1], call.kind), of_bias=False)
    broadcast = whole.d_q[0].size != call.q.size or whole.d_k.size != call.k.size or whole.d_v.size != call.v.size
    if broadcast or not whole.plan.tasks:
        return
    known = KnownGradients(
        whole.packed(*whole.arrays()), whole.plan.splits, call.kind, whole.plan.tasks, whole.room, whole.operations,
        call.ranges,
    )  # fmt: skip
    passes.keep(key, known, 0 if call.ranges is None else sum(x.nbytes for x in call.ranges))
