"""From a checked call to a running kernel: which one, with what tables, on how many tasks."""

from __future__ import annotations

import array
import functools
import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels import forward, layout as at
from clearhead.kernels.explanation import Explanation
from clearhead.kernels.gemm import MIDDLE, WIDEST
from clearhead.kernels.join import join
from clearhead.kernels.memory import stored_kind
from clearhead.kernels.schedule import get_num_threads, scratch, spread
from clearhead.kernels.target import TARGET

_ABSENT = (0,) * at.FIELDS
FEW_TASKS = 16  # with fewer, the keys are split, so that there is something for every thread
LEAST_SPLIT = 4 * forward.BLOCK  # keys that are worth a task of their own


def compute(call: Call) -> tuple[np.ndarray, np.ndarray | None]:
    """A call's output (…, h, n_q, d_v), and its lse (…, h, n_q) if the call wants it."""
    output = np.empty((*call.lead, call.n_q, call.d_v), call.q.dtype)
    lse = np.empty((*call.lead, call.n_q), call.kind) if call.lse else None
    if output.size or (lse is not None and lse.size):
        for strip, rows in call.strips():
            run(strip, output[..., rows, :], None if lse is None else lse[..., rows])
    if not call.has_heads:
        return output[0], None if lse is None else lse[0]
    if call.many_axes is not None:
        output = output.reshape(*call.many_axes, *output.shape[1:])
        lse = None if lse is None else lse.reshape(*call.many_axes, *lse.shape[1:])
    return output, lse


def run(call: Call, output: np.ndarray, lse: np.ndarray | None) -> None:
    """Fill `output`, and `lse` if it is wanted."""
    plan = plan_of(call)
    if plan.splits == 1:
        _spread(Tables(call, plan, output, lse), call)
        return
    outputs = np.empty((plan.splits, *output.shape), call.kind)
    sums = np.empty((plan.splits, *output.shape[:-1]), call.kind)
    _spread(Tables(call, plan, outputs, sums), call)
    whole = np.empty((math.prod(output.shape[:-1]), call.d_v), call.kind)
    total = np.empty(whole.shape[0], call.kind)
    join(outputs.reshape(plan.splits, *whole.shape), sums.reshape(plan.splits, whole.shape[0]), whole, total)
    output[...] = whole.reshape(output.shape)
    if lse is not None:
        lse[...] = total.reshape(lse.shape)


def _spread(tables: Tables, call: Call) -> None:
    def work(progress: np.ndarray, most: int) -> int:
        memory = scratch(tables.plan.scratch.end)
        return forward.run(
            tables.like, tables.arrays, tables.sizes, tables.numbers, tables.plan.layout, memory, progress, most
        )

    spread(work, tables.plan.tasks, operations(call))


class Plan(NamedTuple):
    """How a call is cut into tasks."""

    group: int  # query heads that share a key head
    folded: int  # how many of them lie in one panel
    vectors: int  # a panel's width in vectors
    width: int  # and in queries
    panels: int
    heads: int
    split: int  # keys per task
    splits: int
    tasks: int
    together: int  # heads that one task does in turn
    scratch: forward.Scratch
    layout: np.ndarray  # the same, for the kernel


def plan_of(call: Call) -> Plan:
    ranges = 0 if call.ranges is None else call.ranges.low.shape[-2]
    batch = math.prod(call.batch_shape)
    d, itemsize = call.q.shape[-1], call.kind.itemsize
    return _plan(call.n_q, call.n_k, d, call.d_v, batch, call.heads, call.kv_heads, itemsize, ranges)


@functools.lru_cache(maxsize=256)
def _plan(
    n_q: int, n_k: int, d: int, d_v: int, batch: int, heads: int, kv_heads: int, itemsize: int, ranges: int
) -> Plan:
    """Decided by the shape alone, so the number of threads changes no bit."""
    lanes = TARGET.lanes(itemsize)
    group = max(heads // max(kv_heads, 1), 1)
    # query heads that share keys go into one panel where one head alone would not fill it
    folded = group if n_q < WIDEST * lanes else 1
    rows = n_q * folded
    vectors = vectors_for(rows, lanes)
    width = vectors * lanes
    panels = math.ceil(rows / width)
    lead = batch * kv_heads * (group // folded)
    wanted = math.ceil(FEW_TASKS / max(panels * lead, 1))
    split = max(LEAST_SPLIT, forward.BLOCK * math.ceil(n_k / wanted / forward.BLOCK))
    splits = max(1, math.ceil(n_k / split))
    places = forward.scratch_layout(itemsize, width, d, d_v, ranges)
    return Plan(
        group, folded, vectors, width, panels, lead, split, splits, panels * lead * splits, 1, places,
        np.array(places, np.int64),
    )  # fmt: skip


def vectors_for(rows: int, lanes: int) -> int:
    """How many vectors wide a panel has to be for so many queries."""
    return 1 if rows <= lanes else MIDDLE if rows <= MIDDLE * lanes else WIDEST


class Tables:
    """A call as the tables in `layout`. Holds on to every array whose address is in them."""

    def __init__(self, call: Call, plan: Plan, output: np.ndarray, lse: np.ndarray | None) -> None:
        kind = call.kind
        self.like = kind.type(0)
        self.plan = plan
        self.shape = (plan.splits, *call.batch_shape, call.kv_heads, plan.group)
        if len(self.shape) > at.LEADING_AXES:
            raise ValueError(f"at most {at.LEADING_AXES - 3} batch axes are supported, got {len(call.batch_shape)}")
        self.alive: list[np.ndarray] = []

        rows: list[tuple[int, ...]] = [_ABSENT] * at.ARRAYS
        rows[at.QUERY] = self.matrix(call.q)
        rows[at.KEY] = self.matrix(call.k, of_keys=True)
        rows[at.VALUE] = self.matrix(call.v, of_keys=True)
        rows[at.OUTPUT] = self.matrix(output)
        if lse is not None:
            rows[at.LSE] = self.entry(lse, lse.shape[:-1], lse.strides[-1], 0)
        if call.allowed is not None:
            rows[at.ALLOWED] = self.matrix(call.allowed)
        if call.ranges is not None:
            rows[at.LOW], rows[at.HIGH] = (
                self.entry(x, x.shape[:-2], x.strides[-1], x.strides[-2]) for x in call.ranges
            )
        if call.bias is not None:
            rows[at.BIAS] = self.matrix(call.bias)
        elif call.table is not None:
            rows[at.BIAS] = self.relative(call.table.astype(kind), call.n_k)
        if call.sinks is not None:
            sinks = call.sinks.astype(kind)
            rows[at.SINK] = self.entry(sinks, sinks.shape, 0, 0)
        self.arrays = table_of(itertools.chain.from_iterable(rows)).reshape(at.ARRAYS, at.FIELDS)

        self.sizes = table_of([
            plan.tasks, plan.panels, plan.vectors, plan.heads, plan.folded, plan.split,
            call.n_q, call.n_k, call.q.shape[-1], call.d_v,
            0 if call.ranges is None else call.ranges.low.shape[-2],
            at.FULL_BIAS if call.bias is not None else at.RELATIVE_BIAS if call.table is not None else at.NO_BIAS,
            round(call.dropout * 2**32), _signed(call.seed), call.first_query, plan.together,
            *(1,) * (at.LEADING_AXES - len(self.shape)), *self.shape,
        ])  # fmt: skip
        scale = call.scale / call.softcap if call.softcap else call.scale * forward.LOG2E
        self.numbers = np.array([scale, call.softcap, 1 - call.dropout, call.scale])

    def matrix(self, x: np.ndarray, *, of_keys: bool = False) -> tuple[int, ...]:
        """An array of rows and columns, whose axis before them is heads: the queries' heads, or the keys'."""
        return self.entry(x, x.shape[:-2], x.strides[-2], x.strides[-1], of_keys=of_keys)

    def relative(self, table: np.ndarray, n_k: int) -> tuple[int, ...]:
        """A bias per distance: the address is that of distance 0; lanes without a query may look past the end."""
        padded = np.zeros((table.shape[0], table.shape[1] + WIDEST * TARGET.vector_bytes), table.dtype)
        padded[:, : table.shape[1]] = table
        # query i, key j is at distance i − j: one number on for a row, one back for a column
        return self.entry(padded[:, n_k - 1 :], padded.shape[:-1], table.itemsize, -table.itemsize)

    def entry(
        self, x: np.ndarray, lead: tuple[int, ...], row: int, column: int, *, of_keys: bool = False
    ) -> tuple[int, ...]:
        """A row of the table of arrays."""
        self.alive.append(x)
        steps = _steps(lead, x.strides[: len(lead)], self.shape, of_keys)
        return x.__array_interface__["data"][0], row, column, stored_kind(x.dtype), *steps


@functools.lru_cache(maxsize=1024)
def _steps(lead: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...], of_keys: bool) -> tuple[int, ...]:
    """Bytes along each leading axis. The head axis counts as two, key heads and the queries that share one."""
    group = shape[-1]
    steps = [stride if size > 1 else 0 for size, stride in zip(lead, strides, strict=True)]
    *batch, head = [0] * (len(shape) - 1 - len(steps)) + steps
    split = (head, 0) if of_keys else (head * group, head)
    return (*(0,) * (at.LEADING_AXES - len(shape)), *batch, *split)


def explain(call: Call) -> Explanation:
    """What `run` would do, without doing it."""
    plan = plan_of(call)
    tiles, skipped = _tiles(call, plan)
    few = plan.folded > 1 or plan.splits > 1
    reasons = ["few queries" if few else f"panels of {plan.width} queries"]
    if plan.folded > 1:
        reasons.append(f"{plan.folded} query heads that share keys are folded into one panel")
    if plan.splits > 1:
        reasons.append(f"keys are split into {plan.splits} parts of {plan.split}")
    for name, x in (("keys", call.k), ("values", call.v)):
        if x.dtype != call.kind or x.strides[-1] != x.itemsize:
            reasons.append(f"{name} are converted a block at a time")
    vectors = {16: "128", 32: "256", 64: "512"}[TARGET.vector_bytes]
    return Explanation(
        path=f"{'decode' if few else 'forward'} ({TARGET.name}, {vectors}-bit vectors, {call.kind.name} arithmetic)",
        reason=", ".join(reasons),
        shape=f"q {call.q.shape}, k {call.k.shape}, v {call.v.shape}, {call.q.dtype.name}",
        tasks=plan.tasks,
        tiles=tiles,
        tiles_skipped=skipped,
        bytes=_bytes(call, plan),
        slow=tuple(call.slow),
    )


def _tiles(call: Call, plan: Plan) -> tuple[int, int]:
    """How many tiles of scores there are, and how many of them the mask empties."""
    width, heads = plan.width, math.prod(call.lead)
    starts = np.arange(0, call.n_k, forward.BLOCK)
    stops = np.minimum(starts + forward.BLOCK, call.n_k)
    touched = 0.0
    for strip, _ in call.strips():
        for first in range(0, strip.n_q, width):
            rows = slice(first, first + width)
            used = np.ones(starts.size, np.bool_)
            if strip.ranges is not None:
                low, high = (x[..., rows, None] for x in strip.ranges)
                used = used & (np.maximum(low, starts) < np.minimum(high, stops)).any(axis=(-3, -2))
            if strip.allowed is not None and starts.size:
                used = used & np.logical_or.reduceat(strip.allowed[..., rows, :].any(axis=-2), starts, axis=-1)
            touched += used.sum() * heads / math.prod(used.shape[:-1])
    total = heads * math.ceil(call.n_q / width) * starts.size
    return total, total - round(touched)


def _bytes(call: Call, plan: Plan) -> int:
    """Memory a call takes besides its inputs: the output, what a mask needs, and each thread's scratch."""
    heads, kind = math.prod(call.lead), call.kind.itemsize
    output = heads * call.n_q * (call.d_v * call.q.dtype.itemsize + (kind if call.lse else 0))
    parts = (plan.splits + 1) * heads * call.n_q * (call.d_v + 1) * kind if plan.splits > 1 else 0
    ranges = 0 if call.ranges is None else sum(x.nbytes for x in call.ranges)
    table = 0 if call.table is None else call.table.nbytes
    strip = 0 if call.rule is None else max(x.nbytes for c, _ in call.strips() if (x := c.allowed) is not None)
    return output + parts + ranges + table + strip + plan.scratch.end * min(get_num_threads(), plan.tasks)


def operations(call: Call) -> float:
    """Roughly how much there is to do: multiply-adds, over all keys that some query needs."""
    heads = math.prod(call.lead)
    pairs = float(heads) * call.n_q * call.n_k
    if call.ranges is not None:
        low, high = call.ranges
        pairs = float((high - low).clip(0).sum()) * heads / math.prod(low.shape[:-2])
    return 2 * pairs * (call.q.shape[-1] + call.d_v)


def table_of(values: Iterable[int]) -> np.ndarray:
    """Integers as an array; by way of array.array, which takes a fifth of the time np.array does."""
    return np.frombuffer(array.array("q", values), np.int64)


def _signed(x: int) -> int:
    return x - 2**64 if x >= 2**63 else x
