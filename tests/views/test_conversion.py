"""Tensors in, tensors out, with the same numbers; and what is said to indices and inputs that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import clearhead.torch as cht
from clearhead import masks
from clearhead.tensors import to_numpy
from clearhead.torch import biases
from clearhead.views import average, flow, look, pooled_rollout, rollout

from ..kernels.processes import run

H, KV, N, D, D_V = 6, 2, 37, 7, 11
TYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def randn(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def qkv(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return randn(2, H, N, D, dtype=dtype), randn(2, KV, N, D, dtype=dtype, seed=1), randn(2, KV, N, D_V, dtype=dtype)


def same(tensor: object, array: np.ndarray) -> None:
    assert isinstance(tensor, torch.Tensor)
    assert not tensor.requires_grad
    np.testing.assert_array_equal(to_numpy(tensor), array)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_tensors_give_tensors_with_the_numbers_of_arrays(dtype):
    tensors = qkv(dtype)
    options = {"mask": masks.causal(), "scale": 0.7, "top_k": 3, "map_size": 5}
    view, other = look(*tensors, **options), look(*(to_numpy(x) for x in tensors), **options)
    for name in ("output", "lse", "entropy", "max_weight", "received", "distance", "on_first", "on_self"):
        same(getattr(view, name), getattr(other, name))
    assert torch.equal(view.output, cht.attention(*tensors, mask=masks.causal(), scale=0.7))
    same(view.top_k.indices, other.top_k.indices)
    same(view.top_k.weights, other.top_k.weights)
    for reduce in ("mean", "max"):
        same(view.map(reduce), other.map(reduce))
    same(view.weights(3, slice(5, 11), 2), other.weights(3, slice(5, 11), 2))
    same(view.row(5), other.row(5))
    same(view.mass(masks.window(3)), other.mass(masks.window(3)))
    words = np.arange(N) // 3
    same(view.grouped(words), other.grouped(words))
    same(view.grouped(torch.from_numpy(words)), other.grouped(words))
    same(rollout([view, view], 5), rollout([other, other], 5))
    same(flow([view, view], 5), flow([other, other], 5))
    same(pooled_rollout(view, 5).shares, pooled_rollout(other, 5).shares)
    same(average([view]).weights(), average([other]).weights())
    same(view.average().map(), other.average().map())


def test_options_may_be_tensors():
    q, k, v = qkv()
    mask, bias, sinks = randn(N, N, seed=3) > -1, randn(H, 1, N, seed=4), randn(H, seed=5)
    view = look(q, k, v, mask=mask, bias=bias, sinks=sinks)
    other = look(*(to_numpy(x) for x in (q, k, v)), mask=mask.numpy(), bias=bias.numpy(), sinks=sinks.numpy())
    same(view.entropy, other.entropy)
    same(view.mass(mask), other.mass(mask.numpy()))
    same(view.mix(v), other.mix(v.numpy()))
    same(view.received_from(bias[:, 0]), other.received_from(bias[:, 0].numpy()))
    same(look(q, k, mask=bias).received, look(q.numpy(), k.numpy(), mask=bias.numpy()).received)
    ids = torch.arange(N) % 5
    np.testing.assert_array_equal(view.patterns(ids).labels, other.patterns(ids.numpy()).labels)


def test_a_relative_bias_that_is_being_learned():
    q, k, _ = qkv(torch.float64)
    slopes = torch.linspace(0.1, 1, H, dtype=torch.float64).requires_grad_()
    view = look(q, k, bias=biases.alibi(slopes))
    distance = -(torch.arange(N)[:, None] - torch.arange(N)).abs() * slopes[:, None, None]
    expected = torch.softmax(q @ k.repeat_interleave(H // KV, 1).mT / D**0.5 + distance, -1)
    torch.testing.assert_close(view.weights(), expected.detach(), rtol=1e-12, atol=1e-15)


def test_gradients_are_not_tracked():
    q, k, v = (x.requires_grad_() for x in qkv())
    view = look(q, k, v)
    assert not view.output.requires_grad
    assert not view.weights(0).requires_grad


def test_under_autocast_what_attention_would_compute_is_seen():
    q, k, v = qkv()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        view, output = look(q, k, v), cht.attention(q, k, v)
    assert view.output.dtype == torch.bfloat16
    assert torch.equal(view.output, output)


def test_looking_at_arrays_does_not_load_torch():
    code = """
        from clearhead.views import look
        q, k, v = arrays(2, 37)
        view = look(q, k, v, mask=causal())
        view.patterns(np.arange(37) % 5), view.weights(), view.average().received
        print({"torch", "matplotlib", "transformers"} & set(sys.modules))
    """
    assert run(code) == "set()"


class TestErrors:
    def test_arrays_beside_tensors(self, unchecked):
        q, k, _ = qkv()
        with pytest.raises(TypeError, match="k must be a torch tensor here, got a NumPy array"):
            look(q, k.numpy())
        with pytest.raises(TypeError, match="k is a torch tensor and q is not; give all of them as tensors"):
            look(q.numpy(), k)

    def test_token_ids(self, unchecked):
        q, k, _ = qkv()
        with pytest.raises(
            TypeError, match=r"q must be float16, bfloat16, float32 or float64, got int64 .did you pass tok"
        ):
            look(q.long(), k)
