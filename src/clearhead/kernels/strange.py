"""Keys and values that are not finite: told, kept out of products, and mixed in only where they may be attended to."""

from __future__ import annotations

import math

import numpy as np

from clearhead.kernels.compiler import helper
from clearhead.kernels.memory import Rows, all_finite, cast, lanes_of, peek, peek_flag, poke, poke_flag, size_of


@helper
def rows_finite(like, rows, count, columns):
    """Whether a block of keys or values holds no NaN and no infinity."""
    lanes, size = lanes_of(like), size_of(like)
    whole = columns - columns % lanes
    for r in range(count):
        row = rows.address + r * rows.step
        if not all_finite(like, row, whole):
            return False
        for x in range(whole, columns):
            if not math.isfinite(peek(like, row + x * size)):
                return False
    return True


@helper
def note_allowed(like, tile, target):
    """Remember which scores of a tile are not −inf."""
    for n in range(tile.keys * tile.width):
        poke_flag(target + n, peek(like, tile.address + n * size_of(like)) > -np.inf)


@helper
def copy_finite(like, source, target, count, columns):
    """A block of keys or values with zeros for the numbers that are NaN or infinite."""
    size = size_of(like)
    for r in range(count):
        for x in range(columns):
            number = peek(like, source.address + r * source.step + x * size)
            poke(like, target + (r * columns + x) * size, number if math.isfinite(number) else cast(like, 0.0))
    return Rows(target, columns * size)


@helper
def add_strange(job, scratch, values, tile):
    """Mix in the values that are NaN or infinite, for the queries that may attend to them and no others."""
    like, width = job.like, tile.width
    size = size_of(like)
    for j in range(tile.keys):
        for x in range(job.d_v):
            number = peek(like, values.address + j * values.step + x * size)
            if not math.isfinite(number):
                for i in range(width):
                    if peek_flag(scratch.allowed + j * width + i):
                        at = scratch.mixed + (x * width + i) * size
                        poke(like, at, peek(like, at) + peek(like, tile.address + (j * width + i) * size) * number)
