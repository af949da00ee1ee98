"""Parts of the keys, joined on tensors: the same result and the same gradients as the whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import clearhead
import clearhead.torch as cht
from clearhead import masks

N_Q, N_K = 7, 53
OFFSET = N_K - N_Q


@pytest.fixture
def qkv():
    torch.manual_seed(3)
    shapes = ((2, 3, N_Q, 11), (2, 3, N_K, 11), (2, 3, N_K, 13))
    return tuple(torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)


def in_parts(q, k, v, cuts=(0, 5, 5, 48, N_K)):
    """Attention over runs of keys, the last of which most queries may not attend to."""
    return [
        cht.attention(q, k[..., a:b, :], v[..., a:b, :], mask=masks.causal(offset=OFFSET - a), return_lse=True)
        for a, b in itertools.pairwise(cuts)
    ]


def test_parts_and_their_gradients_are_those_of_the_whole(qkv):
    whole = cht.attention(*qkv, mask=masks.causal(), return_lse=True)
    joined = clearhead.merge(in_parts(*qkv))
    weights = [torch.randn_like(x) for x in whole]
    for got, expected in zip(joined, whole, strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=2e-15)
    for got, expected in zip(
        *(torch.autograd.grad(sum((x * w).sum() for x, w in zip(found, weights, strict=True)), qkv)
          for found in (joined, whole)),
        strict=True,
    ):  # fmt: skip
        torch.testing.assert_close(got, expected, rtol=1e-13, atol=1e-14)


def test_tensors_join_to_the_bits_that_arrays_do(qkv):
    parts = [tuple(x.detach() for x in part) for part in in_parts(*qkv)]
    arrays = clearhead.merge([tuple(x.numpy() for x in part) for part in parts])
    for got, expected in zip(clearhead.merge(parts), arrays, strict=True):
        np.testing.assert_allclose(got.numpy(), expected, rtol=0, atol=2e-15)


def test_a_query_that_no_part_saw_has_zeros_and_no_gradient(qkv):
    q, k, v = qkv
    nothing = [cht.attention(q, k, v, mask=masks.prefix(0), return_lse=True) for _ in range(2)]
    output, lse = clearhead.merge(nothing)
    assert not output.any()
    assert torch.isneginf(lse).all()
    for gradient in torch.autograd.grad(output.sum() + lse[torch.isfinite(lse)].sum(), qkv):
        assert not gradient.any()


def test_half_precision_is_joined_in_float32():
    torch.manual_seed(5)
    q, k, v = (torch.randn(3, n, 16, dtype=torch.bfloat16) for n in (5, 40, 40))
    output, lse = clearhead.merge(
        [cht.attention(q, k[:, a:b], v[:, a:b], return_lse=True) for a, b in ((0, 17), (17, 40))]
    )
    expected, sums = cht.attention(q, k, v, return_lse=True)
    assert output.dtype == torch.bfloat16
    assert lse.dtype == torch.float32
    torch.testing.assert_close(output, expected, rtol=2**-7, atol=2**-8)
    torch.testing.assert_close(lse, sums)


def test_parts_that_do_not_fit_together(qkv, unchecked):
    (output, lse), *_ = in_parts(*qkv)
    with pytest.raises(ValueError, match=r"part 1 has an output of shape \(2, 3, 6, 13\)"):
        clearhead.merge([(output, lse), (output[..., 1:, :], lse[..., 1:])])
    with pytest.raises(TypeError, match="lse 0 must be a torch tensor here, got a NumPy array"):
        clearhead.merge([(output, lse.detach().numpy())])
    with pytest.raises(TypeError, match="output 1 is a torch tensor and output 0 is not"):
        clearhead.merge([(output.detach().numpy(), lse.detach().numpy()), (output, lse)])
