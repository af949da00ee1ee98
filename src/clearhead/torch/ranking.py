"""The keys each query scores highest, merged block by block; of equal scores the lower key comes first."""

from __future__ import annotations

import numpy as np
import torch

from clearhead.tensors import on_host
from clearhead.torch.streaming import Problem


class Best:
    """The best k keys of each query among those seen so far, by falling score."""

    def __init__(self, problem: Problem, k: int) -> None:
        shape = (*problem.lead, problem.n_q, k)
        self.k = k
        self.scores = problem.q.new_full(shape, -torch.inf, dtype=problem.kind)
        self.keys = problem.q.new_full(shape, -1, dtype=torch.int64)
        self.weights = torch.zeros_like(self.scores)

    def see(self, rows: slice, cols: slice, scores: torch.Tensor) -> None:
        """A block of scores (*lead, rows, cols), to the right of all that these queries have seen."""
        if not self.k:
            return
        keys = torch.arange(cols.start, cols.stop, device=scores.device).expand(scores.shape)
        place = first_highest(scores, min(self.k, scores.shape[-1]))
        merged = torch.cat([self.scores[..., rows, :], scores.gather(-1, place)], dim=-1)
        numbers = torch.cat([self.keys[..., rows, :], keys.gather(-1, place)], dim=-1)
        order = merged.sort(dim=-1, descending=True, stable=True).indices[..., : self.k]  # lower keys stand first
        self.scores[..., rows, :] = merged.gather(-1, order)
        self.keys[..., rows, :] = numbers.gather(-1, order)

    def settle(self, rows: slice, top: torch.Tensor, total: torch.Tensor) -> None:
        """All keys of these queries are seen: their weights, and no key where a score is −inf."""
        scores = self.scores[..., rows, :]
        self.weights[..., rows, :] = torch.exp(scores - top[..., None]) / total[..., None]
        self.keys[..., rows, :] = self.keys[..., rows, :].masked_fill(torch.isneginf(scores), -1)

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """Keys and weights on the CPU: (*lead, n_q, k) each"""
        return on_host(self.keys), on_host(self.weights)


def first_highest(scores: torch.Tensor, k: int) -> torch.Tensor:
    """Where the k highest of each row stand, from left to right, those further left where scores are equal.

    torch.topk names any of those that are equal to the lowest of the k. So all that are higher come first, and then as
    many of the equal ones as there is room for, each by its place: scores (…, n) → (…, k)
    """
    lowest = scores.topk(k, dim=-1).values[..., -1:]
    width = scores.shape[-1]
    from_the_right = torch.arange(width, 0, -1, device=scores.device, dtype=torch.float32)
    rank = torch.where(scores > lowest, from_the_right + width, torch.where(scores == lowest, from_the_right, 0))
    return rank.topk(k, dim=-1).indices.sort(dim=-1).values
