"""What attention on tensors refuses and in which words, and what it explains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import clearhead
from clearhead import biases as numpy_biases, masks
from clearhead.torch import attention, biases, explain

from .tensors import N_K, N_Q, H, flags, qkv, randn


class TestErrors:
    @pytest.fixture(autouse=True)
    def as_a_user_sees_them(self, unchecked) -> None:
        """Without the shape annotations, which would answer first."""

    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"q": np.zeros((5, 3))}, TypeError, r"q must be a torch tensor here, got a NumPy array \(clearhead.att"),
            ({"k": np.zeros((5, 3))}, TypeError, r"k must be a torch tensor here, got a NumPy array"),
            ({"v": None}, TypeError, r"v must be a torch tensor, got NoneType"),
            ({"q": [[1.0]]}, TypeError, r"q must be a torch tensor, got list \(torch.tensor\(q\) may make one\)"),
            ({"mask": np.ones((5, 7), bool)}, TypeError, r"mask must be .* \(torch.from_numpy\(mask\) makes one\)"),
            ({"bias": np.zeros((5, 7))}, TypeError, r"bias must be a torch tensor here, got a NumPy array"),
            ({"sinks": np.zeros(1)}, TypeError, r"sinks must be a torch tensor here, got a NumPy array"),
            ({"mask": [[True]]}, TypeError, "mask must be a mask from clearhead.masks or a torch tensor, got list"),
            ({"bias": 1.0}, TypeError, "bias must be a torch tensor or a relative bias, got float"),
            ({"bias": masks.causal()}, TypeError, "bias must be a torch tensor or a relative bias, got _Span"),
            ({"sinks": [0.5]}, TypeError, "sinks must be a torch tensor, got list"),
            ({"q": torch.ones(5, 3, dtype=torch.long)}, TypeError,
             r"q must be float16, bfloat16, float32 or float64, got int64 \(did you pass token ids\? q.float\(\) m"),
            ({"v": torch.ones(7, 2, dtype=torch.complex64)}, TypeError, r"v must be float16, .* got complex64"),
            ({"bias": torch.ones(5, 7, dtype=torch.int32)}, TypeError, r"bias must be .* int32 \(bias.float\(\) makes"),
            ({"sinks": torch.ones(1, dtype=torch.bool)}, TypeError, r"sinks must be float16, .* got bool"),
            ({"mask": torch.ones(5, 7, dtype=torch.uint8)}, TypeError,
             r"mask must be boolean .* got uint8 \(mask.bool\(\) turns 0 and 1 into a boolean mask\)"),
            ({"k": torch.ones(7, 3, device="meta")}, ValueError,
             "all tensors must be on one device, got q on cpu, k on meta, v on cpu"),
            ({"q": torch.ones(3)}, ValueError, r"q needs at least 2 dimensions, got shape \(3,\)"),
            ({"k": torch.ones(7, 5)}, ValueError, "keys have 5 columns but queries have 3"),
            ({"v": torch.ones(8, 2)}, ValueError, "there are 7 keys but 8 values"),
            ({"q": torch.ones(5, 5, 3), "k": torch.ones(2, 7, 3)}, ValueError, "5 query heads cannot share 2 key"),
            ({"mask": torch.ones(5, 8, dtype=torch.bool)}, ValueError, r"mask of shape \(5, 8\) does not broadcast"),
            ({"mask": torch.ones(5, 8)}, ValueError, r"mask of shape \(5, 8\) does not broadcast to the scores' shape"),
            ({"bias": torch.ones(6, 7)}, ValueError, r"bias of shape \(6, 7\) does not broadcast to the scores' shape"),
            ({"bias": torch.ones(6, 7), "mask": torch.ones(5, 7)}, ValueError, r"bias of shape \(6, 7\) does not"),
            ({"bias": torch.ones(5, 7), "mask": torch.ones(4, 7)}, ValueError, r"mask of shape \(4, 7\) does not"),
            ({"bias": biases.alibi(torch.ones(3))}, ValueError, "the bias is for 3 heads but there are 1"),
            ({"bias": biases.RelativeBias(lambda _: torch.ones(1, 4))}, ValueError, "must give .heads, 11. numbers"),
            ({"bias": torch.full((5, 7), torch.nan)}, ValueError, "bias contains NaN; use -inf to forbid a key"),
            ({"mask": torch.full((5, 7), torch.inf)}, ValueError, r"mask contains \+inf; use -inf to forbid a key"),
            ({"sinks": torch.ones(2)}, ValueError, r"sinks need one number per head, shape \(1,\), got shape \(2,\)"),
            ({"sinks": torch.tensor([torch.nan])}, ValueError, "sinks must be numbers or -inf"),
            ({"scale": "x"}, TypeError, "scale must be a number, got 'x'"),
            ({"softcap": 0.0}, ValueError, "softcap must be greater than 0, got 0"),
            ({"dropout": 0.5}, ValueError, "dropout=0.5 needs a seed"),
            ({"dropout": 1.0, "seed": 1}, ValueError, "dropout must be at least 0 and less than 1, got 1"),
        ],
    )  # fmt: skip
    def test_messages(self, change, error, message):
        arguments: dict[str, Any] = {"q": torch.ones(5, 3), "k": torch.ones(7, 3), "v": torch.ones(7, 2)}
        with pytest.raises(error, match=message):
            attention(**arguments | change)

    def test_explain_refuses_the_same(self):
        with pytest.raises(TypeError, match="q must be a torch tensor here, got a NumPy array"):
            explain(np.zeros((5, 3)), torch.ones(7, 3), torch.ones(7, 2))
        with pytest.raises(ValueError, match="keys have 5 columns but queries have 3"):
            explain(torch.ones(5, 3), torch.ones(7, 5), torch.ones(7, 2))

    def test_arrays_and_tensors_do_not_mix(self):
        with pytest.raises(TypeError, match="k must be a torch tensor here, got a NumPy array"):
            clearhead.attention(torch.ones(5, 3), np.ones((7, 3)), np.ones((7, 2)))


class TestExplain:
    def test_it_is_the_plan_for_arrays(self):
        q, k, v = (x.detach() for x in qkv())
        for mine, theirs in (
            ({"mask": masks.causal()}, {"mask": masks.causal()}),
            ({"bias": biases.alibi(randn(H))}, {"bias": numpy_biases.alibi(randn(H).numpy())}),
            ({"mask": flags(N_Q, N_K)}, {"mask": flags(N_Q, N_K).numpy()}),
            ({"mask": masks.dilated(2), "sinks": randn(H)}, {"mask": masks.dilated(2), "sinks": randn(H).numpy()}),
        ):
            expected = clearhead.explain(q.numpy(), k.numpy(), v.numpy(), **theirs)
            assert explain(q, k, v, **mine) == expected
            assert clearhead.explain(q, k, v, **mine, strict=True) == expected

    def test_attention_on_tensors_is_strict_when_asked(self):
        q, k, v = (x.detach() for x in qkv())
        with pytest.raises(
            ValueError, match="strict: this call would be slow: the mask cannot be said in runs of keys"
        ):
            clearhead.attention(q, k, v, mask=~masks.dilated(2), strict=True)
        assert torch.equal(clearhead.attention(q, k, v, strict=True), attention(q, k, v))
