"""Attention in torch's operations, a block of queries and keys at a time: what devices without kernels run.

    problem = Problem(q, k, lead, places, scale, softcap, sinks)
    attend(problem, v)         # output, and what its weights can be computed from again

Nothing larger than a block of scores is ever there, however many queries, keys and heads there are. What a query has
seen so far is two numbers, the largest score and the sum of exp(score − largest), and what it mixed out of the values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from clearhead.call import HeadRun
from clearhead.textbook.dropout import dropout_mask
from clearhead.torch.places import Index, Places, as_tensor

WIDEST = 2**20  # keys of a block: few enough for float32 to count them
PLACES = 2**24  # scores of a block, over all heads: 64 MiB in float32, of which some ten are there at a time


@dataclass
class Problem:
    """What is scored: q (…, h or 1, n_q, d), k (…, h_kv, n_k, d), and all that happens to the scores.

    lead: the axes before that of the queries, (*batch, h); that of heads is there in any case
    """

    q: torch.Tensor
    k: torch.Tensor
    lead: tuple[int, ...]
    places: Places
    scale: float
    softcap: float = 0.0
    sinks: torch.Tensor | None = None
    dropout: float = 0.0
    seed: int = 0
    among: HeadRun | None = None

    @property
    def kind(self) -> torch.dtype:
        """The type of the scores."""
        return self.places.kind

    @property
    def wide(self) -> torch.dtype:
        """The type that many blocks are summed in: float64, which Apple's devices lack."""
        return torch.float32 if self.q.device.type == "mps" else torch.float64

    @property
    def n_q(self) -> int:
        return self.q.shape[-2]

    @property
    def n_k(self) -> int:
        return self.k.shape[-2]

    @property
    def block(self) -> tuple[int, int]:
        """How many queries and keys a block has, powers of two."""
        return block_of(math.prod(self.lead), self.n_q)

    def strips(self, first: int = 0, stop: int | None = None) -> Iterator[slice]:
        """The queries, a block's at a time."""
        return _runs(first, self.n_q if stop is None else stop, self.block[0])

    def runs(self, rows: Index, first: int = 0, stop: int | None = None) -> Iterator[slice]:
        """The keys, a block's at a time, counted from `first`; blocks that no run of the mask reaches are left out."""
        begun, end = self.places.reached(rows)
        for run in _runs(first, self.n_k if stop is None else stop, self.block[1]):
            if begun < run.stop and run.start < end:
                yield run

    def queries(self, rows: Index) -> torch.Tensor:
        """Some queries of every head, times the scale: (*lead, rows, d)"""
        q = self.q[..., rows, :].to(self.kind) * self.scale
        return q.expand(*self.lead, *q.shape[-2:])

    def of_keys(self, x: torch.Tensor | np.ndarray, cols: Index) -> torch.Tensor:
        """Some keys or values, once for each query head, or for all: x (…, h_kv, n_k, d) → (…, h or 1, cols, d)"""
        part = as_tensor(x[..., cols, :]).to(self.q.device, self.kind)
        if part.ndim < 3 or part.shape[-3] in (1, self.lead[-1]):
            return part
        return part.repeat_interleave(self.lead[-1] // part.shape[-3], dim=-3)

    def scores(self, q: torch.Tensor, rows: Index, cols: Index) -> Scores:
        """The scores of a block of `queries`: (*lead, rows, cols), in the order scale → softcap → bias → mask."""
        k = self.of_keys(self.k, cols)
        plain = q @ k.transpose(-1, -2)
        added = self.places.added_at(rows, cols)
        allowed = self.places.allowed_at(rows, cols, added)
        capped = torch.tanh(plain / self.softcap) if self.softcap else None
        scores = plain if capped is None else capped * self.softcap
        scores = scores if added is None else scores + added
        return Scores(scores if allowed is None else scores.masked_fill(~allowed, -torch.inf), allowed, capped)

    def sink_of_each(self, rows: int) -> torch.Tensor:
        """The score of the sink beside each query: (*lead, rows)"""
        assert self.sinks is not None
        sinks = self.sinks.to(self.q.device, self.kind)
        return (sinks[:, None] if sinks.ndim else sinks).expand(*self.lead, rows)

    def kept(self, rows: slice, cols: slice) -> torch.Tensor:
        """The factors of dropout for a block."""
        *batch, heads = self.lead
        own, every = (slice(None), heads) if self.among is None else (slice(self.among.first, None), self.among.of)
        shape = (*batch, every, rows.stop - rows.start, cols.stop - cols.start)
        first_query, first_key = self.places.sizes.queries.start + rows.start, self.places.sizes.keys.start + cols.start
        factors = dropout_mask(shape, self.dropout, self.seed, first_query=first_query, first_key=first_key)
        factors = factors[..., own, :, :][..., :heads, :, :]
        return torch.from_numpy(factors).to(self.kind).to(self.q.device)


class Scores(NamedTuple):
    """A block of scores, −inf where masked; which places the mask allows, None for all; tanh(score / softcap)."""

    scores: torch.Tensor
    allowed: torch.Tensor | None
    capped: torch.Tensor | None


class Attended(NamedTuple):
    """Output (*lead, n_q, d_v) in the type of the scores, and for each query (*lead, n_q) what makes its weights.

    weight = exp(score − top) / total; a query with no key left has −inf and 0.
    """

    output: torch.Tensor | None
    top: torch.Tensor
    total: torch.Tensor

    @property
    def lse(self) -> torch.Tensor:
        """log Σ exp(score), sinks included: (*lead, n_q)"""
        return torch.where(self.total == 0, -torch.inf, self.top + torch.log(self.total))


def attend(problem: Problem, v: torch.Tensor | np.ndarray | None = None) -> Attended:
    """One pass over all blocks. Without values, for its sums alone."""
    strips = [_strip(problem, rows, v) for rows in problem.strips()] or [_strip(problem, slice(0, 0), v)]
    output = None if v is None else torch.cat([x.output for x in strips if x.output is not None], dim=-2)
    return Attended(output, *(torch.cat([getattr(x, name) for x in strips], dim=-1) for name in ("top", "total")))


def _strip(problem: Problem, rows: slice, v: torch.Tensor | np.ndarray | None) -> Attended:
    """Some queries, over all their keys."""
    q = problem.queries(rows)
    top = q.new_full(q.shape[:-1], -torch.inf)
    total = top.new_zeros(top.shape, dtype=problem.wide)
    if problem.sinks is not None:
        top = problem.sink_of_each(rows.stop - rows.start)
        total = (~torch.isneginf(top)).to(problem.wide)
    mixed = None if v is None else q.new_zeros((*top.shape, v.shape[-1]), dtype=problem.wide)
    strange = None if v is None else Strange(q.new_zeros((*top.shape, v.shape[-1])))
    runs = list(problem.runs(rows))
    # With no wider type to mix values in, dividing what was mixed rounds it once more than the textbook does. Where all
    # keys are in one block, weights can be made first.
    weighs_first = len(runs) == 1 and problem.kind == problem.wide
    for cols in runs:
        scores = problem.scores(q, rows, cols).scores
        before, top = top, torch.maximum(top, scores.amax(dim=-1))
        level = top.masked_fill(torch.isneginf(top), 0)
        shares = torch.exp(scores - level[..., None])
        shrunk = torch.exp(before - level).to(problem.wide)
        total = total * shrunk + shares.sum(dim=-1).to(problem.wide)
        if v is not None and mixed is not None and strange is not None:
            values = strange.without(problem.of_keys(v, cols), scores)
            shares = shares / _divisor(total)[..., None] if weighs_first else shares
            shares = shares * problem.kept(rows, cols) if problem.dropout else shares
            mixed = mixed * shrunk[..., None] + (shares @ values).to(problem.wide)
    if mixed is None or strange is None:
        return Attended(None, top, total.to(problem.kind))
    mixed = mixed if weighs_first else mixed / _divisor(total)[..., None]
    return Attended(mixed.to(problem.kind) + strange.found, top, total.to(problem.kind))


def _divisor(total: torch.Tensor) -> torch.Tensor:
    """What a query's sums are divided by: nothing where it has no key left."""
    return total.masked_fill(total == 0, 1)


class Strange:
    """Values that are not finite, which must reach the queries that may attend to them and no others.

    0 · NaN is NaN, so a product over all keys would spill them. They are taken out of it and counted here instead:
    `found` is what they add to the output, NaN, an infinity or nothing.
    """

    def __init__(self, found: torch.Tensor) -> None:
        self.found = found

    def without(self, values: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Values with 0 for what is not finite, once it is noted who sees it: values (…, cols, d_v)"""
        strange = ~torch.isfinite(values)
        if values.is_meta or not strange.any():
            return values
        seeing = (~torch.isneginf(scores)).to(scores.dtype)
        for number in (torch.inf, -torch.inf):
            self._note(seeing @ (values == number).to(scores.dtype), number)
        self._note(seeing @ torch.isnan(values).to(scores.dtype), torch.nan)
        return values.masked_fill(strange, 0)

    def _note(self, count: torch.Tensor, number: float) -> None:
        self.found = torch.where(count > 0, self.found + number, self.found)


def block_of(heads: int, n_q: int) -> tuple[int, int]:
    """How many queries and keys a block has, powers of two, with so many heads over all batch entries."""
    each = max(PLACES // max(heads, 1), 256)
    rows = min(1 << max(n_q - 1, 0).bit_length(), 1 << (each.bit_length() - 1) // 2)
    return rows, min(1 << ((each // rows).bit_length() - 1), WIDEST)


def _runs(first: int, stop: int, length: int) -> Iterator[slice]:
    return (slice(start, min(start + length, stop)) for start in range(first, stop, length))
