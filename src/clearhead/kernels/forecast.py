"""What a call would do, without doing it: for attention alone, for its gradients, and watched.

Made of the same plans and the same layouts of scratch that the kernels are run with, so that it cannot say one thing
while they do another.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearhead import checks, masks
from clearhead.call import STRIP, Call, prepare
from clearhead.kernels import backward_job, watch
from clearhead.kernels.explanation import WORK, Cut, Explanation
from clearhead.kernels.job import BLOCK
from clearhead.kernels.plan import Plan, backward_plan, cells_of, computed_as, forward_plan, shape_of, watching_plan
from clearhead.kernels.schedule import get_num_threads
from clearhead.kernels.structs import PAIRS
from clearhead.kernels.target import TARGET

VECTORS = f"{TARGET.name}, {8 * TARGET.vector_bytes}-bit vectors"


def explain(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    of: str = "attention",
    return_lse: bool = False,
    top_k: int = 8,
    map_size: int = 512,
    **options: Any,
) -> Explanation:
    """What a call would do, or its backward pass, or a look at it: see `clearhead.explain`."""
    checks.choice("of", of, WORK)
    call = prepare(q, k, v, lse=return_lse, **options)
    if of == "look":
        return look(call, checks.count("top_k", top_k, least=0), checks.count("map_size", map_size, least=0))
    return gradients(call) if of == "gradients" else attention(call)


def attention(call: Call) -> Explanation:
    """What `launch.compute` would do."""
    plan = forward_plan(shape_of(call))
    few = plan.folded > 1 or plan.splits > 1
    memory = _of_call(call, plan)
    if plan.splits > 1:
        memory["parts of the keys"] = (plan.splits + 1) * _rows(call) * (call.d_v + 1) * call.kind.itemsize
    memory["output"] = _rows(call) * call.d_v * call.q.dtype.itemsize
    memory["lse"] = _rows(call) * call.kind.itemsize if call.lse else 0
    return _explained("attention", "decode" if few else "forward", call, plan, memory)


def gradients(call: Call) -> Explanation:
    """What the backward pass of a call would do; the gradient of a bias is not counted."""
    plan = backward_plan(shape_of(call), False)
    kind, d = call.kind.itemsize, call.q.shape[-1]
    block, panel = backward_job.scratch_for(kind, plan.width, d, call.d_v)
    memory = _of_call(call, plan, block.end + plan.panels * panel.end)
    keys = math.prod(call.batch_shape) * call.kv_heads * call.n_k
    memory["gradients"] = kind * (plan.splits * _rows(call) * d + keys * (d + call.d_v))
    return _explained("gradients", "backward", call, plan, memory)


def look(call: Call, top_k: int, map_size: int) -> Explanation:
    """What `observation` would do."""
    plan = watching_plan(shape_of(call))
    kind, heads = call.kind.itemsize, math.prod(call.lead)
    notes = watch.notes_for(kind, call.n_k, max(top_k, 1))
    memory = _of_call(call, plan, notes.end)
    memory["output"] = _rows(call) * call.d_v * call.q.dtype.itemsize
    memory["statistics"] = kind * (4 * _rows(call) + heads * call.n_k) + top_k * _rows(call) * (kind + 8)
    memory["map"] = kind * heads * cells_of(call.n_q, map_size) * cells_of(call.n_k, map_size)
    return _explained("look", "watched", call, plan, memory)


def _explained(work: str, way: str, call: Call, plan: Plan, memory: dict[str, int]) -> Explanation:
    tiles, skipped = _tiles(call, plan)
    return Explanation(
        work=work,
        way=way,
        machine=VECTORS,
        arithmetic=call.kind.name,
        shapes=(call.q.shape, call.k.shape, call.v.shape),
        dtype=call.q.dtype.name,
        because=_reasons(call, plan, few=way == "decode"),
        cut=Cut(plan.tasks, plan.width, plan.panels, plan.folded, plan.splits, min(plan.split, call.n_k)),
        tiles=tiles,
        tiles_skipped=skipped,
        memory=memory,
        slow=tuple(call.slow),
    )


def _reasons(call: Call, plan: Plan, *, few: bool) -> tuple[str, ...]:
    reasons = ["few queries" if few else f"panels of {plan.width} queries"]
    if plan.folded > 1:
        reasons.append(f"{plan.folded} query heads that share keys are folded into one panel")
    if plan.splits > 1:
        reasons.append(f"keys are split into {plan.splits} parts of {plan.split}")
    paired = computed_as(call) == PAIRS
    if paired:
        reasons.append("bfloat16 is multiplied in pairs")
    for name, x in (("keys", call.k), ("values", call.v)):
        if x.strides[-1] != x.itemsize or (x.dtype != call.kind and not paired):
            reasons.append(f"{name} are converted a block at a time")
    return tuple(reasons)


def _rows(call: Call) -> int:
    """Queries of all heads."""
    return math.prod(call.lead) * call.n_q


def _of_call(call: Call, plan: Plan, more_scratch: int = 0) -> dict[str, int]:
    """Bytes that any way of running a call needs: what its mask and bias take, and each thread's scratch."""
    ranges = 0 if call.ranges is None else sum(x.nbytes for x in call.ranges)
    return {
        "mask": ranges + _of_strip(call),
        "bias": 0 if call.table is None else call.table.nbytes,
        "scratch": (plan.scratch.end + more_scratch) * min(get_num_threads(), plan.tasks),
    }


def _of_strip(call: Call) -> int:
    """Bytes of a mask that is worked out strip by strip, from what it says of one query."""
    if call.rule is None or not call.n_q:
        return 0
    lead = call.rule.allows(masks.places(call.sizes, slice(0, 1))).shape[:-2]
    return math.prod(lead) * min(call.n_q, STRIP) * call.n_k


def _tiles(call: Call, plan: Plan) -> tuple[int, int]:
    """How many tiles of scores there are, and how many of them the mask empties."""
    blocks = _blocks(call, plan)
    total = plan.heads * plan.panels * len(blocks)
    if not total or (call.ranges is None and call.allowed is None and call.rule is None):
        return total, 0
    used = 0
    for strip, _ in call.strips():
        panels = math.ceil(strip.n_q * plan.folded / plan.width)
        touched = np.ones((1, panels, len(blocks)), np.bool_)
        if strip.ranges is not None:
            touched = touched & _touched_by_ranges(strip, plan, panels, blocks)
        if strip.allowed is not None:
            touched = touched & _touched_by_array(strip, plan, panels, blocks)
        used += round(touched.sum() * plan.heads / len(touched))
    return total, total - used


def _blocks(call: Call, plan: Plan) -> np.ndarray:
    """The first key of each block: a task begins with one, and has a shorter one at its end."""
    starts = range(0, call.n_k, plan.split)
    return np.concatenate([np.arange(start, min(start + plan.split, call.n_k), BLOCK) for start in (*starts, call.n_k)])


def _touched_by_ranges(call: Call, plan: Plan, panels: int, starts: np.ndarray) -> np.ndarray:
    """Which blocks of keys some run of a panel's queries reaches into: → (heads or 1, panels, blocks)

    Each run adds 1 from its first block on and takes it away after its last, so one sum tells all of them.
    """
    assert call.ranges is not None
    blocks = len(starts)
    if panels * blocks == 1 and math.prod(call.ranges.low.shape[:-2]) == 1:
        return np.full((1, 1, 1), (call.ranges.low < call.ranges.high).any())
    low, high = (_by_panel(x, call, plan) for x in np.broadcast_arrays(*call.ranges))  # (heads or 1, folded, runs, n_q)
    heads, folded, _, n_q = low.shape
    rows = np.arange(folded)[:, None, None] * n_q + np.arange(n_q)
    panel = (np.arange(heads)[:, None, None, None] * panels + rows // plan.width) * (blocks + 1)
    there = low < high
    begun = [np.searchsorted(starts, key, side="right") for key in (low, high - 1)]  # blocks that begin up to a key
    first, after = ((panel + block)[there] for block in (begun[0] - 1, begun[1]))
    size = heads * panels * (blocks + 1)
    change = np.bincount(first, minlength=size) - np.bincount(after, minlength=size)
    return change.reshape(heads, panels, blocks + 1).cumsum(axis=-1)[..., :-1] > 0


def _touched_by_array(call: Call, plan: Plan, panels: int, starts: np.ndarray) -> np.ndarray:
    """Which tiles of a boolean array hold a True: → (heads or 1, panels, blocks)"""
    assert call.allowed is not None
    by_block = np.logical_or.reduceat(call.allowed, starts, axis=-1)
    by_block = _by_panel(by_block, call, plan)  # (heads or 1, folded, n_q, blocks)
    rows = by_block.reshape(len(by_block), -1, len(starts))
    return np.logical_or.reduceat(rows, np.arange(panels) * plan.width, axis=1)


def _by_panel(x: np.ndarray, call: Call, plan: Plan) -> np.ndarray:
    """With one axis for heads that have panels of their own and one for those folded into a panel: (…, a, b)

    What all heads share is folded alike, and stays one.
    """
    if math.prod(x.shape[:-2]) == 1:
        return np.broadcast_to(x.reshape(1, 1, *x.shape[-2:]), (1, plan.folded, *x.shape[-2:]))
    return np.broadcast_to(x, (*call.lead, *x.shape[-2:])).reshape(-1, plan.folded, *x.shape[-2:])
