"""Calls like one before, of which nothing is new but where their arrays lie.

What a call means, how it is cut into tasks and how it is packed depends on the shapes, strides and types of its arrays
and on its options, not on its numbers. In a model the same layer is called again and again, so all of that is worked
out once: the smallest calls take half the time. Only plain calls are remembered, those of q, k and v, a mask that
lasts, a scale and a softcap. Of calls that differ from one before in little, see `relatives`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from clearhead.call import Call
from clearhead.kernels.description import Arrays, address_of, packed_job
from clearhead.kernels.known_call import LSE, SUMS, Known
from clearhead.kernels.launch import FORWARD, empty_output, operations, plan_of
from clearhead.kernels.parts import Joining
from clearhead.kernels.plan import computed_as, shape_of
from clearhead.kernels.relatives import (
    MASK,
    Family,
    Kin,
    family_like,
    family_of,
    grown,
    kin_of,
    size_of_runs,
    with_other_runs,
)
from clearhead.kernels.remembering import Remembered
from clearhead.kernels.schedule import Work
from clearhead.kernels.sums import Sums
from clearhead.masks import Mask

MOST = 512  # calls that are remembered
MOST_FAMILIES = 64
LONGEST = 4096  # queries of one that is; in longer ones what comes before the work is not noticed

calls: Remembered[Known] = Remembered(MOST)
families: Remembered[Family] = Remembered(MOST_FAMILIES)
kin: Remembered[Kin] = Remembered(MOST_FAMILIES)


def find(key: Any) -> Known | None:
    """What is known of a call, by its key: it is like one before, or a relative of one."""
    known = calls.get(key)
    if known is None and (known := _made(key)) is not None:
        _keep(key, known)
    return known


def _made(key: Any) -> Known | None:
    """What is known of a relative of one before."""
    mask = key[MASK]
    if mask is not None:
        relatives = kin.get(kin_of(key))
        return None if relatives is None else with_other_runs(relatives, mask)
    family = families.get(family_of(key))
    return None if family is None else grown(family, key)


def _keep(key: Hashable, known: Known) -> None:
    calls.keep(key, known, size_of_runs(known.runs))


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
    heads_last = heads_last and call.has_heads
    lying = (*seen[:-3], seen[-2], seen[-3], seen[-1]) if heads_last else seen
    known = Known(
        work, work.round() + packed, plan.splits, joining, seen, strides, heads_last, lying, seen[:-1],
        shape[:-1], call.kind, call.ranges, call.ranges is not None and call.period == 1, shape_of(call).seen,
    )  # fmt: skip
    _keep(key, known)
    if (relatives := Kin.of(call, known)) is not None:
        kin.keep(kin_of(key), relatives, size_of_runs(known.runs))
    elif (family := family_of(key)) is not None:
        like_it = family_like(key, call, known, (plan.splits, *call.batch_shape, call.kv_heads, plan.group))
        if like_it is not None:
            families.keep(family, like_it)
