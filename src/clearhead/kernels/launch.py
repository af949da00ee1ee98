"""From a checked call to a running kernel."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels import forward
from clearhead.kernels.gemm import WIDEST
from clearhead.kernels.job import ABSENT, FULL_BIAS, NO_BIAS, RELATIVE_BIAS, Job, Strided
from clearhead.kernels.join import join
from clearhead.kernels.memory import stored_kind
from clearhead.kernels.plan import Plan, forward_plan, shape_of
from clearhead.kernels.schedule import scratch, spread
from clearhead.kernels.structs import AXES, Axes, pack
from clearhead.kernels.target import TARGET
from clearhead.kernels.tile import LOG2E


class Sums(NamedTuple):
    """What makes weights of a query's scores: 2^(score − top) / total, scores in powers of two.

    top, total (…, n_q): the largest score, and Σ 2^(score − top) over the keys and the sink. The lse is made of both,
    but rounded to one number it says less the larger the scores are. A query with no key left has −inf and 0.
    """

    top: np.ndarray
    total: np.ndarray

    @classmethod
    def empty(cls, shape: tuple[int, ...], kind: np.dtype[Any]) -> Sums:
        """Room for the sums of so many queries."""
        return cls(np.full(shape, -np.inf, kind), np.zeros(shape, kind))

    def of(self, place: Any) -> Sums:
        """Those of some queries."""
        return Sums(self.top[place], self.total[place])

    def share_in(self, whole: Sums) -> np.ndarray:
        """The share of attention that falls on the keys these are the sums of, of all those of `whole`."""
        with np.errstate(invalid="ignore"):  # −inf − −inf, of a query with no key left
            share = np.exp2(self.top - whole.top) * (self.total / whole.total)
        none = np.isneginf(self.top) & ~np.isnan(self.total)
        return np.where(none, 0, np.minimum(share, 1)).astype(self.top.dtype)


class Result(NamedTuple):
    """A call's output (…, h, n_q, d_v), and its lse (…, h, n_q) and sums (*call.lead, n_q) if they are wanted."""

    output: np.ndarray
    lse: np.ndarray | None
    sums: Sums | None


def compute(call: Call) -> tuple[np.ndarray, np.ndarray | None]:
    """A call's output (…, h, n_q, d_v), and its lse (…, h, n_q) if the call wants it."""
    return compute_with_sums(call, sums=False)[:2]


def compute_with_sums(call: Call, *, sums: bool = True) -> Result:
    """A call's output, its lse if the call wants it, and what its weights can be computed from again."""
    output = np.empty((*call.lead, call.n_q, call.d_v), call.q.dtype)
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


def sums_of(call: Call) -> Sums:
    """The sums of a call alone."""
    found = compute_with_sums(without_values(call)).sums
    assert found is not None
    return found


def without_values(call: Call) -> Call:
    """The same call with values of a single 0, for what does not depend on them."""
    return replace(call, v=np.broadcast_to(np.zeros((), call.kind), (*call.k.shape[:-1], 1)))


def run(call: Call, output: np.ndarray, lse: np.ndarray | None, sums: Sums | None = None) -> None:
    """Fill `output`, and `lse` and `sums` if they are wanted."""
    plan = plan_of(call)
    if plan.splits == 1:
        _attend(call, plan, output, lse, sums)
        return
    outputs = np.empty((plan.splits, *output.shape), call.kind)
    parts = np.empty((plan.splits, *output.shape[:-1]), call.kind)
    sums_of_parts = None if sums is None else Sums.empty(parts.shape, call.kind)
    _attend(call, plan, outputs, parts, sums_of_parts)
    whole = np.empty((math.prod(output.shape[:-1]), call.d_v), call.kind)
    total = np.empty(whole.shape[0], call.kind)
    join(outputs.reshape(plan.splits, *whole.shape), parts.reshape(plan.splits, whole.shape[0]), whole, total)
    output[...] = whole.reshape(output.shape)
    if lse is not None:
        lse[...] = total.reshape(lse.shape)
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
    described = Description(call, plan)
    start(forward.run, described.job(output, lse, sums), call, plan.tasks, plan.scratch.end, operations(call))


def start(kernel: Callable[..., int], description: Any, call: Call, tasks: int, room: int, operations: float) -> None:
    """Run a kernel, on as many threads as `operations` are worth, each with `room` bytes of scratch."""
    packed = pack(description)
    like, address = call.kind.type(0), packed.buffer_info()[0]
    spread(lambda progress, most: kernel(like, address, scratch(room), progress, most), tasks, operations)


class Description:
    """A call as a kernel reads it. Holds on to every array whose address is in it."""

    def __init__(self, call: Call, plan: Plan) -> None:
        self.call, self.plan = call, plan
        self.shape = (plan.splits, *call.batch_shape, call.kv_heads, plan.group)
        self.alive: list[np.ndarray] = []

    def job(self, output: np.ndarray, lse: np.ndarray | None, sums: Sums | None = None) -> Job:
        """The call, with room for its output, its lse and its sums."""
        call, plan, kind = self.call, self.plan, self.call.kind
        ranges, sinks = call.ranges, None if call.sinks is None else call.sinks.astype(kind)
        bias, form = ABSENT, NO_BIAS
        if call.bias is not None:
            bias, form = self.matrix(call.bias), FULL_BIAS
        elif call.table is not None:
            bias, form = self._relative(call.table.astype(kind), call.n_k), RELATIVE_BIAS
        return Job(
            query=self.matrix(call.q),
            key=self.matrix(call.k, of_keys=True),
            value=self.matrix(call.v, of_keys=True),
            output=self.matrix(output),
            lse=ABSENT if lse is None else self.column(lse),
            top=ABSENT if sums is None else self.column(sums.top),
            total=ABSENT if sums is None else self.column(sums.total),
            allowed=ABSENT if call.allowed is None else self.matrix(call.allowed),
            bias=bias,
            low=ABSENT if ranges is None else self._range(ranges.low),
            high=ABSENT if ranges is None else self._range(ranges.high),
            sink=ABSENT if sinks is None else self.strided(sinks, sinks.shape, 0, 0),
            tasks=plan.tasks,
            panels=plan.panels,
            vectors=plan.vectors,
            width=plan.width,
            heads=plan.heads,
            folded=plan.folded,
            heads_per_task=plan.heads_per_task,
            split=plan.split,
            thin=plan.thin,
            n_q=call.n_q,
            n_k=call.n_k,
            d=call.q.shape[-1],
            d_v=call.d_v,
            ranges=0 if ranges is None else ranges.low.shape[-2],
            period=call.period,
            phase=call.phase,
            bias_form=form,
            dropping=round(call.dropout * 2**32),
            seed=_signed(call.seed),
            first_query=call.first_query,
            first_key=call.first_key,
            shape=Axes((*(1,) * (AXES - len(self.shape)), *self.shape)),
            scale=call.scale / call.softcap if call.softcap else call.scale * LOG2E,
            true_scale=call.scale,
            softcap=call.softcap,
            keep=1 - call.dropout,
            scratch=plan.scratch,
        )

    def matrix(self, x: np.ndarray, *, of_keys: bool = False) -> Strided:
        """An array of rows and columns, whose axis before them is heads: the queries' heads, or the keys'."""
        return self.strided(x, x.shape[:-2], x.strides[-2], x.strides[-1], of_keys=of_keys)

    def column(self, x: np.ndarray) -> Strided:
        """An array with one number for each row."""
        return self.strided(x, x.shape[:-1], x.strides[-1], 0)

    def strided(self, x: np.ndarray, lead: tuple[int, ...], row: int, column: int, *, of_keys: bool = False) -> Strided:
        """An array with these leading axes, its rows and columns so many bytes apart."""
        self.alive.append(x)
        sharing, axes = _steps(lead, x.strides[: len(lead)], self.shape, of_keys)
        return Strided(x.__array_interface__["data"][0], row, column, stored_kind(x.dtype), sharing, axes)

    def _range(self, x: np.ndarray) -> Strided:
        """An end of each query's runs of keys: (…, runs, n_q)"""
        return self.strided(x, x.shape[:-2], x.strides[-1], x.strides[-2])

    def _relative(self, table: np.ndarray, n_k: int) -> Strided:
        """A bias per distance: the address is that of distance 0; lanes without a query may look past the end."""
        padded = np.zeros((table.shape[0], table.shape[1] + WIDEST * TARGET.vector_bytes), table.dtype)
        padded[:, : table.shape[1]] = table
        # query i, key j is at distance i − j: one number on for a row, one back for a column
        return self.strided(padded[:, n_k - 1 :], padded.shape[:-1], table.itemsize, -table.itemsize)


@functools.lru_cache(maxsize=1024)
def _steps(lead: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...], of_keys: bool) -> tuple[int, Axes]:
    """Bytes from one query head to the next that shares its keys, and along each leading axis.

    The head axis counts as two, key heads and the queries that share one.
    """
    group = shape[-1]
    steps = [stride if size > 1 else 0 for size, stride in zip(lead, strides, strict=True)]
    *batch, head = [0] * (len(shape) - 1 - len(steps)) + steps
    split = (head, 0) if of_keys else (head * group, head)
    return split[1], Axes((*(0,) * (AXES - len(shape)), *batch, *split))


def operations(call: Call) -> float:
    """Roughly how much there is to do: multiply-adds, over all keys that some query needs."""
    heads = math.prod(call.lead)
    pairs = float(heads) * call.n_q * call.n_k
    if call.ranges is not None:
        low, high = call.ranges
        pairs = float((high - low).clip(0).sum()) * heads / math.prod(low.shape[:-2])
    return 2 * pairs * (call.q.shape[-1] + call.d_v)


def _signed(x: int) -> int:
    return x - 2**64 if x >= 2**63 else x
