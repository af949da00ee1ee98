"""The textbook's rope judges torch's: the same angles, layouts and scalings, and a gradient that turns back."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch

from clearhead import textbook
from clearhead.torch.rope import _table, rope

B, H, N, D = 2, 3, 7, 22
SETTINGS = [
    {},
    {"interleaved": True},
    {"base": 500_000.0, "width": 10},
    {"width": 10, "interleaved": True},
    {"scaling": functools.partial(textbook.linear_scaling, factor=3.0)},
    {"scaling": functools.partial(textbook.dynamic_ntk_scaling, factor=2.0, original_length=5)},
    {"scaling": functools.partial(textbook.yarn_scaling, factor=4.0, original_length=64), "interleaved": True},
]


def randn(*shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=dtype)


@pytest.mark.parametrize("settings", SETTINGS, ids=range(len(SETTINGS)))
@pytest.mark.parametrize("positions", ["counted", "later", "of each text", "between"])
def test_it_is_the_textbooks(settings, positions):
    x = randn(B, H, N, D)
    at = {
        "counted": None,
        "later": torch.arange(5, 5 + N),
        "of each text": torch.tensor([[0, 1, 2, 3, 4, 5, 6], [9, 9, 2, 0, 1, 1, 30]])[:, None],
        "between": torch.linspace(0, 3, N, dtype=torch.float64),
    }[positions]
    got = rope(x, at, **settings)
    expected = textbook.rope(x.numpy(), None if at is None else at.numpy(), **settings)
    np.testing.assert_array_equal(got.numpy(), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_narrower_types_are_rounded_once(dtype):
    x = randn(H, N, D).to(dtype)
    got, exact = rope(x), rope(x.double())
    assert got.dtype == dtype
    torch.testing.assert_close(got, exact.to(dtype), rtol=torch.finfo(dtype).eps, atol=1e-6)


@pytest.mark.parametrize("settings", SETTINGS[:4], ids=range(4))
def test_its_gradient(settings):
    x = randn(2, 3, D).requires_grad_()
    assert torch.autograd.gradcheck(functools.partial(rope, positions=torch.arange(3) + 40, **settings), (x,))


def test_the_table_is_kept_and_does_not_mix_up_settings():
    _table.cache_clear()
    x = randn(H, N, D)
    first = rope(x)
    rope(x[:1], torch.arange(N))
    assert _table.cache_info().misses == 1
    assert not torch.equal(rope(x, base=500.0), first)
    assert not torch.equal(rope(x, torch.arange(N) + 1), first)
    assert not torch.equal(rope(x, torch.arange(N).double() * 0.5), first)
    assert torch.equal(rope(x), first)


def test_no_positions_at_all():
    assert rope(randn(H, 0, D)).shape == (H, 0, D)


@pytest.mark.parametrize(
    ("x", "options", "kind", "message"),
    [
        (
            torch.zeros(3, 4, dtype=torch.int64),
            {},
            TypeError,
            r"x must be floats of shape \(…, n, d\), got torch.int64",
        ),
        (torch.zeros(4), {}, TypeError, r"got torch.float32 of shape \(4,\)"),
        (torch.zeros(3, 5), {}, ValueError, r"width must be even.*got 5"),
        (torch.zeros(3, 4), {"width": 6}, ValueError, "width = 6 columns cannot be turned, x has only 4"),
        (torch.zeros(3, 4), {"positions": torch.arange(5)}, ValueError, r"\(5,\) do not fit x of shape \(3, 4\)"),
        (
            torch.zeros(2, 5, 3, 4),
            {"positions": torch.zeros(2, 3, dtype=torch.int64)},
            ValueError,
            r"must broadcast to \(2, 5, 3\) \(with a head axis in x, positions of each text \(b, n\) are",
        ),
        (torch.zeros(3, 4), {"positions": torch.tensor([0.0, torch.nan, 1.0])}, ValueError, "must be finite"),
        (torch.zeros(3, 4), {"positions": torch.tensor([True] * 3)}, TypeError, "positions must be numbers"),
    ],
)
def test_errors(x, options, kind, message, unchecked):
    with pytest.raises(kind, match=message):
        rope(x, **options)
