"""A small GPT trained step by step, with the attention function as the only thing that changes.

Its words follow a rule with some noise, so there is something to learn, nothing to download, and the same numbers
every time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import clearhead.torch as cht

BACK = 3
Attend = Callable[..., torch.Tensor]
ATTENTION: dict[str, Attend] = {
    "clearhead": cht.scaled_dot_product_attention,
    "torch": functional.scaled_dot_product_attention,
}


@dataclass(frozen=True)
class Shape:
    """How large the model and its batches are."""

    d_model: int = 256
    num_heads: int = 4
    num_layers: int = 4
    vocab: int = 256
    n: int = 256
    b: int = 8


class Block(nn.Module):
    """Pre-norm, one product for queries, keys and values, as GPT-2 has it."""

    def __init__(self, shape: Shape, attend: Attend) -> None:
        super().__init__()
        d = shape.d_model
        self.num_heads, self.attend = shape.num_heads, attend
        self.norm1, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.norm2, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x (b, n, d_model) → (b, n, d_model)"""
        q, k, v = (
            y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, dim=-1)
        )
        x = x + self.out(self.attend(q, k, v, is_causal=True).transpose(1, 2).flatten(-2))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, shape: Shape, attend: Attend) -> None:
        super().__init__()
        self.words = nn.Embedding(shape.vocab, shape.d_model)
        self.places = nn.Embedding(shape.n, shape.d_model)
        self.blocks = nn.Sequential(*(Block(shape, attend) for _ in range(shape.num_layers)))
        self.norm, self.head = nn.LayerNorm(shape.d_model), nn.Linear(shape.d_model, shape.vocab)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """ids (b, n) → logits (b, n, vocab)"""
        x = self.words(ids) + self.places.weight[: ids.shape[-1]]
        return self.head(self.norm(self.blocks(x)))


class Training:
    """A model at some step of its training. The same seed gives the same weights and the same batches."""

    def __init__(self, shape: Shape, attend: Attend, *, dtype: torch.dtype = torch.float32, seed: int = 0) -> None:
        self.shape = shape
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.model = GPT(shape, attend).to(dtype)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), 3e-3)
        self.rng = np.random.default_rng(seed)

    def batch(self) -> torch.Tensor:
        """ids (b, n + 1): nine words in ten are the one BACK places before them, the others are drawn."""
        b, n, vocab = self.shape.b, self.shape.n + 1, self.shape.vocab
        ids = self.rng.integers(0, vocab, (b, n))
        ruled = self.rng.random((b, n)) < 0.9
        for i in range(BACK, n):
            ids[:, i] = np.where(ruled[:, i], ids[:, i - BACK], ids[:, i])
        return torch.from_numpy(ids)

    def step(self) -> float:
        """One step; returns the loss before it."""
        ids = self.batch()
        loss = functional.cross_entropy(self.model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()


@dataclass(frozen=True)
class FirstStep:
    """What a training case computes: a step of the model of this shape."""

    shape: Shape

    @property
    def operations(self) -> float:
        """Of the products with weights, forward and backward."""
        s = self.shape
        return 6.0 * s.b * s.n * (12 * s.num_layers * s.d_model**2 + s.d_model * s.vocab)

    def truth(self, kind: Any = np.float64) -> np.ndarray:
        """The loss before the first step, in the given type."""
        dtype = torch.from_numpy(np.zeros(1, kind)).dtype
        return np.array(Training(self.shape, ATTENTION["torch"], dtype=dtype).step())
