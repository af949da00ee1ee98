"""What one rank does wrong, to see that all are told."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from tests.torch.parallel.ranks import groups

from clearhead import masks
from clearhead.torch import parallel


def fails(b: Any, h: Any, i: Any, j: Any) -> Any:
    raise ZeroDivisionError("a rule that fails")


def make(what: str) -> Any:
    """A call in which rank 2 differs, or everybody is wrong alike."""
    other = dist.get_rank() == 2
    q, k, v = (torch.ones(2, 3, 5) for _ in range(3))
    options: dict[str, Any] = {}
    if what == "width" and other:
        q, k = torch.ones(2, 3, 6), torch.ones(2, 3, 6)
    elif what == "type" and other:
        v = v.double()
    elif what == "mask":
        options["mask"] = masks.window(3) if other else masks.causal()
    elif what == "documents":
        options["mask"] = masks.documents(np.repeat([0, 1], [5, 7] if other else [7, 5]))
    elif what == "seed":
        options |= {"dropout": 0.5, "seed": 2 if other else 1}
    elif what == "sinks":
        options["sinks"] = torch.tensor([0.0, 1.0 if other else 2.0])
    elif what == "gradient":
        k.requires_grad_(other)
    elif what == "split":
        options["split"] = "heads" if other else "queries"
    elif what == "array" and other:
        q = q.numpy()  # type: ignore[assignment]
    elif what == "nan":
        options["bias"] = torch.where(torch.arange(12)[:, None] == 7, torch.nan, 0.0) * torch.ones(12)
    elif what == "rule":
        options["mask"] = masks.where(lambda b, h, i, j: fails(b, h, i, j) if other else (i >= j))
    elif what == "zigzag":
        options["layout"] = "zigzag"
        q, k, v = (torch.ones(2, 4 if other else 3, 5) for _ in range(3))
    elif what == "everybody":
        options["mask"] = masks.documents(np.zeros(11, np.int64))
    return parallel.attention(q, k, v, **options)


def die(rank: int) -> Any:
    """A call of two ranks in which one is killed, while the other waits for it."""
    if dist.get_rank() == rank:
        os.kill(os.getpid(), signal.SIGKILL)
    q = torch.ones(2, 3, 5)
    return parallel.attention(q, q, q, group=groups[2])
