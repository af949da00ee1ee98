"""What attention is in plain torch operations under autograd: the whole matrix of scores at once, and no loop.

The judge of gradients, those of the kernels and those of `clearhead.torch.streaming` alike. It shares no arithmetic
with either, and its output is held to the textbook by whoever asks it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from clearhead import masks
from clearhead.call import Part
from clearhead.textbook.dropout import checked_dropout, dropout_mask
from clearhead.torch.fallback import distances, scores_shape, table_of


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    mask: masks.Mask | torch.Tensor | None,
    bias: Any,
    sinks: torch.Tensor | None,
    lse: bool,
    scale: float | None,
    softcap: float | None,
    dropout: float,
    seed: int | None,
    part: Part | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What `clearhead.torch.fallback.attention` takes and gives."""
    *lead, n_q, n_k = scores_shape(q, k, v)
    heads = lead[-1] if lead else 1
    kind = torch.float64 if torch.float64 in (q.dtype, k.dtype, v.dtype) else torch.float32
    whole = _Whole(
        lead,
        masks.Sizes(n_q, n_k, tuple(lead[:-1]), heads, *(part or ())),
        mask,
        max(q.shape[-1], 1) ** -0.5 if scale is None else scale,
        softcap,
        *(checked_dropout(dropout, seed) if dropout else (0.0, 0)),
    )
    wide_k, wide_v = (_for_each_head(x.to(kind), lead) for x in (k, v))
    wide_q = q.to(kind).expand(*lead, n_q, q.shape[-1])
    table = None if bias is None or isinstance(bias, torch.Tensor) else table_of(bias, n_q, n_k, part)
    addition = bias if isinstance(bias, torch.Tensor) else None
    output, total = whole(slice(0, n_q), wide_q, wide_k, wide_v, addition, table, sinks)
    return output.to(q.dtype), total


class _Whole(NamedTuple):
    """All but the numbers; called with those, it computes."""

    lead: list[int]
    sizes: masks.Sizes
    mask: masks.Mask | torch.Tensor | None
    scale: float
    softcap: float | None
    dropout: float
    seed: int

    def __call__(
        self,
        rows: slice,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        addition: torch.Tensor | None,
        table: torch.Tensor | None,
        sinks: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Output and lse, in the order scale → softcap → bias → mask → sinks → softmax → dropout."""
        if table is not None:
            addition = table.to(q.device)[:, distances(rows, self.sizes.n_k, q.device)]
            addition = addition if self.lead else addition[0]
        allowed = _allowed(self.mask, rows, self.sizes, self.lead, q.device)
        if addition is not None:
            addition = _within(addition, q.dtype)
            allowed = allowed & ~torch.isneginf(addition)
        q = q.masked_fill(~allowed.any(dim=-1, keepdim=True), 0)  # a query with no key left takes no part
        scores = _scores(q, k, allowed, self.scale)
        if self.softcap is not None:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        if addition is not None:
            scores = scores + addition
        allowed = allowed & ~torch.isneginf(scores)  # a key that scores −inf by itself is a masked one
        weights, total = _softmax(scores.masked_fill(~allowed, -torch.inf), sinks)
        weights = weights.masked_fill(~allowed, 0)
        return _mixed(weights * self._kept(weights, rows) if self.dropout else weights, v, allowed), total

    def _kept(self, weights: torch.Tensor, rows: slice) -> torch.Tensor:
        """The factors of dropout for a chunk."""
        first_query, first_key = self.sizes.queries.start + rows.start, self.sizes.keys.start
        shape = tuple(weights.shape)
        factors = dropout_mask(shape, self.dropout, self.seed, first_query=first_query, first_key=first_key)
        return torch.from_numpy(factors).to(weights)


def _for_each_head(x: torch.Tensor, lead: list[int]) -> torch.Tensor:
    """Repeat key/value heads so that there is one for each query head."""
    return x if x.ndim < 3 or x.shape[-3] in (1, lead[-1]) else x.repeat_interleave(lead[-1] // x.shape[-3], dim=-3)


def _rows(x: torch.Tensor, rows: slice, n_q: int) -> torch.Tensor:
    """A chunk of queries of what broadcasts to the scores."""
    return x[..., rows, :] if x.ndim > 1 and x.shape[-2] == n_q else x


def _allowed(
    mask: masks.Mask | torch.Tensor | None, rows: slice, sizes: masks.Sizes, lead: list[int], device: torch.device
) -> torch.Tensor:
    """The mask for a chunk of queries, with the axes of the scores."""
    shape = (*lead, rows.stop - rows.start, sizes.n_k)
    if mask is None:
        return torch.ones(shape[-2:], dtype=torch.bool, device=device).expand(shape)
    if isinstance(mask, torch.Tensor):
        return _rows(mask, rows, sizes.n_q).expand(shape)
    allowed = mask.allows(masks.places(sizes, rows))
    allowed = allowed if lead or allowed.ndim < 3 else allowed[0]
    return torch.from_numpy(np.require(allowed, requirements=["C", "W"])).to(device).expand(shape)


def _within(addition: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """A bias whose finite numbers are finite in the type of the scores: only −inf may forbid a key."""
    if addition.dtype.itemsize <= kind.itemsize:
        return addition.to(kind)
    limits = torch.finfo(kind)
    nearest = addition.detach().clamp(limits.min, limits.max) + (addition - addition.detach())  # a slope of 1
    return torch.where(torch.isneginf(addition), addition, nearest).to(kind)


def _column(sinks: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """The sinks as one more column of scores."""
    column = sinks.to(scores.dtype)
    if scores.ndim > 2 and column.ndim:
        column = column[:, None, None]
    return column.expand(*scores.shape[:-1], 1)


def _softmax(scores: torch.Tensor, sinks: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights, and log Σ exp of each row: −inf, and no gradient, where every score is −inf."""
    sink = scores.new_full((1,), -torch.inf) if sinks is None else _column(sinks, scores)
    top = torch.cat([scores.detach(), sink.detach().expand(*scores.shape[:-1], 1)], dim=-1).amax(dim=-1, keepdim=True)
    top = top.masked_fill(torch.isneginf(top), 0)
    shares = torch.exp(scores - top)
    total = shares.sum(dim=-1, keepdim=True) + torch.exp(sink - top)
    empty = total == 0
    total = total.masked_fill(empty, 1)
    lse = (top + torch.log(total)).masked_fill(empty, -torch.inf)
    return shares / total, lse[..., 0]  # not exp(score − lse): beside scores of −1e30 the log of a sum is lost


def _scores(q: torch.Tensor, k: torch.Tensor, allowed: torch.Tensor, factor: float) -> torch.Tensor:
    """q · kᵀ · factor, in which keys that are not finite meet only the queries that may attend to them.

    A score that is infinite does not change with its query and key, and has no gradient.
    """
    strange = ~torch.isfinite(k)
    if k.is_meta or not strange.any():
        return q @ k.transpose(-1, -2) * factor
    scores = q @ k.masked_fill(strange, 0).transpose(-1, -2) * factor
    keys = torch.arange(k.shape[-2], device=k.device)
    for j in _in_sight(strange, allowed):
        seen = torch.where(allowed[..., j, None], k[..., None, j, :], 0)
        settled = ((q * seen).sum(dim=-1, keepdim=True) * factor).detach()
        moving = ~torch.isinf(settled)
        column = (q.masked_fill(~moving, 0) * seen.masked_fill(~moving, 0)).sum(dim=-1, keepdim=True) * factor
        column = torch.where(moving, column, settled)
        scores = torch.where(keys == j, column, scores)
    return scores


def _mixed(weights: torch.Tensor, v: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """weights · v, in which values that are not finite reach only the queries that may attend to them."""
    strange = ~torch.isfinite(v)
    if v.is_meta or not strange.any():
        return weights @ v
    output = weights @ v.masked_fill(strange, 0)
    for j in _in_sight(strange, allowed):
        seen = allowed[..., j, None] & strange[..., None, j, :]
        output = output + weights[..., j, None] * torch.where(seen, v[..., None, j, :], 0)
    return output


def _in_sight(strange: torch.Tensor, allowed: torch.Tensor) -> list[int]:
    """The keys that are not finite and that some query may attend to."""
    any_query = allowed.reshape(-1, allowed.shape[-1]).any(dim=0)
    any_column = strange.any(dim=-1).reshape(-1, strange.shape[-2]).any(dim=0)
    return (any_query & any_column).nonzero().flatten().tolist()
