"""torch's scaled_dot_product_attention: the same call and the same meaning, on clearhead's kernels.

Where torch and clearhead differ in meaning, this function follows torch: is_causal counts from the first query and
the first key. Where torch is at fault rather than different, it does not: a masked NaN stays masked.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float

from clearhead import masks
from clearhead.torch.function import attention


def scaled_dot_product_attention(
    query: Float[torch.Tensor, "... n_q d"],
    key: Float[torch.Tensor, "... n_k d"],
    value: Float[torch.Tensor, "... n_k d_v"],
    attn_mask: Bool[torch.Tensor, ...] | Float[torch.Tensor, ...] | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Float[torch.Tensor, "... n_q d_v"]:
    """As torch.nn.functional.scaled_dot_product_attention.

    query (…, h, n_q, d)  key (…, h_kv, n_k, d)  value (…, h_kv, n_k, d_v) → (…, h, n_q, d_v)

    attn_mask: boolean, True = may attend, or float, added to the scores; with is_causal, both hold, as on torch's fast
    path. The seed of the dropout is drawn from torch's generator, so torch.manual_seed makes it repeatable.
    """
    if not 0 <= dropout_p <= 1:
        raise ValueError(f"dropout_p must be between 0 and 1, got {dropout_p}")
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise ValueError("query, key and value need at least 2 dimensions, (…, positions, width)")
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            "query, key and value must have one dtype, "
            f"got query.dtype {query.dtype}, key.dtype {key.dtype} and value.dtype {value.dtype}"
        )
    if not enable_gqa and query.ndim > 2 and key.ndim > 2 and query.shape[-3] != key.shape[-3]:
        raise RuntimeError(
            f"query has {query.shape[-3]} heads and key {key.shape[-3]}; pass enable_gqa=True to let query heads share"
        )
    if dropout_p == 1:
        return (query[..., :1] * 0) @ (value[..., :1, :] * 0).expand(*value.shape[:-2], 1, value.shape[-1])
    seed = int(torch.randint(2**62, ()).item()) if dropout_p else None
    mask: masks.Mask | torch.Tensor | None = attn_mask
    bias = None
    if is_causal and attn_mask is not None and attn_mask.dtype == torch.bool:
        mask = masks.causal(offset=0) & masks.array(attn_mask.cpu().numpy())
    elif is_causal:
        mask, bias = masks.causal(offset=0), attn_mask
    output = attention(query, key, value, mask=mask, bias=bias, scale=scale, dropout=dropout_p, seed=seed)
    assert isinstance(output, torch.Tensor)
    return output
