"""Calls under torch.compile, compared with eager calls: a script, since type checks at run time are in the way.

python -m tests.torch.graphs        prints what went wrong, by name
"""

from __future__ import annotations

import traceback

import torch

import clearhead.torch as cht
from clearhead import biases, masks
from clearhead.torch import operator

SHAPES = (2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 6)


def tensors(kind=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator).to(kind).requires_grad_() for shape in SHAPES]


def everything(function, inputs):
    """What a function gives, and the gradients of its inputs."""
    found = function(*inputs)
    outputs = found if isinstance(found, tuple) else (found,)
    gradients = torch.autograd.grad(sum(x.float().square().sum() for x in outputs), inputs)
    return [*outputs, *gradients]


def assert_same_bits(function, inputs):
    for backend in ("eager", "aot_eager"):
        compiled = torch.compile(function, backend=backend, fullgraph=True)
        for ours, eager in zip(everything(compiled, inputs), everything(function, inputs), strict=True):
            assert torch.equal(ours, eager)
        torch._dynamo.reset()


FLAGS = torch.rand(5, 7, generator=torch.Generator().manual_seed(1)) < 0.7
LENGTHS = masks.key_lengths([7, 4])

CALLS = {
    "plain": lambda q, k, v: cht.attention(q * 2, k, v),
    "a mask from outside": lambda q, k, v: cht.attention(q * 2, k, v, LENGTHS),
    "a mask made inside": lambda q, k, v: cht.attention(q, k, v, masks.causal() & masks.window(3) | masks.dilated(2)),
    "flags": lambda q, k, v: cht.attention(q, k, v, FLAGS),
    "numbers": lambda q, k, v: cht.attention(q, k, v, scale=0.5, softcap=3.0, sinks=0.3, return_lse=True),
    "dropout": lambda q, k, v: cht.attention(q, k, v, dropout=0.4, seed=3),
    "part": lambda q, k, v: cht.attention(q, k, v, masks.causal(), part=(3, 1)),
}


def compiled_and_eager_give_the_same_bits():
    for name, call in CALLS.items():
        try:
            assert_same_bits(call, tensors())
        except Exception as error:
            raise AssertionError(name) from error


def in_bfloat16():
    assert_same_bits(CALLS["plain"], tensors(torch.bfloat16))


def gradients_of_bias_and_sinks():
    bias, sinks = torch.randn(4, 5, 7, requires_grad=True), torch.randn(4, requires_grad=True)

    def call(q, k, v, bias, sinks):
        return cht.attention(q, k, v, bias=bias, sinks=sinks)

    assert_same_bits(call, [*tensors(), bias, sinks])


def another_mask_is_another_graph():
    compiled = torch.compile(lambda q, k, v, mask: cht.attention(q, k, v, mask), backend="aot_eager", fullgraph=True)
    for mask in (masks.causal(), masks.window(2), masks.key_lengths([2, 3]), masks.key_lengths([5, 1]), None):
        assert torch.equal(compiled(*tensors(), mask), cht.attention(*tensors(), mask))


def other_lengths_need_no_other_graph():
    compiled = torch.compile(
        lambda q, k, v: cht.attention(q, k, v, masks.causal()), backend="aot_eager", fullgraph=True, dynamic=True
    )
    for n in (6, 9, 17):
        q, k, v = (x.detach()[..., :1, :].expand(-1, -1, n, -1).contiguous() for x in tensors())
        assert torch.equal(compiled(q, k, v), cht.attention(q, k, v, masks.causal()))


def a_bias_by_distance_breaks_the_graph_and_not_the_answer():
    def call(q, k, v):
        return cht.attention(q, k, v, bias=biases.alibi(4))

    compiled = torch.compile(call, backend="aot_eager")
    for ours, eager in zip(everything(compiled, tensors()), everything(call, tensors()), strict=True):
        assert torch.equal(ours, eager)


def a_layer_of_ours_is_one_graph():
    layer = cht.SelfAttention(d_model=8, num_heads=2, rope=None)
    x = torch.randn(2, 5, 8, requires_grad=True)
    assert_same_bits(layer, [x])


def torch_finds_nothing_wrong_with_the_operators():
    number = operator.number_of(masks.causal())
    bias = torch.randn(7, 5, requires_grad=True).transpose(-1, -2)
    sink = torch.tensor(0.3, requires_grad=True)
    options = (number, "bias", None, None, 0.0, None, None)
    heads_last = [x.detach().transpose(-3, -2).contiguous().transpose(-3, -2).requires_grad_() for x in tensors()]
    for q, k, v in (tensors(), heads_last):
        torch.library.opcheck(torch.ops.clearhead.attention.default, (q, k, v, bias, sink, None, *options))
        with torch.no_grad():
            output = torch.ops.clearhead.attention(q, k, v, bias, sink, None, *options)
            inputs = (q, k, v, bias, sink, None, *output, torch.ones_like(output[0]), None, *options, True, True)
            torch.library.opcheck(torch.ops.clearhead.attention_backward.default, inputs)


def masks_that_mean_the_same_share_a_number():
    first = operator.number_of(masks.causal() & masks.window(3))
    assert operator.number_of_terms((masks.causal() & masks.window(3)).terms()) == first
    assert operator.number_of(masks.causal() & masks.window(4)) != first


TESTS = [
    compiled_and_eager_give_the_same_bits,
    in_bfloat16,
    gradients_of_bias_and_sinks,
    another_mask_is_another_graph,
    other_lengths_need_no_other_graph,
    a_bias_by_distance_breaks_the_graph_and_not_the_answer,
    a_layer_of_ours_is_one_graph,
    torch_finds_nothing_wrong_with_the_operators,
    masks_that_mean_the_same_share_a_number,
]

if __name__ == "__main__":
    for test in TESTS:
        try:
            test()
        except Exception:
            print(f"{test.__name__} failed")
            traceback.print_exc()
        else:
            print(f"{test.__name__} passed")
