"""torch's scaled_dot_product_attention: the same call and the same meaning, on clearhead's kernels.

Where torch and clearhead differ in meaning, this function follows torch: is_causal counts from the first query and
the first key. Where torch is at fault rather than different, it does not: a masked NaN stays masked.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float

from clearhead import masks
from clearhead.torch.derivative import Mask
from clearhead.torch.function import FLOAT_TYPES, attention, autocast
from clearhead.torch.padding import both, mask_of, warn_of_float_flags


def scaled_dot_product_attention(
    query: Float[torch.Tensor, "... n_q d"],
    key: Float[torch.Tensor, "... n_k d"],
    value: Float[torch.Tensor, "... n_k d_v"],
    attn_mask: masks.Mask | Bool[torch.Tensor, ...] | Float[torch.Tensor, ...] | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Float[torch.Tensor, "... n_q d_v"]:
    """As torch.nn.functional.scaled_dot_product_attention.

    query (…, h, n_q, d)  key (…, h_kv, n_k, d)  value (…, h_kv, n_k, d_v) → (…, h, n_q, d_v)

    attn_mask: boolean, True = may attend, or float, added to the scores, or a mask from `clearhead.masks`; with
    is_causal, both hold, as on torch's fast path. The seed of the dropout is drawn from torch's generator, so
    torch.manual_seed makes it repeatable.
    """
    _check(query, key, value, attn_mask)
    if not 0 <= dropout_p <= 1:
        raise ValueError(f"dropout_p must be between 0 and 1, got {dropout_p}")
    query, key, value = autocast(query, key, value)
    _check_types(query, key, value, attn_mask)
    key, value = _heads(query, key, value, enable_gqa)
    mask, bias = _meaning(attn_mask, is_causal)
    if dropout_p == 1:  # nothing is kept: as if no key were allowed
        mask, dropout_p = masks.prefix(0), 0.0
    seed = int(torch.randint(2**62, ()).item()) if dropout_p else None
    return attention(query, key, value, mask=mask, bias=bias, scale=scale, dropout=dropout_p, seed=seed)


def _meaning(attn_mask: Mask | None, is_causal: bool) -> tuple[Mask | None, torch.Tensor | None]:
    """torch's mask as ours: what may be attended, and what is added to the scores."""
    causal = masks.causal(offset=0) if is_causal else None
    if isinstance(attn_mask, torch.Tensor) and attn_mask.is_floating_point():
        cure = "attn_mask.bool() lets the ones attend; clearhead.torch.attention(…, bias=) adds it without a word"
        warn_of_float_flags("attn_mask", attn_mask, cure)
        return causal, attn_mask
    if causal is None:
        return attn_mask, None
    return both(causal, mask_of(attn_mask) if isinstance(attn_mask, torch.Tensor) else attn_mask), None


def _check(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: Mask | None) -> None:
    for name, x in (("query", query), ("key", key), ("value", value), ("attn_mask", attn_mask)):
        if isinstance(x, torch.Tensor):
            if x.ndim < 2:
                raise RuntimeError(
                    f"{name} needs at least 2 dimensions, got shape {tuple(x.shape)} ({name}[None] adds one)"
                )
        elif name != "attn_mask":
            raise TypeError(f"{name} must be a torch tensor, got {type(x).__name__}")
        elif not (x is None or isinstance(x, masks.Mask)):
            raise TypeError(
                f"attn_mask must be a torch tensor or a mask from clearhead.masks, got {type(x).__name__} "
                "(torch.as_tensor(attn_mask) makes a tensor of an array)"
            )


def _check_types(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: Mask | None) -> None:
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            "query, key and value must have one dtype, "
            f"got query.dtype {query.dtype}, key.dtype {key.dtype} and value.dtype {value.dtype}"
        )
    if query.dtype not in FLOAT_TYPES:
        raise RuntimeError(f"query, key and value must be floats, got {query.dtype} (query.float() makes it one)")
    if isinstance(attn_mask, torch.Tensor) and attn_mask.dtype not in (torch.bool, torch.float32, query.dtype):
        raise RuntimeError(
            f"attn_mask must be boolean, float32 or of query's type, {query.dtype}, got {attn_mask.dtype} "
            "(attn_mask.bool() lets the places that are not 0 attend, attn_mask.to(query.dtype) is added)"
        )


def _heads(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, enable_gqa: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values as `attention` takes them, once their heads fit those of the queries as torch wants them to."""
    heads, *others = (x.shape[-3] if x.ndim > 2 else 1 for x in (query, key, value))
    if enable_gqa:
        if min(query.ndim, key.ndim, value.ndim) < 3:
            raise RuntimeError("enable_gqa needs queries, keys and values with heads, (…, h, positions, width)")
        if any(n == 0 or heads % n for n in others):
            raise RuntimeError(
                f"{heads} query heads cannot share {others[0]} key heads and {others[1]} value heads; "
                "the number of query heads must be a multiple of both"
            )
        if others[0] != others[1] and 1 not in others:
            return tuple(x.repeat_interleave(heads // n, -3) for x, n in zip((key, value), others, strict=True))  # type: ignore[return-value]
    elif len({heads, *others} - {1}) > 1:
        raise RuntimeError(
            f"query has {heads} heads, key {others[0]} and value {others[1]}; pass enable_gqa=True to let query heads "
            "share those of keys and values"
        )
    return key, value
