"""Joining what was computed from parts of the keys, in the order of the parts, so the bits never vary."""

from __future__ import annotations

import math

import numpy as np

from clearhead.kernels.compiler import kernel
from clearhead.kernels.job import Parts
from clearhead.kernels.memory import cast, peek, poke, size_of
from clearhead.kernels.struct_types import view


@kernel
def join(like, address):
    """Join the Parts at an address."""
    parts = view(Parts, like, address)
    size = size_of(like)
    row = parts.d_v * size
    for i in range(parts.rows):
        target = parts.output + i * row
        top = -np.inf
        for p in range(parts.parts):
            found = peek(like, parts.sums + (p * parts.rows + i) * size)
            if found > top or math.isnan(found):
                top = float(found)
        total = 0.0
        for x in range(parts.d_v):
            poke(like, target + x * size, cast(like, 0.0))
        if top != -np.inf:
            for p in range(parts.parts):
                total += math.exp(peek(like, parts.sums + (p * parts.rows + i) * size) - top)
            for p in range(parts.parts):
                found = peek(like, parts.sums + (p * parts.rows + i) * size)
                share = math.exp(found - top) / total
                if found != -np.inf:
                    source = parts.outputs + (p * parts.rows + i) * row
                    for x in range(parts.d_v):
                        here = target + x * size
                        poke(like, here, cast(like, peek(like, here) + share * peek(like, source + x * size)))
        lse = top + math.log(total) if total != 0 else -np.inf
        poke(like, parts.lse + i * size, cast(like, lse))
