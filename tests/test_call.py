"""A call that holds a part of a longer sequence: parts over different keys and queries join to what the whole gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import clearhead.torch as cht
from clearhead import biases, masks
from clearhead.call import Part, prepare
from clearhead.dispatch import attention, merge
from clearhead.tensors import to_torch
from clearhead.textbook.dropout import dropout_mask
from clearhead.views import look

from .torch.forced import in_blocks

N = 211
CUTS = (0, 1, 70, 128, N)
OPTIONS = {
    "dropout": {"dropout": 0.3, "seed": 7},
    "causal": {"mask": masks.causal()},
    "window": {"mask": masks.window(40), "dropout": 0.1, "seed": 1},
    "documents": {"mask": masks.documents(boundaries=[0, 30, 100, N])},
    "scattered documents": {"mask": masks.causal() & masks.documents(np.arange(N) % 3)},
    "lengths and prefix": {"mask": masks.key_lengths([190, 3]) & (masks.causal() | masks.prefix(20))},
    "dilated": {"mask": masks.dilated(4) & masks.causal()},
    "array": {"mask": masks.array(np.random.default_rng(1).random((N, N)) > 0.4)},
    "rule": {"mask": masks.where(lambda b, h, i, j: (i + j) % 3 != 0)},
    "alibi": {"mask": masks.causal(), "bias": biases.alibi(3)},
    "alibi, its own offset": {"bias": biases.alibi(3, offset=5)},
}


@pytest.fixture
def qkv(rng):
    return tuple(rng.standard_normal((2, 3, N, d)) for d in (11, 11, 13))


def joined(run, qkv, options):
    """The whole, from parts over some queries and some keys."""
    q, k, v = qkv
    rows = []
    for a, b in itertools.pairwise((0, 64, 65, N)):
        parts = [
            run(q[..., a:b, :], k[..., c:d, :], v[..., c:d, :], return_lse=True, part=(a, c), **options)
            for c, d in itertools.pairwise(CUTS)
        ]
        rows.append(merge(parts))
    return rows


@pytest.mark.parametrize("name", OPTIONS)
def test_parts_join_to_the_whole(qkv, name):
    whole = attention(*qkv, return_lse=True, **OPTIONS[name])
    rows = joined(attention, qkv, OPTIONS[name])
    for n, axis in ((0, -2), (1, -1)):
        got = np.concatenate([row[n] for row in rows], axis=axis)
        np.testing.assert_allclose(got, whole[n], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("run", [cht.attention, in_blocks], ids=["kernels", "blocks"])
def test_parts_of_tensors_join_to_the_whole_with_their_gradients(qkv, name, run):
    tensors = [torch.from_numpy(x).requires_grad_() for x in qkv]
    weights = torch.randn(2, 3, N, 13, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    found = []
    whole = cht.attention(*tensors, **OPTIONS[name])
    rows = joined(run, tensors, OPTIONS[name])
    for output in (torch.cat([row[0] for row in rows], dim=-2), whole):
        found.append((output, *torch.autograd.grad((output * weights).sum(), tensors)))
    for got, expected in zip(*found, strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-13)


def test_the_last_queries_of_more_keys(qkv):
    """As in decoding: 16 queries are the last positions, and the offset of the whole says so."""
    q, k, v = qkv[0][..., -16:, :], *qkv[1:]
    options = {"mask": masks.causal() & masks.window(90), "bias": biases.alibi(3)}
    whole = attention(q, k, v, return_lse=True, **options)
    parts = [
        attention(q, k[..., a:b, :], v[..., a:b, :], return_lse=True, part=Part(0, a, N - 16), **options)
        for a, b in itertools.pairwise(CUTS)
    ]
    for got, expected in zip(merge(parts), whole, strict=True):
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-14)


def test_dropout_of_a_part_is_that_part_of_the_mask():
    whole = dropout_mask((3, 11, 29), 0.4, 5)
    np.testing.assert_array_equal(dropout_mask((3, 7, 20), 0.4, 5, first_query=4, first_key=9), whole[:, 4:, 9:])


def test_what_is_no_part(qkv, unchecked):
    for part in (5, (1,), (1, 2, 3, 4)):
        with pytest.raises(TypeError, match=r"part must be \(first_query, first_key\)"):
            prepare(*qkv, part=part)
    with pytest.raises(ValueError, match="first_key must be at least 0, got -1"):
        prepare(*qkv, part=(0, -1))


FLAGS = np.tril(np.ones((N, N), np.float32))
TAKES_A_MASK = {
    "attention": lambda q, mask, **bias: attention(q, q, q, mask=mask, **bias),
    "look": lambda q, mask, **bias: look(q, q, q, mask=mask, **bias),
    "tensors": lambda q, mask, **bias: attention(*3 * (to_torch(q),), mask=to_torch(mask), **bias),
    "a look at tensors": lambda q, mask, **bias: look(*3 * (to_torch(q),), mask=to_torch(mask), **bias),
}


class TestFloatsThatAreZerosAndOnes:
    """A float mask of zeros and ones is added to the scores and hides nothing, and that is said."""

    @pytest.mark.parametrize("bias", [{}, {"bias": biases.alibi(2)}], ids=["alone", "beside a bias"])
    @pytest.mark.parametrize("name", TAKES_A_MASK)
    def test_they_are_named_with_the_cure(self, rng, name, bias):
        q = rng.standard_normal((2, N, 8), np.float32)
        with pytest.warns(masks.MaskWarning, match=r"mask holds floats that are all 0 or 1.*mask\.bool\(\)") as told:
            TAKES_A_MASK[name](q, FLAGS, **bias)
        assert len(told) == 1

    @pytest.mark.parametrize("array", [np.asarray, to_torch], ids=["arrays", "tensors"])
    def test_strict_does_not_say_it_twice(self, rng, array):
        q, flags = (array(x) for x in (rng.standard_normal((2, N, 8), np.float32), FLAGS))
        for attend in (attention, look):
            with pytest.warns(masks.MaskWarning) as told:
                attend(q, q, q, mask=flags, strict=True)
            assert len(told) == 1

    def test_a_backward_pass_does_not_say_it_again(self, rng):
        q = to_torch(rng.standard_normal((2, N, 8), np.float32)).requires_grad_()
        with pytest.warns(masks.MaskWarning):
            output = cht.attention(q, q, q, mask=to_torch(FLAGS))
        output.sum().backward()  # here a warning is an error

    def test_as_a_bias_they_are_added_without_a_word(self, rng):
        q = rng.standard_normal((2, N, 8), np.float32)
        attention(q, q, q, bias=FLAGS)
        attention(q, q, q, mask=np.where(FLAGS, 0, -np.inf).astype(np.float32))
