"""A call with a group that the caller is not in."""

from __future__ import annotations

from typing import Any

import torch
from tests.torch.parallel.ranks import groups

from clearhead.torch import parallel


def call_with_a_group_of_two() -> Any:
    q = torch.ones(2, 3, 5)
    return parallel.attention(q, q, q, group=groups[2])
