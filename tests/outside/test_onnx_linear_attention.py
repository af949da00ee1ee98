"""ONNX's LinearAttention cases judge `recurrent_attention`."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.textbook.recurrent_attention import recurrent_attention

from .onnx_cases import cases

CASES = cases("LinearAttention")


def split(packed, heads):
    """(b, n, heads · width) → (b, heads, n, width)"""
    return np.moveaxis(packed.reshape(*packed.shape[:-1], heads, -1), -2, -3)


def linear_attention(
    query,
    key,
    value,
    past_state=None,
    decay=None,
    beta=None,
    *,
    q_num_heads,
    kv_num_heads,
    update_rule,
    scale,
    chunk_size,
):
    """The operator in clearhead's words: heads unpacked, scale 0 meaning the default, chunk_size only a hint."""
    output, state = recurrent_attention(
        split(query, q_num_heads),
        split(key, kv_num_heads),
        split(value, kv_num_heads),
        rule=update_rule,
        decay=None if decay is None else split(decay, kv_num_heads),
        beta=None if beta is None else np.moveaxis(beta, -1, -2),
        state=past_state,
        scale=scale or None,
    )
    return {"output": np.moveaxis(output, -3, -2).reshape(*query.shape[:-1], -1), "present_state": state}


def test_every_case_is_here():
    assert len(CASES) == 14


@pytest.mark.parametrize("case", CASES)
def test_linear_attention(case):
    case.check(linear_attention(**case.inputs, **case.attributes))
