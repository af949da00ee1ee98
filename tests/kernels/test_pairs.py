"""Products of pairs of bfloat16: chosen where the processor has them, and no less exact than torch's.

What they compute is in the table of calls, with bounds that say how far rounding a weight can move an output.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead.torch as cht
from clearhead import masks
from clearhead.dispatch import attention, explain
from clearhead.kernels import target
from clearhead.tensors import to_torch

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
with_pairs = pytest.mark.skipif(not target.TARGET.pairs, reason="this processor does not multiply pairs of bfloat16")


def draw(*shape: int, seed: int = 0, kind: np.dtype = BFLOAT16) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ({"avx512f", "avx512dq", "avx512bf16", "avx2", "fma"}, ("avx512", True)),
        ({"avx512f", "avx512dq", "avx2", "fma"}, ("avx512", False)),
        ({"avx512f", "avx2", "fma"}, ("avx2", False)),
        ({"avx2", "fma"}, ("avx2", False)),
        (set(), ("generic", False)),
    ],
    ids=["AVX512-BF16", "AVX-512", "AVX-512 without DQ", "AVX2", "nothing"],
)
def test_pairs_are_for_processors_that_have_them(monkeypatch, features, expected):
    words = ",".join(f"+{feature}" for feature in sorted(features))
    monkeypatch.setattr(target, "processor", lambda: target.Processor("some processor", words))
    found = target.detect()
    assert (found.name, found.pairs) == expected


@with_pairs
def test_only_calls_that_are_all_bfloat16_are_multiplied_in_pairs():
    half, single = draw(3, 70, 16), draw(3, 70, 16, kind=np.dtype(np.float32))
    said = "bfloat16 is multiplied in pairs"
    assert said in explain(half, half, half).reason
    assert said in explain(half, half, half, of="look").reason
    assert said in explain(half, half, half, of="gradients").reason
    for arrays in ((single, half, half), (half, single, half), (half, half, single), (single, single, single)):
        assert said not in explain(*arrays).reason


@with_pairs
@pytest.mark.parametrize("causal", [False, True], ids=["dense", "causal"])
@pytest.mark.parametrize(("n", "d", "spread"), [(300, 64, 1), (700, 128, 1), (500, 64, 6)])
def test_the_error_is_not_above_that_of_torch(n, d, spread, causal):
    """Over so many numbers a root mean square is known to a quarter of a percent."""
    q, k, v = (draw(1, 4, n, d, seed=seed) for seed in range(3))
    q = (q.astype(np.float32) * spread).astype(BFLOAT16)
    tensors = [to_torch(x) for x in (q, k, v)]
    torchs = torch.nn.functional.scaled_dot_product_attention
    exact = torchs(*(x.double() for x in tensors), is_causal=causal)
    ours = to_torch(attention(q, k, v, mask=masks.causal() if causal else None)).double() - exact
    theirs = torchs(*tensors, is_causal=causal).double() - exact
    assert ours.square().mean().sqrt() <= 1.01 * theirs.square().mean().sqrt()


@with_pairs
@pytest.mark.parametrize("causal", [False, True], ids=["dense", "causal"])
@pytest.mark.parametrize(("n", "d", "spread"), [(300, 64, 1), (300, 33, 6)])
def test_the_error_of_gradients_is_not_above_that_of_torch(n, d, spread, causal):
    tensors = [to_torch(draw(1, 4, n, d, seed=seed)) for seed in range(4)]
    tensors[0] *= spread

    def gradients(attend: Callable[..., torch.Tensor], kind: torch.dtype) -> list[torch.Tensor]:
        *leaves, incoming = (x.to(kind, copy=True) for x in tensors)
        attend(*(x.requires_grad_() for x in leaves)).backward(incoming)
        return [x.grad.double() for x in leaves]

    torchs = functools.partial(torch.nn.functional.scaled_dot_product_attention, is_causal=causal)
    exact, theirs = (gradients(torchs, kind) for kind in (torch.float64, torch.bfloat16))
    ours = gradients(functools.partial(cht.attention, mask=masks.causal() if causal else None), torch.bfloat16)
    for name, a, b, true in zip("qkv", ours, theirs, exact, strict=True):
        assert (a - true).square().mean().sqrt() <= 1.01 * (b - true).square().mean().sqrt(), name


@with_pairs
def test_weights_are_rounded_to_nearest():
    """The second weight is 2^(i/64): its value comes out as bfloat16 has it, ties to even, divided by what it was."""
    exponents = np.arange(0, 64)[:, None] / 64 - 1
    q = (exponents * 64).astype(BFLOAT16)  # whole numbers
    k = np.array([[0], [1]]).astype(BFLOAT16)
    v = np.array([[0], [1]]).astype(BFLOAT16)
    output, lse = attention(q, k, v, scale=float(np.log(2) / 64), return_lse=True)
    weight = np.exp2(exponents).astype(np.float32).astype(BFLOAT16).astype(np.float64)
    expected = (weight / (1 + np.exp2(exponents))).astype(np.float32).astype(BFLOAT16)
    np.testing.assert_array_equal(output.astype(np.float32), expected.astype(np.float32))
    np.testing.assert_allclose(lse, np.log1p(np.exp2(exponents[:, 0])), rtol=1e-6)  # of weights before rounding


@with_pairs
def test_what_is_too_small_counts_as_zero():
    """The instruction takes numbers below the normal ones for zero; those above count in full."""
    q = k = np.zeros((1, 2, 16), BFLOAT16)
    least = float(ml_dtypes.finfo(BFLOAT16).smallest_normal)
    for size, expected in ((least / 2, 0.0), (4 * least, 4 * least)):
        v = np.full((1, 2, 16), size, BFLOAT16)
        np.testing.assert_array_equal(attention(q, k, v).astype(np.float64), expected)
