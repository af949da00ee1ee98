"""From a checked call to what is seen of it: output, lse, and the statistics of every query, key and cell of a map."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels import recompute
from clearhead.kernels.description import Description
from clearhead.kernels.job import ABSENT
from clearhead.kernels.launch import launch_kernel, operations, plan_of, run, without_values
from clearhead.kernels.machine_code import Kernel
from clearhead.kernels.plan import cell_bits, cells_of, positions_in_cells, shape_of, watching_plan
from clearhead.kernels.sums import Sums
from clearhead.kernels.target import TARGET
from clearhead.kernels.watch import EVERY_COUNT, NO_COUNT, ONE_COUNT, Watch, notes_for, room_for

OBSERVE = Kernel("clearhead.kernels.observe")


class Observation(NamedTuple):
    """In the type that was computed in; leading axes as the output's.

    entropy, max_weight, distance (…, h, n_q)  received (…, h, n_k)  top_indices, top_weights (…, h, n_q, k)
    map_sum, map_count (…, h, cells of queries, cells of keys)
    """

    entropy: np.ndarray  # −Σ weight · log weight over the keys, in nats
    max_weight: np.ndarray
    distance: np.ndarray  # Σ weight · |query's position − key|; queries are the last positions unless told
    received: np.ndarray  # Σ row weight · weight over the queries
    top_indices: np.ndarray  # by falling weight, of equal scores the lower key first; −1 where no key is left
    top_weights: np.ndarray
    map_sum: np.ndarray  # position i is in cell i >> bits: cells are 2^bits positions, the fewest that fit
    map_count: np.ndarray  # of the places that are not masked


class Watched(NamedTuple):
    """A call's output (…, h, n_q, d_v), its lse (…, h, n_q), its sums (*call.lead, n_q), and what was observed."""

    output: np.ndarray
    lse: np.ndarray
    sums: Sums
    observation: Observation


def observe(
    call: Call,
    *,
    top_k: int = 0,
    map_size: int = 0,
    row_weights: np.ndarray | None = None,
    output: bool = True,
) -> Watched:
    """Run a call and watch it. The output and lse have the bits that the call alone gives.

    row_weights (…, h, n_q), or what broadcasts to it: how much each query counts in what keys receive, 1 unless given.
    Without `output`, that means nothing and values are not mixed; lse, sums and observation are the same.
    """
    watched = _Watching(call, top_k, map_size, row_weights, output)
    watched.run()
    mixed, lse = (_in_shape(call, x) for x in (watched.output, watched.lse))
    observation = Observation(*(_in_shape(call, x) for x in watched.observation()))
    return Watched(mixed, lse, watched.sums, observation)


def _is_watched_as_it_runs(strip: Call) -> bool:
    """Whether the call alone would do the same sums. Few queries are folded, or thin, or split the keys among tasks."""
    plan = plan_of(strip)
    return plan.splits == 1 and plan.folded == 1 and not plan.thin


def _in_shape(call: Call, x: np.ndarray) -> np.ndarray:
    """With the leading axes the call's output has."""
    if not call.has_heads:
        return x[0]
    return x if call.many_axes is None else x.reshape(*call.many_axes, *x.shape[1:])


class _Watching:
    """The observing kernel on all strips of a call, and the arrays it fills."""

    def __init__(
        self, call: Call, top_k: int, map_size: int, row_weights: np.ndarray | None, with_output: bool
    ) -> None:
        self.call, self.top_k, self.with_output, kind = call, top_k, with_output, call.kind
        lead, n_q, n_k = call.lead, call.n_q, call.n_k
        self.kept = max(top_k, 1)  # the largest weight is that of the best key
        self.bits = cell_bits(n_q, map_size), cell_bits(n_k, map_size)
        self.cells = (cells_of(n_q, map_size), cells_of(n_k, map_size))
        self.output = np.empty((*lead, n_q, call.d_v), call.q.dtype)
        self.lse, self.entropy, self.peak, self.distance = (np.zeros((*lead, n_q), kind) for _ in range(4))
        self.lse[...] = -np.inf
        self.sums = Sums.empty((*lead, n_q), kind)
        self.best = np.zeros((*lead, n_q, top_k), kind)
        self.best_keys = np.full((*lead, n_q, top_k), -1, np.int64)
        self.received = np.zeros((*lead, n_k), np.float64)
        shares = np.ones((), kind) if row_weights is None else np.asarray(row_weights, kind)
        self.shares = np.broadcast_to(shares, (*lead, n_q))
        self.counting = _counting(call) if 0 not in self.cells else NO_COUNT
        # the kernel counts in the type it computes in, and beyond some number that skips some
        self.counted_apart = self.counting != NO_COUNT and 1 << sum(self.bits) > 2 ** (np.finfo(kind).nmant + 1)
        self.counting = NO_COUNT if self.counted_apart else self.counting
        # rows end in room for a whole vector: a kernel adds to as many cells at once
        wide = (self.cells[0], self.cells[1] + TARGET.lanes(kind.itemsize))
        counted = (1,) * len(lead) if self.counting != EVERY_COUNT else lead
        self.maps = [np.zeros((*axes, *wide), kind) for axes in (lead, counted)]  # sum and count

    def run(self) -> None:
        if 0 in (math.prod(self.call.lead), self.call.n_q):
            return
        for strip, rows in self.call.strips():
            first, stop, _ = rows.indices(self.call.n_q)
            self._look_at(strip, slice(first, stop))

    def observation(self) -> Observation:
        kind, (n_q, n_k), lead = self.call.kind, self.cells, self.call.lead
        if self.counted_apart:
            whole = slice(None), slice(None)
            counts = recompute.pooled(self.call, self.sums, *whole, *self.bits).unmasked
        elif self.counting == NO_COUNT and n_q and n_k:
            counts = np.multiply.outer(
                positions_in_cells(self.call.n_q, self.bits[0]), positions_in_cells(self.call.n_k, self.bits[1])
            )
        else:
            counts = self.maps[1][..., :n_k].astype(np.int64)
        return Observation(
            self.entropy, self.peak, self.distance, self.received.astype(kind), self.best_keys, self.best,
            self.maps[0][..., :n_k], np.broadcast_to(counts, (*lead, n_q, n_k)),
        )  # fmt: skip

    def _look_at(self, strip: Call, rows: slice) -> None:
        output = self.output[..., rows, :]
        lse: np.ndarray | None = self.lse[..., rows]
        if not (self.with_output and _is_watched_as_it_runs(strip)):
            if self.with_output:
                run(strip, output, lse)
                lse = None
            strip = without_values(strip)
            output = np.empty((*strip.lead, strip.n_q, 1), strip.q.dtype)
        plan = watching_plan(shape_of(strip))
        parts = plan.tasks // plan.heads
        panels = -(-plan.panels // parts)
        part_rows, cells = self._rows_of_map(rows, parts, panels * plan.width)
        maps = self.maps if cells == list(range(self.cells[0])) else [_of_rows(x, len(cells)) for x in self.maps]
        received = np.zeros((parts, *strip.lead, strip.n_k), strip.kind)
        described, own_rows = Description(strip, plan), np.array(part_rows)
        notes = notes_for(strip.kind.itemsize, strip.n_k, self.kept)
        map_sum, map_count = (described.matrix(x) if x.size else ABSENT for x in maps)
        watch = Watch(
            job=described.job(output, lse, self.sums.of((..., rows))),
            entropy=described.column(self.entropy[..., rows]),
            peak=described.column(self.peak[..., rows]),
            distance=described.column(self.distance[..., rows]),
            best=described.matrix(self.best[..., rows, :]) if self.top_k else ABSENT,
            best_keys=described.matrix(self.best_keys[..., rows, :]) if self.top_k else ABSENT,
            received=described.column(received[0]),
            share=described.column(self.shares[..., rows]),
            map_sum=map_sum,
            map_count=map_count,
            parts=parts,
            part_panels=panels,
            part_rows=own_rows.ctypes.data,
            part_step=received.strides[0],
            kept=self.kept,
            ranked=room_for(self.kept),
            query_bits=self.bits[0],
            key_bits=self.bits[1],
            first_query=rows.start,
            position=rows.start + self.call.shift,
            counting=self.counting,
            notes=notes,
        )
        launch_kernel(OBSERVE, watch, strip, plan.tasks, plan.scratch.end + notes.end, 1.2 * operations(strip))
        self.received += received.sum(axis=0, dtype=np.float64)
        if maps is not self.maps:
            for whole, part in zip(self.maps, maps, strict=True):
                for row, cell in enumerate(cells if part.size else ()):
                    whole[..., cell, :] += part[..., row, :]

    def _rows_of_map(self, rows: slice, parts: int, queries: int) -> tuple[list[int], list[int]]:
        """For each part of some queries the first row of the map it adds to, and the cell that each row is of.

        No two parts add to the same row: a cell that lies in both has two.
        """
        part_rows: list[int] = []
        cells: list[int] = []
        for begun in range(rows.start, rows.start + parts * queries, queries):
            last = min(begun + queries, rows.stop) - 1
            part_rows.append(len(cells))
            if self.cells[0]:
                first, end = begun >> self.bits[0], last >> self.bits[0]
                cells += range(first, end + 1)
        return part_rows, cells


def _of_rows(x: np.ndarray, rows: int) -> np.ndarray:
    """As a map, but with another number of rows, and empty. One without cells, that nobody asked for, stays so."""
    return x if not x.size else np.zeros((*x.shape[:-2], rows, x.shape[-1]), x.dtype)


def _counting(call: Call) -> int:
    """Whether places that are not masked must be counted, and for which heads: for one if all have the same mask."""
    if call.rule is not None or call.bias is not None or call.table is not None:
        return EVERY_COUNT
    leads = [] if call.ranges is None else [call.ranges.low.shape[:-2]]
    leads += [] if call.allowed is None else [call.allowed.shape[:-2]]
    leads += [] if call.period == 1 else [()]
    if not leads:
        return NO_COUNT
    return ONE_COUNT if all(math.prod(lead) == 1 for lead in leads) else EVERY_COUNT
