"""Heads replaced in a model that runs: what a head adds, before the output projection.

There it is still that head's own, (b, h, n_q, d_v); past the projection a slice of the columns is no head.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from clearhead.tensors import to_torch
from clearhead.traces.ablation import Ablation


def replaced(
    output: torch.Tensor, path: str, name: str, wanted: list[Ablation], real: np.ndarray | None
) -> torch.Tensor:
    """The output of a layer, (b, h, n_q, d_v), with some heads replaced."""
    own = [ablation for ablation in wanted if ablation.concerns(path)]
    if not own:
        return output
    output = output.clone()
    for ablation in own:
        heads = range(output.shape[1]) if ablation.head is None else [ablation.head]
        if heads[-1] >= output.shape[1]:
            raise ValueError(f"{path} has {output.shape[1]} heads, and there is no head {ablation.head} to ablate")
        for head in heads:
            output[:, head] = _instead(output[:, head], name, head, ablation.way, real)
    return output


def _instead(head: torch.Tensor, name: str, number: int, way: Any, real: np.ndarray | None) -> torch.Tensor:
    """What stands in for a head's output, (b, n_q, d_v)."""
    if way == "zero":
        return torch.zeros_like(head)
    if way == "mean":
        return _mean(head, real)
    return _from(way, head, name, number)


def _mean(head: torch.Tensor, real: np.ndarray | None) -> torch.Tensor:
    """The mean over the positions of each sequence that are no padding, at every position."""
    if real is None or real.shape[-1] != head.shape[-2]:
        return head.mean(dim=-2, keepdim=True).expand_as(head)
    shares = torch.from_numpy(real).to(head)[..., None]
    return (head * shares).sum(-2, keepdim=True).div(shares.sum(-2, keepdim=True).clamp(min=1)).expand_as(head)


def _from(trace: Any, head: torch.Tensor, name: str, number: int) -> torch.Tensor:
    """A head's output in another trace, which kept its values; of one sequence, or of as many as there are here."""
    trace._must_be_here("taking a head from a trace")
    (take,) = trace._takes if len(trace._takes) == 1 else (None,)
    if take is None:
        raise ValueError("a head is taken from the trace of one forward; trace.calls[0] is the first alone")
    rows = []
    for entry in range(len(head)):
        source = take.piece(name, trace._entry if trace._entry is not None else entry if take.batch > 1 else 0)
        if source.v is None:
            raise ValueError(
                "a head can be taken only from a trace that kept the values: with ch.trace(model, values=True) as trace"
            )
        view = source.view(trace._top_k, trace._map_size)
        mixed = np.asarray(view.mix(source.v))[number]
        if mixed.shape != tuple(head.shape[1:]):
            raise ValueError(
                f"{name} has {mixed.shape[0]} positions of {mixed.shape[1]} numbers in the trace that a head is to be "
                f"taken from, and {head.shape[1]} of {head.shape[2]} here; both must be called with as many tokens"
            )
        rows.append(to_torch(np.ascontiguousarray(mixed, np.float32)))
    return torch.stack(rows).to(head)
