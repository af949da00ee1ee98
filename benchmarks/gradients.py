"""Forward and backward in one: how each library is asked for the gradients of the same attention.

The output is weighed with drawn numbers, the same for everyone, and what is compared is all gradients end to end.
Where a problem has a bias, its gradient is one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.peers import tensor
from benchmarks.problems import SEED, Call, Problem


@dataclass(frozen=True)
class Gradients:
    """The gradients of a problem's queries, keys, values and bias."""

    of: Problem

    @property
    def operations(self) -> float:
        """Two products forward; backward those two once more, and three for the gradients."""
        return 3.5 * self.of.operations

    @cached_property
    def weighing(self) -> np.ndarray:
        """The gradient of the output (b, h, n_q, d_v)."""
        shape = (*self.of.q.shape[:-1], self.of.v.shape[-1])
        return np.random.default_rng(2).standard_normal(shape, np.float32)

    @property
    def inputs(self) -> list[np.ndarray]:
        """What gradients are wanted of."""
        of = self.of
        return [of.q, of.k, of.v] + ([of.addition] if of.addition is not None else [])

    def truth(self, kind: type[np.floating[Any]] = np.float64) -> np.ndarray:
        """By torch's differentiation of the plain formula in the given type → all gradients in a row"""
        import torch

        inputs = [torch.from_numpy(x.astype(kind)).requires_grad_() for x in self.inputs]
        q, k, v, *bias = inputs
        scores = q @ k.mT * q.shape[-1] ** -0.5
        for addition in bias:
            scores = scores + addition
        if self.of.mask is not None:
            written = self.of.mask.array(scores.shape[-2], scores.shape[-1])
            scores = scores.masked_fill(torch.from_numpy(~written), -torch.inf)
        weights = scores.softmax(dim=-1)
        if self.of.dropout:
            from clearhead.textbook.dropout import dropout_mask

            weights = weights * torch.from_numpy(dropout_mask(tuple(weights.shape), self.of.dropout, SEED))
        return joined(torch.autograd.grad(weights @ v, inputs, torch.from_numpy(self.weighing.astype(kind))))


def calls(problem: Gradients) -> dict[str, Call]:
    """Ours and torch's."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    import clearhead.torch as cht

    of = problem.of
    weighing = tensor(problem.weighing)
    options: dict[str, Any] = {"dropout": of.dropout, "seed": SEED} if of.dropout else {}

    def ours(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        return cht.attention(q, k, v, mask=of.mask, bias=bias, **options)

    def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        return scaled_dot_product_attention(q, k, v, bias, of.dropout, of.causal, enable_gqa=of.grouped)

    def call(attend: Callable[..., torch.Tensor], random: bool) -> Call:
        inputs = [tensor(x).requires_grad_() for x in problem.inputs]
        return Call(lambda: torch.autograd.grad(attend(*inputs), inputs, weighing), joined, random=random)

    return {"clearhead": call(ours, False), "torch": call(theirs, of.dropout > 0)}


def joined(gradients: Any) -> np.ndarray:
    return np.concatenate([x.detach().numpy().ravel() for x in gradients])
