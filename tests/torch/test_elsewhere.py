"""Tensors on devices without kernels: what views give of them, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from clearhead import masks
from clearhead.torch import biases
from clearhead.torch.elsewhere import Elsewhere
from clearhead.views import average, flow, look, pooled_rollout, rollout

from .forced import small_blocks
from .tensors import randn

H, KV, N = 6, 2, 70


@pytest.fixture(params=[torch.float32, torch.bfloat16, torch.float64], ids=str)
def qkv(request) -> list[torch.Tensor]:
    return [randn(2, h, N, 8, dtype=request.param, seed=n) for n, h in enumerate((H, KV, KV))]


def close(a: object, b: object) -> None:
    """Tensors of one type with the numbers of the kernels, but for rounding."""
    assert isinstance(a, torch.Tensor)
    assert isinstance(b, torch.Tensor)
    assert a.dtype == b.dtype
    half = a.dtype == torch.bfloat16
    wide = a.dtype == torch.float64
    torch.testing.assert_close(
        a, b, rtol=1e-2 if half else 1e-12 if wide else 2e-5, atol=1e-12 if wide else 2e-6, equal_nan=True
    )


OPTIONS = {
    "plain": {},
    "causal": {"mask": masks.causal()},
    "window and padding": {"mask": masks.window(20, 3) & masks.key_lengths([N, 41])},
    "rule": {"mask": masks.where(lambda b, h, i, j: (b + h + i + j) % 3 > 0)},
    "array, bias, sinks": {
        "mask": randn(H, N, N, seed=3) > -1,
        "bias": randn(N, N, dtype=torch.float32, seed=4),
        "sinks": randn(H, dtype=torch.float32, seed=5),
    },
    "alibi": {"bias": biases.alibi(torch.linspace(0.1, 1, H)), "mask": masks.causal(), "softcap": 5.0},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_all_that_a_view_answers(qkv, name):
    """Everything, not only what the table of looks asks: it is all computed there."""
    if qkv[0].dtype == torch.bfloat16 and name not in ("plain", "causal"):
        pytest.skip("what bfloat16 changes does not depend on the mask")
    with small_blocks():
        view = look(*qkv, **OPTIONS[name])
        found = answers(view)
    half = qkv[0].dtype == torch.bfloat16  # in which the kernels may round weights too, so float32 judges it
    expected = answers(look(*(x.float() if half else x for x in qkv), **OPTIONS[name]))
    expected["output"] = expected["output"].to(qkv[0].dtype)
    for what, x in expected.items():
        if isinstance(x, torch.Tensor):
            close(found[what], x)
        else:
            np.testing.assert_array_equal(found[what], x, what)


def answers(view) -> dict[str, Any]:
    """What a view can be asked."""
    ids = torch.arange(N) % 5
    patterns = view.patterns(ids)
    names = "output lse entropy max_weight received distance on_first on_self"
    return {
        **{name: getattr(view, name) for name in names.split()},
        "window": view.weights(3, slice(5, 60, 3), [2, 60, 4]),
        "row": view.row(5),
        "tile": view.tile(1, slice(3, 64), slice(7, 50), 9, reduce="max", batch=1),
        "map": view.map(),
        "mass": view.mass(masks.window(3)),
        "mass on flags": view.mass(torch.arange(N) % 2 == 0),
        "mix": view.mix(randn(KV, N, 3, dtype=torch.float32, seed=9)),
        "received_from": view.received_from(torch.linspace(0, 1, N)),
        "words": view.grouped(torch.arange(N) // 4),
        "scattered": view.grouped(torch.arange(N) * 7 % 11),
        "average": average([view, view]).entropy,
        "average's map": view.average(heads=[1, 4]).map("max"),
        "average's received": view.average().received,
        "rollout": rollout([view, view], 9),
        "flow": flow([view, view], 9),
        "pooled": pooled_rollout(view, 9).shares,
        "labels": patterns.labels,
        "repr": repr(view),
    }


def test_without_an_axis_of_heads_and_with_many_of_the_batch():
    plain = [randn(N, 8, dtype=torch.float32, seed=n) for n in range(3)]
    many = [randn(2, 1, 1, 2, 1, 1, 2, 20, 8, dtype=torch.float32, seed=n) for n in range(3)]
    for tensors in (plain, many):
        with small_blocks():
            view = look(*tensors, mask=masks.causal())
            found = view.output, view.entropy, view.map(), view.weights(rows=3), view.on_self, view.mix(tensors[2])
        other = look(*tensors, mask=masks.causal())
        expected = other.output, other.entropy, other.map(), other.weights(rows=3), other.on_self, other.mix(tensors[2])
        for a, b in zip(found, expected, strict=True):
            close(a, b)


def test_gradients_are_not_tracked():
    q = randn(2, 5, 4).requires_grad_()
    with small_blocks():
        view = look(q, q, q, bias=q.new_zeros(5, 5).requires_grad_())
    assert not view.output.requires_grad
    assert not view.weights(0).requires_grad


def test_stand_ins_take_no_memory():
    q = torch.empty(8, 2**20, 64, dtype=torch.bfloat16, device="meta")
    standing = Elsewhere(q, q, None).stand_ins()[0]
    assert (standing.shape, standing.dtype.name) == (q.shape, "bfloat16")
    assert not any(standing.strides)


class TestErrors:
    def test_tensors_without_numbers(self, unchecked):
        q = torch.empty(2, 3, 5, 7, device="meta")
        with pytest.raises(ValueError, match="q is on the meta device, where tensors have a shape and no numbers"):
            look(q, q)

    @pytest.mark.parametrize("name", ["k", "mask", "bias", "sinks"])
    def test_tensors_on_two_devices(self, name, unchecked):
        q = torch.empty(2, 5, 7, device="meta")
        shapes = {"k": (2, 5, 7), "mask": (5, 5), "bias": (5, 5), "sinks": (2,)}
        options = {"k": q} | {name: torch.zeros(shapes[name], dtype=torch.bool if name == "mask" else torch.float32)}
        with pytest.raises(ValueError, match=rf"all tensors must be on one device, got q on meta,.* {name} on cpu"):
            look(q, **options)

    def test_what_does_not_fit_is_refused_in_the_words_of_the_kernels(self, unchecked):
        q = randn(2, 5, 8)
        with small_blocks():
            with pytest.raises(ValueError, match="keys have 7 columns but queries have 8"):
                look(q, randn(2, 5, 7))
            with pytest.raises(ValueError, match="bias contains NaN; use -inf to forbid a key"):
                look(q, q, bias=torch.full((5, 5), torch.nan))
