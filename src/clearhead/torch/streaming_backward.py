"""The way back through `streaming`: gradients of all inputs, a block of queries and keys at a time.

With w the weights, dP = dO · vᵀ and δ = Σ dO · O − d lse of each query,

    dS = w · (dP − δ)        dq = dS · k        dk = dSᵀ · q        dv = wᵀ · dO

Nothing is kept from the forward pass but the inputs, the output, and two sums for each query.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from clearhead.torch.places import piece
from clearhead.torch.precision import full_products
from clearhead.torch.streaming import Attended, Problem, attend


class Inputs(NamedTuple):
    """All that may have a gradient."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    bias: torch.Tensor | None
    table: torch.Tensor | None
    sinks: torch.Tensor | None


Make = Callable[[Inputs], Problem]  # a problem of inputs without their gradients


def differentiable(make: Make, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
    """Output (*lead, n_q, d_v), in q's type, and lse (*lead, n_q): both can be differentiated, once."""
    output, lse = _Streamed.apply(make, *inputs)
    return output, lse


class _Streamed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, make: Make, *inputs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        given = Inputs(*inputs)
        with full_products(given.q.device):
            attended = attend(make(given), given.v)
        assert attended.output is not None
        output = attended.output.to(given.q.dtype)
        ctx.make = make
        ctx.save_for_backward(*inputs, output, attended.top, attended.total)
        return output, attended.lse

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *incoming: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        *inputs, output, top, total = ctx.saved_tensors
        given = Inputs(*inputs)
        with full_products(given.q.device):
            way_back = _WayBack(ctx.make(given), given, Attended(output, top, total), ctx.needs_input_grad[1:])
            for rows in way_back.problem.strips():
                way_back.strip(rows, *incoming)
        found = zip(way_back.found, given, strict=True)
        return None, *(None if x is None or like is None else x.to(like.dtype) for x, like in found)


class _WayBack:
    """The gradients, which every block adds to."""

    def __init__(self, problem: Problem, given: Inputs, attended: Attended, needed: tuple[bool, ...]) -> None:
        self.problem, self.given, self.attended = problem, given, attended
        self.found = Inputs(
            *(
                torch.zeros_like(x, dtype=_at_least(problem.kind, x.dtype)) if x is not None and wanted else None
                for x, wanted in zip(given, needed, strict=True)
            )  # type: ignore[arg-type]
        )

    def strip(self, rows: slice, of_output: torch.Tensor, of_lse: torch.Tensor) -> None:
        """What some queries add."""
        kind, found = self.problem.kind, self.found
        output, top, total = self.attended
        assert output is not None
        empty = (total == 0)[..., rows]  # nothing reaches a query with no key left
        of_rows = of_output[..., rows, :].to(kind).masked_fill(empty[..., None], 0)
        down = (of_rows * output[..., rows, :].to(kind)).sum(dim=-1)
        down = (down - of_lse[..., rows].to(kind)).masked_fill(empty, 0)
        top, total = top[..., rows].masked_fill(empty, 0), total[..., rows].masked_fill(empty, 1)
        q = self.problem.queries(rows)
        of_queries = torch.zeros_like(q)
        for cols in self.problem.runs(rows):
            of_queries += self._block(rows, cols, q, of_rows, down, (top, total))
        if found.q is not None:
            _add(found.q[..., rows, :], of_queries * self.problem.scale)
        if found.sinks is not None:
            shares = torch.exp(self.problem.sink_of_each(rows.stop - rows.start) - top) / total
            of_sinks = -(shares * down).sum(dim=-1).reshape(-1, self.problem.lead[-1]).sum(dim=0)
            found.sinks.add_(of_sinks.sum_to_size(found.sinks.shape))

    def _block(
        self,
        rows: slice,
        cols: slice,
        q: torch.Tensor,
        of_rows: torch.Tensor,
        down: torch.Tensor,
        sums: tuple[torch.Tensor, torch.Tensor],
    ) -> torch.Tensor:
        """What one block adds: to keys, values and bias here, to its scaled queries by what is returned."""
        problem, found = self.problem, self.found
        scores, _, capped = problem.scores(q, rows, cols)
        there = ~torch.isneginf(scores)
        weights = torch.exp(scores - sums[0][..., None]) / sums[1][..., None]
        of_weights = of_rows @ problem.of_keys(self.given.v, cols).transpose(-1, -2)
        kept = problem.kept(rows, cols) if problem.dropout else None
        of_weights = of_weights if kept is None else of_weights * kept
        slopes = (weights * (of_weights - down[..., None])).masked_fill(~there, 0)
        if found.v is not None:
            shares = (weights if kept is None else weights * kept).masked_fill(~there, 0)
            _add(found.v[..., cols, :], shares.transpose(-1, -2) @ of_rows)
        if found.bias is not None:
            _add(piece(found.bias, rows, cols), slopes)
        if found.table is not None:
            self._add_distances(found.table, slopes, rows, cols)
        if capped is not None:
            slopes = (slopes * (1 - capped * capped)).masked_fill(~there, 0)
        if found.k is not None:
            _add(found.k[..., cols, :], slopes.transpose(-1, -2) @ _finite(q))
        return slopes @ _finite(problem.of_keys(problem.k, cols))

    def _add_distances(self, table: torch.Tensor, slopes: torch.Tensor, rows: slice, cols: slice) -> None:
        """To a table of distances, the sums along the diagonals: row i moved by i, and then all rows added up."""
        *_, tall, wide = slopes.shape
        by_head = slopes.reshape(-1, *slopes.shape[-3:]).sum(dim=0).sum_to_size(table.shape[0], tall, wide)
        moved = pad(by_head.flip(-1), (0, tall)).flatten(1)[:, :-tall].reshape(len(table), tall, tall + wide - 1)
        first = rows.start - (cols.stop - 1) + self.problem.n_k - 1
        table[:, first : first + tall + wide - 1] += moved.sum(dim=1)


def _add(total: torch.Tensor, x: torch.Tensor) -> None:
    """Add to what was broadcast, or shared by the heads of a group: x (*lead, a, b) → (…, h_kv, a, b)"""
    if total.ndim > 2 and total.shape[-3] not in (1, x.shape[-3]):
        x = x.unflatten(-3, (total.shape[-3], -1)).sum(dim=-3)
    total += x.sum_to_size(total.shape)


def _finite(x: torch.Tensor) -> torch.Tensor:
    """0 for what is not finite: where that is in sight the slope says so, and elsewhere 0 · NaN must not."""
    return torch.where(torch.isfinite(x), x, 0)


def _at_least(kind: torch.dtype, own: torch.dtype) -> torch.dtype:
    """Sums are made in the type of the scores, or in the input's own if that is wider."""
    return own if own.itemsize > kind.itemsize else kind
