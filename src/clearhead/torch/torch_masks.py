"""The masks of torch.nn.MultiheadAttention as ours: attn_mask and key_padding_mask, in which True = masked out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional

from clearhead import masks
from clearhead.torch.padding import both, mask_of, real_keys, warn_of_float_flags

AnyMask = masks.Mask | torch.Tensor


class Size(NamedTuple):
    """How much there is: sentences, heads, queries, keys, and keys added to those, which nothing masks."""

    b: int
    h: int
    n_q: int
    n_k: int
    added: int


def meaning(
    key_padding_mask: AnyMask | None, attn_mask: AnyMask | None, is_causal: bool, size: Size, batched: bool
) -> tuple[masks.Mask | None, torch.Tensor | None]:
    """torch's masks as ours: what may be attended, and what is added to the scores."""
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "is_causal is a hint about attn_mask, which is missing; pass the causal mask as well "
            "(nn.Transformer.generate_square_subsequent_mask makes one)"
        )
    mask: masks.Mask | None = None
    bias: torch.Tensor | None = None
    if attn_mask is not None:
        attn_mask = _check_attn_mask(attn_mask, size, batched)
        if is_causal:
            mask = masks.causal() if size.n_q == size.n_k and not size.added else masks.causal(offset=0)
            mask = mask | ~masks.prefix(size.n_k) if size.added else mask
        elif isinstance(attn_mask, masks.Mask):
            mask = _and_added(attn_mask, size)
        elif (allowed := _allowed(attn_mask)) is not None:
            mask = mask_of(functional.pad(allowed, (0, size.added), value=True))
        else:
            bias = functional.pad(attn_mask, (0, size.added))
    if isinstance(key_padding_mask, masks.Mask):
        mask = both(mask, _and_added(key_padding_mask, size))
    elif key_padding_mask is not None:
        _check_key_padding_mask(key_padding_mask, size, batched)
        if (real := _allowed(key_padding_mask)) is not None:
            mask = both(mask, real_keys(functional.pad(real.view(size.b, -1), (0, size.added), value=True)))
        else:
            padding = functional.pad(key_padding_mask, (0, size.added)).view(size.b, 1, 1, -1)
            bias = padding if bias is None else bias + padding
    return mask, bias


def _and_added(mask: masks.Mask, size: Size) -> masks.Mask:
    """A mask over the keys that were given, with those added to them, which nothing masks."""
    if not size.added:
        return mask
    written = mask.array(size.n_q, size.n_k, batch_shape=(size.b,), heads=size.h)
    return masks.array(np.pad(written, [(0, 0)] * 3 + [(0, size.added)], constant_values=True))


def _allowed(mask: torch.Tensor) -> torch.Tensor | None:
    """True where attending is allowed, if that is all the mask says; None for a mask whose numbers matter."""
    if mask.dtype == torch.bool:
        return ~mask
    if mask.requires_grad:
        return None
    allowed = mask == 0
    return allowed if bool((allowed | torch.isneginf(mask)).all()) else None


def _check_attn_mask(mask: AnyMask, size: Size, batched: bool) -> AnyMask:
    """attn_mask (n_q, n_k) or (b·h, n_q, n_k) → (n_q, n_k) or (b, h, n_q, n_k)"""
    if isinstance(mask, masks.Mask):
        return mask
    _check_kind("attn_mask", mask)
    b, h, n_q, n_k, _ = size
    if mask.shape == (n_q, n_k):
        return mask
    if mask.shape == (b * h, n_q, n_k):
        return mask.view(b, h, n_q, n_k)
    each = f"({b * h}, {n_q}, {n_k}), one for each {'of batch · heads' if batched else 'head'}"
    raise RuntimeError(f"attn_mask must have shape ({n_q}, {n_k}) or {each}, got {tuple(mask.shape)}")


def _check_key_padding_mask(mask: torch.Tensor, size: Size, batched: bool) -> None:
    _check_kind("key_padding_mask", mask)
    expected = (size.b, size.n_k) if batched else (size.n_k,)
    if mask.shape != expected:
        hint = " (did you mean attn_mask=?)" if mask.shape[-2:] == (size.n_q, size.n_k) else ""
        raise RuntimeError(
            f"key_padding_mask must have shape {expected}, one entry per key, got {tuple(mask.shape)}{hint}"
        )


def _check_kind(name: str, mask: torch.Tensor) -> None:
    if not isinstance(mask, torch.Tensor):
        raise TypeError(
            f"{name} must be a torch tensor or a mask from clearhead.masks, got {type(mask).__name__} "
            f"(torch.as_tensor({name}) makes a tensor of an array)"
        )
    cure = f"{name} == 0 masks out the zeros, {name}.bool() the ones"
    warn_of_float_flags(name, mask, cure)
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise TypeError(
            f"{name} must be boolean (True = masked out) or float (added to the scores), got {mask.dtype} "
            f"({name}.bool() turns 1 into masked out)"
        )
