"""Any weight of a call, computed again from its sums as the call itself had it: windows of weights, and windows pooled.

    sums = observe(call).sums
    weights(call, sums, slice(900, 1000), slice(0, 64))        # (*call.lead, 100, 64)
    weights(*of_head(call, sums, (0,), 3), rows, cols)[0]      # of one head

The scores are those of the forward pass, to the bit, whichever rows and columns are asked for. Rows and columns are
runs of positions (a slice) or arrays of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from clearhead import masks
from clearhead.call import STRIP, Call
from clearhead.kernels.description import Description
from clearhead.kernels.job import ABSENT
from clearhead.kernels.launch import launch_kernel, operations, without_values
from clearhead.kernels.machine_code import Kernel
from clearhead.kernels.plan import MOST_PARTS, Plan, positions_in_cells, shape_of, window_plan
from clearhead.kernels.sums import Sums
from clearhead.kernels.window_job import Weighing, cell_scratch
from clearhead.matrices import Pooled

WINDOWS = Kernel("clearhead.kernels.windows")

Index = slice | np.ndarray  # of queries or keys


def weights(call: Call, sums: Sums, rows: Index = slice(None), cols: Index = slice(None)) -> np.ndarray:
    """The weights of some queries on some keys, in every head: → (*call.lead, rows, cols)"""
    rows, cols = _positions(rows, call.n_q), _positions(cols, call.n_k)
    result = np.zeros((*call.lead, _length(rows), _length(cols)), call.kind)
    if not result.size:
        return result
    for part, chosen in _strips(call, rows):
        window = _window(call, chosen, cols)
        plan = window_plan(shape_of(window))
        described = Description(window, plan)
        launch_kernel(
            WINDOWS,
            Weighing(
                job=described.job(window.v, None, sums.of((..., chosen))),
                weights=described.matrix(result[..., part, :]),
                map_sum=ABSENT,
                map_peak=ABSENT,
                map_count=ABSENT,
                query_bits=0,
                key_bits=0,
                parts=plan.panels,
                part_panels=1,
                part_rows=0,
                cell=cell_scratch(call.kind.itemsize, plan.width),
            ),
            window,
            plan.tasks,
            _room(call, plan),
            operations(window),
        )
    return result


def of_head(call: Call, sums: Sums, batch: tuple[int, ...], head: int) -> tuple[Call, Sums]:
    """One head of one batch entry of a call, as a call of one head."""
    chosen = replace(
        _chosen(call, lambda x: call.own(x, batch, head)[None], batch, head),
        heads=1,
        kv_heads=1,
        has_heads=True,
        table=None if call.table is None else call.table[[0 if len(call.table) == 1 else head]],
        sinks=None if call.sinks is None else np.broadcast_to(call.sinks, (call.heads,))[[head]],
    )
    return chosen, sums.of((*batch, slice(head, head + 1)))


def of_entry(call: Call, sums: Sums, batch: tuple[int, ...]) -> tuple[Call, Sums]:
    """All heads of one batch entry of a call, as a call without a batch."""

    def own(x: np.ndarray) -> np.ndarray:
        axes = x.shape[:-3]
        place = batch[len(batch) - len(axes) :]
        return x[tuple(0 if size == 1 else i for i, size in zip(place, axes, strict=True))]

    return _chosen(call, own, batch), sums.of(batch)


def _chosen(
    call: Call, own: Callable[[np.ndarray], np.ndarray], batch: tuple[int, ...], head: int | None = None
) -> Call:
    """A part of a call's heads: own finds what is theirs of an array (…, a, b)."""
    number = int(np.ravel_multi_index(batch, call.batch_shape)) if batch else 0
    return replace(
        call,
        q=own(call.q),
        k=own(call.k),
        v=own(call.v),
        batch_shape=(),
        ranges=None if call.ranges is None else masks.Ranges(*(own(x) for x in call.ranges)),
        allowed=None if call.allowed is None else own(call.allowed),
        rule=None if call.rule is None else _OfHeads(call.rule, number, head, call.sizes),
        bias=None if call.bias is None else own(call.bias),
        many_axes=None,
    )


def pooled(call: Call, sums: Sums, rows: slice, cols: slice, query_bits: int, key_bits: int) -> Pooled:
    """A window pooled into cells of 2^query_bits × 2^key_bits places, counted from its start: (*call.lead, cells)

    Memory is the cells'.
    """
    rows, cols = (_run(x, n) for x, n in ((rows, call.n_q), (cols, call.n_k)))
    cells = (*call.lead, *(-(-_length(x) >> bits) for x, bits in ((rows, query_bits), (cols, key_bits))))
    found = Pooled(np.zeros(cells), np.zeros(cells), np.zeros(cells, np.int64))
    if not found.total.size:
        return found
    for part, chosen in _strips(call, rows, 1 << query_bits):
        _pool(_window(call, chosen, cols), sums.of((..., chosen)), part.start, (query_bits, key_bits), found)
    if not _masks(call):
        found.unmasked[...] = np.multiply.outer(
            *(positions_in_cells(_length(x), b) for x, b in ((rows, query_bits), (cols, key_bits)))
        )
    return found


def _pool(window: Call, sums: Sums, first: int, bits: tuple[int, int], found: Pooled) -> None:
    """Pool a window whose first query is number `first` of all those that `found` is for."""
    query_bits, key_bits = bits
    plan = window_plan(shape_of(window))
    plan = plan._replace(split=window.n_k, splits=1)
    parts = math.ceil(plan.panels / math.ceil(plan.panels / MOST_PARTS))
    panels = -(-plan.panels // parts)
    # a cell that lies in two parts has a row for each of them: nobody adds to what another adds to
    starts = range(0, parts * panels * plan.width, panels * plan.width)
    cells = [
        range(begun >> query_bits, ((min(begun + panels * plan.width, window.n_q) - 1) >> query_bits) + 1)
        for begun in starts
        if begun < window.n_q
    ]
    own_rows = np.cumsum([0, *map(len, cells)])
    maps = Pooled(*(np.zeros((*x.shape[:-2], own_rows[-1], x.shape[-1]), x.dtype) for x in found))
    described = Description(window, plan)
    launch_kernel(
        WINDOWS,
        Weighing(
            job=described.job(window.v, None, sums)._replace(tasks=plan.heads * len(cells)),
            weights=ABSENT,
            map_sum=described.matrix(maps.total),
            map_peak=described.matrix(maps.peak),
            map_count=described.matrix(maps.unmasked) if _masks(window) else ABSENT,
            query_bits=query_bits,
            key_bits=key_bits,
            parts=len(cells),
            part_panels=panels,
            part_rows=own_rows.ctypes.data,
            cell=cell_scratch(window.kind.itemsize, plan.width),
        ),
        window,
        plan.heads * len(cells),
        _room(window, plan),
        operations(window),
    )
    numbers = (first >> query_bits) + np.concatenate([np.array(x) for x in cells])
    for whole, part, join in zip(found, maps, (np.add, np.maximum, np.add), strict=True):
        if len(numbers) == numbers[-1] - numbers[0] + 1:  # no cell lies in two parts: a column of 32,768 cells at once
            here = whole[..., numbers[0] : numbers[-1] + 1, :]
            join(here, part, out=here)
            continue
        for row, number in enumerate(numbers):
            join(whole[..., number, :], part[..., row, :], out=whole[..., number, :])


def _window(call: Call, rows: Index, cols: Index) -> Call:
    """Some queries and keys of a call as a call. Where its keys are a run, nothing of the window's size is made."""
    query, key = np.arange(call.n_q)[rows], np.arange(call.n_k)[cols]
    flags: list[np.ndarray] = []
    ranges, bias, table = call.ranges, call.bias, call.table
    if ranges is not None:
        low, high = (x[..., rows] for x in ranges)
        if isinstance(cols, slice):
            low, high = (np.clip(x, cols.start, cols.stop) - cols.start for x in (low, high))
            ranges = masks.Ranges(np.ascontiguousarray(low), np.ascontiguousarray(high))
        else:
            flags.append(np.asarray(((low[..., None] <= key) & (key < high[..., None])).any(axis=-3)))
            ranges = None
    if call.allowed is not None:
        flags.append(call.allowed[..., rows, :][..., cols])
    if call.rule is not None:
        places = masks.places(call.sizes)
        flags.append(call.rule.allows(places._replace(query=places.query[rows], key=places.key[cols])))
    period, phase = call.period, 0
    if period > 1 and isinstance(cols, slice) and isinstance(rows, slice):
        phase = (call.phase + rows.start - cols.start) % period
    elif period > 1:
        flags.append((query[:, None] + call.phase - key) % period == 0)
        period = 1
    if bias is not None:
        bias = bias[..., rows, :][..., cols]
    if table is not None and isinstance(cols, slice) and isinstance(rows, slice):
        first = rows.start - (cols.stop - 1) + call.n_k - 1  # the smallest distance, query − key, there is
        table = table[:, first : first + query.size + key.size - 1]
    elif table is not None:
        bias, table = table[:, query[:, None] - key + call.n_k - 1], None
    allowed = None
    if flags:
        flag = flags[0] if len(flags) == 1 else np.asarray(functools.reduce(np.logical_and, flags))
        allowed = np.broadcast_to(flag, (*flag.shape[:-2], query.size, key.size))
    return replace(
        without_values(replace(call, k=call.k[..., cols, :])),
        q=call.q[..., rows, :],
        ranges=ranges,
        allowed=allowed,
        rule=None,
        period=period,
        phase=phase,
        bias=bias,
        table=table,
        dropout=0.0,
    )


def _strips(call: Call, rows: Index, cell: int = 1) -> Iterator[tuple[slice, Index]]:
    """All rows at once, or strips of whole cells where the mask is a rule: which of the rows, and their queries."""
    height = _length(rows) if call.rule is None else max(STRIP // cell, 1) * cell
    for begun in range(0, _length(rows), max(height, 1)):
        part = slice(begun, min(begun + height, _length(rows)))
        yield part, slice(rows.start + part.start, rows.start + part.stop) if isinstance(rows, slice) else rows[part]


@dataclass(frozen=True)
class _OfHeads(masks.Mask):
    """A mask of all heads, asked for one of them, or for those of one batch entry."""

    rule: masks.Mask
    batch: int
    head: int | None
    sizes: masks.Sizes

    def allows(self, at: masks.Where) -> np.ndarray:
        head = at.head if self.head is None else np.full((1, 1), self.head)
        return self.rule.allows(at._replace(batch=np.full((1, 1), self.batch), head=head, sizes=self.sizes))


def _positions(index: Index, n: int) -> Index:
    """A run as a slice from its first position to after its last; anything else as an array of positions."""
    if isinstance(index, slice):
        begun, stop, step = index.indices(n)
        return slice(begun, max(begun, stop)) if step == 1 else np.arange(n)[index]
    return np.arange(n)[index]


def _run(index: slice, n: int) -> slice:
    begun, stop, _ = index.indices(n)
    return slice(begun, max(begun, stop))


def _length(index: Index) -> int:
    return index.stop - index.start if isinstance(index, slice) else index.size


def _masks(call: Call) -> bool:
    """Whether some place of a call may be masked."""
    parts = (call.ranges, call.allowed, call.rule, call.bias, call.table)
    return call.period > 1 or any(x is not None for x in parts)


def _room(call: Call, plan: Plan) -> int:
    return plan.scratch.end + cell_scratch(call.kind.itemsize, plan.width).end
