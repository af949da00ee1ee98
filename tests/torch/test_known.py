from __future__ import annotations

import pytest
import torch
from tests.forgetful import Forgetful

from clearhead import kernels, masks
from clearhead.torch import attention, derivative


def tensors(*shapes, kind=torch.float32):
    generator = torch.Generator().manual_seed(len(shapes))
    return [torch.randn(shape, generator=generator).to(kind) for shape in shapes]


SHAPES = (2, 4, 7, 8), (2, 2, 7, 8), (2, 2, 7, 5)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    calls = Forgetful(512)
    monkeypatch.setattr(kernels.known, "calls", calls)
    monkeypatch.setattr(kernels.known, "kin", calls.relatives)
    return calls


@pytest.fixture(autouse=True)
def no_gradients_known(monkeypatch):
    passes = Forgetful(512)
    monkeypatch.setattr(kernels.known_gradients, "passes", passes)
    monkeypatch.setattr(kernels.known_gradients, "kin", passes.relatives)
    return passes


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


def gradients(inputs, mask=None, weigh=torch.square, **options):
    """Of what `weigh` makes of the output, summed."""
    leaves = [x.clone().requires_grad_() if x.is_contiguous() else x.detach().requires_grad_() for x in inputs]
    weigh(attention(*leaves, mask, **options)).sum().backward()
    return [x.grad for x in leaves]


def assert_the_bits_of_a_new_one(nothing_known, no_gradients_known, inputs, *arguments, **options):
    """A second step is known, and gives what it would give if it were not."""
    gradients([x + 1 for x in inputs], *arguments, **options)
    assert len(no_gradients_known.values) == 1
    again = gradients(inputs, *arguments, **options)
    assert len(no_gradients_known.values) == 1
    nothing_known.forget()
    no_gradients_known.forget()
    for known, new in zip(again, gradients(inputs, *arguments, **options), strict=True):
        assert torch.equal(known, new)
        assert known.dtype == new.dtype


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(
    "mask", [None, masks.causal(), masks.causal() & masks.window(3), masks.key_lengths([5, 7])], ids=repr
)
def test_gradients_too(kind, mask, nothing_known, no_gradients_known):
    assert_the_bits_of_a_new_one(nothing_known, no_gradients_known, tensors(*SHAPES, kind=kind), mask)


@pytest.mark.parametrize("options", [{"scale": 0.3}, {"softcap": 4.0}], ids=str)
def test_gradients_with_options(options, nothing_known, no_gradients_known):
    assert_the_bits_of_a_new_one(nothing_known, no_gradients_known, tensors(*SHAPES), **options)


def test_gradients_over_keys_that_are_split_among_tasks(nothing_known, no_gradients_known):
    shapes = (1, 9, 16), (1, 700, 16), (1, 700, 16)
    assert_the_bits_of_a_new_one(nothing_known, no_gradients_known, tensors(*shapes))
    assert [known.splits > 1 for known in no_gradients_known.values.values()] == [True]


def test_gradients_of_types_that_differ(nothing_known, no_gradients_known):
    q, k, v = tensors(*SHAPES)
    for inputs in ([q.double(), k, v], [q, k.double(), v]):
        nothing_known.forget()
        no_gradients_known.forget()
        assert_the_bits_of_a_new_one(nothing_known, no_gradients_known, inputs)


def test_gradients_without_axes_of_heads(nothing_known, no_gradients_known):
    assert_the_bits_of_a_new_one(nothing_known, no_gradients_known, tensors((3, 8), (5, 8), (5, 8)))


def test_a_gradient_that_lies_otherwise_is_another_pass(nothing_known, no_gradients_known):
    inputs = tensors(*SHAPES)
    gradients(inputs)
    spread = gradients(inputs, weigh=lambda y: y)  # a sum's gradient is one number, everywhere
    assert len(no_gradients_known.values) == 2
    no_gradients_known.forget()
    for known, new in zip(gradients(inputs, weigh=lambda y: y), spread, strict=True):
        assert torch.equal(known, new)


def test_only_the_gradients_that_are_wanted(no_gradients_known):
    q, k, v = tensors(*SHAPES)
    q.requires_grad_()
    for _ in range(2):
        (gradient,) = torch.autograd.grad(attention(q, k, v).square().sum(), [q])
    assert len(no_gradients_known.values) == 1
    assert torch.equal(gradient, gradients([q.detach(), k, v])[0])
    assert k.grad is None


def test_what_was_broadcast_is_summed_and_not_known(no_gradients_known):
    q, k, v = tensors((2, 4, 7, 8), (4, 7, 8), (4, 7, 8))
    for _ in range(2):
        found = gradients([q, k, v])
    assert not no_gradients_known.values
    apart = [gradients([x, k, v])[1] for x in q]
    torch.testing.assert_close(found[1], apart[0] + apart[1], rtol=1e-5, atol=1e-6)


def test_a_gradient_of_the_lse_takes_the_whole_way(no_gradients_known):
    q, k, v = (x.requires_grad_() for x in tensors(*SHAPES))
    for _ in range(2):
        output, lse = attention(q, k, v, return_lse=True)
        torch.autograd.grad(output.sum() + lse.sum(), [q, k, v])
    assert not no_gradients_known.values


def test_flags_that_somebody_may_change_are_not_remembered(no_gradients_known):
    flags = torch.ones(7, 7, dtype=torch.bool).tril()
    for _ in range(2):
        gradients(tensors(*SHAPES), flags)
    assert not no_gradients_known.values


def test_saved_tensors_that_hooks_bring_back_in_another_layout(no_gradients_known):
    inputs = tensors(*SHAPES)
    expected = gradients(inputs)
    turned = lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2) if x.ndim > 1 else x  # noqa: E731
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, turned):
        found = gradients(inputs)
    for x, y in zip(found, expected, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)


def test_a_known_gradient_is_not_differentiated_either():
    q, k, v = (x.requires_grad_() for x in tensors(*SHAPES))
    gradients([q.detach(), k.detach(), v.detach()])
    (first,) = torch.autograd.grad(attention(q, k, v).square().sum(), [q], create_graph=True)
    with pytest.raises(NotImplementedError, match="once, not twice"):
        first.sum().backward()


def test_a_mask_made_anew_for_each_step(no_gradients_known):
    for _ in range(3):
        found = gradients(tensors(*SHAPES), masks.causal())
    assert len(no_gradients_known.values) == 1
    no_gradients_known.forget()
    for known, new in zip(found, gradients(tensors(*SHAPES), masks.causal()), strict=True):
        assert torch.equal(known, new)


def test_a_new_call_is_prepared_once(monkeypatch, nothing_known):
    prepared = []
    prepare = derivative.prepare
    monkeypatch.setattr(derivative, "prepare", lambda *x, **options: prepared.append(1) or prepare(*x, **options))
    attention(*tensors(*SHAPES), masks.causal())
    attention(*tensors(*SHAPES), masks.causal())
    assert len(nothing_known.values) == len(prepared) == 1


def test_a_tensor_that_begins_to_need_a_gradient_gets_one():
    q, k, v = tensors(*SHAPES)
    attention(q, k, v)
    assert not attention(q, k, v).requires_grad
    assert attention(q.requires_grad_(), k, v).requires_grad
    with torch.no_grad():
        assert not attention(q, k, v).requires_grad


@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (3, 5, 7), (2, 3, 1, 7)])
@pytest.mark.parametrize("gradient", [False, True])
def test_the_heads_of_a_query_lie_side_by_side(shape, gradient):
    """As torch's own attention has them: what comes next in a model then joins them without moving anything."""
    q, k, v = (torch.randn(shape, requires_grad=gradient) for _ in range(3))
    first, again = attention(q, k, v), attention(q, k, v)
    for output in (first, again):
        assert output.transpose(-3, -2).is_contiguous()
    assert torch.equal(first, again)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("n_k", [7, 4001])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3, 1, 2, 1)])
def test_the_gradients_of_heads_that_lie_side_by_side_do_so_too(batch, n_k, kind):
    """What a layer computed in one product goes back through it without being moved."""
    q, k, v = tensors((*batch, 5, 4, 16), (*batch, n_k, 2, 16), (*batch, n_k, 2, 8), kind=kind)
    packed = [x.transpose(-3, -2).detach().requires_grad_() for x in (q, k, v)]
    apart = [x.detach().contiguous().requires_grad_() for x in packed]
    for _ in range(2):  # of a call that is new, and of one that is known
        lying, others = (torch.autograd.grad(attention(*x).square().sum(), x) for x in (packed, apart))
        for one, other in zip(lying, others, strict=True):
            assert one.transpose(-3, -2).is_contiguous()
            assert other.is_contiguous()
            assert torch.equal(one, other)


def test_split_keys_lie_alike():
    q, k = torch.randn(1, 2, 5, 16), torch.randn(1, 2, 4001, 16)
    first, again = attention(q, k, k), attention(q, k, k)
    assert first.stride() == again.stride()
    assert torch.equal(first, again)


@pytest.mark.parametrize("joined", [lambda m: m, lambda m: m & masks.causal()], ids=["lengths", "and causal"])
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_the_masks_of_batches_with_padding(joined, kind, nothing_known, no_gradients_known, monkeypatch):
    """Each step brings other lengths, and nothing is prepared again; the bits are those of a new call."""
    inputs = tensors(*SHAPES, kind=kind)
    lengths = [[5, 7], [3, 1], [7, 7]]
    expected = []
    for each in lengths:
        nothing_known.forget()
        no_gradients_known.forget()
        expected.append(gradients(inputs, joined(masks.key_lengths(each))))
    monkeypatch.setattr(derivative, "prepared", None)
    for each, wanted in zip(lengths, expected, strict=True):
        for one, other in zip(gradients(inputs, joined(masks.key_lengths(each))), wanted, strict=True):
            assert torch.equal(one, other)
