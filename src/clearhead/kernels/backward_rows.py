"""What goes into the backward pass and comes out of it: panels of queries, turned and as rows; gradients, as rows."""

from __future__ import annotations

import math

import numpy as np

from clearhead.kernels.compiler import helper
from clearhead.kernels.formats import read_row, write_row
from clearhead.kernels.forward import split_inverse
from clearhead.kernels.gemm import Columns, panel_vectors
from clearhead.kernels.job import FULL_BIAS
from clearhead.kernels.memory import (
    Rows,
    all_finite,
    cast,
    clear,
    copy,
    copy_vectors,
    dot_rows,
    expect,
    lanes_of,
    peek,
    poke,
    round_up,
    size_of,
    turn_rows,
)
from clearhead.kernels.pairs import STORED, WORD as PAIR, clear_strange as clear_strange_pairs, copy_stored, pair_rows
from clearhead.kernels.scores import head_address, in_place, row_address
from clearhead.kernels.shaping import multiply_columns, stretch
from clearhead.kernels.target import WIDEST
from clearhead.kernels.tile import Tile
from clearhead.kernels.weighing import add_distances, add_row

# Rows that are asked for before they are read. They may lie far apart, in pages of their own: waiting for one after the
# other took 15 % of the backward pass over 256 positions whose heads lie side by side.
AHEAD = 8


@helper
def load_panel(back, scratch, queries, panel):
    """A panel's queries and output gradients, turned and as rows. A query that saw no key takes no part."""
    job = back.job
    like, width = job.like, job.width
    load_sums(back, queries, panel)
    load_rows(job, scratch, queries.top, panel, job.query, Columns(queries.query_rows, width, 0), job.d)
    padded = round_up(job.d, lanes_of(like))
    if not all_finite(like, scratch.rows, width * padded):
        clear_strange(like, queries.query_rows, width * round_up(job.d, WIDEST * lanes_of(like)))
    turn_panel(job, scratch, queries.queries, job.d)
    factor = cast(like, job.scale)
    stretch(like, queries.queries, job.d * width, factor, cast(like, job.scale - factor))
    load_rows(job, scratch, queries.top, panel, back.gradient, Columns(queries.gradient_rows, width, 0), job.d_v)
    turn_panel(job, scratch, queries.gradient, job.d_v)
    load_delta(back, scratch, queries, panel)
    load_totals(job, scratch, panel)
    divide_by_totals(job, scratch, queries)


@helper
def load_sums(back, queries, panel):
    """Each query's largest score. No query's Δ or gradient yet."""
    job = back.job
    like, width = job.like, job.width
    size = size_of(like)
    clear(like, queries.top, width)
    clear(like, queries.delta, width)
    clear(like, queries.d_queries, width * job.d)
    tops, totals = head_address(job, job.top, panel.head), head_address(job, job.total, panel.head)
    for i in range(width):
        value = cast(like, -np.inf)
        if i < panel.rows:
            value = peek(like, row_address(job, job.top, tops, panel.first + i))
            total = peek(like, row_address(job, job.total, totals, panel.first + i))
            if total != total:  # a score was NaN, and the largest of the others says nothing of it
                value = total
        poke(like, queries.top + i * size, value if value != -np.inf else cast(like, np.inf))


@helper
def load_delta(back, scratch, queries, panel):
    """Δ = Σ dO ∘ O of each query, with what is to be added to it; 0 for a query that saw no key."""
    job = back.job
    like, d_v = job.like, job.d_v
    size = size_of(like)
    gradients, outputs = head_address(job, back.gradient, panel.head), head_address(job, job.output, panel.head)
    added = head_address(job, back.delta, panel.head)
    spare = scratch.values + d_v * size  # nothing is in there before the first block of keys
    for i in range(panel.rows):
        expect_row(job, job.output, outputs, panel.first + i + AHEAD, d_v)
        if peek(like, queries.top + i * size) != np.inf:
            row = panel.first + i
            gradient = computed_row(back.gradient, row_address(job, back.gradient, gradients, row), scratch.values, d_v)
            output = computed_row(job.output, row_address(job, job.output, outputs, row), spare, d_v)
            delta = dot_rows(like, gradient, output, d_v)
            if back.delta.address != 0:
                delta += peek(like, row_address(job, back.delta, added, row))
            poke(like, queries.delta + i * size, delta)


@helper
def computed_row(array, source, target, columns):
    """A row of a caller's array as numbers that are computed with: where it lies, or converted."""
    if in_place(array):
        return source
    read_row(array, source, target, columns)
    return target


@helper
def load_panel_of_pairs(back, scratch, queries, panel):
    """The same as they are stored: turned in pairs of columns, and as rows in pairs of queries."""
    job = back.job
    like, width = job.like, job.width
    load_sums(back, queries, panel)
    load_stored(job, scratch, queries.top, panel, job.query, queries.queries, queries.query_rows, job.d)
    clear_strange_pairs(like, queries.query_rows, width * round_up(job.d, WIDEST * lanes_of(like)))
    load_stored(job, scratch, queries.top, panel, back.gradient, queries.gradient, queries.gradient_rows, job.d_v)
    load_delta(back, scratch, queries, panel)
    load_totals(job, scratch, panel)
    for i in range(width):
        at = i * size_of(like)
        split_inverse(like, peek(like, scratch.total + at), queries.inverse + at, scratch.alpha + at)


@helper
def load_stored(job, scratch, top, panel, array, turned, paired, columns):
    """Rows of a caller's array of bfloat16, turned and paired; zeros for a query that saw no key."""
    like, width = job.like, job.width
    size, lanes = size_of(like), lanes_of(like)
    padded = round_up((columns + 1) // 2, lanes)
    step = padded * PAIR
    clear(like, scratch.rows, width * padded)
    base = head_address(job, array, panel.head)
    for r in range(panel.rows):
        expect_row(job, array, base, panel.first + r + AHEAD, columns)
        if peek(like, top + r * size) != np.inf:
            source = row_address(job, array, base, panel.first + r)
            copy_stored(like, source, array.column, scratch.rows + r * step, columns)
    turn_rows(like, Rows(scratch.rows, step), Rows(turned, width * PAIR), width, padded)
    clear(like, paired, width // 2 * round_up(columns, WIDEST * lanes))
    x = 0
    while x < columns:
        wide = panel_vectors(like, columns - x) * lanes
        for r in range(0, width, 2):
            row = scratch.rows + r * step + x * STORED
            target = paired + (x * (width // 2) + r // 2 * wide) * PAIR
            pair_rows(like, row, row + step, target, min(wide, 2 * padded - x))
        x += wide


@helper
def load_rows(job, scratch, top, panel, array, target, columns):
    """Rows of a caller's array into scratch.rows, and in panels of columns; zeros for a query that saw no key."""
    like, width = job.like, job.width
    size, lanes = size_of(like), lanes_of(like)
    padded = round_up(columns, lanes)
    base = head_address(job, array, panel.head)
    for r in range(width):
        expect_row(job, array, base, panel.first + r + AHEAD, columns)
        row = scratch.rows + r * padded * size
        if r < panel.rows and peek(like, top + r * size) != np.inf:
            if columns < padded:
                clear(like, row + columns * size, padded - columns)
            read_row(array, row_address(job, array, base, panel.first + r), row, columns)
        else:
            clear(like, row, padded)
        x = 0
        while x < columns:
            wide = panel_vectors(like, columns - x) * lanes
            there = min(wide, padded - x)
            place = target.address + (x * width + r * wide) * size
            copy_vectors(like, row + x * size, place, there)
            if there < wide:
                clear(like, place + there * size, wide - there)
            x += wide


@helper
def expect_row(job, array, base, row, columns):
    """Say that a row of a head will be read soon, if there is one."""
    if row < job.n_q * job.folded:
        expect(job.like, row_address(job, array, base, row), columns * min(array.column, size_of(job.like)))


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
    stretch(like, queries.d_queries, d * width, high, cast(like, job.true_scale - high))
    turn_rows(like, Rows(queries.d_queries, width * size), Rows(scratch.rows, padded * size), padded, width)
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
    if back.bias_apart and job.folded == 1 and panel.rows == width and block.keys % lanes == 0:
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
        if back.bias_apart:
            copy(like, source, target, block.keys)
            continue
        done = 0
        if column == size:
            done = block.keys - block.keys % lanes
            add_row(like, source, target, done)
        for j in range(done, block.keys):
            at = target + j * column
            poke(like, at, peek(like, at) + peek(like, source + j * size))
