"""The backward pass: gradients of queries, keys, values and bias, from the output's gradient and each query's sums.

A task takes one key head, all query heads that share it, and some of the keys. It turns the queries and the output's
gradient into panels once, then walks over its keys in blocks; for each block it walks over the panels, recomputes the
weights, and adds up five products:

    S = K·Qᵀ     dP = V·dOᵀ     dV += P·dO     dK += dS·Q     dQᵀ += Kᵀ·dS        dS = P ∘ (dP − Δ)

where Δ = Σ dO ∘ O of each query. Weights are 2^(S − top) / total, and the division goes into dO and Δ, once for each
query. No two tasks share a key, so dK and dV are written
once; the queries' gradient is summed over the parts of the keys in order. So nothing depends on which thread did what,
and one head alone still fills every thread.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from clearhead.kernels.compiler import helper, inlined, kernel
from clearhead.kernels.forward import copy_finite, rows_finite, split_inverse
from clearhead.kernels.gemm import WIDEST, Columns, Operand, add_columns, mix, panel_vectors, score
from clearhead.kernels.job import BLOCK, EMPTY, FULL, FULL_BIAS, Block, Job, Strided
from clearhead.kernels.memory import (
    Rows,
    all_finite,
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
from clearhead.kernels.scores import (
    block_rows,
    drop_tile,
    head_address,
    load_hashes,
    load_ranges,
    panel_of,
    row_address,
    shape_scores,
    tile_state,
)
from clearhead.kernels.structs import laid_out, place, view
from clearhead.kernels.target import TARGET
from clearhead.kernels.tasks import taken
from clearhead.kernels.tile import (
    Tile,
    add_distances,
    add_row,
    multiply_columns,
    multiply_tile,
    slope_of_cap,
    stretch,
    weigh,
)


class BlockScratch(NamedTuple):
    """Addresses of what the backward pass needs for a block of keys, besides the forward's scratch."""

    keys: int  # (BLOCK, d) in panels of columns: the block's dK
    values: int  # (BLOCK, d_v) in panels of columns: its dV
    slopes: int  # (BLOCK, width): dP, then dS
    caps: int  # (BLOCK, width): how much of dS a softcap lets through
    ones: int  # as many as a panel is wide
    clean: int  # (BLOCK, d): keys without those that are not finite
    end: int  # where the panels begin, each a PanelScratch


class PanelScratch(NamedTuple):
    """Addresses of one panel of queries."""

    queries: int  # (d, width): turned and scaled, for the scores
    gradient: int  # (d_v, width): the output's gradient, turned
    query_rows: int  # (width, d) in panels of columns
    gradient_rows: int  # (width, d_v) in panels of columns
    total: int  # (d, width): the queries' gradient, turned
    top: int  # (width,): the largest score, in powers of two; +inf for a lane that takes no part
    delta: int  # (width,)
    end: int


class Backward(NamedTuple):
    """A call to be differentiated: what comes in, what goes out."""

    job: Job
    gradient: Strided  # of the output
    delta: Strided
    d_query: Strided
    d_key: Strided
    d_value: Strided
    d_bias: Strided
    block: BlockScratch
    panel: PanelScratch
    panel_size: int  # bytes of a PanelScratch and all it points to


def scratch_for(itemsize: int, width: int, d: int, d_v: int) -> tuple[BlockScratch, PanelScratch]:
    """Where each part of a block's and of a panel's scratch lies."""
    wide = TARGET.vectors * TARGET.lanes(itemsize)  # a panel of columns is at most padded to this
    d, d_v = -(-d // wide) * wide, -(-d_v // wide) * wide
    block = laid_out(
        BlockScratch, itemsize, keys=BLOCK * d, values=BLOCK * d_v, slopes=BLOCK * width, caps=BLOCK * width,
        ones=wide, clean=BLOCK * d,
    )  # fmt: skip
    panel = laid_out(
        PanelScratch, itemsize, queries=d * width, gradient=d_v * width, query_rows=d * width,
        gradient_rows=d_v * width, total=d * width, top=width, delta=width,
    )  # fmt: skip
    return block, panel


@kernel
def run(like, address, memory, progress, most):
    """Take up to `most` tasks of the Backward at an address and do them in scratch at `memory`; returns how many."""
    back = view(Backward, like, address)
    scratch = place(back.job.scratch, memory)
    sums = place(back.block, scratch.end)
    together = back.job.heads_per_task
    done = 0
    for task in taken(progress, back.job.tasks, most):
        for head in range(task * together, (task + 1) * together):
            differentiate(back, scratch, sums, head)
        done += 1
    return done


@inlined
def differentiate(back, scratch, sums, head):
    """One task: all queries of a key head against some of its keys."""
    job = back.job
    like = job.like
    for i in range(WIDEST * lanes_of(like)):
        poke(like, sums.ones + i * size_of(like), cast(like, 1.0))
    for number in range(job.panels):
        panel, queries = panel_of(job, head, number), place(back.panel, sums.end + number * back.panel_size)
        load_panel(back, scratch, queries, panel)
        load_totals(job, scratch, panel)
        divide_by_totals(job, scratch, queries)
    part = head // job.heads
    stop = min(job.n_k, (part + 1) * job.split)
    for key in range(part * job.split, stop, BLOCK):
        block = Block(key, min(BLOCK, stop - key), FULL)
        clear_columns(like, sums.keys, block.keys, job.d)
        clear_columns(like, sums.values, block.keys, job.d_v)
        keys = block_rows(job, job.key, head, block, scratch.keys, job.d)
        finite = rows_finite(like, keys, block.keys, job.d)
        values = block_rows(job, job.value, head, block, scratch.values, job.d_v)
        finite &= rows_finite(like, values, block.keys, job.d_v)
        for number in range(job.panels):
            panel = panel_of(job, head, number)
            # only the keys that this panel needs: under a causal mask, a block is cut at the diagonal
            start, end = load_ranges(job, scratch, panel)
            start, end = max(start, key), min(end, key + block.keys)
            if start < end:
                state = tile_state(job, scratch, panel, start, end - start)
                if state != EMPTY:
                    queries = view(PanelScratch, like, sums.end + number * back.panel_size)
                    add_tile_gradients(back, scratch, sums, queries, panel, Block(start, end - start, state), finite)
        write_block(job, scratch, back.d_key, head, block, Columns(sums.keys, BLOCK, 0), job.d, job.true_scale)
        write_block(job, scratch, back.d_value, head, block, Columns(sums.values, BLOCK, 0), job.d_v, 1.0 / job.keep)
    for number in range(job.panels):
        queries = view(PanelScratch, like, sums.end + number * back.panel_size)
        write_queries(back, scratch, queries, panel_of(job, head, number))


@helper
def clear_columns(like, address, rows, columns):
    """Zeros in the rows of a block that lies in panels of columns, BLOCK rows each."""
    x = 0
    while x < columns:
        wide = panel_vectors(like, columns - x) * lanes_of(like)
        clear(like, address + x * BLOCK * size_of(like), rows * wide)
        x += wide


@helper
def load_panel(back, scratch, queries, panel):
    """A panel's queries and output gradients, turned and as rows. A query that saw no key takes no part."""
    job = back.job
    like, width = job.like, job.width
    size = size_of(like)
    clear(like, queries.top, width)
    clear(like, queries.delta, width)
    clear(like, queries.total, width * job.d)
    tops, totals = head_address(job, job.top, panel.head), head_address(job, job.total, panel.head)
    delta = head_address(job, back.delta, panel.head)
    for i in range(width):
        value = cast(like, -np.inf)
        if i < panel.rows:
            value = peek(like, row_address(job, job.top, tops, panel.first + i))
            total = peek(like, row_address(job, job.total, totals, panel.first + i))
            if total != total:  # a score was NaN, and the largest of the others says nothing of it
                value = total
            poke(like, queries.delta + i * size, peek(like, row_address(job, back.delta, delta, panel.first + i)))
        poke(like, queries.top + i * size, value if value != -np.inf else cast(like, np.inf))
    load_rows(job, scratch, queries.top, panel, job.query, Columns(queries.query_rows, width, 0), job.d)
    padded = round_up(job.d, lanes_of(like))
    if not all_finite(like, scratch.rows, width * padded):
        clear_strange(like, queries.query_rows, width * round_up(job.d, WIDEST * lanes_of(like)))
    turn_panel(job, scratch, queries.queries, job.d)
    factor = cast(like, job.scale)
    stretch(like, queries.queries, job.d * width, factor, cast(like, job.scale - factor))
    load_rows(job, scratch, queries.top, panel, back.gradient, Columns(queries.gradient_rows, width, 0), job.d_v)
    turn_panel(job, scratch, queries.gradient, job.d_v)


@helper
def load_rows(job, scratch, top, panel, array, target, columns):
    """Rows of a caller's array into scratch.rows, and in panels of columns; zeros for a query that saw no key."""
    like, width = job.like, job.width
    size, lanes = size_of(like), lanes_of(like)
    padded = round_up(columns, lanes)
    clear(like, scratch.rows, width * padded)
    clear(like, target.address, width * round_up(columns, WIDEST * lanes))
    base = head_address(job, array, panel.head)
    for r in range(panel.rows):
        if peek(like, top + r * size) != np.inf:
            row = scratch.rows + r * padded * size
            read_row(array, row_address(job, array, base, panel.first + r), row, columns)
            x = 0
            while x < columns:
                wide = panel_vectors(like, columns - x) * lanes
                place = target.address + (x * width + r * wide) * size
                copy(like, row + x * size, place, min(wide, padded - x))
                x += wide


@helper
def clear_strange(like, address, count):
    """Zeros for what is not finite, where a dS that is NaN says so already and one that is 0 must stay 0."""
    for n in range(count):
        if not math.isfinite(peek(like, address + n * size_of(like))):
            poke(like, address + n * size_of(like), cast(like, 0.0))


@helper
def turn_panel(job, scratch, target, columns):
    """The rows that `load_rows` left in scratch.rows, turned."""
    size = size_of(job.like)
    padded = round_up(columns, lanes_of(job.like))
    turn_rows(job.like, Rows(scratch.rows, padded * size), Rows(target, job.width * size), job.width, padded)


@helper
def load_totals(job, scratch, panel):
    """Each query's sum, as the forward pass left it; 1 where it is NaN, which the query's weights will say."""
    like = job.like
    size = size_of(like)
    clear(like, scratch.total, job.width)
    totals = head_address(job, job.total, panel.head)
    for i in range(panel.rows):
        total = peek(like, row_address(job, job.total, totals, panel.first + i))
        poke(like, scratch.total + i * size, total if total == total else cast(like, 1.0))


@helper
def divide_by_totals(job, scratch, queries):
    """Divide the output's gradient and Δ by each query's sum, as the exponentials will not be."""
    like, width, d_v = job.like, job.width, job.d_v
    size, lanes = size_of(like), lanes_of(like)
    for i in range(width):
        split_inverse(
            like, peek(like, scratch.total + i * size), scratch.total + i * size, scratch.alpha + i * size
        )  # fmt: skip
        high, low = peek(like, scratch.total + i * size), peek(like, scratch.alpha + i * size)
        x = 0
        while x < d_v:
            wide = panel_vectors(like, d_v - x) * lanes
            stretch(like, queries.gradient_rows + (x * width + i * wide) * size, wide, high, low)
            x += wide
    multiply_columns(like, Tile(queries.gradient, d_v, width), scratch.total, scratch.alpha)
    multiply_columns(like, Tile(queries.delta, 1, width), scratch.total, scratch.alpha)


@inlined
def add_tile_gradients(back, scratch, sums, queries, panel, block, finite):
    """Some keys against one panel of queries: what they add to the sums.

    `finite` says that the keys and values of the whole block hold no NaN and no infinity.
    """
    job = back.job
    like, width, d, d_v = job.like, job.width, job.d, job.d_v
    size = size_of(like)
    weights, slopes = Tile(scratch.tile, block.keys, width), Tile(sums.slopes, block.keys, width)
    keys = block_rows(job, job.key, panel.head, block, scratch.keys, d)
    score(like, job.vectors, keys, queries.queries, weights.address, block.keys, d)
    if job.softcap > 0:
        slope_of_cap(like, weights, sums.caps)
    shape_scores(job, scratch, panel, block)
    values = block_rows(job, job.value, panel.head, block, scratch.values, d_v)
    score(like, job.vectors, values, queries.gradient, slopes.address, block.keys, d_v)
    if job.dropping != 0:
        load_hashes(job, scratch, panel)
        drop_tile(job, scratch, slopes, block.key)
    weigh(like, weights, slopes.address, queries.top, queries.delta, cast(like, 1.0 / job.keep))
    if job.dropping != 0:
        drop_tile(job, scratch, weights, block.key)
    if back.d_bias.address != 0:
        add_to_bias(back, scratch, panel, block, slopes)
    if job.softcap > 0:
        multiply_tile(like, slopes, sums.caps)
    offset = block.key % BLOCK
    of_weights, of_slopes = Operand(weights.address, width * size, size), Operand(slopes.address, width * size, size)
    gradients, query_rows = Columns(queries.gradient_rows, width, 0), Columns(queries.query_rows, width, 0)
    add_columns(like, of_weights, gradients, Columns(sums.values, BLOCK, offset), block.keys, d_v, sums.ones)
    add_columns(like, of_slopes, query_rows, Columns(sums.keys, BLOCK, offset), block.keys, d, sums.ones)
    if not finite:
        keys = copy_finite(like, keys, sums.clean, block.keys, d)
    mix(like, job.vectors, keys, slopes.address, queries.total, d, block.keys, sums.ones)


@helper
def write_block(job, scratch, array, head, block, source, columns, factor):
    """A block of dK or dV, times a factor, into the caller's array."""
    like = job.like
    size, lanes = size_of(like), lanes_of(like)
    high = cast(like, factor)
    x = 0
    while x < columns:
        wide = panel_vectors(like, columns - x) * lanes
        stretch(like, source.address + x * source.rows * size, block.keys * wide, high, cast(like, factor - high))
        x += wide
    base = head_address(job, array, head) + block.key * array.row
    narrow = panel_vectors(like, columns) * lanes
    for r in range(block.keys):
        row = source.address + r * narrow * size
        if columns > narrow:
            row = scratch.rows
            x = 0
            while x < columns:
                wide = panel_vectors(like, columns - x) * lanes
                copy(like, source.address + (x * source.rows + r * wide) * size, row + x * size, wide)
                x += wide
        write_row(array, row, base + r * array.row, columns, scratch.spare)


@helper
def write_queries(back, scratch, queries, panel):
    """A panel's dQ into the caller's array."""
    job, array = back.job, back.d_query
    like, width, d = job.like, job.width, job.d
    size, lanes = size_of(like), lanes_of(like)
    padded = round_up(d, lanes)
    high = cast(like, job.true_scale)
    stretch(like, queries.total, d * width, high, cast(like, job.true_scale - high))
    turn_rows(like, Rows(queries.total, width * size), Rows(scratch.rows, padded * size), padded, width)
    base = head_address(job, array, panel.head)
    for i in range(panel.rows):
        target = row_address(job, array, base, panel.first + i)
        write_row(array, scratch.rows + i * padded * size, target, d, scratch.spare)


@helper
def add_to_bias(back, scratch, panel, block, slopes):
    """Add a tile of dS to the bias's gradient, which may be one number for several queries, keys or heads."""
    job, array = back.job, back.d_bias
    like, width = job.like, job.width
    size, lanes = size_of(like), lanes_of(like)
    base = head_address(job, array, panel.head)
    column = array.column
    if job.bias_form != FULL_BIAS and job.folded == 1:
        add_distances(like, slopes, base + (panel.first - block.key) * size)
        return
    # where every head, query and key has a number of its own, nothing has been added to it before
    alone = job.heads_per_task == 1 and column == size and array.row != 0
    if alone and job.folded == 1 and panel.rows == width and block.keys % lanes == 0:
        target = Rows(row_address(job, array, base, panel.first) + block.key * column, array.row)
        turn_rows(like, Rows(slopes.address, width * size), target, block.keys, width)
        return
    padded = round_up(block.keys, lanes)
    turn_rows(like, Rows(slopes.address, width * size), Rows(scratch.bias_rows, padded * size), padded, width)
    for i in range(panel.rows):
        source = scratch.bias_rows + i * padded * size
        target = row_address(job, array, base, panel.first + i) + block.key * column
        if column == 0:  # one number for all keys: what a tile adds is summed in float64, as there is so much of it
            total = 0.0
            for j in range(block.keys):
                total += float(peek(like, source + j * size))
            poke(like, target, cast(like, peek(like, target) + total))
            continue
        done = 0
        if column == size:
            done = block.keys - block.keys % lanes
            add_row(like, source, target, done)
        for j in range(done, block.keys):
            at = target + j * column
            poke(like, at, peek(like, at) + peek(like, source + j * size))
