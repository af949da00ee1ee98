"""Calls like one before, of which nothing is new but where their arrays lie.

What a call means, how it is cut into tasks and how it is packed depends on the shapes, strides and types of its arrays
and on its options, not on its numbers. In a model the same layer is called again and again, so all of that is worked
out once: the smallest calls take half the time. Only plain calls are remembered, those of q, k and v, a mask that
lasts, a scale and a softcap.

With a cache every step has a key more than the one before. Of a call without a mask that changes three numbers and how
far apart the keys' heads lie, so such calls are a family: a new one is made of one before in 10 µs, not in 300.
"""

from __future__ import annotations

import array
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels.description import Arrays, address_of, packed_job, steps
from clearhead.kernels.job import Job, Strided
from clearhead.kernels.launch import FORWARD, empty_output, operations, plan_of
from clearhead.kernels.parts import Joining
from clearhead.kernels.plan import computed_as, forward_split
from clearhead.kernels.remembering import Remembered
from clearhead.kernels.rounds import JOB, WORDS
from clearhead.kernels.schedule import Work, spread
from clearhead.kernels.structs import WORD, first_word
from clearhead.kernels.sums import Sums
from clearhead.masks import Mask

MOST = 512  # calls that are remembered
MOST_FAMILIES = 64
LONGEST = 4096  # queries of one that is; in longer ones what comes before the work is not noticed

# What is wanted of a call: its output, also its lse, also the sums for its derivative.
OUTPUT, LSE, SUMS = range(3)

# Where a call's addresses stand, behind the words of its round.
_QUERY, _KEY, _VALUE, _OUTPUT, _LSE, _TOP, _TOTAL = (
    WORDS + first_word(Job, name) for name in ("query", "key", "value", "output", "lse", "top", "total")
)
_N_K, _SPLIT = (WORDS + first_word(Job, name) for name in ("n_k", "split"))
_SHARING, _AXES = (first_word(Strided, name) for name in ("sharing", "axes"))


class Known(NamedTuple):
    """What is the same in all calls like one."""

    work: Work
    words: array.array[int]  # its round, and behind it the job, packed
    splits: int  # parts of the keys
    joining: Joining | None  # how their results are joined, if there are several
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
        if self.joining is None:
            self._run(q, k, v, output, lse, top, total)
            return
        memory = self.joining.memory()
        place = address_of(memory)
        self._run(q, k, v, place, place + self.joining.sums, 0, 0)
        self.joining.join(place, output, lse)

    def _run(self, q: int, k: int, v: int, output: int, lse: int, top: int, total: int) -> None:
        words = self.words[:]
        words[JOB] = words.buffer_info()[0] + WORD * WORDS
        words[_QUERY], words[_KEY], words[_VALUE], words[_OUTPUT] = q, k, v, output
        words[_LSE], words[_TOP], words[_TOTAL] = lse, top, total
        spread(self.work, words)


class Family(NamedTuple):
    """Calls without a mask that differ only in how many keys there are and in how far apart the keys' heads lie."""

    known: Known  # one of them
    shape: tuple[int, ...]  # the lengths of the leading axes, as the kernel has them
    units: tuple[int, int]  # bytes of what strides of keys and of values are counted in
    per_key: float  # operations for one key


calls: Remembered[Known] = Remembered(MOST)
families: Remembered[Family] = Remembered(MOST_FAMILIES)


def find(key: Hashable) -> Known | None:
    """What is known of a call, by its key: it is like one before, or of the family of one."""
    known = calls.get(key)
    if known is None and (family := families.get(family_of(key))) is not None:
        known = _grown(family, key)
        if known is not None:
            calls.keep(key, known)
    return known


def family_of(key: Any) -> Hashable:
    """What tells families apart; None for a call that has none."""
    q, q_strides, q_kind, k, k_strides, k_kind, v, v_strides, v_kind, mask, scale, softcap, wanted = key
    if mask is not None or wanted not in (OUTPUT, LSE) or k[-2:-1] != v[-2:-1] or not k[-2]:
        return None
    return (
        q, q_strides, q_kind, k[:-2], k[-1], k_strides[-2:], k_kind, v[:-2], v[-1], v_strides[-2:], v_kind,
        scale, softcap, wanted,
    )  # fmt: skip


def _grown(family: Family, key: Any) -> Known | None:
    """One of a family with other keys, unless those would be cut into another number of parts."""
    known, (_, _, _, k, k_strides, _, v, v_strides, *_) = family.known, key
    n_k = k[-2]
    split = forward_split(n_k, known.work.tasks // known.splits)
    if -(-n_k // split) != known.splits:
        return None
    words = known.words[:]
    words[_N_K], words[_SPLIT] = n_k, split
    for place, shape, strides, unit in zip((_KEY, _VALUE), (k, v), (k_strides, v_strides), family.units, strict=True):
        apart = tuple([unit * stride for stride in strides[:-2]])
        words[place + _SHARING], axes = steps(tuple(shape[:-2]), apart, family.shape, True)
        words[place + _AXES : place + _AXES + len(axes)] = array.array("q", axes)
    return known._replace(work=known.work.taking(family.per_key * n_k), words=words)


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
    output = known.empty(q.dtype)
    lse = np.empty(known.rows, known.kind) if wanted == LSE else None
    known.fill(
        address_of(q), address_of(k), address_of(v), address_of(output), 0 if lse is None else address_of(lse)
    )  # fmt: skip
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
    lse = np.empty(shape[:-1], call.kind) if wanted >= LSE else None
    sums = Sums.empty(shape[:-1], call.kind) if wanted >= SUMS else None
    joining, arrays = None, (whole, lse)
    if plan.splits > 1:
        joining = Joining.of(call, plan, whole, lse)
        arrays = joining.arrays(joining.memory())
    packed = packed_job(call, plan, Arrays.of(call, *arrays, sums))
    seen = shape if call.has_heads else shape[1:]
    strides = tuple([stride // whole.itemsize for stride in whole.strides])[-len(seen) :]
    work = Work(FORWARD, computed_as(call), plan.tasks, plan.scratch.end, operations(call))
    known = Known(
        work, work.round() + packed, plan.splits, joining, seen, strides, heads_last and call.has_heads, seen[:-1],
        shape[:-1], call.kind, call.ranges,
    )  # fmt: skip
    calls.keep(key, known, 0 if call.ranges is None else sum(x.nbytes for x in call.ranges))
    _found_family(key, call, known, (plan.splits, *call.batch_shape, call.kv_heads, plan.group))


def _found_family(key: Any, call: Call, known: Known, shape: tuple[int, ...]) -> None:
    """Know the family of a call, if it has one and the kernel reads its keys and values just as they were given."""
    family = family_of(key)
    units = tuple(_unit(x, key[at], key[at + 1]) for x, at in ((call.k, 3), (call.v, 6)))
    if family is not None and 0 not in units:
        families.keep(family, Family(known, shape, (units[0], units[1]), operations(call) / call.n_k))


def _unit(x: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """How many bytes strides are counted in, those of an array or of a tensor; 0 if neither has that shape and them."""
    if x.shape != tuple(shape):
        return 0
    return next((unit for unit in (1, x.itemsize) if x.strides == tuple([unit * step for step in strides])), 0)
