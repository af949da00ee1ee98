"""Weights computed again: some queries against some keys, scores as in the forward pass, with the sums it left.

A task is a panel of queries against the keys, or a part of them. Where the weights themselves are wanted they are
turned back and written; where a window is pooled they are summed over the cells of a map, and no more than a tile of
them is ever there.
"""

from __future__ import annotations

import math

from clearhead.kernels.compiler import for_pairs, helper, kernel, twin
from clearhead.kernels.formats import write_row
from clearhead.kernels.forward import split_inverse
from clearhead.kernels.job import BLOCK, EMPTY, Block
from clearhead.kernels.memory import (
    Rows,
    add_double,
    add_long,
    clear,
    lanes_of,
    peek,
    peek_long,
    poke,
    raise_double,
    round_up,
    size_of,
    turn_rows,
)
from clearhead.kernels.places import count_unmasked, score_block, score_block_of_pairs, spoil_query
from clearhead.kernels.scores import (
    head_address,
    load_queries,
    load_query_pairs,
    load_ranges,
    panel_of,
    row_address,
    tile_state,
    whole_panel,
)
from clearhead.kernels.struct_types import addressed, view
from clearhead.kernels.structs import WORD
from clearhead.kernels.tasks import taken
from clearhead.kernels.tile import Tile
from clearhead.kernels.weighing import pool_weights, weigh_scores
from clearhead.kernels.window_job import Weighing


@kernel
def run(like, address, memory, progress, most):
    """Take up to `most` tasks of the Weighing at an address and do them in scratch at `memory`; returns how many."""
    window = view(Weighing, like, address)
    job = window.job
    scratch = addressed(job.scratch, memory)
    cell = addressed(window.cell, scratch.end)
    done = 0
    for task in taken(progress, memory, job.tasks, most):
        part = task % window.parts
        for number in range(part * window.part_panels, min((part + 1) * window.part_panels, job.panels)):
            weigh_panel(window, scratch, cell, panel_of(job, task // window.parts, number))
        done += 1
    return done


@helper
def weigh_panel(window, scratch, cell, panel):
    """The weights of one panel on all keys of its task."""
    job = window.job
    load_queries(job, scratch, panel)
    start, stop = load_ranges(job, scratch, panel)
    spoilt = load_sums(job, scratch, panel)
    for key in range(start, stop, BLOCK):
        keys = min(BLOCK, stop - key)
        block = Block(key, keys, tile_state(job, scratch, panel, key, keys))
        if block.state != EMPTY:
            noted = score_block(job, scratch, panel, block, window.map_count.address != 0, spoilt)
            if spoilt:
                spoil_scores(job, scratch, panel, block)
            if window.weights.address != 0:
                tile = Tile(scratch.tile, keys, job.width)
                weigh_scores(job.like, tile, scratch.top, scratch.total, scratch.alpha)
                write_weights(window, scratch, panel, block)
            else:
                pool_block(window, scratch, cell, panel, block, noted)


@helper
def load_sums(job, scratch, panel):
    """Each query's largest score, and the inverse of its sum in two words; returns whether one of them is NaN."""
    like = job.like
    size = size_of(like)
    clear(like, scratch.top, job.width)
    clear(like, scratch.total, job.width)
    clear(like, scratch.alpha, job.width)
    tops, totals = head_address(job, job.top, panel.head), head_address(job, job.total, panel.head)
    spoilt = False
    for i in range(panel.rows):
        poke(like, scratch.top + i * size, peek(like, row_address(job, job.top, tops, panel.first + i)))
        total = peek(like, row_address(job, job.total, totals, panel.first + i))
        split_inverse(like, total, scratch.total + i * size, scratch.alpha + i * size)
        spoilt |= math.isnan(total)
    return spoilt


@helper
def spoil_scores(job, scratch, panel, block):
    """The scores of queries that have a NaN in sight: NaN, and −inf where they are masked."""
    like = job.like
    size = size_of(like)
    for i in range(panel.rows):
        if math.isnan(peek(like, scratch.total + i * size)):
            spoil_query(job, scratch, block.keys, scratch.tile, i, -math.inf)


@helper
def write_weights(window, scratch, panel, block):
    """A tile of weights, turned back, into the caller's array."""
    job, array = window.job, window.weights
    like, width = job.like, job.width
    size = size_of(like)
    base = head_address(job, array, panel.head) + block.key * array.column
    turned = Rows(scratch.tile, width * size)
    if whole_panel(job, array, panel, block.keys):
        turn_rows(like, turned, Rows(row_address(job, array, base, panel.first), array.row), block.keys, width)
        return
    padded = round_up(block.keys, lanes_of(like))
    turn_rows(like, turned, Rows(scratch.bias_rows, padded * size), padded, width)
    for i in range(panel.rows):
        target = row_address(job, array, base, panel.first + i)
        write_row(array, scratch.bias_rows + i * padded * size, target, block.keys, scratch.spare)


@helper
def pool_block(window, scratch, cell, panel, block, noted):
    """A tile of scores, as weights, into the cells of the map, one cell of keys after another."""
    job = window.job
    like, width = job.like, job.width
    size = size_of(like)
    at = block.key
    while at < block.key + block.keys:
        column = at >> window.key_bits
        end = min(block.key + block.keys, (column + 1) << window.key_bits)
        tile = Tile(scratch.tile + (at - block.key) * width * size, end - at, width)
        if window.map_count.address != 0:
            count_unmasked(job, scratch, block, noted, at, end, cell.counts)
        pool_weights(like, tile, scratch, cell)
        add_to_cells(window, cell, panel, column)
        at = end


@helper
def add_to_cells(window, cell, panel, column):
    """What the queries of a panel have in one cell of keys, added up for each cell of queries.

    In float64, and one query after another: there may be millions of places in a cell.
    """
    job = window.job
    like, bits = job.like, window.query_bits
    size = size_of(like)
    part = panel.first // job.width // window.part_panels
    own = peek_long(window.part_rows + part * WORD) - ((part * window.part_panels * job.width) >> bits)
    counting, peaking = window.map_count.address != 0, window.map_peak.address != 0
    i = 0
    while i < panel.rows:
        row = (panel.first + i) >> bits
        end = min(panel.rows, ((row + 1) << bits) - panel.first)
        total, peak, count = 0.0, 0.0, 0
        while i < end:
            total += float(peek(like, cell.sums + i * size))
            peak = max(peak, float(peek(like, cell.peaks + i * size)))
            count += int(peek(like, cell.counts + i * size)) if counting else 0
            i += 1
        add_double(cell_address(window, window.map_sum, panel.head, own + row, column), total)
        if peaking:
            raise_double(cell_address(window, window.map_peak, panel.head, own + row, column), peak)
        if counting:
            add_long(cell_address(window, window.map_count, panel.head, own + row, column), count)


@helper
def cell_address(window, array, head, row, column):
    return head_address(window.job, array, head) + row * array.row + column * array.column


for_pairs(run, weigh_panel=twin(weigh_panel, load_queries=load_query_pairs, score_block=score_block_of_pairs))
