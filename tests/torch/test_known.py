from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad

from clearhead import kernels, masks
from clearhead.kernels.remembering import Remembered
from clearhead.torch import attention


def tensors(*shapes, kind=torch.float32):
    generator = torch.Generator().manual_seed(len(shapes))
    return [torch.randn(shape, generator=generator).to(kind) for shape in shapes]


SHAPES = (2, 4, 7, 8), (2, 2, 7, 8), (2, 2, 7, 5)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    calls = Remembered(512)
    monkeypatch.setattr(kernels.known, "calls", calls)
    return calls


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("mask", [None, masks.causal(), masks.key_lengths([5, 7])], ids=repr)
def test_a_call_like_one_before_gives_the_bits_of_one_that_is_new(kind, mask, nothing_known):
    attention(*tensors(*SHAPES, kind=kind), mask, return_lse=True)
    assert len(nothing_known.values) == 1
    inputs = [x + 1 for x in tensors(*SHAPES, kind=kind)]
    again = attention(*inputs, mask, return_lse=True)
    assert len(nothing_known.values) == 1
    nothing_known.forget()
    for known, new in zip(again, attention(*inputs, mask, return_lse=True), strict=True):
        assert torch.equal(known, new)
        assert known.dtype == new.dtype


@pytest.mark.parametrize("mask", [None, masks.causal()], ids=repr)
def test_gradients_too(mask, nothing_known):
    def gradients(inputs):
        leaves = [x.clone().requires_grad_() for x in inputs]
        attention(*leaves, mask).square().sum().backward()
        return [x.grad for x in leaves]

    gradients(tensors(*SHAPES))
    assert len(nothing_known.values) == 1
    inputs = [x + 1 for x in tensors(*SHAPES)]
    again = gradients(inputs)
    nothing_known.forget()
    for known, new in zip(again, gradients(inputs), strict=True):
        assert torch.equal(known, new)


def test_a_tensor_that_begins_to_need_a_gradient_gets_one():
    q, k, v = tensors(*SHAPES)
    attention(q, k, v)
    assert not attention(q, k, v).requires_grad
    assert attention(q.requires_grad_(), k, v).requires_grad
    with torch.no_grad():
        assert not attention(q, k, v).requires_grad


class TestWhatIsNotPlain:
    """What the kernels may not read as it lies goes the whole way, also where a plain call of its shape is known."""

    def test_signs_that_are_turned_when_read(self):
        q, k, v = tensors(*SHAPES)
        attention(q, k, v)
        turned = torch._neg_view(q)
        assert torch.equal(attention(turned, k, v), attention(turned.clone(), k, v))

    def test_autocast(self):
        q, k, v = tensors(*SHAPES)
        attention(q, k, v)
        with torch.autocast("cpu", torch.bfloat16):
            assert attention(q, k, v).dtype == torch.bfloat16

    def test_transforms(self):
        q, k, v = tensors(*SHAPES)
        attention(q, k, v)
        gradient = torch.func.grad(lambda q: attention(q, k, v).square().sum())(q)
        leaf = q.clone().requires_grad_()
        attention(leaf, k, v).square().sum().backward()
        assert torch.equal(gradient, leaf.grad)

    def test_no_numbers_at_all(self):
        q, k, v = tensors(*SHAPES)
        attention(q, k, v)
        with FakeTensorMode(allow_non_fake_inputs=True), pytest.raises(RuntimeError):
            attention(q, k, v)

    def test_forward_mode(self):
        q, k, v = tensors(*SHAPES)
        attention(q, k, v)
        with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="no forward-mode derivative"):
            attention(forward_ad.make_dual(q, torch.ones_like(q)), k, v)

    def test_zeros_without_memory(self):
        q, k, v = tensors(*SHAPES)
        attention(q, k, v)
        with pytest.raises(RuntimeError, match="ZeroTensor"):
            attention(torch._efficientzerotensor(q.shape), k, v)


@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (3, 5, 7), (2, 3, 1, 7)])
@pytest.mark.parametrize("gradient", [False, True])
def test_the_heads_of_a_query_lie_side_by_side(shape, gradient):
    """As torch's own attention has them: what comes next in a model then joins them without moving anything."""
    q, k, v = (torch.randn(shape, requires_grad=gradient) for _ in range(3))
    first, again = attention(q, k, v), attention(q, k, v)
    for output in (first, again):
        assert output.transpose(-3, -2).is_contiguous()
    assert torch.equal(first, again)


def test_split_keys_lie_alike():
    q, k = torch.randn(1, 2, 5, 16), torch.randn(1, 2, 4001, 16)
    first, again = attention(q, k, k), attention(q, k, k)
    assert first.stride() == again.stride()
    assert torch.equal(first, again)
