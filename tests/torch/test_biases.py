"""Biases by distance that can be learned are those of `clearhead.biases`, number by number."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from clearhead import biases as numpy_biases
from clearhead.torch import attention, biases

from .tensors import leaf, qkv, randn

SIZES = [(5, 7), (7, 5), (1, 11), (5, 7, 20, 3), (5, 7, 20, 3, -4)]  # n_q, n_k, and the place in a longer sequence


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("offset", [None, 3], ids=str)
class TestTables:
    def test_alibi(self, sizes, offset):
        slopes = randn(3).abs()
        ours = biases.alibi(slopes, offset=offset).table(*sizes)
        theirs = numpy_biases.alibi(slopes.numpy(), offset=offset).table(*sizes)
        np.testing.assert_array_equal(ours.numpy(), theirs)

    @pytest.mark.parametrize("bidirectional", [True, False], ids=["both ways", "one way"])
    def test_t5(self, sizes, offset, bidirectional):
        table, options = randn(8, 3), {"bidirectional": bidirectional, "max_distance": 11, "offset": offset}
        ours = biases.t5(table, **options).table(*sizes)
        np.testing.assert_array_equal(ours.numpy(), numpy_biases.t5(table.numpy(), **options).table(*sizes))


def test_distances_in_half_precision_are_counted_in_full():
    """bfloat16 counts no further than 256; the slope is the only thing that is rounded."""
    table = biases.alibi(torch.tensor([0.5, 0.25]).bfloat16()).table(1, 1001)
    assert table.dtype == torch.float32
    assert table[:, 0].tolist() == [0.0, 0.0]
    assert table[0, 999].item() == -499.5


def test_constants_have_no_gradient_and_say_the_same():
    q, k, v = qkv()
    slopes = leaf(4)
    constant = attention(q, k, v, bias=numpy_biases.alibi(slopes.detach().numpy()))
    learned = attention(q, k, v, bias=biases.alibi(slopes))
    assert torch.equal(constant, learned)
    assert torch.autograd.grad(constant.sum(), slopes, allow_unused=True) == (None,)
    assert torch.autograd.grad(learned.sin().sum(), slopes)[0].abs().min() > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: biases.alibi(torch.zeros(2, 3)), r"slopes must be one number .* torch.float32 of \(2, 3\)"),
        (lambda: biases.alibi(torch.arange(3)), r"slopes must be one number .* torch.int64 of \(3,\)"),
        (lambda: biases.t5(torch.zeros(8)), r"table must be numbers of shape \(buckets, h\), .* of \(8,\)"),
        (lambda: biases.t5(torch.zeros(8, 3, dtype=torch.int64)), r"table must be numbers .* torch.int64 of \(8, 3\)"),
    ],
    ids=["slopes in two axes", "whole slopes", "a row of buckets", "whole buckets"],
)  # fmt: skip
def test_what_is_no_bias(make, message, unchecked):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_bias_prints_as_the_call_that_makes_it():
    assert repr(biases.alibi(torch.ones(3), offset=2)) == "alibi(<float32 of shape (3,)>, offset=2)"
    table = torch.zeros(32, 8, dtype=torch.bfloat16)
    assert repr(biases.t5(table, bidirectional=False)) == "t5(<bfloat16 of shape (32, 8)>, bidirectional=False)"
