"""Tensors to attend with: query heads that share key heads, and a prime for every size that has no other reason."""

from __future__ import annotations

import torch

B, H, KV, N_Q, N_K, D, D_V = 2, 4, 2, 5, 7, 3, 11
TYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def randn(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def leaf(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> torch.Tensor:
    return randn(*shape, dtype=dtype, seed=seed).requires_grad_()


def qkv(dtype: torch.dtype = torch.float64, lead: tuple[int, ...] = (B,)) -> list[torch.Tensor]:
    """Query heads that share key heads, and values of another width, unless a test says otherwise."""
    shapes = [(*lead, H, N_Q, D), (*lead, KV, N_K, D), (*lead, KV, N_K, D_V)]
    return [leaf(*shape, dtype=dtype, seed=n) for n, shape in enumerate(shapes)]


def flags(*shape: int) -> torch.Tensor:
    return randn(*shape, seed=5) > -0.4
