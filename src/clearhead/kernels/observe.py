"""Attention that is watched: the forward pass, with statistics read off every tile.

A panel goes over its keys as in `forward`, with the same steps in the same order, so the output has the same bits. On
the way each tile's scores compete for the queries' best keys, and its exponentials are kept. When the last key has
been seen the sums are known, so the kept exponentials become weights by one product each, and those are summed over
queries, over keys and over the cells of a map. Keeping a panel's exponentials takes 64 numbers per key; computing
them again would take as long as half the attention.

A task has several panels of one head in a row, and sums over queries that are its own.
"""

from __future__ import annotations

import math

import numpy as np

from clearhead.kernels.compiler import for_pairs, helper, kernel, twin
from clearhead.kernels.forward import (
    begin,
    finish,
    load_values,
    mix_tile,
    split_inverse,
)
from clearhead.kernels.gemm import mix
from clearhead.kernels.job import BLOCK, EMPTY, LN2, LOG2E, NOWHERE, Block
from clearhead.kernels.memory import (
    Rows,
    all_finite,
    cast,
    clear,
    copy,
    lanes_of,
    peek,
    peek_integer,
    peek_long,
    poke,
    poke_integer,
    poke_long,
    round_up,
    size_of,
    turn_rows,
)
from clearhead.kernels.paired import mix_kept, values_of_pairs
from clearhead.kernels.places import count_unmasked, note_unmasked, score_block, score_block_of_pairs, spoil_query
from clearhead.kernels.scores import (
    head_address,
    load_queries,
    load_query_pairs,
    load_ranges,
    panel_of,
    row_address,
    tile_state,
    whole_turns,
)
from clearhead.kernels.shaping import soften_and_keep
from clearhead.kernels.statistics import catch_up, rank, read_statistics
from clearhead.kernels.strange import note_allowed
from clearhead.kernels.struct_types import addressed, view
from clearhead.kernels.structs import WORD
from clearhead.kernels.tasks import taken
from clearhead.kernels.tile import Tile
from clearhead.kernels.watch import NO_COUNT, ONE_COUNT, Watch
from clearhead.kernels.weighing import add_row, weigh_scores


@kernel
def run(like, address, memory, progress, most):
    """Take up to `most` tasks of the Watch at an address and do them in the scratch at `memory`; returns how many."""
    watch = view(Watch, like, address)
    job = watch.job
    scratch = addressed(job.scratch, memory)
    notes = addressed(watch.notes, scratch.end)
    done = 0
    for task in taken(progress, memory, job.tasks, most):
        # The last part first: under a causal mask it has the most to do, and others wait for whoever has the last task.
        # Looking takes 3 % less time so (n = 4096, 8 heads).
        head, part = task // watch.parts, watch.parts - 1 - task % watch.parts
        for number in range(part * watch.part_panels, min((part + 1) * watch.part_panels, job.panels)):
            watch_panel(watch, scratch, notes, panel_of(job, head, number))
        done += 1
    return done


mix_wide_tile = twin(mix_tile, mix_panel=mix)  # of panels of full width


@helper
def watch_panel(watch, scratch, notes, panel):
    """One panel: from its queries to its output, then from its exponentials to its statistics."""
    job = watch.job
    like, width = job.like, job.width
    size = size_of(like)
    load_queries(job, scratch, panel)
    start, stop = whole_turns(job, load_ranges(job, scratch, panel))
    counting = watch.counting != NO_COUNT and (watch.counting != ONE_COUNT or panel.head == 0)
    for careful in range(2):
        begin(job, scratch, panel)
        forget(watch, notes)
        alpha = NOWHERE
        for block_start in range(start // BLOCK * BLOCK, stop, BLOCK):
            key = max(block_start, start)
            keys = min(block_start + BLOCK, stop) - key
            number = block_start // BLOCK
            block = Block(key, keys, tile_state(job, scratch, panel, key, keys))
            poke_integer(like, notes.states + number * size, block.state)
            if block.state != EMPTY:
                first_time = counting and careful == 0
                noted = score_block(job, scratch, panel, block, first_time, False)
                tile = Tile(scratch.tile, keys, width)
                rank(like, tile, key, watch.kept, notes.best, notes.best_keys)
                if first_time:
                    count(watch, scratch, notes, panel, block, noted)
                values, guarded = load_values(job, scratch, panel, block, careful)
                if guarded:
                    note_allowed(like, tile, scratch.allowed)
                kept = notes.exponentials + key * width * size
                soften_and_keep(like, tile, scratch.top, scratch.total, scratch.alpha, notes.moment, kept)
                copy(like, scratch.top, notes.tops + number * width * size, width)
                mix_wide_tile(job, scratch, panel, block, values, guarded, alpha)
                alpha = scratch.alpha
        if alpha == NOWHERE:
            clear(like, scratch.mixed, job.d_v * width)
        if all_finite(like, scratch.mixed, job.d_v * width):
            break
    look_back(watch, scratch, notes, panel, start, stop)
    write_queries(watch, scratch, notes, panel)
    finish(job, scratch, panel)


@helper
def forget(watch, notes):
    """Nothing found yet."""
    like, width = watch.like, watch.job.width
    size = size_of(like)
    clear(like, notes.moment, width)
    clear(like, notes.distance, width)
    for n in range(watch.ranked * width):
        poke(like, notes.best + n * size, cast(like, -np.inf))
        poke_integer(like, notes.best_keys + n * size, -1)


@helper
def part_of(watch, panel):
    """The part that a panel is in."""
    return panel.first // watch.job.width // watch.part_panels


@helper
def look_back(watch, scratch, notes, panel, start, stop):
    """The exponentials of a panel once more, as weights: what keys receive, distances, and the map."""
    job = watch.job
    like, width = job.like, job.width
    size = size_of(like)
    base = head_address(job, watch.share, panel.head)
    clear(like, notes.share, width)
    spoilt = False
    for i in range(width):
        poke(like, notes.position + i * size, cast(like, watch.position + panel.first + i))
        inverse = -1.0  # no query
        if i < panel.rows:
            poke(like, notes.share + i * size, peek(like, row_address(job, watch.share, base, panel.first + i)))
            total = float(peek(like, scratch.total + i * size))
            spoilt |= math.isnan(total)  # then its exponentials become NaN, whatever the factor, and 0 where masked
            inverse = 0.0 if total == 0 or math.isnan(total) else 1.0 / total
        poke(like, notes.inverse + i * size, cast(like, inverse))
    received = head_address(job, watch.received, panel.head) + part_of(watch, panel) * watch.part_step
    for block_start in range(start // BLOCK * BLOCK, stop, BLOCK):
        number = block_start // BLOCK
        state = peek_integer(like, notes.states + number * size)
        if state != EMPTY:
            key = max(block_start, start)
            keys = min(block_start + BLOCK, stop) - key
            if spoilt:
                spoil_block(watch, scratch, notes, panel, Block(key, keys, state))
            catch_up(like, notes.tops + number * width * size, scratch.top, notes.inverse, notes.factor)
            look_at_block(watch, notes, panel, Block(key, keys, state), received)


@helper
def spoil_block(watch, scratch, notes, panel, block):
    """The kept exponentials of queries that have a NaN in sight: NaN, and 0 where they are masked."""
    job = watch.job
    like, width = job.like, job.width
    size = size_of(like)
    note_unmasked(job, scratch, panel, block)
    for i in range(panel.rows):
        if math.isnan(peek(like, scratch.total + i * size)):
            spoil_query(job, scratch, block.keys, notes.exponentials + block.key * width * size, i, 0.0)


@helper
def look_at_block(watch, notes, panel, block, received):
    """One block of weights, a cell of the map after another."""
    job = watch.job
    like, width, bits = job.like, job.width, watch.key_bits
    size = size_of(like)
    at, cell, begun = block.key, 0, block.key >> bits
    while at < block.key + block.keys:
        end = min(block.key + block.keys, (begun + cell + 1) << bits)
        tile = Tile(notes.exponentials + at * width * size, end - at, width)
        column = cell * width * size
        read_statistics(like, tile, at, notes, received + at * size, notes.sums + column)
        at = end
        cell += 1
    if watch.map_sum.address != 0:
        add_to_map(watch, notes, panel, watch.map_sum, Tile(notes.sums, cell, width), begun)


@helper
def add_to_map(watch, notes, panel, array, found, begun):
    """A block, summed over cells of keys, into the map's rows: one row of numbers for each query's cell."""
    job, bits = watch.job, watch.query_bits
    like, width = job.like, job.width
    size = size_of(like)
    padded = round_up(found.keys, lanes_of(like))
    clear(like, found.address + found.keys * width * size, (padded - found.keys) * width)
    turn_rows(like, Rows(found.address, width * size), Rows(notes.turned, padded * size), padded, width)
    base = head_address(job, array, panel.head) + begun * size
    part = part_of(watch, panel)
    here = (watch.first_query + part * watch.part_panels * width) >> bits
    for i in range(panel.rows):
        cell = (watch.first_query + panel.first + i) >> bits
        target = base + (peek_long(watch.part_rows + part * WORD) + cell - here) * array.row
        add_row(like, notes.turned + i * padded * size, target, padded)


@helper
def count(watch, scratch, notes, panel, block, noted):
    """How many places of a block are not masked, for each cell of the map."""
    job, bits = watch.job, watch.key_bits
    width = job.width
    size = size_of(job.like)
    at, cell, begun = block.key, 0, block.key >> bits
    while at < block.key + block.keys:
        end = min(block.key + block.keys, (begun + cell + 1) << bits)
        count_unmasked(job, scratch, block, noted, at, end, notes.counts + cell * width * size)
        at = end
        cell += 1
    add_to_map(watch, notes, panel, watch.map_count, Tile(notes.counts, cell, width), begun)


@helper
def write_queries(watch, scratch, notes, panel):
    """What was found of each query of a panel: entropy, largest weight, distance and best keys."""
    job = watch.job
    like, head = job.like, panel.head
    size = size_of(like)
    entropies, distances = head_address(job, watch.entropy, head), head_address(job, watch.distance, head)
    sinks = head_address(job, job.sink, head)
    weigh_best(watch, scratch, notes)
    for i in range(panel.rows):
        query = panel.first + i
        total, top = float(peek(like, scratch.total + i * size)), float(peek(like, scratch.top + i * size))
        entropy, share, mass, beside = 0.0, 0.0, 1.0, 0.0
        if total != 0:
            share = 1.0 / total
            if job.sink.address != 0:
                sink = peek(like, row_address(job, job.sink, sinks, query))
                below = float(cast(like, sink * LOG2E)) - top  # rounded as it was when the sums began with it
                if below > -np.inf:  # the sums have the sink in them, which is no key
                    mass -= 2.0**below * share
                    beside = 2.0**below * share * below
            moment = float(peek(like, notes.moment + i * size)) * share - beside
            entropy = max(LN2 * (math.log2(total) * mass - moment), 0.0)
            if math.isnan(total):
                entropy = total
        poke(like, row_address(job, watch.entropy, entropies, query), cast(like, entropy))
        poke(like, row_address(job, watch.distance, distances, query), peek(like, notes.distance + i * size))
        write_best(watch, notes, panel, i, share)


@helper
def weigh_best(watch, scratch, notes):
    """The best scores as weights, just as anybody makes them who computes them again."""
    like, width = watch.like, watch.job.width
    size = size_of(like)
    for i in range(width):
        split_inverse(like, peek(like, scratch.total + i * size), notes.inverse + i * size, notes.factor + i * size)
    weigh_scores(like, Tile(notes.best, watch.kept, width), scratch.top, notes.inverse, notes.factor)


@helper
def write_best(watch, notes, panel, i, share):
    """The largest weights of a panel's query i, and the keys they are on."""
    job, best, best_keys = watch.job, watch.best, watch.best_keys
    like, head, query = job.like, panel.head, panel.first + i
    size = size_of(like)
    weights = row_address(job, best, head_address(job, best, head), query)
    numbers = row_address(job, best_keys, head_address(job, best_keys, head), query)
    for j in range(watch.kept):
        place = (j * job.width + i) * size
        number = peek_integer(like, notes.best_keys + place)
        weight = share if math.isnan(share) else 0.0
        if number >= 0:
            weight = float(peek(like, notes.best + place))
        if j == 0:
            peak = row_address(job, watch.peak, head_address(job, watch.peak, head), query)
            poke(like, peak, cast(like, weight))
        if best.address != 0:
            poke(like, weights + j * best.column, cast(like, weight))
            poke_long(numbers + j * best_keys.column, number)


for_pairs(
    run,
    watch_panel=twin(
        watch_panel,
        load_queries=load_query_pairs,
        score_block=score_block_of_pairs,
        load_values=values_of_pairs,
        mix_wide_tile=mix_kept,
    ),
)
