"""How a call is cut into tasks. Decided by its shape alone, so that the number of threads changes no bit."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels.job import BLOCK, Scratch, scratch_for
from clearhead.kernels.storage import BFLOAT16, stored_kind
from clearhead.kernels.structs import PAIRS
from clearhead.kernels.target import MIDDLE, PANEL, TARGET, WIDEST
from clearhead.matrices import cell_length

FEW_TASKS = 16  # with fewer, the keys are split, so that there is something for every thread
NARROW = 512  # keys up to which a causal mask makes panels narrower
NARROW_PAIRS = 256  # the same of pairs of bfloat16, whose values are paired anew for each panel
LEAST_SPLIT = 4 * BLOCK  # keys that are worth a task of their own
FEW_BACKWARD_TASKS = 8  # the same for the backward pass, whose tasks have all queries of a head
LEAST_BACKWARD_SPLIT = BLOCK
EVEN = 4  # keys that parts of the backward pass are multiples of: pairs of bfloat16 are of two
SHARED_TASKS = 16  # parts of the keys when all heads add to one bias and so cannot go side by side
MOST_THIN = 8  # queries that are multiplied the way of `thin`; with more, the other way is as fast
LEAST_THIN_LANES = 4  # numbers of a vector, without which there is no such way
MOST_PARTS = 16  # into which an observation deals a head's panels: each sums over its own queries what keys receive


class Plan(NamedTuple):
    """How a call is cut into tasks."""

    group: int  # query heads that share a key head
    folded: int  # how many of them lie in one panel
    vectors: int  # a panel's width in vectors
    width: int  # and in queries
    panels: int
    heads: int
    split: int  # keys per task
    splits: int
    tasks: int
    heads_per_task: int
    thin: bool  # whether there are so few queries that a panel goes the way of `thin`
    scratch: Scratch


class Shape(NamedTuple):
    """What a plan depends on."""

    n_q: int
    n_k: int
    d: int
    d_v: int
    batch: int
    heads: int
    kv_heads: int
    itemsize: int
    ranges: int
    paired: bool = False  # the products are of pairs of bfloat16
    seen: int = 0  # keys that the last query sees, if each sees other ones, further on, than the one before

    @property
    def lanes(self) -> int:
        return TARGET.lanes(self.itemsize)

    @property
    def group(self) -> int:
        return max(self.heads // max(self.kv_heads, 1), 1)


def computed_as(call: Call) -> np.dtype[Any]:
    """What a call's kernel is compiled for: the type that is computed in, or pairs of bfloat16 where all are such."""
    paired = TARGET.pairs and all(stored_kind(x.dtype) == BFLOAT16 for x in (call.q, call.k, call.v))
    return PAIRS if paired else call.kind


def shape_of(call: Call) -> Shape:
    """The shape of a call."""
    return Shape(
        call.n_q, call.n_k, call.q.shape[-1], call.d_v, math.prod(call.batch_shape), call.heads, call.kv_heads,
        call.kind.itemsize, 0 if call.ranges is None else call.ranges.low.shape[-2], computed_as(call) == PAIRS,
        0 if call.ranges is None else seen_by_the_last(*call.ranges),
    )  # fmt: skip


def seen_by_the_last(low: np.ndarray, high: np.ndarray) -> int:
    """How many keys the last query sees, in runs (…, runs, n_q), of that head whose last query sees the most.

    0 unless it sees later ones than the first.
    """
    if low.shape[-2] != 1 or low.shape[-1] < 2 or not low.size:
        return 0
    end = high[..., -1]
    return int(np.where(end > high[..., 0], end - low[..., -1], 0).max(initial=0))


@functools.lru_cache(maxsize=256)
def forward_plan(shape: Shape) -> Plan:
    """Panels of queries against keys, which are split where there are few panels."""
    # query heads that share keys go into one panel where one head alone would not fill it
    folded = shape.group if shape.n_q < (1 if shape.seen else WIDEST) * shape.lanes else 1
    vectors = _panel_vectors(shape, shape.n_q * folded)
    whole = _plan(shape, folded=folded, vectors=vectors, split=max(shape.n_k, 1))
    return _plan(shape, folded=folded, vectors=vectors, split=forward_split(shape.n_k, whole.tasks))


def forward_split(n_k: int, tasks: int) -> int:
    """How many keys a task of the forward pass has, if there would be so many tasks with all keys in each.

    There are no more parts than whole ones of LEAST_SPLIT: 1,024 keys are not cut into 768 and a rest, for which one
    thread would wait.
    """
    parts = min(math.ceil(FEW_TASKS / max(tasks, 1)), max(n_k // LEAST_SPLIT, 1))
    return _keys_of(n_k, parts, LEAST_SPLIT)


@functools.lru_cache(maxsize=256)
def backward_plan(shape: Shape, shared: bool) -> Plan:
    """A key head with all queries of all heads that share it. `shared`: the heads must take turns."""
    vectors = _panel_vectors(shape, shape.n_q * shape.group)
    whole = _plan(shape, folded=shape.group, vectors=vectors, split=max(shape.n_k, 1))
    parts = SHARED_TASKS if shared else math.ceil(FEW_BACKWARD_TASKS / max(whole.heads, 1))
    plan = _plan(shape, folded=shape.group, vectors=vectors, split=backward_split(shape.n_k, parts))
    together = plan.heads if shared else 1
    return plan._replace(tasks=plan.heads * plan.splits // max(together, 1), heads_per_task=together)


def backward_split(n_k: int, wanted: int) -> int:
    """How many keys a task of the backward pass has, if they are to be cut into so many parts, none below the least.

    Parts are of one size, but for the last, which may lack a few keys, and their number is a power of two, as that of
    threads mostly is: of 1,024 keys of one head in parts of 384, 384 and 256, one of two threads would do nearly two
    thirds, and the pass took 1.15 times as long as in four of 256.
    """
    most = 2 ** int(math.log2(max(n_k // LEAST_BACKWARD_SPLIT, 1)))
    parts = min(2 ** math.ceil(math.log2(wanted)), most)
    return EVEN * max(math.ceil(n_k / parts / EVEN), 1)


@functools.lru_cache(maxsize=256)
def watching_plan(shape: Shape) -> Plan:
    """Panels of full width, several of one head in a task, its keys not split."""
    plan = _plan(shape, folded=1, vectors=WIDEST, split=max(shape.n_k, 1))
    parts = math.ceil(plan.panels / max(math.ceil(plan.panels / MOST_PARTS), 1))
    return plan._replace(tasks=plan.heads * parts)


@functools.lru_cache(maxsize=256)
def window_plan(shape: Shape) -> Plan:
    """Panels of queries against keys, as in the forward pass, but with the wide products in any case.

    Each number comes out as it does in panels of full width.
    """
    whole = _plan(shape, folded=1, vectors=_vectors_for(shape.n_q, shape.lanes), split=max(shape.n_k, 1))
    return _split(shape, whole, math.ceil(FEW_TASKS / max(whole.tasks, 1)), LEAST_SPLIT)._replace(thin=False)


def _plan(shape: Shape, *, folded: int, vectors: int, split: int) -> Plan:
    width = vectors * shape.lanes
    panels = math.ceil(shape.n_q * folded / width)
    heads = shape.batch * shape.kv_heads * (shape.group // folded)
    splits = max(1, math.ceil(shape.n_k / split))
    return Plan(
        group=shape.group,
        folded=folded,
        vectors=vectors,
        width=width,
        panels=panels,
        heads=heads,
        split=split,
        splits=splits,
        tasks=panels * heads * splits,
        heads_per_task=1,
        thin=vectors == 1 and is_thin(shape.n_q * folded, shape.d, shape.d_v, shape.lanes * (1 + shape.paired)),
        scratch=scratch_for(shape.itemsize, width, shape.d, shape.d_v, shape.ranges, paired=shape.paired),
    )


def _split(shape: Shape, plan: Plan, parts: int, least: int) -> Plan:
    """A plan with the keys in about so many parts of whole blocks, none below `least` keys."""
    return _plan(shape, folded=plan.folded, vectors=plan.vectors, split=_keys_of(shape.n_k, parts, least))


def _keys_of(n_k: int, parts: int, least: int) -> int:
    """Keys in each of about so many parts of whole blocks, at least so many."""
    return max(least, BLOCK * math.ceil(n_k / parts / BLOCK))


def _panel_vectors(shape: Shape, rows: int) -> int:
    """How many vectors wide the panels of so many queries are.

    Where each query sees a few keys more than the one before, a panel computes what only its last query sees for all
    of them, so narrow panels do less: at 64 keys 0.63 of the scores, not all of them, at 512 0.52 and not 0.56. The
    backward pass gains by it too, up to 8 % at 256 keys; without a mask it takes the same time in panels of any width.
    """
    most, fewer, keys = (WIDEST, MIDDLE, NARROW_PAIRS) if shape.paired else (PANEL, TARGET.narrow, NARROW)
    return min(fewer if 0 < shape.seen <= keys else most, _vectors_for(rows, shape.lanes))


def _vectors_for(rows: int, lanes: int) -> int:
    """How many vectors wide a panel has to be for so many queries."""
    return 1 if rows <= lanes else MIDDLE if rows <= MIDDLE * lanes else WIDEST


def is_thin(rows: int, d: int, d_v: int, lanes: int) -> bool:
    """Whether a panel has so few queries that the products of `thin` are faster. lanes: numbers loaded at once."""
    return rows <= MOST_THIN and lanes >= LEAST_THIN_LANES and d % lanes == 0 and d_v % lanes == 0


def cell_bits(n: int, size: int) -> int:
    """The smallest l for which n positions lie in at most `size` cells of 2^l; without cells, one for all positions."""
    return cell_length(n, size).bit_length() - 1 if size else 62


def cells_of(n: int, size: int) -> int:
    """How many cells that makes."""
    return -(-n >> cell_bits(n, size)) if size else 0


def positions_in_cells(n: int, bits: int) -> np.ndarray:
    """How many of n positions each cell of 2^bits has."""
    return np.minimum(n - (np.arange(-(-n >> bits)) << bits), 1 << bits)
