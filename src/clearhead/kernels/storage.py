"""How the numbers of the caller's arrays are stored, by number: what `formats` reads and writes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

# How a number is stored: what Strided.stored says.
FLOAT16, BFLOAT16, FLOAT32, FLOAT64 = range(4)
KINDS = {"float16": FLOAT16, "bfloat16": BFLOAT16, "float32": FLOAT32, "float64": FLOAT64}


@functools.cache
def stored_kind(dtype: np.dtype[Any]) -> int:
    """How a float type is stored; 0 for booleans and integers, which are not read as floats."""
    return KINDS.get(dtype.name, 0)
