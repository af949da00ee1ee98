"""From a checked call to a running kernel."""

from __future__ import annotations

import array
import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels import layout
from clearhead.kernels.description import Arrays, address_of, packed_job
from clearhead.kernels.machine_code import Kernel
from clearhead.kernels.parts import Joining
from clearhead.kernels.plan import Plan, computed_as, forward_plan, shape_of
from clearhead.kernels.schedule import Work, spread
from clearhead.kernels.structs import pack
from clearhead.kernels.sums import Sums
from clearhead.masks import Ranges

FORWARD = Kernel("clearhead.kernels.forward")


class Result(NamedTuple):
    """A call's output (…, h, n_q, d_v), and its lse (…, h, n_q) and sums (*call.lead, n_q) if they are wanted."""

    output: np.ndarray
    lse: np.ndarray | None
    sums: Sums | None


def compute(call: Call) -> tuple[np.ndarray, np.ndarray | None]:
    """A call's output (…, h, n_q, d_v), and its lse (…, h, n_q) if the call wants it."""
    return compute_with_sums(call, sums=False)[:2]


def compute_with_sums(call: Call, *, sums: bool = True, heads_last: bool = False) -> Result:
    """A call's output, its lse if the call wants it, and what its weights can be computed from again."""
    output = empty_output(call, heads_last=heads_last)
    lse = np.empty((*call.lead, call.n_q), call.kind) if call.lse else None
    kept = Sums.empty((*call.lead, call.n_q), call.kind) if sums else None
    if output.size or (lse is not None and lse.size):
        for strip, rows in call.strips():
            own_lse, own_sums = None if lse is None else lse[..., rows], None if kept is None else kept.of((..., rows))
            run(strip, output[..., rows, :], own_lse, own_sums)
    if not call.has_heads:
        return Result(output[0], None if lse is None else lse[0], kept)
    if call.many_axes is not None:
        output = output.reshape(*call.many_axes, *output.shape[1:])
        lse = None if lse is None else lse.reshape(*call.many_axes, *lse.shape[1:])
    return Result(output, lse, kept)


def empty_output(call: Call, *, heads_last: bool) -> np.ndarray:
    """Room for an output (…, h, n_q, d_v); with `heads_last` it lies in memory as (…, n_q, h, d_v), as torch has it."""
    return layout.empty((*call.lead, call.n_q, call.d_v), call.q.dtype, heads_last=heads_last)


def sums_of(call: Call) -> Sums:
    """The sums of a call alone."""
    found = compute_with_sums(without_values(call)).sums
    assert found is not None
    return found


def without_values(call: Call) -> Call:
    """The same call with values of a single 0, for what does not depend on them."""
    return replace(call, v=np.broadcast_to(np.zeros((), call.v.dtype), (*call.k.shape[:-1], 1)))


def run(call: Call, output: np.ndarray, lse: np.ndarray | None, sums: Sums | None = None) -> None:
    """Fill `output`, and `lse` and `sums` if they are wanted."""
    plan = plan_of(call)
    if plan.splits == 1:
        _attend(call, plan, output, lse, sums)
        return
    joining = Joining.of(call, plan, output, lse)
    memory = joining.memory()
    outputs, of_rows = joining.arrays(memory)
    sums_of_parts = None if sums is None else Sums.empty(of_rows.shape, call.kind)
    _attend(call, plan, outputs, of_rows, sums_of_parts)
    joining.join(address_of(memory), address_of(output), 0 if lse is None else address_of(lse))
    if sums is not None and sums_of_parts is not None:
        _join_sums(sums_of_parts, sums)


def _join_sums(parts: Sums, whole: Sums) -> None:
    """The sums of all keys from those of parts of them."""
    whole.top[...] = np.fmax.reduce(parts.top, axis=0)
    with np.errstate(invalid="ignore"):  # −inf − −inf
        shrunk = np.where(np.isneginf(parts.top), parts.total, parts.total * np.exp2(parts.top - whole.top))
    whole.total[...] = shrunk.sum(axis=0, dtype=np.float64)


def plan_of(call: Call) -> Plan:
    """How `run` cuts a call into tasks."""
    return forward_plan(shape_of(call))


def _attend(call: Call, plan: Plan, output: np.ndarray, lse: np.ndarray | None, sums: Sums | None) -> None:
    arrays = Arrays.of(call, output, lse, sums)
    launch_packed(
        FORWARD, packed_job(call, plan, arrays), computed_as(call), plan.tasks, plan.scratch.end, operations(call)
    )


def launch_kernel(kernel: Kernel, description: Any, call: Call, tasks: int, room: int, operations: float) -> None:
    """Run a kernel, on as many threads as `operations` are worth, each with `room` bytes of scratch."""
    launch_packed(kernel, pack(description), computed_as(call), tasks, room, operations)


def launch_packed(
    kernel: Kernel, packed: array.array[int], kind: np.dtype[Any], tasks: int, room: int, operations: float
) -> None:
    """`launch_kernel`, of what is packed already."""
    work = Work(kernel, kind, tasks, room, operations)
    spread(work, work.round(packed.buffer_info()[0]))


def operations(call: Call) -> float:
    """Roughly how much there is to do: multiply-adds, over all keys that some query needs."""
    heads, width = math.prod(call.lead), call.q.shape[-1] + call.d_v
    if call.ranges is not None:
        return operations_on(call.ranges, heads, width)
    return 2.0 * heads * call.n_q * call.n_k * width


def operations_on(ranges: Ranges, heads: int, width: int) -> float:
    """The same where each query has runs of keys, which so many heads share. width: of a key and a value together"""
    low, high = ranges
    return 2.0 * float(np.maximum(high - low, 0).sum()) * heads / math.prod(low.shape[:-2]) * width
