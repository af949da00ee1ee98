"""Gradients by finite differences, option by option, and in all the ways that torch runs a function.

`torch.autograd.gradcheck` compares with finite differences in float64. The rows of the table of calls are judged in
test_gradients_table.py.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

import clearhead.torch as cht
from clearhead import biases, masks
from clearhead.kernels.schedule import get_num_threads, set_num_threads


def draw(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


@pytest.fixture(autouse=True)
def steady():
    torch.manual_seed(20_000)


IDS = np.array([0, 0, 1, 1, 1, 2, 2])
MASKS = {
    "causal": masks.causal(),
    "causal with offset": masks.causal(offset=-1),
    "window": masks.window(2),
    "band": masks.window(1, 2),
    "key lengths": masks.key_lengths([3, 0]),
    "documents": masks.documents(IDS) & masks.causal(),
    "prefix": masks.causal() | masks.prefix(2),
    "not": ~masks.window(2),
    "dilated": masks.dilated(2),
    "rule": masks.where(lambda batch, head, query, key: (batch + head + query + key) % 3 > 0),
    "blocks": masks.block_sparse(np.array([[True, False, True], [False, True, True]]), 3),
    "array": masks.array(np.arange(35).reshape(5, 7) % 4 > 0),
}


class TestFiniteDifferences:
    """q (2, 4, 5, 3), k (2, 2, 7, 3), v (2, 2, 7, 6): grouped heads, and values of another width, throughout."""

    def check(self, *more: torch.Tensor, **options):
        q, k, v = draw(2, 4, 5, 3), draw(2, 2, 7, 3), draw(2, 2, 7, 6)
        make = {name: value for name, value in options.items() if callable(value) and name in ("bias", "sinks", "mask")}
        fixed = {name: value for name, value in options.items() if name not in make}

        def call(q, k, v, *more):
            made = {name: function(*more) for name, function in make.items()}
            return cht.attention(q, k, v, return_lse=True, **fixed, **made)

        def finite(*arguments):
            output, lse = call(*arguments)
            return output, lse.masked_fill(torch.isneginf(lse), 0)

        assert torch.autograd.gradcheck(finite, (q, k, v, *more), eps=1e-6, atol=1e-6)

    def test_plain(self):
        self.check()

    @pytest.mark.parametrize("name", MASKS)
    def test_under_every_mask(self, name):
        self.check(mask=MASKS[name])

    @pytest.mark.parametrize(
        "options",
        [{"softcap": 1.5}, {"scale": 0.0}, {"scale": -0.7}, {"dropout": 0.3, "seed": 3}, {"bias": biases.alibi(4)}],
        ids=["softcap", "scale zero", "scale negative", "dropout", "constant slopes"],
    )
    def test_every_other_option(self, options):
        self.check(mask=masks.causal(), **options)

    @pytest.mark.parametrize(
        "shape",
        [(2, 4, 5, 7), (4, 5, 7), (5, 7), (2, 1, 5, 7), (4, 1, 7), (4, 5, 1), (1, 7), (1, 1), (7,)],
        ids=str,
    )
    def test_a_bias_of_any_shape(self, shape):
        self.check(draw(*shape), bias=lambda bias: bias, softcap=2.0)

    def test_a_float_mask(self):
        self.check(draw(5, 7), mask=lambda mask: mask)

    def test_a_float_mask_and_a_bias(self):
        self.check(draw(5, 7), draw(4, 1, 7), mask=lambda mask, bias: mask, bias=lambda mask, bias: bias)

    def test_sinks(self):
        self.check(draw(4), sinks=lambda sinks: sinks, mask=masks.window(2))

    def test_slopes(self):
        self.check(torch.rand(4, dtype=torch.float64, requires_grad=True), bias=cht.biases.alibi)

    def test_a_table_of_buckets(self):
        self.check(draw(8, 4), bias=lambda table: cht.biases.t5(table, max_distance=16))

    def test_without_heads(self):
        inputs = (draw(5, 3), draw(7, 3), draw(7, 2))
        assert torch.autograd.gradcheck(lambda q, k, v: cht.attention(q, k, v, mask=masks.causal()), inputs)

    def test_the_output_alone(self):
        """Without a gradient of lse, the others are what they are with one of zeros, to the last bit."""
        inputs = (draw(2, 4, 5, 3), draw(2, 2, 7, 3), draw(2, 2, 7, 6), draw(4, 5, 7))
        output, lse = cht.attention(*inputs[:3], bias=inputs[3], mask=masks.causal(), return_lse=True)
        way = torch.randn_like(output)
        alone = torch.autograd.grad(output, inputs, way, retain_graph=True)
        both = torch.autograd.grad([output, lse], inputs, [way, torch.zeros_like(lse)])
        assert all(torch.equal(a, b) for a, b in zip(alone, both, strict=True))

    def test_one_head_whose_keys_are_split(self):
        q, k, v = draw(1, 3, 4), draw(1, 900, 4), draw(1, 900, 2)
        assert torch.autograd.gradcheck(lambda q, v: cht.attention(q, k.detach(), v), (q, v), atol=1e-6)


class TestUnderTorch:
    """The ways torch runs a function: each works, or is refused by name."""

    @pytest.fixture
    def qkv(self):
        return [draw(2, 4, 70, 16, dtype=torch.float32) for _ in range(3)]

    def test_no_grad_and_inference_mode(self, qkv):
        expected = cht.attention(*qkv)
        for mode in (torch.no_grad, torch.inference_mode):
            with mode():
                output = cht.attention(*qkv)
            assert not output.requires_grad
            assert torch.equal(output, expected)

    def test_autocast(self, qkv):
        with torch.autocast("cpu", torch.bfloat16):
            output = cht.attention(*qkv)
        assert output.dtype == torch.bfloat16
        assert torch.equal(output, cht.attention(*(x.bfloat16() for x in qkv)))

    def test_torch_func_grad(self, qkv):
        q, k, v = qkv
        gradient = torch.func.grad(lambda q: cht.attention(q, k.detach(), v.detach()).sum())(q.detach())
        (expected,) = torch.autograd.grad(cht.attention(q, k, v).sum(), q)
        assert torch.equal(gradient, expected)

    def test_vmap_is_refused_by_name(self, qkv):
        with pytest.raises(NotImplementedError, match=r"does not run under torch.func.vmap; give it the whole batch"):
            torch.func.vmap(cht.attention)(*(x.detach() for x in qkv))

    def test_a_second_derivative_is_refused_by_name(self, qkv):
        q, k, v = qkv
        (gradient,) = torch.autograd.grad(cht.attention(q, k, v).sum(), q, create_graph=True)
        with pytest.raises(NotImplementedError, match="differentiated once, not twice"):
            gradient.sum().backward()

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
    def test_half_precision(self, qkv, dtype):
        narrow = [x.detach().to(dtype).requires_grad_() for x in qkv]
        wide = [x.detach().float().requires_grad_() for x in narrow]
        for ours, theirs in zip(
            torch.autograd.grad(cht.attention(*narrow).float().square().sum(), narrow),
            torch.autograd.grad(cht.attention(*wide).square().sum(), wide),
            strict=True,
        ):
            assert ours.dtype == dtype
            torch.testing.assert_close(ours.float(), theirs, rtol=0.05, atol=0.02)

    def test_the_same_bits_for_any_number_of_threads(self, qkv):
        bias = draw(70, 70, dtype=torch.float32)
        before, seen = get_num_threads(), []
        try:
            for threads in (1, 2, 3):
                set_num_threads(threads)
                output = cht.attention(*qkv, bias=bias, mask=masks.causal())
                seen.append(torch.autograd.grad(output.sin().sum(), (*qkv, bias)))
        finally:
            set_num_threads(before)
        for other in seen[1:]:
            assert all(torch.equal(a, b) for a, b in zip(seen[0], other, strict=True))

    def test_a_query_with_no_key_left_has_no_gradient(self, qkv):
        output = cht.attention(*qkv, mask=masks.key_lengths([70, 0]))
        assert (output[1] == 0).all()
        for gradient in torch.autograd.grad(output.sum(), qkv):
            assert torch.isfinite(gradient).all()
            assert (gradient[1] == 0).all()
