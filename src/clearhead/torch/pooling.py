"""Cells of 2^l × 2^m places that blocks of weights are added to: the map of a view, and its tiles, on a device."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import pad

from clearhead.kernels.plan import positions_in_cells
from clearhead.matrices import Pooled
from clearhead.tensors import on_host
from clearhead.torch.streaming import Problem


class Cells:
    """The cells of a window, counted from its start: rows and cols are its first position and the one after its last.

    Blocks have powers of two of queries and keys and start where the window does, so a cell holds whole blocks or a
    block whole cells.
    """

    def __init__(
        self,
        problem: Problem,
        rows: tuple[int, int],
        cols: tuple[int, int],
        bits: tuple[int, int],
        *,
        peak: bool = False,
    ) -> None:
        self.problem, self.rows, self.cols, self.bits = problem, rows, cols, bits
        cells = (*problem.lead, *(-(-(end - first) >> b) for (first, end), b in zip((rows, cols), bits, strict=True)))
        self.total = problem.q.new_zeros(cells, dtype=problem.wide)
        self.peak = problem.q.new_zeros(cells, dtype=problem.kind) if peak else None
        self.count = problem.q.new_zeros(cells, dtype=torch.int64) if problem.places.may_mask else None

    def add(self, rows: slice, cols: slice, weights: torch.Tensor, allowed: torch.Tensor | None) -> None:
        """A block of weights (*lead, rows, cols), and which of its places are not masked."""
        at = (..., self._touched(rows, 0), self._touched(cols, 1))
        self.total[at] += self._joined(weights).sum(dim=(-3, -1))
        if self.peak is not None:
            known = torch.where(torch.isnan(weights), 0, weights)
            self.peak[at] = torch.maximum(self.peak[at], self._joined(known).amax(dim=(-3, -1)))
        if self.count is not None:
            there = torch.ones_like(weights[(0,) * (weights.ndim - 2)]) if allowed is None else allowed
            there = there.to(weights.dtype).expand(*there.shape[:-2], *weights.shape[-2:])
            self.count[at] += self._joined(there).sum(dim=(-3, -1)).to(torch.int64)

    def pooled(self) -> Pooled:
        """What the cells hold, on the CPU."""
        if self.count is None:
            lengths = (end - first for first, end in (self.rows, self.cols))
            each = (positions_in_cells(n, b) for n, b in zip(lengths, self.bits, strict=True))
            counts = np.broadcast_to(np.multiply.outer(*each), tuple(self.total.shape))
        else:
            counts = on_host(self.count)
        total = on_host(self.total).astype(np.float64, copy=False)
        return Pooled(total, total if self.peak is None else on_host(self.peak).astype(np.float64), counts)

    def _touched(self, run: slice, axis: int) -> slice:
        """The cells that a run of positions lies in."""
        first = (self.rows, self.cols)[axis][0]
        return slice((run.start - first) >> self.bits[axis], ((run.stop - 1 - first) >> self.bits[axis]) + 1)

    def _joined(self, block: torch.Tensor) -> torch.Tensor:
        """A block cut into its share of each cell: (…, rows, cols) → (…, cells_q, by_q, cells_k, by_k)"""
        tall, wide = block.shape[-2:]
        by_q, by_k = (min(1 << b, length) for b, length in zip(self.bits, self.problem.block, strict=True))
        block = pad(block, (0, -wide % by_k, 0, -tall % by_q))
        return block.unflatten(-1, (-1, by_k)).unflatten(-3, (-1, by_q))
