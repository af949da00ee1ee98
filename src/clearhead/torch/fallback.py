"""Attention where there are no kernels: on devices other than the CPU, in torch's own operations.

The output is torch's own fused attention where that means the same, and otherwise a loop over chunks of queries, each
of them recomputed on the way back, so memory stays O(n) in either direction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from clearhead import checks, masks
from clearhead.dispatch import leading_axes
from clearhead.kernels.explanation import Explanation
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
    if way(q, k, v, mask=mask, bias=bias, sinks=sinks, lse=lse, **options) == "torch":
        causal = mask is not None
        grouped = q.shape[-3] != k.shape[-3]
        return scaled_dot_product_attention(q, k, v, is_causal=causal, scale=options["scale"], enable_gqa=grouped), None
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
    **_: Any,
) -> str:
    """ "torch" where its fused attention means the same as ours, else "chunked"."""
    simple = bias is None and sinks is None and softcap is None and not dropout and not lse
    shaped = q.ndim == k.ndim == v.ndim == 4 and q.shape[0] == k.shape[0] == v.shape[0] and k.shape[1] == v.shape[1]
    causal = mask == masks.causal() and q.shape[-2] == k.shape[-2]
    return "torch" if simple and shaped and q.shape[-2] and k.shape[-2] and (mask is None or causal) else "chunked"


def explain(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, return_lse: bool = False, **options: Any
) -> Explanation:
    """Which way a call takes, and why."""
    batch_shape, heads, _ = leading_axes(q, k, v)
    n_q, n_k = q.shape[-2], k.shape[-2]
    every = math.prod(batch_shape) * heads
    output = every * n_q * v.shape[-1] * q.element_size()
    fused = way(q, k, v, lse=return_lse, **options) == "torch"
    return Explanation(
        path=f"{'torch' if fused else 'chunked'} ({q.device})",
        reason="scaled_dot_product_attention, which means the same here"
        if fused
        else f"torch operations, {CHUNK} queries at a time, recomputed for gradients",
        shape=f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}, {str(q.dtype).removeprefix('torch.')}",
        tasks=1 if fused else math.ceil(n_q / CHUNK),
        tiles=0,
        tiles_skipped=0,
        bytes=output if fused else output + 3 * every * min(CHUNK, n_q) * n_k * 4,
        slow=() if fused else (f"there are no kernels for {q.device}, and torch's own mean something else here",),
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
) -> tuple[torch.Tensor, torch.Tensor]:
    """A chunk of queries at a time, each in the order scale → softcap → bias → mask → sinks → softmax → dropout."""
    checks.same_width(q, k)
    checks.same_length(k, v)
    batch_shape, heads, _ = leading_axes(q, k, v)
    n_q, n_k = q.shape[-2], k.shape[-2]
    kind = torch.float64 if torch.float64 in (q.dtype, k.dtype, v.dtype) else torch.float32
    scale = max(q.shape[-1], 1) ** -0.5 if scale is None else checks.number("scale", scale)
    rate, chosen = checked_dropout(dropout, seed) if dropout else (0.0, 0)
    wide_k, wide_v = (_for_each_head(x.to(kind), heads) for x in (k, v))

    def part(rows: slice, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *more: torch.Tensor) -> Any:
        scores = q @ k.transpose(-1, -2) * scale
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        allowed = _allowed(mask, rows, n_q, n_k, batch_shape, heads, q.device)
        for addition in more[:1] if bias is not None else ():
            scores = scores + addition
            allowed = allowed & ~torch.isneginf(addition)
        scores = scores.masked_fill(~allowed, -torch.inf)
        everything = scores if sinks is None else torch.cat([scores, _column(more[-1], scores)], dim=-1)
        total = torch.logsumexp(everything, dim=-1)
        weights = torch.exp(scores - total.masked_fill(torch.isneginf(total), 0)[..., None])
        if rate:
            shape = (*batch_shape, heads, rows.stop - rows.start, n_k)
            factors = torch.from_numpy(dropout_mask(shape, rate, chosen, first_query=rows.start))
            weights = weights * factors.reshape(weights.shape).to(weights)
        return _mixed(weights, v, allowed), total

    outputs, sums = [], []
    for start in range(0, max(n_q, 1), CHUNK):
        rows = slice(start, min(start + CHUNK, n_q))
        more = [x for x in (_bias_rows(bias, rows, n_q, n_k, q), sinks) if x is not None]
        arguments: tuple[Any, ...] = (rows, q[..., rows, :].to(kind), wide_k, wide_v, *more)
        output, total = (
            checkpoint(part, *arguments, use_reentrant=False) if torch.is_grad_enabled() else part(*arguments)
        )
        outputs.append(output)
        sums.append(total)
    return torch.cat(outputs, dim=-2).to(q.dtype), torch.cat(sums, dim=-1)


def _for_each_head(x: torch.Tensor, heads: int) -> torch.Tensor:
    """Repeat key/value heads so that there is one for each query head."""
    return x if x.ndim < 3 or x.shape[-3] in (1, heads) else x.repeat_interleave(heads // x.shape[-3], dim=-3)


def _column(sinks: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """The sinks as one more column of scores."""
    column = sinks.to(scores.dtype)
    if scores.ndim > 2 and column.ndim:
        column = column[:, None, None]
    return column.expand(*scores.shape[:-1], 1)


def _allowed(
    mask: masks.Mask | torch.Tensor | None,
    rows: slice,
    n_q: int,
    n_k: int,
    batch_shape: tuple[int, ...],
    heads: int,
    device: torch.device,
) -> torch.Tensor:
    """The mask for a chunk of queries."""
    if mask is None:
        return torch.ones((rows.stop - rows.start, n_k), dtype=torch.bool, device=device)
    if isinstance(mask, torch.Tensor):
        if mask.dtype != torch.bool:
            raise TypeError(
                f"mask must be boolean (True = may attend) or float (added to the scores), got {mask.dtype}"
            )
        return mask[..., rows, :] if mask.ndim > 1 and mask.shape[-2] == n_q else mask
    allowed = mask.allows(masks.places(n_q, n_k, batch_shape, heads, rows))
    while allowed.ndim > 2 and allowed.shape[0] == 1:
        allowed = allowed[0]
    return torch.from_numpy(np.ascontiguousarray(allowed)).to(device)


def _bias_rows(bias: Any, rows: slice, n_q: int, n_k: int, q: torch.Tensor) -> torch.Tensor | None:
    """The bias for a chunk of queries."""
    if bias is None:
        return None
    if isinstance(bias, torch.Tensor):
        return bias[..., rows, :] if bias.ndim > 1 and bias.shape[-2] == n_q else bias
    table = torch.as_tensor(bias.table(n_q, n_k)).to(q.device)
    by_head = table[:, distances(rows, n_k, q.device)]
    return by_head if q.ndim > 2 else by_head[0]


def _mixed(weights: torch.Tensor, v: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """weights · v, in which values that are not finite reach only the queries that may attend to them."""
    strange = ~torch.isfinite(v)
    if not strange.any():
        return weights @ v
    output = weights @ v.masked_fill(strange, 0)
    allowed = allowed.expand(weights.shape)
    for j in strange.any(dim=-1).reshape(-1, v.shape[-2]).any(dim=0).nonzero().flatten().tolist():
        share = weights[..., j, None] * v[..., None, j, :].masked_fill(~strange[..., None, j, :], 0)
        output = output + share.masked_fill(~allowed[..., j, None], 0)
    return output
