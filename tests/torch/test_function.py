"""Attention under autograd: finite differences judge the gradient of every option."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from torch.autograd import grad, gradcheck

from clearhead import biases as numpy_biases, masks
from clearhead.kernels import gradients as kernels
from clearhead.torch import attention, biases

from .tensors import D_V, KV, N_K, N_Q, TYPES, B, D, H, flags, leaf, qkv, randn


def forbidding(*shape: int) -> torch.Tensor:
    """Numbers, and −inf for some of them; in the second row for all."""
    x = torch.where(flags(*shape), randn(*shape, seed=6), -torch.inf)
    x[..., 1, :] = -torch.inf
    return x.requires_grad_()


Case = tuple[list[torch.Tensor], Callable[..., dict[str, Any]]]


def just(**options: Any) -> Case:
    return [], lambda: options


MASKS: dict[str, Case] = {
    f"mask {name}": just(mask=mask)
    for name, mask in {
        "causal": masks.causal(),
        "causal from the first key": masks.causal(offset=0),
        "causal, empty rows": masks.causal(offset=-2),
        "window": masks.window(2),
        "band": masks.window(1, 2),
        "key lengths": masks.key_lengths([4, 0]),
        "prefix": masks.prefix(3),
        "packed documents": masks.documents(np.array([0, 0, 1, 1, 1, 2, 2])) & masks.causal(),
        "documents in pieces": masks.documents(np.array([0, 1, 0, 1, 2, 2, 0])),
        "dilated": masks.dilated(2),
        "blocks": masks.block_sparse(np.array([[True, False, True], [False, True, True]]), 3),
        "array": masks.array(flags(H, N_Q, N_K).numpy()),
        "rule": masks.where(lambda b, h, i, j: (b + h + i + j) % 3 > 0),
        "either": masks.causal() | masks.prefix(2),
        "not": ~masks.window(2),
        "composed": masks.causal() & masks.key_lengths([7, 5]) & flags(N_Q, N_K).numpy() & masks.dilated(2),
    }.items()
}
TENSORS: dict[str, Case] = {
    **{
        f"boolean mask {shape}": just(mask=flags(*shape))
        for shape in [(B, H, N_Q, N_K), (H, 1, N_K), (N_Q, N_K), (N_Q, 1), (N_K,)]
    },
    **{
        f"float mask {shape}": ([leaf(*shape)], lambda mask: {"mask": mask})
        for shape in [(B, H, N_Q, N_K), (B, 1, 1, N_K), (N_K,)]
    },
    "float mask with −inf": ([forbidding(N_Q, N_K)], lambda mask: {"mask": mask}),
    "float mask and bias": ([leaf(N_Q, N_K), leaf(H, 1, N_K)], lambda mask, bias: {"mask": mask, "bias": bias}),
    "float mask and slopes": (
        [leaf(N_Q, N_K), leaf(H)],
        lambda mask, slopes: {"mask": mask, "bias": biases.alibi(slopes)},
    ),
    "float mask and constant slopes": (
        [leaf(B, 1, 1, N_K)],
        lambda mask: {"mask": mask, "bias": numpy_biases.alibi(H)},
    ),
}
BIASES: dict[str, Case] = {
    **{
        f"bias {name}": ([leaf(*shape)], lambda bias: {"bias": bias})
        for name, shape in {
            "full": (B, H, N_Q, N_K),
            "shared over heads": (B, 1, N_Q, N_K),
            "shared over the batch": (H, N_Q, N_K),
            "shared over batch and heads": (N_Q, N_K),
            "broadcast over queries": (B, H, 1, N_K),
            "broadcast over queries and heads": (1, N_K),
            "broadcast over keys": (H, N_Q, 1),
            "broadcast over keys and heads": (N_Q, 1),
            "per head": (H, 1, 1),
            "one number, as a matrix": (1, 1),
            "one number": (),
            "per key": (N_K,),
        }.items()
    },
    "bias with −inf": ([forbidding(H, N_Q, N_K)], lambda bias: {"bias": bias}),
    "bias and a rule": ([leaf(N_Q, N_K)], lambda bias: {"bias": bias, "mask": masks.dilated(2)}),
    "slopes": ([leaf(H)], lambda slopes: {"bias": biases.alibi(slopes), "mask": masks.causal()}),
    "slopes with an offset": ([leaf(H)], lambda slopes: {"bias": biases.alibi(slopes, offset=-1)}),
    "one slope for all": ([leaf(1)], lambda slopes: {"bias": biases.alibi(slopes)}),
    "T5's table": ([leaf(8, H)], lambda table: {"bias": biases.t5(table, max_distance=16)}),
    "T5's table, one way": ([leaf(6, H)], lambda table: {"bias": biases.t5(table, bidirectional=False)}),
    "T5's table and a rule": ([leaf(8, H)], lambda table: {"bias": biases.t5(table), "mask": masks.dilated(3)}),
    "constant slopes": just(bias=numpy_biases.alibi(H), mask=masks.causal()),
    "constant table": just(bias=numpy_biases.t5(randn(8, H).numpy())),
}
OTHERS: dict[str, Case] = {
    "plain": just(),
    "softcap": just(softcap=0.8),
    "sinks": ([leaf(H)], lambda sinks: {"sinks": sinks}),
    "sinks, one of −inf, empty rows": (
        [torch.tensor([0.3, -torch.inf, 1.0, -0.7], dtype=torch.float64, requires_grad=True)],
        lambda sinks: {"sinks": sinks, "mask": masks.key_lengths([0, 4])},
    ),
    "one sink for all": ([leaf(1)], lambda sinks: {"sinks": sinks}),
    "a sink that is a number": just(sinks=0.4),
    "dropout": just(dropout=0.4, seed=3),
    "dropout of all there are": just(dropout=1 - 2.0**-40, seed=3),
    "scale 0": just(scale=0.0),
    "scale negative": just(scale=-0.7),
    "everything": (
        [leaf(H, N_Q, N_K), leaf(H)],
        lambda bias, sinks: {
            "bias": bias,
            "sinks": sinks,
            "softcap": 1.5,
            "dropout": 0.2,
            "seed": 9,
            "scale": 0.9,
            "mask": masks.causal() & masks.where(lambda b, h, i, j: (i + j + h) % 4 != b),
        },
    ),
}
CASES = MASKS | TENSORS | BIASES | OTHERS


@pytest.mark.usefixtures("unchecked")  # thousands of calls: the shapes of one are checked as those of any other
class TestFiniteDifferences:
    def check(self, leaves: list[torch.Tensor], options: Callable[..., dict[str, Any]]) -> None:
        """gradcheck in float64, of a loss that every number of the output and of lse takes part in."""

        def loss(*tensors: torch.Tensor) -> torch.Tensor:
            q, k, v, *more = tensors
            output, lse = attention(q, k, v, return_lse=True, **options(*more))
            seen = lse.masked_fill(torch.isneginf(lse), 0)
            return (output * randn(*output.shape, seed=8)).sum() + (seen * randn(*seen.shape, seed=9)).sum()

        assert gradcheck(loss, leaves, eps=1e-5, atol=1e-8, rtol=1e-7)

    @pytest.mark.parametrize("name", CASES)
    def test_every_option(self, name):
        more, options = CASES[name]
        q, k, _ = qkv()
        self.check([q, k, leaf(B, KV, N_K, 2), *more], options)

    @pytest.mark.parametrize(
        ("q", "k", "v"),
        [
            ((N_Q, D), (N_K, D), (N_K, D_V)),
            ((H, N_Q, D), (H, N_K, D), (H, N_K, D)),
            ((3, 2, 2, N_Q, 1), (3, 2, 2, 3, 1), (3, 2, 2, 3, 2)),
            ((2, 1, 1, 1, 3, 1, 2, 3, D), (1, 1, 1, 1, 3, 1, 1, 5, D), (2, 1, 1, 1, 1, 1, 1, 5, 2)),
            ((3, 1, 6, 2, D), (2, 1, N_K, D), (3, N_K, 1)),
            ((1, N_Q, D), (3, N_K, D), (1, N_K, D_V)),
            ((N_Q, D), (2, 3, N_K, D), (N_K, D_V)),
            ((H, 1, 1), (1, 1, 1), (H, 1, 1)),
        ],
        ids=str,
    )
    def test_leading_axes_and_widths(self, q, k, v):
        self.check([leaf(*q), leaf(*k, seed=1), leaf(*v, seed=2)], lambda: {"mask": masks.causal(), "softcap": 3.0})

    def test_no_head_axis_with_everything_a_head_can_have(self):
        tensors = [leaf(N_Q, D), leaf(N_K, D), leaf(N_K, D_V), leaf(1), leaf(1, seed=1)]
        self.check(tensors, lambda slopes, sinks: {"bias": biases.alibi(slopes), "sinks": sinks})
        tensors = [leaf(N_Q, D), leaf(N_K, D), leaf(N_K, D_V), leaf(1), leaf(N_Q, N_K)]
        self.check(tensors, lambda slopes, mask: {"bias": biases.alibi(slopes), "mask": mask})

    def test_one_head_whose_keys_are_split(self):
        """Parts of 384 keys; differences in the queries, in the bias of one key, and in the values of a few keys."""
        q, k, bias = leaf(3, 2), randn(1601, 2), leaf(3, 1)
        values, few = randn(1601, 2), leaf(1601, 1)

        def call(q: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            return attention(q, k, values, bias=bias, mask=masks.causal())

        assert gradcheck(call, (q, bias), atol=1e-7)
        exact = torch.softmax(randn(3, 2) @ k.T * 2**-0.5, dim=-1)
        (found,) = grad(attention(randn(3, 2), k, few).sum(), few)
        torch.testing.assert_close(found[:, 0], exact.sum(dim=0), rtol=1e-12, atol=1e-15)

    def test_a_strip_boundary(self):
        """A mask that is worked out 256 queries at a time, with a bias of every kind of broadcasting."""
        for shape in ((259, 1), (1, 3), (259, 3), (1, 1)):
            q, k, v, bias = randn(259, 1), leaf(3, 1), leaf(3, 1), leaf(*shape)
            mask = masks.where(lambda b, h, i, j: (i + j) % 3 != 1)
            found = grad(attention(q, k, v, mask=mask, bias=bias).sin().sum(), (k, v, bias))
            allowed = torch.tensor(mask.array(259, 3))
            weights = torch.softmax((q @ k.T + bias).masked_fill(~allowed, -torch.inf), dim=-1)
            expected = grad((weights @ v).sin().sum(), (k, v, bias))
            for a, b in zip(found, expected, strict=True):
                torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-13)


class TestWhatIsAsked:
    @pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (3,), (4,), (1, 3), (0, 2, 4)], ids=str)
    def test_only_what_is_asked_for_is_returned(self, wanted):
        tensors = [x.detach() for x in (*qkv(), randn(N_Q, N_K), randn(H))]
        every = [x.clone().requires_grad_() for x in tensors]
        some = [x.clone().requires_grad_(n in wanted) for n, x in enumerate(tensors)]
        for q, k, v, bias, sinks in (every, some):
            attention(q, k, v, bias=bias, sinks=sinks).sin().sum().backward()
        for n, (a, b) in enumerate(zip(every, some, strict=True)):
            assert torch.equal(a.grad, b.grad) if n in wanted else b.grad is None

    @pytest.mark.parametrize(("of_bias", "expected"), [(False, False), (True, True)])
    def test_the_gradient_of_a_bias_is_computed_only_if_asked_for(self, of_bias, expected):
        bias = randn(N_Q, N_K).requires_grad_(of_bias)
        output = attention(*qkv(), bias=bias)
        with mock.patch.object(kernels, "gradients", wraps=kernels.gradients) as spy:
            output.sum().backward()
        assert spy.call_args.kwargs["of_bias"] is expected

    def test_nothing_is_computed_for_an_output_nobody_used(self):
        q, k, v = qkv()
        output, _ = attention(q, k, v, return_lse=True)
        unused = output.detach().requires_grad_()
        with mock.patch.object(kernels, "gradients", side_effect=AssertionError):
            assert grad(unused.sum(), (q, unused), allow_unused=True)[0] is None

    def test_through_lse_alone(self):
        q, k, v = qkv()
        _, lse = attention(q, k, v, return_lse=True)
        d_q, d_k, d_v = grad(lse.sum(), (q, k, v))
        wide = k.repeat_interleave(H // KV, dim=1)
        weights = torch.softmax(q @ wide.mT * D**-0.5, dim=-1)
        torch.testing.assert_close(d_q, weights @ wide * D**-0.5)
        d_wide = weights.mT @ q * D**-0.5
        torch.testing.assert_close(d_k, d_wide.unflatten(1, (KV, -1)).sum(dim=2))
        assert (d_v == 0).all()

    def test_a_training_step_asks_its_mask_once(self):
        asked = []

        class Asked(masks.Mask):
            def ranges(self, sizes: masks.Sizes) -> masks.Ranges | None:
                asked.append(sizes)
                return masks.causal().ranges(sizes)

        q, k, v = qkv()
        attention(q, k, v, mask=Asked() & masks.key_lengths([7, 5])).sum().backward()
        assert asked == [masks.Sizes(N_Q, N_K, (B,), H)]
        found = q.grad
        attention(*(tensors := qkv()), mask=masks.causal() & masks.key_lengths([7, 5])).sum().backward()
        torch.testing.assert_close(found, tensors[0].grad, rtol=0, atol=0)


class TestBroadcastInputs:
    def test_a_gradient_has_the_shape_of_its_own_input(self):
        q, k, v = leaf(3, N_Q, D), leaf(5, 1, N_K, D), leaf(1, 3, N_K, D_V)
        found = grad(attention(q, k, v).sin().sum(), (q, k, v))
        lead = (5, 3)
        wide = [x.detach().expand(*lead, *x.shape[-2:]).clone().requires_grad_() for x in (q, k, v)]
        expected = grad(attention(*wide).sin().sum(), wide)
        for x, a, b in zip((q, k, v), found, expected, strict=True):
            assert a.shape == x.shape
            torch.testing.assert_close(a, b.sum_to_size(x.shape), rtol=1e-12, atol=1e-14)

    def test_expanded_tensors(self):
        """One row of memory for all: the same numbers as with memory of its own for each."""
        q, k, v = leaf(1, 1, 1, D), leaf(1, KV, 1, D), leaf(1, 1, N_K, 1)
        shapes = [(B, H, N_Q, D), (B, KV, N_K, D), (B, KV, N_K, D_V)]

        def call(copy: Callable[[torch.Tensor], torch.Tensor]) -> list[torch.Tensor]:
            wide = [copy(x.expand(shape)) for x, shape in zip((q, k, v), shapes, strict=True)]
            return list(grad((attention(*wide, mask=masks.causal()) * randn(B, H, N_Q, D_V)).sum(), (q, k, v)))

        for x, a, b in zip((q, k, v), call(lambda x: x), call(torch.clone), strict=True):
            assert a.shape == x.shape
            assert torch.equal(a, b)


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    """But for the order of a sum over d_v."""
    eps = torch.finfo(a.dtype).eps
    torch.testing.assert_close(a, b, rtol=4 * eps, atol=8 * eps)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
class TestLayouts:
    def found(self, tensors: list[torch.Tensor], gradient: torch.Tensor) -> tuple[torch.Tensor, ...]:
        output = attention(*tensors, mask=masks.causal())
        return (output, *grad(output, tensors, gradient))

    def test_of_incoming_gradients(self, dtype):
        tensors, whole = qkv(dtype), randn(B, H, N_Q, D_V, dtype=dtype)
        expected = self.found(tensors, whole)
        wide = randn(B, H, N_Q, 3 * D_V, dtype=dtype)
        wide[..., ::3] = whole
        for same in (whole.transpose(1, 2).contiguous().transpose(1, 2), whole.mT.contiguous().mT, wide[..., ::3]):
            assert not same.is_contiguous()
            for a, b in zip(self.found(tensors, same), expected, strict=True):
                close(a, b)

    def test_of_expanded_incoming_gradients(self, dtype):
        tensors = qkv(dtype)
        for one in (randn(1, 1, 1, 1), randn(B, H, N_Q, 1), randn(D_V), randn(H, 1, D_V)):
            gradient = one.to(dtype).expand(B, H, N_Q, D_V)
            expected = self.found(tensors, gradient.clone(memory_format=torch.contiguous_format))
            for a, b in zip(self.found(tensors, gradient), expected, strict=True):
                close(a, b)

    def test_of_inputs_changes_no_bit(self, dtype):
        tensors, gradient = qkv(dtype), randn(B, H, N_Q, D_V, dtype=dtype)
        expected = self.found(tensors, gradient)
        turned = [x.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_() for x in tensors]
        for a, b in zip(self.found(turned, gradient), expected, strict=True):
            assert torch.equal(a, b)


class TestTypes:
    @pytest.mark.parametrize("dtype", TYPES[:3], ids=str)
    def test_gradients_have_the_type_and_the_precision_of_their_inputs(self, dtype):
        """Against float64 on the same numbers: half a unit in the last place, and the float32 arithmetic underneath."""
        more = [leaf(H, N_Q, N_K, dtype=dtype), leaf(H, dtype=dtype)]
        tensors = [*qkv(dtype), *more]
        wide = [x.detach().double().requires_grad_() for x in tensors]
        gradient = randn(B, H, N_Q, D_V, dtype=dtype)
        for q, k, v, bias, sinks in (tensors, wide):
            attention(q, k, v, bias=bias, sinks=sinks).backward(gradient.to(q.dtype))
        eps = torch.finfo(dtype).eps
        for a, b in zip(tensors, wide, strict=True):
            assert a.grad.dtype == dtype
            torch.testing.assert_close(a.grad.double(), b.grad, rtol=eps, atol=4 * eps * b.grad.abs().max().item())

    def test_each_gradient_has_its_own_input_s_type(self):
        q, k, v = leaf(N_Q, D, dtype=torch.float16), leaf(N_K, D, dtype=torch.float32), leaf(N_K, D_V)
        bias, sinks = leaf(N_K, dtype=torch.bfloat16), leaf(1, dtype=torch.float32)
        output, lse = attention(q, k, v, bias=bias, sinks=sinks, return_lse=True)
        assert (output.dtype, lse.dtype) == (torch.float16, torch.float64)
        for x, g in zip((q, k, v, bias, sinks), grad(output.sum(), (q, k, v, bias, sinks)), strict=True):
            assert g.dtype == x.dtype
