"""Rotary positions (RoPE) on tensors.

The angles are the textbook's, computed in float64 and kept for the next call; only the turning is done in torch, where
autograd sees it. Layouts, bases and scalings are those of `clearhead.textbook.rope` and mean the same.
"""

from __future__ import annotations

import functools

import numpy as np
import torch
from jaxtyping import Float, Shaped

from clearhead.tensors import to_numpy, to_torch
from clearhead.textbook.rope import Scaling, rope_table

KEPT_TABLES = 4  # the layers of a model ask for the same few, one after another


def rope(
    x: Float[torch.Tensor, "... n d"],
    positions: Shaped[torch.Tensor, ...] | None = None,
    *,
    base: float = 10000.0,
    width: int | None = None,
    interleaved: bool = False,
    scaling: Scaling | None = None,
) -> Float[torch.Tensor, "... n d"]:
    """Queries or keys, each row turned by its position.

    x (…, n, d)  positions (n,), or (…, n) that broadcasts over x's leading dimensions → (…, n, d), in x's type

    Positions are counted from 0 unless given. Only the first `width` columns are turned (all, unless given). `scaling`
    is one of the functions of `clearhead.textbook.rope_scaling` with its numbers filled in, for instance
    `functools.partial(linear_scaling, factor=4.0)`.
    """
    if not x.is_floating_point() or x.ndim < 2:
        raise TypeError(f"x must be floats of shape (…, n, d), got {x.dtype} of shape {tuple(x.shape)}")
    width = x.shape[-1] if width is None else width
    if width > x.shape[-1]:
        raise ValueError(f"width = {width} columns cannot be turned, x has only {x.shape[-1]}")
    cos, sin = _angles(x, positions, width, base, scaling)
    turning, rest = x[..., :width].to(cos.dtype), x[..., width:]
    a, b = (turning[..., 0::2], turning[..., 1::2]) if interleaved else turning.chunk(2, dim=-1)
    pair = a * cos - b * sin, a * sin + b * cos
    turned = torch.stack(pair, dim=-1).flatten(-2) if interleaved else torch.cat(pair, dim=-1)
    return torch.cat([turned.to(x.dtype), rest], dim=-1)


@torch.compiler.disable(reason="the angles come from NumPy")
def _angles(
    x: torch.Tensor, positions: torch.Tensor | None, width: int, base: float, scaling: Scaling | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin (…, n, width / 2) on x's device, in float32 at least."""
    wanted = np.arange(x.shape[-2]) if positions is None else to_numpy(positions.detach().cpu())
    cos, sin = _table(wanted.tobytes(), wanted.dtype.str, wanted.shape, width, base, scaling)
    try:
        fits = torch.broadcast_shapes(cos.shape[:-1], x.shape[:-1]) == x.shape[:-1]
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(
            f"positions of shape {tuple(cos.shape[:-1])} do not fit x of shape {tuple(x.shape)}; they must broadcast "
            f"to {tuple(x.shape[:-1])} (with a head axis in x, positions of each text (b, n) are positions[:, None])"
        )
    kind = torch.promote_types(x.dtype, torch.float32)
    return cos.to(x.device, kind), sin.to(x.device, kind)


@functools.lru_cache(maxsize=KEPT_TABLES)
def _table(
    positions: bytes, kind: str, shape: tuple[int, ...], width: int, base: float, scaling: Scaling | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The textbook's table, kept by what the positions are and not by which tensor holds them."""
    cos, sin = rope_table(np.frombuffer(positions, kind).reshape(shape), width, base=base, scaling=scaling)
    return to_torch(cos), to_torch(sin)
