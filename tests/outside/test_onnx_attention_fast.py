"""`clearhead.attention` before ONNX's 93 Attention cases, by the textbook's adapter with kernels and masks put in.

Once with masks as boolean arrays and once as structures from `clearhead.masks`. The node's second output, the
scores, is the textbook's: attention never has them.
"""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.dispatch import attention

from .onnx_cases import Case, cases
from .test_onnx_attention import allowed_keys, onnx_attention


def structured(
    n_q: int, n_k: int, offsets: list[int], lengths: np.ndarray | None, causal: bool, left: int, right: int
) -> masks.Mask:
    """What `allowed_keys` writes out, as masks that know their runs of keys. −1 is no bound."""
    if len(set(offsets)) > 1 and (causal or left >= 0 or right >= 0):  # sequences that stand at different places
        return masks.array(allowed_keys(n_q, n_k, offsets, lengths, causal, left, right))
    offset = offsets[0]
    allowed = masks.window(*(masks.UNLIMITED if side < 0 else side for side in (left, right)), offset=offset)
    if causal:
        allowed = allowed & masks.causal(offset=offset)
    return allowed if lengths is None else allowed & masks.key_lengths(lengths)


@pytest.mark.parametrize("masking", [allowed_keys, structured], ids=["arrays", "structures"])
@pytest.mark.parametrize("case", cases("Attention"))
def test_attention(case: Case, masking):
    case.check(onnx_attention(**case.inputs, **case.attributes, attention=attention, masking=masking))


def test_no_case_is_missing():
    assert len(cases("Attention")) == 93
