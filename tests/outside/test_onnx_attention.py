"""The textbook's attention before ONNX's 93 conformance cases of the operator Attention.

The adapter below only rearranges: it splits heads, joins the cache, pads a short mask and turns lengths and
windows into boolean masks. Every number comes out of clearhead. `test_onnx_attention_fast.py` puts another attention
and other masks into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clearhead.textbook.attention import (
    attention_scores,
    mask_scores,
    scaled_dot_product_attention,
)
from clearhead.textbook.masks import create_causal_mask

from .onnx_cases import Case, cases


def split_heads(x: np.ndarray, heads: int | None) -> np.ndarray:
    """(b, n, h · d) → (b, h, n, d); what has four axes already stays."""
    return x if x.ndim == 4 else x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def allowed_keys(
    n_q: int, n_k: int, offsets: list[int], lengths: np.ndarray | None, causal: bool, left: int, right: int
) -> np.ndarray:
    """Query i stands at position p = i + offset and sees p − left … p + right, up to p if causal, −1 being no bound.

    → (1 or b, 1, n_q, n_k): one offset for all sequences, or one for each
    """

    def up_to(shift: int) -> np.ndarray:
        return np.stack([create_causal_mask(n_q, n_k, offset=offset + shift) for offset in offsets])[:, None]

    allowed = np.ones((1, 1, n_q, n_k), dtype=bool)
    if causal:
        allowed = allowed & up_to(0)
    if left >= 0:
        allowed = allowed & ~up_to(-left - 1)
    if right >= 0:
        allowed = allowed & up_to(right)
    if lengths is not None:
        allowed = allowed & (np.arange(n_k) < lengths[:, None, None, None])
    return allowed


def textbook_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, **options: Any) -> np.ndarray:
    return scaled_dot_product_attention(Q, K, V, **options)[0]


def onnx_attention(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    attn_mask: np.ndarray | None = None,
    past_key: np.ndarray | None = None,
    past_value: np.ndarray | None = None,
    nonpad_kv_seqlen: np.ndarray | None = None,
    *,
    q_num_heads: int | None = None,
    kv_num_heads: int | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    is_causal: int = 0,
    left_window_size: int = -1,
    right_window_size: int = -1,
    qk_matmul_output_mode: int = 0,
    softmax_precision: int | None = None,  # not needed: clearhead's softmax never runs below float32
    attention: Callable[..., np.ndarray] = textbook_attention,
    masking: Callable[..., Any] = allowed_keys,
) -> dict[str, np.ndarray]:
    packed = Q.ndim == 3
    Q, K, V = split_heads(Q, q_num_heads), split_heads(K, kv_num_heads), split_heads(V, kv_num_heads)
    offsets = [0]
    if past_key is not None:
        K, V = np.concatenate([past_key, K], axis=2), np.concatenate([past_value, V], axis=2)
        offsets = [past_key.shape[2]]
    n_q, n_k = Q.shape[-2], K.shape[-2]
    if nonpad_kv_seqlen is not None:
        offsets = [int(length) - n_q for length in nonpad_kv_seqlen]
    rules = (n_q, n_k, offsets, nonpad_kv_seqlen, bool(is_causal), left_window_size, right_window_size)
    mask, allowed = masking(*rules), allowed_keys(*rules)
    bias = None
    if attn_mask is not None:
        forbidden = False if attn_mask.dtype == bool else -np.inf
        missing = [(0, 0)] * (attn_mask.ndim - 1) + [(0, n_k - attn_mask.shape[-1])]
        attn_mask = np.pad(attn_mask, missing, constant_values=forbidden)
        if attn_mask.dtype == bool:
            mask, allowed = mask & attn_mask, allowed & attn_mask
        else:
            bias = attn_mask

    options = {"scale": scale, "softcap": softcap or None}
    output = attention(Q, K, V, mask=mask, bias=bias, **options)
    scores = attention_scores(Q, K, **options)
    return {
        "Y": output.swapaxes(1, 2).reshape(len(output), n_q, -1) if packed else output,
        "present_key": K,
        "present_value": V,
        # what the node may show besides: the textbook's steps, each in its turn
        "qk_matmul_output": [
            attention_scores(Q, K, scale=scale),
            scores,
            mask_scores(scores, allowed, bias=bias),
            scaled_dot_product_attention(Q, K, V, allowed, bias=bias, **options)[1],
        ][qk_matmul_output_mode].astype(Q.dtype),
    }


@pytest.mark.parametrize("case", cases("Attention"))
def test_attention(case: Case):
    case.check(onnx_attention(**case.inputs, **case.attributes))


def test_no_case_is_missing():
    assert len(cases("Attention")) == 93
