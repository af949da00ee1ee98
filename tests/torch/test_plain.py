from __future__ import annotations

import pytest
import torch
from tests.torch.test_known import SHAPES, tensors
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad

from clearhead.torch import attention
from clearhead.torch.plain import is_plain, key_of


def test_what_tells_calls_apart():
    q, k, v = tensors(*SHAPES)
    key = key_of(q, k, v, None, None, None, 0)
    assert key == key_of(q + 1, k + 1, v + 1, None, None, None, 0)
    others = [
        key_of(q.mT.contiguous().mT, k, v, None, None, None, 0),
        key_of(q.double(), k, v, None, None, None, 0),
        key_of(q, k[:, :1], v[:, :1], None, None, None, 0),
        key_of(q, k, v, None, 0.5, None, 0),
        key_of(q, k, v, None, None, 2.0, 0),
        key_of(q, k, v, None, None, None, 1),
    ]
    assert len({key, *others}) == 1 + len(others)
    assert key_of(q, k, v, torch.ones(7, 7, dtype=torch.bool), None, None, 0) is None
    with torch.autocast("cpu", torch.bfloat16):
        assert key_of(q, k, v, None, None, None, 0) is None


def test_plain_tensors():
    x = torch.ones(2, 3)
    assert is_plain(x)
    assert is_plain(x[:, ::2])
    for other in (torch.nn.Parameter(x), x.to("meta"), x.to_sparse(), torch._neg_view(x), x.numpy(), None):
        assert not is_plain(other)


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
