"""Attention where there are no kernels: on devices other than the CPU, in torch's own operations.

The output is torch's own fused attention where that means the same, and otherwise what `streaming` makes of it, in
blocks of queries and keys, each of them computed again on the way back: O(n) memory and a block, in either direction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from clearhead import checks, masks
from clearhead.call import HeadRun, Part, leading_axes
from clearhead.kernels.explanation import Cut, Explanation
from clearhead.textbook.dropout import checked_dropout
from clearhead.torch import streaming
from clearhead.torch.places import Places
from clearhead.torch.streaming import Problem
from clearhead.torch.streaming_backward import Inputs, differentiable

ARRAYS = 10  # of the size of a block that are there at a time, at most


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
    taken = "chunked" if of == "look" else way(q, k, v, lse=return_lse, **options)
    leaks = ", save that it lets a NaN in a masked value through" if options.get("mask") is not None else ""
    rows, cols = streaming.block_of(every, n_q)
    again = "once for the sums and once for what is seen" if of == "look" else "computed again for gradients"
    reasons = {
        "torch": f"scaled_dot_product_attention, which means the same here{leaks}",
        "chunked": f"torch operations on blocks of {rows} queries and {cols} keys, {again}",
    }
    memory = {"output": every * n_q * v.shape[-1] * q.element_size()}
    if taken == "chunked":
        kind = 8 if torch.float64 in (q.dtype, k.dtype, v.dtype) else 4
        memory["scores of a block"] = ARRAYS * every * min(rows, n_q) * min(cols, n_k) * kind
    chunks = (1, 1) if taken == "torch" else (math.ceil(n_q / rows), math.ceil(n_k / cols))
    return Explanation(
        work=of,
        way=taken,
        machine=str(q.device),
        arithmetic="",
        shapes=tuple(tuple(x.shape) for x in (q, k, v)),
        dtype=str(q.dtype).removeprefix("torch."),
        because=(reasons[taken],),
        cut=Cut(math.prod(chunks), min(rows, n_q), chunks[0], 1, chunks[1], min(cols, n_k)),
        tiles=0,
        tiles_skipped=0,
        memory=memory,
        slow=() if taken == "torch" else (_why_slow(of, q.device),),
    )


def _why_slow(of: str, device: torch.device) -> str:
    if of == "look":
        return f"there are no kernels for {device}, so torch operations read the statistics"
    return f"there are no kernels for {device}, and torch's own mean something else here"


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
    among: HeadRun | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A block of queries and keys at a time, forwards and backwards."""
    *lead, n_q, n_k = _check(q, k, v, mask, bias, sinks)
    table = None if bias is None or isinstance(bias, torch.Tensor) else table_of(bias, n_q, n_k, part)
    heads = lead[-1] if lead else 1
    if table is not None and len(table) not in (1, heads):
        raise ValueError(f"the bias is for {len(table)} heads but there are {heads}")
    sizes = masks.Sizes(n_q, n_k, tuple(lead[:-1]), heads, *(part or ()))
    resolved = masks.resolve(mask, sizes) if isinstance(mask, masks.Mask) else masks.Resolved()
    allowed = mask if isinstance(mask, torch.Tensor) else resolved.allowed
    numbers = {
        "scale": 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else checks.number("scale", scale),
        "softcap": 0.0 if softcap is None else checks.number("softcap", softcap, above=0.0),
    }
    rate, chosen = checked_dropout(dropout, seed) if dropout else (0.0, 0)

    def problem(given: Inputs) -> Problem:
        places = Places(
            sizes, q.device, _kind(given), resolved.ranges, allowed, resolved.rule, resolved.period, resolved.phase,
            given.bias, given.table,
        )  # fmt: skip
        return Problem(
            given.q,
            given.k,
            tuple(lead) or (1,),
            places,
            **numbers,
            sinks=given.sinks,
            dropout=rate,
            seed=chosen,
            among=among,
        )

    added = bias if isinstance(bias, torch.Tensor) else None
    output, sums = differentiable(problem, Inputs(q, k, v, added, table, sinks))
    return (output, sums) if lead else (output[0], sums[0])


def _kind(given: Inputs) -> torch.dtype:
    """The type of the scores."""
    return torch.float64 if torch.float64 in (given.q.dtype, given.k.dtype, given.v.dtype) else torch.float32


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
