"""Joining what was computed from parts of the keys, in the order of the parts, so the bits never vary."""

from __future__ import annotations

import math

import numpy as np

from clearhead.kernels.compiler import helper, kernel
from clearhead.kernels.formats import write_row
from clearhead.kernels.job import Parts
from clearhead.kernels.memory import cast, peek, poke, size_of
from clearhead.kernels.scores import head_address, row_address
from clearhead.kernels.struct_types import view


@kernel
def join(like, address):
    """Join the Parts at an address."""
    parts = view(Parts, like, address)
    for head in range(parts.heads):
        output, sums = head_address(parts, parts.output, head), head_address(parts, parts.lse, head)
        for i in range(parts.n_q):
            row = head * parts.n_q + i
            lse = join_row(parts, row)
            source = parts.outputs + row * parts.d_v * size_of(like)
            write_row(parts.output, source, row_address(parts, parts.output, output, i), parts.d_v, parts.spare)
            if parts.lse.address != 0:
                poke(like, row_address(parts, parts.lse, sums, i), cast(like, lse))
    return 0


@helper
def join_row(parts, row):
    """Make a row of the first part that of all of them; returns its lse."""
    like = parts.like
    size = size_of(like)
    rows, d_v = parts.heads * parts.n_q, parts.d_v
    target = parts.outputs + row * d_v * size
    top = -np.inf
    for p in range(parts.parts):
        found = peek(like, parts.sums + (p * rows + row) * size)
        if found > top or math.isnan(found):
            top = float(found)
    total = 0.0
    if top != -np.inf:
        for p in range(parts.parts):
            total += math.exp(peek(like, parts.sums + (p * rows + row) * size) - top)
    for p in range(parts.parts):
        found = peek(like, parts.sums + (p * rows + row) * size)
        if found != -np.inf:
            share = math.exp(found - top) / total
            source = parts.outputs + (p * rows + row) * d_v * size
            for x in range(0, d_v * size, size):
                before = peek(like, target + x) if p > 0 else cast(like, 0.0)
                poke(like, target + x, cast(like, before + share * peek(like, source + x)))
        elif p == 0:
            for x in range(0, d_v * size, size):
                poke(like, target + x, cast(like, 0.0))
    return top + math.log(total) if total != 0 else -np.inf
