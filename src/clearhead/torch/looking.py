"""What the kernels answer about a call, in torch's operations: looking on devices that have no kernels.

    observe(call, top_k=8, map_size=512)       # statistics, exact, in two passes: one for the sums, one for the rest
    weights(call, sums, rows, cols)            # any window, computed again

The functions are named as the kernels' are and mean the same, of a `DeviceCall`. Whatever they return is on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from clearhead.kernels.observation import Observation, Watched
from clearhead.kernels.plan import cell_bits, cells_of
from clearhead.matrices import Pooled
from clearhead.tensors import on_host
from clearhead.torch.elsewhere import DeviceCall, NaturalSums
from clearhead.torch.pooling import Cells
from clearhead.torch.precision import full_products
from clearhead.torch.ranking import Best
from clearhead.torch.streaming import Attended, Problem, attend


class Result(NamedTuple):
    """Output (…, h, n_q, d_v), lse (…, h, n_q) and sums (*call.lead, n_q)."""

    output: np.ndarray
    lse: np.ndarray
    sums: NaturalSums


def compute_with_sums(call: DeviceCall) -> Result:
    """A call's output, its lse, and what its weights can be computed from again."""
    with torch.no_grad(), full_products(call.q.device):
        attended = attend(call.problem(), call.v)
    return Result(_output(call, attended), _in_shape(call, on_host(attended.lse)), _sums(attended))


def compute(call: DeviceCall) -> tuple[np.ndarray, np.ndarray]:
    """A call's output and its lse."""
    return compute_with_sums(call)[:2]


def sums_of(call: DeviceCall) -> NaturalSums:
    """The sums of a call alone."""
    with torch.no_grad(), full_products(call.q.device):
        return _sums(attend(call.problem()))


def observe(
    call: DeviceCall,
    *,
    top_k: int = 0,
    map_size: int = 0,
    row_weights: np.ndarray | None = None,
    output: bool = True,
) -> Watched:
    """Run a call and watch it: see `clearhead.kernels.observation.observe`."""
    problem = call.problem()
    with torch.no_grad(), full_products(call.q.device):
        attended = attend(problem, call.v if output else None)
        seen = _Seen(problem, attended, call.shift, top_k, map_size, row_weights)
        for rows in problem.strips():
            seen.strip(rows)
        observation = Observation(*(_in_shape(call, x) for x in seen.observation(call.kind)))
    mixed = _output(call, attended) if output else np.empty((*call.lead, call.n_q, 0))
    return Watched(mixed, _in_shape(call, on_host(attended.lse)), _sums(attended), observation)


def weights(call: DeviceCall, sums: NaturalSums, rows: Any = slice(None), cols: Any = slice(None)) -> np.ndarray:
    """The weights of some queries on some keys, in every head: → (*call.lead, rows, cols)"""
    query, key = np.arange(call.n_q)[rows], np.arange(call.n_k)[cols]
    result = np.zeros((*call.lead, query.size, key.size), call.kind)
    problem = call.problem()
    with torch.no_grad(), full_products(call.q.device):
        for tall, chosen in _pieces(query, problem.block[0]):
            row = _Row.of(problem, chosen, sums)
            for wide, keys in _pieces(key, problem.block[1]):
                result[..., tall, wide] = on_host(row.weights(keys)[0])
    return result


def pooled(call: DeviceCall, sums: NaturalSums, rows: slice, cols: slice, query_bits: int, key_bits: int) -> Pooled:
    """A window pooled into cells of 2^query_bits × 2^key_bits places, counted from its start: (*call.lead, cells)"""
    (first, end, _), (begun, stop, _) = rows.indices(call.n_q), cols.indices(call.n_k)
    problem = call.problem()
    with torch.no_grad(), full_products(call.q.device):
        cells = Cells(problem, (first, max(first, end)), (begun, max(begun, stop)), (query_bits, key_bits), peak=True)
        for chosen in problem.strips(first, end):
            row = _Row.of(problem, chosen, sums)
            for keys in problem.runs(chosen, begun, stop):
                cells.add(chosen, keys, *row.weights(keys)[:2])
        return cells.pooled()


class _Row(NamedTuple):
    """Some queries, and what makes weights of their scores."""

    problem: Problem
    rows: Any
    q: torch.Tensor
    top: torch.Tensor
    total: torch.Tensor

    @classmethod
    def of(cls, problem: Problem, rows: Any, sums: Any) -> _Row:
        top, total = (torch.as_tensor(x[..., rows]).to(problem.q.device) for x in sums[-2:])
        empty = total == 0
        return cls(problem, rows, problem.queries(rows), top.masked_fill(empty, 0), total.masked_fill(empty, 1))

    def weights(self, cols: Any) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor]:
        """Their weights on some keys (*lead, rows, cols), which places are not masked, and the scores."""
        scores, allowed, _ = self.problem.scores(self.q, self.rows, cols)
        found = torch.exp(scores - self.top[..., None]) / self.total[..., None]
        return (found if allowed is None else found.masked_fill(~allowed, 0)), allowed, scores


class _Seen:
    """The statistics, which every block adds to."""

    def __init__(
        self,
        problem: Problem,
        attended: Attended,
        shift: int,
        top_k: int,
        map_size: int,
        row_weights: np.ndarray | None,
    ) -> None:
        """shift: where the first query stands among the keys."""
        self.problem, self.attended, self.shift = problem, attended, shift
        q, self.full = problem.q, (*problem.lead, problem.n_q)
        self.entropy, self.distance = (q.new_zeros(self.full, dtype=problem.wide) for _ in range(2))
        self.peak = q.new_zeros(self.full, dtype=problem.kind)
        self.received = q.new_zeros((*problem.lead, problem.n_k), dtype=problem.wide)
        self.best = Best(problem, top_k)
        self.shares = None if row_weights is None else torch.tensor(row_weights, dtype=problem.kind).to(q.device)
        self.map_size = map_size
        self.bits = cell_bits(problem.n_q, map_size), cell_bits(problem.n_k, map_size)
        whole = (0, problem.n_q if map_size else 0), (0, problem.n_k if map_size else 0)
        self.cells = Cells(problem, *whole, self.bits)

    def strip(self, rows: slice) -> None:
        """What some queries add."""
        problem = self.problem
        row = _Row.of(problem, rows, self.attended)
        tiny = torch.finfo(problem.kind).tiny
        position = torch.arange(rows.start, rows.stop, device=problem.q.device) + self.shift
        for cols in problem.runs(rows):
            weights, allowed, scores = row.weights(cols)
            self.entropy[..., rows] -= (weights * torch.log(weights.clamp_min(tiny))).sum(dim=-1)
            self.peak[..., rows] = torch.maximum(self.peak[..., rows], weights.amax(dim=-1))
            keys = torch.arange(cols.start, cols.stop, device=problem.q.device)
            away = (position[:, None] - keys).abs().to(problem.kind)
            self.distance[..., rows] += (weights * away).sum(dim=-1)
            self.best.see(rows, cols, scores)
            if self.map_size:
                self.cells.add(rows, cols, weights, allowed)
            given = weights if self.shares is None else weights * self.shares[..., rows, None]
            self.received[..., cols] += given.sum(dim=-2)
        self.best.settle(rows, row.top, row.total)

    def observation(self, kind: np.dtype[Any]) -> tuple[np.ndarray, ...]:
        """As `clearhead.kernels.observation.Observation` has it."""
        sums = (on_host(x.to(self.problem.kind)) for x in (self.entropy, self.distance, self.received))
        entropy, distance, received = sums
        cells = tuple(cells_of(n, self.map_size) for n in (self.problem.n_q, self.problem.n_k))
        total, counts = np.zeros((*self.problem.lead, *cells), kind), np.zeros((*self.problem.lead, *cells), np.int64)
        if self.map_size:
            found = self.cells.pooled()
            total, counts = found.total, found.unmasked
        keys, weights = self.best.found()
        return entropy, on_host(self.peak), distance, received, keys, weights, total, counts


def _pieces(index: np.ndarray, length: int) -> Iterator[tuple[slice, Any]]:
    """Positions, some at a time, and where they stand; a run of positions as a slice."""
    for start in range(0, index.size, length):
        part = index[start : start + length]
        run = bool((np.diff(part) == 1).all())
        yield slice(start, start + part.size), slice(int(part[0]), int(part[-1]) + 1) if run else part


def _output(call: DeviceCall, attended: Attended) -> np.ndarray:
    assert attended.output is not None
    return _in_shape(call, on_host(attended.output.to(getattr(torch, call.output_type))))


def _sums(attended: Attended) -> NaturalSums:
    return NaturalSums(on_host(attended.top), on_host(attended.total))


def _in_shape(call: DeviceCall, x: np.ndarray) -> np.ndarray:
    """With the leading axes the call's output has."""
    if not call.has_heads:
        return x[0]
    return x if call.many_axes is None else x.reshape(*call.many_axes, *x.shape[1:])
