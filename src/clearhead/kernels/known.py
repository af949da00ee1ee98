"""Calls like one before, of which nothing is new but where their arrays lie.

What a call means, how it is cut into tasks and how it is packed depends on the shapes, strides and types of its arrays
and on its options, not on its numbers. In a model the same layer is called again and again, so all of that is worked
out once: the smallest calls take half the time. Only plain calls are remembered, those of q, k and v, a mask that
lasts, a scale and a softcap.
"""

from __future__ import annotations

import array
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels.description import Arrays, address_of, packed_job
from clearhead.kernels.job import Job
from clearhead.kernels.launch import FORWARD, empty_output, join_parts, operations, plan_of
from clearhead.kernels.plan import computed_as
from clearhead.kernels.remembering import Remembered
from clearhead.kernels.rounds import JOB, WORDS
from clearhead.kernels.schedule import Work, spread
from clearhead.kernels.structs import WORD, first_word
from clearhead.kernels.sums import Sums
from clearhead.masks import Mask

MOST = 512  # calls that are remembered
LONGEST = 4096  # queries of one that is; in longer ones what comes before the work is not noticed

# What is wanted of a call: its output, also its lse, also the sums for its derivative.
OUTPUT, LSE, SUMS = range(3)

# Where a call's addresses stand, behind the words of its round.
_QUERY, _KEY, _VALUE, _OUTPUT, _LSE, _TOP, _TOTAL = (
    WORDS + first_word(Job, name) for name in ("query", "key", "value", "output", "lse", "top", "total")
)


class Known(NamedTuple):
    """What is the same in all calls like one."""

    work: Work
    words: array.array[int]  # its round, and behind it the job, packed
    splits: int  # parts of the keys, whose results are joined
    output: tuple[int, ...]  # the shape of its output
    strides: tuple[int, ...]  # how many numbers lie from one to the next along each axis of it
    heads_last: bool  # whether in memory it is (…, n_q, h, d_v)
    rows: tuple[int, ...]  # and of its lse
    sums: tuple[int, ...]
    kind: np.dtype[Any]  # in which it is computed
    alive: Any  # what the packed job points to besides q, k, v and what is to be filled in

    def empty(self, kind: np.dtype[Any]) -> np.ndarray:
        """Room for the output of one of them."""
        if not self.heads_last:
            return np.empty(self.output, kind)
        *lead, heads, n_q, d_v = self.output
        return np.empty((*lead, n_q, heads, d_v), kind).swapaxes(-3, -2)

    def fill(self, q: int, k: int, v: int, output: int, lse: int = 0, top: int = 0, total: int = 0) -> None:
        """Compute a call whose arrays lie at these addresses."""
        words = self.words[:]
        words[JOB] = words.buffer_info()[0] + WORD * WORDS
        words[_QUERY], words[_KEY], words[_VALUE], words[_OUTPUT] = q, k, v, output
        words[_LSE], words[_TOP], words[_TOTAL] = lse, top, total
        spread(self.work, words)


calls: Remembered[Known] = Remembered(MOST)


def key_of(q: Any, k: Any, v: Any, mask: Any, scale: Any, softcap: Any, wanted: int) -> Hashable | None:
    """What tells plain calls on arrays apart, or None for a call that is not."""
    if not (type(q) is type(k) is type(v) is np.ndarray) or not plain(mask, scale, softcap):
        return None
    return (
        q.shape, q.strides, q.dtype, k.shape, k.strides, k.dtype, v.shape, v.strides, v.dtype,
        mask, scale, softcap, wanted,
    )  # fmt: skip


def plain(mask: Any, scale: Any, softcap: Any) -> bool:
    """Whether a mask and numbers are such that equal ones mean the same, now and later."""
    return (
        (mask is None or (isinstance(mask, Mask) and mask.lasting()))
        and (scale is None or type(scale) is float)
        and (softcap is None or type(softcap) is float)
    )


def attend_arrays(
    known: Known, q: np.ndarray, k: np.ndarray, v: np.ndarray, wanted: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """The output of a call on arrays, and its lse if it is wanted."""
    return attend(known, address_of(q), address_of(k), address_of(v), q.dtype, wanted)


def attend(
    known: Known, q: int, k: int, v: int, kind: np.dtype[Any], wanted: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """The output, of this type, of a call whose arrays lie at these addresses, and its lse if it is wanted."""
    output = known.empty(kind)
    lse = np.empty(known.rows, known.kind) if wanted == LSE else None
    if known.splits == 1:
        known.fill(q, k, v, address_of(output), 0 if lse is None else address_of(lse))
        return output, lse
    outputs = np.empty((known.splits, *known.output), known.kind)
    parts = np.empty((known.splits, *known.rows), known.kind)
    known.fill(q, k, v, address_of(outputs), address_of(parts))
    join_parts(outputs, parts, output, lse)
    return output, lse


def remember(key: Hashable, call: Call, wanted: int, *, heads_last: bool = False) -> None:
    """Know a call from now on, if it is one that can be; its output lies in memory as `empty_output` says."""
    plan = plan_of(call)
    if (
        call.slow or call.rule is not None or call.allowed is not None or call.many_axes is not None
        or call.n_q > LONGEST or not plan.tasks or (plan.splits > 1 and wanted == SUMS)
    ):  # fmt: skip
        return
    shape = (*call.lead, call.n_q, call.d_v)
    whole = empty_output(call, heads_last=heads_last)
    output = whole if plan.splits == 1 else np.empty((plan.splits, *shape), call.kind)
    lse = np.empty(output.shape[:-1], call.kind) if wanted >= LSE or plan.splits > 1 else None
    sums = Sums.empty(output.shape[:-1], call.kind) if wanted >= SUMS else None
    packed = packed_job(call, plan, Arrays.of(call, output, lse, sums))
    seen = shape if call.has_heads else shape[1:]
    strides = tuple([stride // whole.itemsize for stride in whole.strides])[-len(seen) :]
    work = Work(FORWARD, computed_as(call), plan.tasks, plan.scratch.end, operations(call))
    known = Known(
        work, work.round() + packed, plan.splits, seen, strides, heads_last and call.has_heads, seen[:-1], shape[:-1],
        call.kind, call.ranges,
    )  # fmt: skip
    calls.keep(key, known, 0 if call.ranges is None else sum(x.nbytes for x in call.ranges))
