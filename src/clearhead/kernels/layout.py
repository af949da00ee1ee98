"""How arrays with heads, (…, h, n, d), lie in memory: one head after the other, or the heads of each row side by side.

A layer computes (…, n, h·d) and hands attention a view of it, and what comes next in a model wants it so again. Arrays
that are made for it are laid the same way, so that nothing has to be moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def empty(shape: tuple[int, ...], kind: np.dtype[Any], *, heads_last: bool) -> np.ndarray:
    """Room for an array (…, h, n, d); with `heads_last` it is (…, n, h, d) in memory."""
    if not heads_last:
        return np.empty(shape, kind)
    *lead, heads, n, d = shape
    return np.empty((*lead, n, heads, d), kind).swapaxes(-3, -2)


def lies_heads_last(strides: Sequence[int]) -> bool:
    """Whether in an array with these strides, of NumPy's or of torch's, the heads of a row are nearer than rows are.

    Not where all heads are one, in the same memory.
    """
    return len(strides) > 2 and 0 < strides[-3] < strides[-2]
