"""A call as a kernel reads it: where its arrays lie, how large they are, and how it is cut into tasks.

Kernels are handed addresses and strides rather than numba arrays (see `structs`). What only the backward pass or an
observation needs is described beside its kernel, by a struct that has the job in it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from clearhead.kernels.structs import Axes, laid_out
from clearhead.kernels.target import TARGET

LOG2E = math.log2(math.e)
LN2 = math.log(2)
BLOCK = 192  # keys per tile: 192 × 64 scores are 48 KiB, well inside L2 with the keys and values beside them

# What Job.bias_form says: no bias, one number per query and key, one number per distance query − key.
NO_BIAS, FULL_BIAS, RELATIVE_BIAS = range(3)

NOWHERE = np.intp(0)  # no address; an int would be a constant, for which numba compiles what it is passed to once more

# What a mask leaves of a block of keys: nothing, some of it, everything.
EMPTY, MIXED, FULL = range(3)


class Strided(NamedTuple):
    """An array of the caller's; the address is 0 if there is none. Steps are in bytes, 0 where it is broadcast."""

    address: int
    row: int  # from one row to the next
    column: int
    stored: int  # how its numbers are stored: see `memory`
    sharing: int  # from one query head to the next that shares its keys
    axes: Axes  # along each leading axis: parts of the keys, batch, key heads, the query heads that share one


ABSENT = Strided(0, 0, 0, 0, 0, Axes((0,) * 8))


class Scratch(NamedTuple):
    """Addresses of one thread's working memory. Rows are queries unless said otherwise."""

    queries: int  # (d, width): the panel, turned
    rows: int  # (width, max(d, d_v)): the panel as it comes and as it leaves
    tile: int  # (BLOCK, width): scores, then their exponentials; rows are keys
    pairs: int  # (BLOCK / 2, width): the exponentials of two keys each, in bfloat16
    mixed: int  # (d_v, width): Σ exponential · value; of a handful of queries (width, d_v)
    top: int  # (width,): the largest score so far, in powers of two
    total: int  # (width,): Σ exponential
    alpha: int  # (width,): what a new largest score makes of the sums so far
    low: int  # (ranges, width): which keys each query may attend to
    high: int
    residue: int  # (width,): the remainder, by the mask's period, of the keys that each query may attend to
    hash_low: int  # (width,): each query's key for the hash of dropout, in two halves
    hash_high: int
    keys: int  # (BLOCK, d): keys that had to be converted
    values: int  # (BLOCK, d_v)
    clean: int  # (BLOCK, d_v): values without those that are not finite
    allowed: int  # (BLOCK, width) bytes: which scores were not masked, when some value is not finite
    bias_rows: int  # (width, BLOCK): the bias as it comes
    bias: int  # (BLOCK, width): the bias, turned
    spare: int  # one vector
    end: int


def scratch_for(itemsize: int, width: int, d: int, d_v: int, ranges: int, *, paired: bool) -> Scratch:
    """Where each part of the scratch lies."""
    lanes = TARGET.lanes(itemsize)
    d, d_v = -(-d // lanes) * lanes, -(-d_v // lanes) * lanes
    tile = BLOCK * width
    scratch: Scratch = laid_out(
        Scratch, itemsize, queries=d * width, rows=width * max(d, d_v), tile=tile,
        pairs=tile // 2 if paired else 0, mixed=d_v * width,
        top=width, total=width, alpha=width, low=ranges * width, high=ranges * width, residue=width,
        hash_low=width, hash_high=width,
        keys=BLOCK * d, values=BLOCK * d_v, clean=BLOCK * d_v, allowed=tile, bias_rows=tile, bias=tile, spare=lanes,
    )  # fmt: skip
    return scratch


class Job(NamedTuple):
    """A call, cut into tasks."""

    query: Strided
    key: Strided
    value: Strided
    output: Strided
    lse: Strided
    top: Strided  # each query's largest score, in powers of two
    total: Strided  # Σ 2^(score − top)
    allowed: Strided
    bias: Strided
    low: Strided
    high: Strided
    sink: Strided
    tasks: int
    panels: int  # of queries, for each head
    vectors: int  # a panel's width in vectors
    width: int  # and in queries
    heads: int  # batch entries × key heads, × the query heads that share one unless they are folded
    folded: int  # query heads that lie behind one another in a panel
    heads_per_task: int  # that one task of the backward pass does in turn, because they share a gradient
    split: int  # keys that a task looks at
    thin: int  # whether there are so few queries that a panel goes the way of `thin`
    n_q: int
    n_k: int
    d: int
    d_v: int
    ranges: int  # runs of keys for each query
    period: int  # query i may attend to key j only if (i + phase − j) % period is 0
    phase: int
    bias_form: int
    dropping: int  # of 2³² places, how many are dropped
    seed: int
    first_query: int  # its number among all queries of the whole sequence, of which a call may hold a part
    first_key: int
    first_head: int  # its number among all heads of the whole, of which a call may hold some
    own_heads: int  # of each batch entry
    other_heads: int  # that the whole has besides
    shape: Axes  # lengths of the leading axes
    scale: float  # what queries are multiplied by: makes scores exponents of two or, with a softcap, arguments of tanh
    true_scale: float  # the scale alone
    softcap: float
    keep: float  # 1 − dropout
    scratch: Scratch  # how far into a thread's memory each part lies


class Parts(NamedTuple):
    """What was computed from parts of the keys, to be joined."""

    outputs: int  # the address of numbers that lie one after another, (parts, heads, n_q, d_v), and one vector of room
    sums: int  # and of (parts, heads, n_q): log Σ exp of each part
    spare: int  # one vector
    output: Strided
    lse: Strided
    parts: int
    heads: int  # batch entries × query heads
    n_q: int
    d_v: int
    folded: int  # 1, as what is joined has each head by itself
    shape: Axes  # lengths of the leading axes, as the job has them


class Panel(NamedTuple):
    """Queries that a task works on side by side. `head` counts over all leading axes."""

    head: int
    first: int
    rows: int
    vectors: int  # its width in vectors
    width: int  # and in queries
    thin: int  # whether it goes the way of `thin`


class Block(NamedTuple):
    """Some keys, and what the mask leaves of them to the panel at hand."""

    key: int
    keys: int
    state: int
