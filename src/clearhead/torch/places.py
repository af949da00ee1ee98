"""Which places of a block of scores may be attended, and what is added to them: settled on a device, block by block.

A mask in runs of keys costs O(n) there. Arrays stay where they are and are handed over a block at a time; so is what
only a rule can say, which NumPy works out.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from clearhead import masks
from clearhead.tensors import to_torch

Index = slice | np.ndarray  # of queries or keys: a run, or numbers


@dataclass(frozen=True)
class Places:
    """The mask and the bias of a call. Arrays may be NumPy's or tensors, and broadcast to (*lead, n_q, n_k).

    allowed: a boolean array; bias: an array that is added; table (h or 1, n_q + n_k − 1): a bias for each distance
    """

    sizes: masks.Sizes
    device: torch.device
    kind: torch.dtype
    ranges: masks.Ranges | None = None
    allowed: Any = None
    rule: masks.Mask | None = None
    period: int = 1
    phase: int = 0
    bias: Any = None
    table: Any = None

    @property
    def may_mask(self) -> bool:
        """Whether some place may be masked."""
        parts = (self.ranges, self.allowed, self.rule, self.bias, self.table)
        return self.period > 1 or any(x is not None for x in parts)

    def reached(self, rows: Index) -> tuple[int, int]:
        """The first key that runs leave to some of these queries, and the one after the last."""
        if self.ranges is None:
            return 0, self.sizes.n_k
        low, high = (np.asarray(x[..., rows]) for x in self.ranges)
        there = low < high
        if not there.any():
            return 0, 0
        return int(low.min(where=there, initial=self.sizes.n_k)), int(high.max(where=there, initial=0))

    def added_at(self, rows: Index, cols: Index) -> torch.Tensor | None:
        """The bias of a block, in the type of the scores: (…, rows, cols), or with axes of 1 there"""
        if self.bias is not None:
            return self._numbers(piece(self.bias, rows, cols))
        if self.table is None:
            return None
        query, key = (np.arange(n)[x] for x, n in ((rows, self.sizes.n_q), (cols, self.sizes.n_k)))
        if not query.size or not key.size:
            return None
        first = int(query.min() - key.max()) + self.sizes.n_k - 1  # where the smallest distance, query − key, stands
        last = int(query.max() - key.min()) + self.sizes.n_k - 1
        distances = self._on_device(query[:, None] - key + (self.sizes.n_k - 1 - first))
        return self._numbers(self.table[:, first : last + 1])[:, distances]

    def allowed_at(self, rows: Index, cols: Index, added: torch.Tensor | None) -> torch.Tensor | None:
        """Whether each place of a block may be attended, by the mask and by a bias of −inf; None where all may."""
        query, key = (np.arange(n)[x] for x, n in ((rows, self.sizes.n_q), (cols, self.sizes.n_k)))
        flags = []
        if self.ranges is not None:
            low, high = (self._on_device(x[..., rows])[..., None] for x in self.ranges)
            keys = self._on_device(key)
            flags.append(((low <= keys) & (keys < high)).any(dim=-3))
        if self.allowed is not None:
            flags.append(self._on_device(piece(self.allowed, rows, cols)))
        if self.rule is not None:
            at = masks.places(self.sizes, slice(0, 0))
            at = masks.Where.inside(self.sizes, at.batch, at.head, query[:, None], key)
            flags.append(self._on_device(self.rule.allows(at)))
        if self.period > 1:
            flags.append(self._on_device((query[:, None] + self.phase - key) % self.period == 0))
        if added is not None:
            flags.append(~torch.isneginf(added))
        return functools.reduce(operator.and_, flags) if flags else None

    def _numbers(self, x: Any) -> torch.Tensor:
        """In the type of the scores before they are on the device, which may have no float64."""
        return within(as_tensor(x), self.kind).to(self.device)

    def _on_device(self, x: Any) -> torch.Tensor:
        return as_tensor(x).to(self.device)


def as_tensor(x: Any) -> torch.Tensor:
    """An array or a tensor as a tensor; what runs backwards or may not be written to is copied."""
    if isinstance(x, torch.Tensor):
        return x
    made: torch.Tensor = to_torch(np.require(x, requirements=["C", "W"]))
    return made


def piece(x: Any, rows: Index, cols: Index) -> Any:
    """A block of what broadcasts to the scores; an axis along which it is the same everywhere stays 1 long."""
    x = x.reshape((1,) * (2 - x.ndim) + tuple(x.shape)) if x.ndim < 2 else x
    steps = x.stride() if isinstance(x, torch.Tensor) else x.strides
    same_row, same_column = (x.shape[axis] == 1 or steps[axis] == 0 for axis in (-2, -1))
    return x[..., slice(0, 1) if same_row else rows, :][..., slice(0, 1) if same_column else cols]


def within(addition: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """A bias whose finite numbers are finite in the type of the scores: only −inf may forbid a key."""
    if addition.dtype.itemsize <= kind.itemsize:
        return addition.to(kind)
    limits = torch.finfo(kind)
    nearest = addition.clamp(limits.min, limits.max)
    return torch.where(torch.isneginf(addition), addition, nearest).to(kind)
