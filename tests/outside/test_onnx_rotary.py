"""ONNX's RotaryEmbedding cases judge `apply_rope`."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.textbook.rope import apply_rope

from .onnx_cases import cases

CASES = cases("RotaryEmbedding")


def rotary_embedding(
    X, cos_cache, sin_cache, position_ids=None, *, interleaved=0, rotary_embedding_dim=0, num_heads=None
):
    """The operator in clearhead's words: heads before positions, angles looked up, a head axis for them."""
    heads = X if num_heads is None else np.moveaxis(X.reshape(*X.shape[:-1], num_heads, -1), -2, -3)
    if position_ids is not None:
        cos_cache, sin_cache = cos_cache[position_ids], sin_cache[position_ids]
    assert rotary_embedding_dim in (0, 2 * cos_cache.shape[-1])
    Y = apply_rope(heads, cos_cache[:, None], sin_cache[:, None], interleaved=bool(interleaved))
    return Y if num_heads is None else np.moveaxis(Y, -3, -2).reshape(X.shape)


def test_every_case_is_here():
    assert len(CASES) == 8


@pytest.mark.parametrize("case", CASES)
def test_rotary_embedding(case):
    case.check({"Y": rotary_embedding(**case.inputs, **case.attributes)})
