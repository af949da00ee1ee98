"""The backward pass: gradients of queries, keys, values and bias, from the output's gradient and each query's lse.

A task takes one key head, all query heads that share it, and some of the keys. It turns the queries and the output's
gradient into panels once, then walks over its keys in blocks; for each block it walks over the panels, recomputes the
weights from the lse, and adds up five products:

    S = K·Qᵀ     dP = V·dOᵀ     dV += P·dO     dK += dS·Q     dQᵀ += Kᵀ·dS        dS = P ∘ (dP − Δ)

where Δ = Σ dO ∘ O of each query. No two tasks share a key, so dK and dV are written once; the queries' gradient is
summed over the parts of the keys in order. So nothing depends on which thread did what, and one head alone still
fills every thread.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from clearhead.kernels.compiler import helper, inlined, kernel
from clearhead.kernels.forward import (
    BLOCK,
    EMPTY,
    LOG2E,
    begin,
    block_rows,
    copy_finite,
    drop_tile,
    head_address,
    load_ranges,
    load_salt,
    placed,
    row_address,
    rows_finite,
    shape_scores,
    tile_state,
)
from clearhead.kernels.gemm import WIDEST, add_columns, mix, panel_vectors, scores
from clearhead.kernels.layout import (
    ADDRESS,
    BIAS_FORM,
    COLUMN,
    D_BIAS,
    D_KEY,
    D_QUERY,
    D_V,
    D_VALUE,
    DELTA,
    DROPPING,
    FOLDED,
    FULL_BIAS,
    GRADIENT,
    HEADS,
    KEEP,
    KEY,
    LSE,
    N_K,
    N_Q,
    NEXT,
    PANELS,
    QUERY,
    ROW,
    SCALE,
    SOFTCAP,
    SPLIT,
    STOP,
    STORED,
    TASKS,
    TOGETHER,
    TRUE_SCALE,
    VALUE,
    VECTORS,
    D,
)
from clearhead.kernels.memory import (
    cast,
    clear,
    copy,
    lanes_of,
    peek,
    poke,
    read_row,
    round_up,
    size_of,
    turn_rows,
    write_row,
)
from clearhead.kernels.target import TARGET
from clearhead.kernels.tile import (
    add_distances,
    add_row,
    fetch_add,
    multiply_columns,
    multiply_tile,
    slope_of_cap,
    soften,
    stretch,
    weigh,
)

FAR = 128.0  # an lse so far from 0, in powers of two, has too few digits left for the log of a sum


class Sums(NamedTuple):
    """Addresses of what the backward pass needs besides the forward's scratch."""

    keys: int  # (BLOCK, d) in panels of columns: the block's dK
    values: int  # (BLOCK, d_v) in panels of columns: its dV
    slopes: int  # (BLOCK, width): dP, then dS
    caps: int  # (BLOCK, width): how much of dS a softcap lets through
    ones: int  # as many as a panel is wide
    clean: int  # (BLOCK, d): keys without those that are not finite
    panels: int  # for each panel of queries, what is in Panel
    end: int


class Panel(NamedTuple):
    """Addresses of one panel of queries."""

    queries: int  # (d, width): turned and scaled, for the scores
    gradient: int  # (d_v, width): the output's gradient, turned
    query_rows: int  # (width, d) in panels of columns
    gradient_rows: int  # (width, d_v) in panels of columns
    total: int  # (d, width): the queries' gradient, turned
    lse: int  # (width,): in powers of two
    delta: int  # (width,)
    end: int


def _ends(numbers: list[int], itemsize: int) -> list[int]:
    return list(itertools.accumulate(-(-n * itemsize // 64) * 64 for n in numbers))


def panel_layout(itemsize: int, width: int, d: int, d_v: int) -> Panel:
    """Where each part of a panel begins."""
    lanes = TARGET.lanes(itemsize)
    wide = TARGET.vectors * lanes  # a panel of columns is at most padded to this
    d, d_v = -(-d // wide) * wide, -(-d_v // wide) * wide
    return Panel(0, *_ends([d * width, d_v * width, d * width, d_v * width, d * width, width, width], itemsize))


def sums_layout(itemsize: int, width: int, d: int, d_v: int, panels: int) -> Sums:
    """Where each part begins, and where the last one ends."""
    wide = TARGET.vectors * TARGET.lanes(itemsize)
    d_wide, d_v_wide = -(-d // wide) * wide, -(-d_v // wide) * wide
    numbers = [BLOCK * d_wide, BLOCK * d_v_wide, BLOCK * width, BLOCK * width, wide, BLOCK * d_wide]
    ends = _ends(numbers, itemsize)
    return Sums._make([0, *ends, ends[-1] + panels * panel_layout(itemsize, width, d, d_v).end])


@kernel
def run(like, arrays, sizes, numbers, layout, sums, panels, memory, progress, most):
    """Take up to `most` tasks from the queue and do them in the scratch at `memory`; returns how many were done."""
    s = placed(layout, memory)
    t = sums_at(sums, memory + layout[-1])
    next_task = np.intp(progress.ctypes.data) + 8 * NEXT
    done = 0
    while done < most and progress[STOP] == 0:
        task = fetch_add(next_task, 1)
        if task >= sizes[TASKS]:
            break
        for head in range(task * sizes[TOGETHER], (task + 1) * sizes[TOGETHER]):
            differentiate(like, arrays, sizes, numbers, s, t, panels, head)
        done += 1
    return done


@inlined
def sums_at(p, base):
    return Sums(
        base + p[0], base + p[1], base + p[2], base + p[3], base + p[4], base + p[5], base + p[6], base + p[7]
    )  # fmt: skip


@helper
def panel_at(p, base):
    return Panel(
        base + p[0], base + p[1], base + p[2], base + p[3], base + p[4], base + p[5], base + p[6], base + p[7]
    )  # fmt: skip


@inlined
def differentiate(like, arrays, sizes, numbers, s, t, layout, head):
    """One task: all queries of a key head against some of its keys."""
    width, wide = sizes[VECTORS] * lanes_of(like), WIDEST * lanes_of(like)
    every = sizes[N_Q] * sizes[FOLDED]
    for i in range(wide):
        poke(like, t.ones + i * size_of(like), cast(like, 1.0))
    for panel in range(sizes[PANELS]):
        p = panel_at(layout, t.panels + panel * layout[-1])
        load_panel(like, arrays, sizes, numbers, s, p, head, panel * width, min(width, every - panel * width))
        if is_far(like, p.lse, width):
            bring_near(like, arrays, sizes, numbers, s, p, head, panel * width, min(width, every - panel * width))
    part = head // sizes[HEADS]
    stop = min(sizes[N_K], (part + 1) * sizes[SPLIT])
    for key in range(part * sizes[SPLIT], stop, BLOCK):
        keys = min(BLOCK, stop - key)
        clear_block(like, t.keys, keys, sizes[D])
        clear_block(like, t.values, keys, sizes[D_V])
        finite = block_finite(like, arrays[KEY], sizes, head, key, keys, s.keys, sizes[D])
        finite &= block_finite(like, arrays[VALUE], sizes, head, key, keys, s.values, sizes[D_V])
        for panel in range(sizes[PANELS]):
            first = panel * width
            rows = min(width, every - first)
            # only the keys that this panel needs: under a causal mask, a block is cut at the diagonal
            start, end = load_ranges(like, arrays, sizes, s, head, first, rows)
            start, end = max(start, key), min(end, key + keys)
            if start < end:
                state = tile_state(like, arrays, sizes, s, head, first, rows, start, end - start)
                if state != EMPTY:
                    p = panel_at(layout, t.panels + panel * layout[-1])
                    tile(
                        like, arrays, sizes, numbers, s, t, p, head, first, rows, start, end - start, start - key,
                        state, finite,
                    )  # fmt: skip
        write_block(like, arrays[D_KEY], sizes, t.keys, head, key, keys, sizes[D], numbers[TRUE_SCALE], s)
        write_block(like, arrays[D_VALUE], sizes, t.values, head, key, keys, sizes[D_V], 1.0 / numbers[KEEP], s)
    for panel in range(sizes[PANELS]):
        p = panel_at(layout, t.panels + panel * layout[-1])
        write_queries(like, arrays, sizes, numbers, s, p, head, panel * width, min(width, every - panel * width))


@helper
def clear_block(like, address, rows, columns):
    """Zeros in the rows of a block that lies in panels of columns, BLOCK rows each."""
    x = 0
    while x < columns:
        wide = panel_vectors(like, columns - x) * lanes_of(like)
        clear(like, address + x * BLOCK * size_of(like), rows * wide)
        x += wide


@helper
def load_panel(like, arrays, sizes, numbers, s, p, head, first, rows):
    """A panel's queries and output gradients, turned and as rows. A query that saw no key takes no part."""
    size, lanes = size_of(like), lanes_of(like)
    width = sizes[VECTORS] * lanes
    clear(like, p.lse, width)
    clear(like, p.delta, width)
    clear(like, p.total, width * sizes[D])
    lse = head_address(arrays[LSE], sizes, head)
    delta = head_address(arrays[DELTA], sizes, head)
    for i in range(width):
        value = cast(like, -np.inf)
        if i < rows:
            value = peek(like, row_address(arrays[LSE], sizes, lse, first + i))
            poke(like, p.delta + i * size, peek(like, row_address(arrays[DELTA], sizes, delta, first + i)))
        value = value * cast(like, LOG2E) if value != -np.inf else cast(like, np.inf)
        poke(like, p.lse + i * size, value)
    load_rows(like, arrays[QUERY], sizes, s, p, head, first, rows, sizes[D], p.query_rows, p.queries)
    factor = cast(like, numbers[SCALE])
    stretch(like, p.queries, sizes[D] * width, factor, cast(like, numbers[SCALE] - factor))
    load_rows(like, arrays[GRADIENT], sizes, s, p, head, first, rows, sizes[D_V], p.gradient_rows, p.gradient)


@helper
def is_far(like, lse, width):
    """Whether the lse of some query is finite and far from 0."""
    far = False
    for i in range(width):
        far |= FAR < abs(peek(like, lse + i * size_of(like))) < np.inf
    return far


@helper
def bring_near(like, arrays, sizes, numbers, s, p, head, first, rows):
    """Replace each lse by the largest score, and divide by the sum in the gradients instead.

    Where every key of a query has a bias of −1e30, so has the lse, and the log of the sum is lost in its last digit:
    2^(score − lse) would be 1 for every key. The sum is found again, over all keys.
    """
    size, lanes = size_of(like), lanes_of(like)
    width, d_v = sizes[VECTORS] * lanes, sizes[D_V]
    begin(like, arrays, sizes, numbers, s, head % sizes[HEADS], first, rows)
    for here in range(head % sizes[HEADS], -(-sizes[N_K] // sizes[SPLIT]) * sizes[HEADS], sizes[HEADS]):
        start, stop = load_ranges(like, arrays, sizes, s, here, first, rows)
        for key in range(start, stop, BLOCK):
            keys = min(BLOCK, stop - key)
            state = tile_state(like, arrays, sizes, s, here, first, rows, key, keys)
            if state != EMPTY:
                source, step = block_rows(like, arrays[KEY], sizes, here, key, keys, s.keys, sizes[D])
                scores(like, sizes[VECTORS], source, step, size, p.queries, s.tile, keys, sizes[D])
                shape_scores(like, arrays, sizes, numbers, s, here, first, rows, key, keys, state)
                soften(like, s.tile, keys, width, s.top, s.total, s.alpha)
    for i in range(width):
        total = peek(like, s.total + i * size)
        share = 1.0
        if total > 0 and abs(peek(like, p.lse + i * size)) < np.inf:
            poke(like, p.lse + i * size, peek(like, s.top + i * size))
            share = 1.0 / float(total)
        high = cast(like, share)
        low = cast(like, share - high)
        poke(like, s.total + i * size, high)
        poke(like, s.alpha + i * size, low)
        x = 0
        while x < d_v:
            wide = panel_vectors(like, d_v - x) * lanes
            stretch(like, p.gradient_rows + (x * width + i * wide) * size, wide, high, low)
            x += wide
    multiply_columns(like, p.gradient, d_v, width, s.total, s.alpha)
    multiply_columns(like, p.delta, 1, width, s.total, s.alpha)


@helper
def load_rows(like, array, sizes, s, p, head, first, rows, columns, target, turned):
    """Rows of a caller's array as rows in panels of columns, and turned."""
    size, lanes = size_of(like), lanes_of(like)
    width = sizes[VECTORS] * lanes
    padded = round_up(columns, lanes)
    clear(like, s.rows, width * padded)
    clear(like, target, width * round_up(columns, WIDEST * lanes))
    base = head_address(array, sizes, head)
    for r in range(rows):
        if peek(like, p.lse + r * size) != np.inf:
            source = row_address(array, sizes, base, first + r)
            row = s.rows + r * padded * size
            read_row(like, array[STORED], source, array[COLUMN], row, columns)
            x = 0
            while x < columns:
                wide = panel_vectors(like, columns - x) * lanes
                place = target + (x * width + r * wide) * size
                copy(like, row + x * size, place, min(wide, padded - x))
                x += wide
    turn_rows(like, s.rows, padded * size, turned, width * size, width, padded)


@inlined
def tile(like, arrays, sizes, numbers, s, t, p, head, first, rows, key, keys, offset, state, finite):
    """Some keys, `offset` into their block, against one panel of queries: what they add to the sums.

    `finite` says that the whole block, keys and values, holds no NaN and no infinity.
    """
    size = size_of(like)
    width = sizes[VECTORS] * lanes_of(like)
    source, step = block_rows(like, arrays[KEY], sizes, head, key, keys, s.keys, sizes[D])
    scores(like, sizes[VECTORS], source, step, size, p.queries, s.tile, keys, sizes[D])
    if numbers[SOFTCAP] > 0:
        slope_of_cap(like, s.tile, keys, width, t.caps)
    shape_scores(like, arrays, sizes, numbers, s, head, first, rows, key, keys, state)
    value, value_step = block_rows(like, arrays[VALUE], sizes, head, key, keys, s.values, sizes[D_V])
    scores(like, sizes[VECTORS], value, value_step, size, p.gradient, t.slopes, keys, sizes[D_V])
    if sizes[DROPPING] != 0:
        load_salt(like, sizes, s, head, first)
        drop_tile(like, sizes, s, t.slopes, keys, width, key)
    weigh(like, s.tile, keys, width, t.slopes, p.lse, p.delta, cast(like, 1.0 / numbers[KEEP]))
    if rows < width and not finite:
        clear_lanes(like, s.tile, t.slopes, keys, width, rows)
    if sizes[DROPPING] != 0:
        drop_tile(like, sizes, s, s.tile, keys, width, key)
    if arrays[D_BIAS, ADDRESS] != 0:
        add_to_bias(like, arrays, sizes, s, t, head, first, rows, key, keys)
    if numbers[SOFTCAP] > 0:
        if not finite:
            clear_unused(like, t.slopes, t.caps, keys * width)
        multiply_tile(like, t.slopes, keys, width, t.caps)
    row = width * size
    add_columns(
        like, s.tile, row, size, p.gradient_rows, t.values, keys, width, sizes[D_V], width, BLOCK, offset, t.ones
    )
    add_columns(like, t.slopes, row, size, p.query_rows, t.keys, keys, width, sizes[D], width, BLOCK, offset, t.ones)
    if not finite:
        copy_finite(like, source, step, t.clean, keys, sizes[D])
        source, step = t.clean, sizes[D] * size
    mix(like, sizes[VECTORS], source, step, size, t.slopes, p.total, sizes[D], keys, t.ones)


@helper
def block_finite(like, array, sizes, head, key, keys, target, columns):
    """Whether a block of keys or values holds no NaN and no infinity."""
    source, step = block_rows(like, array, sizes, head, key, keys, target, columns)
    return rows_finite(like, source, step, keys, columns)


@helper
def clear_lanes(like, tile, other, keys, width, rows):
    """Zeros in the lanes without a query, where no mask keeps out what is not finite: 0 · NaN is NaN."""
    size = size_of(like)
    for j in range(keys):
        for i in range(rows, width):
            poke(like, tile + (j * width + i) * size, cast(like, 0.0))
            poke(like, other + (j * width + i) * size, cast(like, 0.0))


@helper
def clear_unused(like, slopes, caps, count):
    """Zeros where nothing is to be multiplied: the cap of a masked NaN is NaN."""
    for n in range(count):
        if peek(like, slopes + n * size_of(like)) == 0:
            poke(like, caps + n * size_of(like), cast(like, 0.0))


@helper
def write_block(like, array, sizes, source, head, first, rows, columns, factor, s):
    """A block of dK or dV into the caller's array."""
    size, lanes = size_of(like), lanes_of(like)
    high = cast(like, factor)
    x = 0
    while x < columns:
        wide = panel_vectors(like, columns - x) * lanes
        stretch(like, source + x * BLOCK * size, rows * wide, high, cast(like, factor - high))
        x += wide
    base = head_address(array, sizes, head) + first * array[ROW]
    narrow = panel_vectors(like, columns) * lanes
    for r in range(rows):
        row = source + r * narrow * size
        if columns > narrow:
            row = s.rows
            x = 0
            while x < columns:
                wide = panel_vectors(like, columns - x) * lanes
                copy(like, source + (x * BLOCK + r * wide) * size, row + x * size, wide)
                x += wide
        write_row(like, array[STORED], row, base + r * array[ROW], array[COLUMN], columns, s.spare)


@helper
def write_queries(like, arrays, sizes, numbers, s, p, head, first, rows):
    """A panel's dQ into the caller's array."""
    size, lanes = size_of(like), lanes_of(like)
    width, d = sizes[VECTORS] * lanes, sizes[D]
    padded = round_up(d, lanes)
    high = cast(like, numbers[TRUE_SCALE])
    stretch(like, p.total, d * width, high, cast(like, numbers[TRUE_SCALE] - high))
    turn_rows(like, p.total, width * size, s.rows, padded * size, padded, width)
    base = head_address(arrays[D_QUERY], sizes, head)
    for i in range(rows):
        target = row_address(arrays[D_QUERY], sizes, base, first + i)
        source = s.rows + i * padded * size
        write_row(like, arrays[D_QUERY, STORED], source, target, arrays[D_QUERY, COLUMN], d, s.spare)


@helper
def add_to_bias(like, arrays, sizes, s, t, head, first, rows, key, keys):
    """Add a tile of dS to the bias's gradient, which may be one number for several queries, keys or heads."""
    size, lanes = size_of(like), lanes_of(like)
    width = sizes[VECTORS] * lanes
    base = head_address(arrays[D_BIAS], sizes, head)
    column = arrays[D_BIAS, COLUMN]
    if sizes[BIAS_FORM] != FULL_BIAS and sizes[FOLDED] == 1:
        add_distances(like, t.slopes, keys, width, base + (first - key) * size)
        return
    # where every head, query and key has a number of its own, nothing has been added to it before
    alone = sizes[TOGETHER] == 1 and column == size and arrays[D_BIAS, ROW] != 0
    if alone and sizes[FOLDED] == 1 and rows == width and keys % lanes == 0:
        target = row_address(arrays[D_BIAS], sizes, base, first) + key * column
        turn_rows(like, t.slopes, width * size, target, arrays[D_BIAS, ROW], keys, width)
        return
    padded = round_up(keys, lanes)
    turn_rows(like, t.slopes, width * size, s.bias_rows, padded * size, padded, width)
    for i in range(rows):
        source = s.bias_rows + i * padded * size
        target = row_address(arrays[D_BIAS], sizes, base, first + i) + key * column
        if column == 0:  # one number for all keys: what a tile adds is summed in float64, as there is so much of it
            total = 0.0
            for j in range(keys):
                total += float(peek(like, source + j * size))
            poke(like, target, cast(like, peek(like, target) + total))
            continue
        done = 0
        if column == size:
            done = keys - keys % lanes
            add_row(like, source, target, done)
        for j in range(done, keys):
            at = target + j * column
            poke(like, at, peek(like, at) + peek(like, source + j * size))
