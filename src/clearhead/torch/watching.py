"""Attention of a module, where somebody may be watching.

Modules do not keep what they compute. Whoever wants to see it, or to change it, watches a thread for a while: every
call of attention that a module makes in that thread then goes through the watchers, who are told which module it is.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from clearhead.torch.function import attention


class Position(NamedTuple):
    """Where a module's call lies in its sequence, as far as the module knows.

    grows: queries and keys are of one sequence, which goes on in later calls: causal attention, perhaps with a cache
    first_query, first_key: the positions of the first ones in that sequence
    real (b, n_k): which keys are no padding; None if all are
    """

    grows: bool
    first_query: int = 0
    first_key: int = 0
    real: np.ndarray | None = None


class Spread(NamedTuple):
    """A sequence of n positions that is spread over the ranks of a group, and the ids that its model got, whole."""

    n: int
    group: Any
    layout: str
    given: Mapping[str, Any]


# watcher(module, compute, position, q, k, v, **options) → the output that the module gets. The options are those of
# `attention`, and compute(q, k, v, **options) is what it would get without the watcher.
Watcher = Callable[..., torch.Tensor]


class _Here(threading.local):
    watchers: tuple[Watcher, ...] = ()
    spread: Spread | None = None


_here = _Here()


@contextlib.contextmanager
def watched(watcher: Watcher, *, innermost: bool = False) -> Iterator[None]:
    """Let a watcher see what this thread's modules compute, until the block ends.

    innermost: it computes itself, and so all others are asked before it, also those that watch already
    """
    before = _here.watchers
    _here.watchers = (watcher, *before) if innermost else (*before, watcher)
    try:
        yield
    finally:
        _here.watchers = before


@contextlib.contextmanager
def spread(over: Spread) -> Iterator[None]:
    """Say that modules get a part of a sequence, and that a watcher attends over all of it.

    Masks that are made in the block speak of the whole.
    """
    before = _here.spread
    _here.spread = over
    try:
        yield
    finally:
        _here.spread = before


def spread_over() -> Spread | None:
    """Where the sequence lies of which this thread's modules get a part; None where they get all of it."""
    return _here.spread


def whole_length() -> int | None:
    """How long that sequence is."""
    return None if _here.spread is None else _here.spread.n


def are_watched() -> bool:
    """Whether somebody watches what this thread's modules compute."""
    return bool(_here.watchers)


def going_back() -> bool:
    """Whether this thread is in a backward pass, where gradient checkpointing calls modules once more."""
    return bool(torch._C._current_graph_task_id() != -1)


def attend(
    module: nn.Module, position: Position, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any
) -> torch.Tensor:
    """A module's attention: what `attention` gives, unless a watcher says otherwise."""
    return _through(_here.watchers, module, position, q, k, v, **options)


def _through(
    watchers: tuple[Watcher, ...],
    module: nn.Module,
    position: Position,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    **options: Any,
) -> torch.Tensor:
    if not watchers:
        return attention(q, k, v, **options)
    *others, last = watchers

    def compute(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any) -> torch.Tensor:
        return _through(tuple(others), module, position, q, k, v, **options)

    return last(module, compute, position, q, k, v, **options)
