"""A norm read as a linear map: what it gives is its scale times that map, whatever its weights mean."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm

from clearhead.traces.norms import read_norm, stretch

NORMS = {
    "layer norm": lambda: nn.LayerNorm(13),
    "without weights": lambda: nn.LayerNorm(13, elementwise_affine=False),
    "RMS": lambda: LlamaRMSNorm(13),
    "RMS from 1 on": lambda: GemmaRMSNorm(13),
}


@pytest.mark.parametrize("kind", NORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_a_norm_gives(kind, dtype):
    torch.manual_seed(0)
    module = NORMS[kind]()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter))
    module, x = module.to(dtype), (3 * torch.randn(2, 7, 13) + 1).to(dtype)
    y = module(x)
    norm = read_norm(module, x)
    assert norm.centred == ("layer" in kind or "without" in kind)
    scales = stretch(norm, x, y)
    direction = np.random.default_rng(0).standard_normal(13)
    through = x.double().numpy() @ norm.back(direction) * scales + norm.shift @ direction
    expected = y.detach().double().numpy() @ direction
    np.testing.assert_allclose(through, expected, rtol=0, atol=1e-5 if dtype is torch.float32 else 0.2)


def test_what_is_no_norm():
    x = torch.randn(1, 5, 13)
    assert stretch(read_norm(nn.Tanh(), x), x, nn.Tanh()(x)) is None


def test_a_wrong_number_beside_a_large_one_is_wrong():
    """In half precision, what rounding does to the largest number would hide all others."""
    torch.manual_seed(0)
    module, x = LlamaRMSNorm(13).half(), torch.randn(1, 5, 13).half()
    x[..., 3] = 200
    y = module(x)
    assert stretch(read_norm(module, x), x, y) is not None
    y = y.detach().clone()
    y[0, 2, 7] *= 1.5
    assert stretch(read_norm(module, x), x, y) is None


def test_hooks_see_nothing_but_what_the_model_is_given():
    module, seen = nn.LayerNorm(13), []
    module.register_forward_hook(lambda *given: seen.append(given))
    assert read_norm(module, torch.randn(1, 5, 13)).centred
    assert seen == []
