"""Attention where there are no kernels: on devices other than the CPU, in torch's own operations.

The output is torch's own fused attention where that means the same, and otherwise a loop over chunks of queries, each
of them recomputed on the way back, so memory stays O(n) in either direction.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from clearhead import checks, masks
from clearhead.call import Part, leading_axes
from clearhead.kernels.explanation import Cut, Explanation
from clearhead.textbook.dropout import checked_dropout, dropout_mask

CHUNK = 256  # queries at a time


def scores_shape(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[int, ...]:
    """(*batch, heads, n_q, n_k), or (n_q, n_k) where no argument has heads."""
    batch_shape, heads, _ = leading_axes(q, k, v)
    lead = (*batch_shape, heads) if max(q.ndim, k.ndim, v.ndim) > 2 else ()
    return (*lead, q.shape[-2], k.shape[-2])


def distances(rows: slice, n_k: int, device: torch.device) -> torch.Tensor:
    """Where in a table of distances each place of a chunk of queries looks."""
    queries, keys = torch.arange(rows.start, rows.stop, device=device), torch.arange(n_k, device=device)
    return queries[:, None] - keys + n_k - 1


def table_of(bias: Any, n_q: int, n_k: int, part: Part | None) -> torch.Tensor:
    """A relative bias, whether it is made of tensors or of arrays, as a tensor (h, distances)."""
    table = bias.table(n_q, n_k, *(part or ()))
    return table if isinstance(table, torch.Tensor) else torch.from_numpy(np.require(table, requirements="W"))


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    mask: masks.Mask | torch.Tensor | None,
    bias: Any,
    sinks: torch.Tensor | None,
    lse: bool,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """What `clearhead.torch.attention` means, without its kernels."""
    _check_axes(q, k, v)
    if way(q, k, v, mask=mask, bias=bias, sinks=sinks, lse=lse, **options) == "torch":
        _check(q, k, v, mask, bias, sinks)
        scale = None if options["scale"] is None else checks.number("scale", options["scale"])
        grouped = q.shape[-3] != k.shape[-3]
        return scaled_dot_product_attention(q, k, v, is_causal=mask is not None, scale=scale, enable_gqa=grouped), None
    return chunked(q, k, v, mask=mask, bias=bias, sinks=sinks, lse=lse, **options)


def way(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    mask: Any = None,
    bias: Any = None,
    sinks: Any = None,
    lse: bool = False,
    softcap: Any = None,
    dropout: float = 0.0,
    part: Any = None,
    **_: Any,
) -> str:
    """ "torch" where its fused attention means the same as ours, else "chunked".

    One difference is accepted under a causal mask, which on other devices is worth many times the speed: torch lets a
    NaN or infinity in a masked value through.
    """
    simple = bias is None and sinks is None and softcap is None and not dropout and not lse and part is None
    shaped = q.ndim == k.ndim == v.ndim == 4 and q.shape[0] == k.shape[0] == v.shape[0] and k.shape[1] == v.shape[1]
    shared = shaped and k.shape[1] > 0 and q.shape[1] % k.shape[1] == 0
    typed = q.dtype == k.dtype == v.dtype
    same_length = q.shape[-2] == k.shape[-2]
    # torch counts from the first key
    causal = mask == masks.causal(offset=0) or (mask == masks.causal() and same_length)
    fused = simple and shared and typed and q.shape[-2] and k.shape[-2] and (mask is None or causal)
    return "torch" if fused else "chunked"


def explain(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    of: str = "attention",
    return_lse: bool = False,
    **options: Any,
) -> Explanation:
    """Which way a call takes, and why."""
    _check_axes(q, k, v)
    batch_shape, heads, _ = leading_axes(q, k, v)
    n_q, n_k = q.shape[-2], k.shape[-2]
    every = math.prod(batch_shape) * heads
    taken = way(q, k, v, lse=return_lse, **options)
    leaks = ", save that it lets a NaN in a masked value through" if options.get("mask") is not None else ""
    reasons = {
        "torch": f"scaled_dot_product_attention, which means the same here{leaks}",
        "chunked": f"torch operations, {CHUNK} queries at a time, recomputed for gradients",
    }
    memory = {"output": every * n_q * v.shape[-1] * q.element_size()}
    if taken == "chunked":
        memory["scores of a chunk"] = 3 * every * min(CHUNK, n_q) * n_k * 4
    chunks = 1 if taken == "torch" else math.ceil(n_q / CHUNK)
    return Explanation(
        work=of,
        way=taken,
        machine=str(q.device),
        arithmetic="",
        shapes=tuple(tuple(x.shape) for x in (q, k, v)),
        dtype=str(q.dtype).removeprefix("torch."),
        because=(reasons[taken],),
        cut=Cut(chunks, min(CHUNK, n_q), chunks, 1, 1, n_k),
        tiles=0,
        tiles_skipped=0,
        memory=memory,
        slow=()
        if taken == "torch"
        else (f"there are no kernels for {q.device}, and torch's own mean something else here",),
    )


def chunked(
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
    """A chunk of queries at a time."""
    *lead, n_q, n_k = _check(q, k, v, mask, bias, sinks)
    heads = lead[-1] if lead else 1
    kind = torch.float64 if torch.float64 in (q.dtype, k.dtype, v.dtype) else torch.float32
    chunk = _Chunk(
        lead,
        masks.Sizes(n_q, n_k, tuple(lead[:-1]), heads, *(part or ())),
        mask,
        max(q.shape[-1], 1) ** -0.5 if scale is None else checks.number("scale", scale),
        None if softcap is None else checks.number("softcap", softcap, above=0.0),
        *(checked_dropout(dropout, seed) if dropout else (0.0, 0)),
    )
    wide_k, wide_v = (_for_each_head(x.to(kind), lead) for x in (k, v))
    wide_q = q.to(kind).expand(*lead, n_q, q.shape[-1])
    table = None if bias is None or isinstance(bias, torch.Tensor) else table_of(bias, n_q, n_k, part)
    if table is not None and len(table) not in (1, heads):
        raise ValueError(f"the bias is for {len(table)} heads but there are {heads}")
    outputs, sums = [], []
    for start in range(0, max(n_q, 1), CHUNK):
        rows = slice(start, min(start + CHUNK, n_q))
        addition = _rows(bias, rows, n_q) if isinstance(bias, torch.Tensor) else None
        arguments: tuple[Any, ...] = (rows, wide_q[..., rows, :], wide_k, wide_v, addition, table, sinks)
        if torch.is_grad_enabled():  # there is nothing random in it: dropout is made from the seed
            output, total = checkpoint(chunk, *arguments, use_reentrant=False, preserve_rng_state=False)
        else:
            output, total = chunk(*arguments)
        outputs.append(output)
        sums.append(total)
    return torch.cat(outputs, dim=-2).to(q.dtype), torch.cat(sums, dim=-1)


class _Chunk(NamedTuple):
    """What is the same for every chunk of queries; called with one, it computes that."""

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


def _check(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: masks.Mask | torch.Tensor | None,
    bias: Any,
    sinks: torch.Tensor | None,
) -> tuple[int, ...]:
    """The shape of the scores, once everything fits it. Only shapes are looked at: numbers lie on another device."""
    _check_axes(q, k, v)
    checks.same_width(q, k)
    checks.same_length(k, v)
    shape = scores_shape(q, k, v)
    for name, added in (("mask", mask), ("bias", bias)):
        if isinstance(added, torch.Tensor):
            checks.fits(name, np.broadcast_to(np.False_, tuple(added.shape)), shape)
    heads = shape[-3] if len(shape) > 2 else 1
    if sinks is not None and (sinks.ndim > 1 or sinks.numel() not in (1, heads)):
        raise ValueError(f"sinks need one number per head, shape ({heads},), got shape {tuple(sinks.shape)}")
    return shape


def _check_axes(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.ndim < 2:
            raise ValueError(f"{name} needs at least 2 dimensions, got shape {tuple(x.shape)} ({name}[None] adds one)")


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
