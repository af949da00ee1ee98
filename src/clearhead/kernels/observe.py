"""Attention that is watched: the forward pass, with statistics read off every tile.

A panel goes over its keys as in `forward`, with the same steps in the same order, so the output has the same bits. On
the way each tile's scores compete for the queries' best keys, and its exponentials are kept. When the last key has
been seen the sums are known, so the kept exponentials become weights by one product each, and those are summed over
queries, over keys and over the cells of a map. Keeping a panel's exponentials takes 64 numbers per key; computing
them again would take as long as half the attention.

A task has several panels of one head in a row, and sums over queries that are its own.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from clearhead.kernels.compiler import helper, inlined, kernel
from clearhead.kernels.forward import (
    BLOCK,
    EMPTY,
    FULL,
    LN2,
    LOG2E,
    begin,
    block_rows,
    finish,
    head_address,
    load_queries,
    load_ranges,
    mix_tile,
    note_allowed,
    placed,
    row_address,
    rows_finite,
    score_tile,
    tile_state,
)
from clearhead.kernels.gemm import WIDEST
from clearhead.kernels.layout import (
    ADDRESS,
    ALL_QUERIES,
    BEST,
    BEST_KEYS,
    BIAS_FORM,
    COLUMN,
    COUNTING,
    D_V,
    ENTROPY,
    FAR,
    FIRST_QUERY,
    KEPT,
    KEY_CELLS,
    MAP_COUNT,
    MAP_PEAK,
    MAP_SUM,
    N_K,
    N_Q,
    NEXT,
    NO_BIAS,
    NO_COUNT,
    ONE_COUNT,
    PANELS,
    PART_PANELS,
    PART_ROWS,
    PART_STEP,
    PARTS,
    PEAK,
    POSITION,
    QUERY_CELLS,
    RECEIVED,
    ROW,
    SHARE,
    SINK,
    STOP,
    TASKS,
    VALUE,
)
from clearhead.kernels.memory import (
    all_finite,
    cast,
    clear,
    copy,
    lanes_of,
    peek,
    peek_integer,
    poke,
    poke_integer,
    poke_long,
    round_up,
    size_of,
    turn_rows,
)
from clearhead.kernels.statistics import catch_up, count_scores, pool, raise_row, rank
from clearhead.kernels.target import TARGET
from clearhead.kernels.tile import add_row, fetch_add, soften_and_keep


class Notes(NamedTuple):
    """Addresses of what an observer writes down besides the forward's scratch. Rows are queries unless said."""

    tops: int  # (blocks, width): the largest score when a block of keys had been seen
    states: int  # (blocks,): what the mask leaves of a block
    moment: int  # (width,): Σ exponential · (score − top)
    inverse: int  # (width,): 1 / Σ exponential; 0 for a query with no key left, −1 where there is no query
    factor: int  # (width,): what makes weights of a block's exponentials
    share: int  # (width,): how much of a query's weights counts in what keys receive
    position: int  # (width,): where a query stands among the keys
    far: int  # (width,): Σ weight · distance
    best: int  # (kept, width)
    best_keys: int  # (kept, width)
    sums: int  # (BLOCK, width): weights summed over the cells of keys
    peaks: int  # (BLOCK, width)
    counts: int  # (BLOCK, width)
    turned: int  # (width, BLOCK)
    exponentials: int  # (n_k, width)
    end: int


def notes_layout(itemsize: int, n_k: int, kept: int) -> Notes:
    """Where each part begins, and where the last one ends."""
    width = WIDEST * TARGET.lanes(itemsize)
    blocks = n_k // BLOCK + 1
    cells = BLOCK + width  # what fills up the last vector of cells
    numbers = [
        blocks * width, blocks, *(width,) * 6, kept * width, kept * width, *(cells * width,) * 4, n_k * width,
    ]  # fmt: skip
    return Notes(0, *itertools.accumulate(-(-n * itemsize // 64) * 64 for n in numbers))


@kernel
def run(like, arrays, sizes, numbers, looking, layout, notes, memory, progress, most):
    """Take up to `most` tasks from the queue and do them in the scratch at `memory`; returns how many were done."""
    s = placed(layout, memory)
    o = notes_at(notes, memory + layout[-1])
    next_task = np.intp(progress.ctypes.data) + 8 * NEXT
    done = 0
    while done < most and progress[STOP] == 0:
        task = fetch_add(next_task, 1)
        if task >= sizes[TASKS]:
            break
        part = looking[PARTS] - 1 - task % looking[PARTS]  # the last first: under a causal mask it has the most to do
        for panel in range(part * looking[PART_PANELS], min((part + 1) * looking[PART_PANELS], sizes[PANELS])):
            observe(like, arrays, sizes, numbers, looking, s, o, task // looking[PARTS], part, panel)
        done += 1
    return done


@inlined
def notes_at(p, base):
    """The parts of a layout as addresses."""
    return Notes(
        base + p[0], base + p[1], base + p[2], base + p[3], base + p[4], base + p[5], base + p[6], base + p[7],
        base + p[8], base + p[9], base + p[10], base + p[11], base + p[12], base + p[13], base + p[14], base + p[15],
    )  # fmt: skip


@inlined
def observe(like, arrays, sizes, numbers, looking, s, o, head, part, panel):
    """One panel: from its queries to its output, then from its exponentials to its statistics."""
    size, width = size_of(like), WIDEST * lanes_of(like)
    first = panel * width
    rows = min(width, sizes[N_Q] - first)
    load_queries(like, arrays, sizes, numbers, s, head, first, rows)
    start, stop = load_ranges(like, arrays, sizes, s, head, first, rows)
    counting = looking[COUNTING] != NO_COUNT and (looking[COUNTING] != ONE_COUNT or head == 0)
    for careful in range(2):
        begin(like, arrays, sizes, numbers, s, head, first, rows)
        forget(like, looking, o)
        for block_start in range(start // BLOCK * BLOCK, stop, BLOCK):
            key = max(block_start, start)
            keys = min(block_start + BLOCK, stop) - key
            state = tile_state(like, arrays, sizes, s, head, first, rows, key, keys)
            poke_integer(like, o.states + block_start // BLOCK * size, state)
            if state != EMPTY:
                score_tile(like, arrays, sizes, numbers, s, head, first, rows, key, keys, state)
                rank(like, s.tile, keys, key, looking[KEPT], o.best, o.best_keys)
                if counting and careful == 0:
                    count(like, arrays, sizes, looking, s, o, head, part, first, rows, key, keys, state)
                source, step = block_rows(like, arrays[VALUE], sizes, head, key, keys, s.values, sizes[D_V])
                guarded = careful == 1 and not rows_finite(like, source, step, keys, sizes[D_V])
                if guarded:
                    note_allowed(like, s, keys, width)
                kept = o.exponentials + key * width * size
                soften_and_keep(like, s.tile, keys, width, s.top, s.total, s.alpha, o.moment, kept)
                copy(like, s.top, o.tops + block_start // BLOCK * width * size, width)
                mix_tile(like, sizes, s, source, step, key, keys, rows, guarded)
        if all_finite(like, s.mixed, sizes[D_V] * width):
            break
    look_back(like, arrays, sizes, looking, s, o, head, part, first, rows, start, stop)
    write_queries(like, arrays, sizes, looking, s, o, head, first, rows)
    finish(like, arrays, sizes, numbers, s, head, first, rows)


@helper
def forget(like, looking, o):
    """Nothing seen yet."""
    size, width = size_of(like), WIDEST * lanes_of(like)
    clear(like, o.moment, width)
    clear(like, o.far, width)
    for n in range(looking[KEPT] * width):
        poke(like, o.best + n * size, cast(like, -np.inf))
        poke_integer(like, o.best_keys + n * size, -1)


@helper
def look_back(like, arrays, sizes, looking, s, o, head, part, first, rows, start, stop):
    """The exponentials of a panel once more, as weights: what keys receive, distances, and the map."""
    size, width = size_of(like), WIDEST * lanes_of(like)
    base = head_address(arrays[SHARE], sizes, head)
    clear(like, o.share, width)
    for i in range(width):
        poke(like, o.position + i * size, cast(like, looking[POSITION] + first + i))
        inverse = -1.0  # no query
        if i < rows:
            poke(like, o.share + i * size, peek(like, row_address(arrays[SHARE], sizes, base, first + i)))
            total = float(peek(like, s.total + i * size))
            # where every score is NaN so are its exponentials, and what is masked beside them stays 0
            inverse = 1.0 / total if total != 0 and peek(like, s.top + i * size) != -np.inf else 0.0
        poke(like, o.inverse + i * size, cast(like, inverse))
    received = head_address(arrays[RECEIVED], sizes, head) + part * looking[PART_STEP]
    for block_start in range(start // BLOCK * BLOCK, stop, BLOCK):
        block = block_start // BLOCK
        if peek_integer(like, o.states + block * size) != EMPTY:
            key = max(block_start, start)
            keys = min(block_start + BLOCK, stop) - key
            catch_up(like, o.tops + block * width * size, s.top, o.inverse, o.factor)
            look_at_block(like, arrays, sizes, looking, o, head, part, first, rows, key, keys, received)


@inlined
def look_at_block(like, arrays, sizes, looking, o, head, part, first, rows, key, keys, received):
    """One block of weights, a cell of the map after another."""
    size, width = size_of(like), WIDEST * lanes_of(like)
    at, cell, begun = key, 0, cell_of(key, looking[KEY_CELLS], sizes[N_K])
    while at < key + keys:
        end = min(key + keys, end_of(begun + cell, looking[KEY_CELLS], sizes[N_K]))
        pool(
            like, o.exponentials + at * width * size, end - at, at, o.factor, o.inverse, o.position, o.share, o.far,
            received + at * size, o.sums + cell * width * size, o.peaks + cell * width * size,
        )  # fmt: skip
        at = end
        cell += 1
    if looking[KEY_CELLS] > 0:
        add_to_map(like, arrays[MAP_SUM], sizes, looking, o, o.sums, head, part, first, rows, begun, cell, False)
        if arrays[MAP_PEAK, ADDRESS] != 0:
            add_to_map(like, arrays[MAP_PEAK], sizes, looking, o, o.peaks, head, part, first, rows, begun, cell, True)


@helper
def cell_of(n, cells, length):
    """The cell of a map in which position n is; the first where there is no map."""
    return n * cells // length


@helper
def end_of(cell, cells, length):
    """The position after the last of a cell; the end where there is no map."""
    return ((cell + 1) * length + cells - 1) // cells if cells > 0 else length


@helper
def add_to_map(like, array, sizes, looking, o, source, head, part, first, rows, begun, cells, highest):
    """A block, summed over cells of keys, into the map's rows: one row of numbers for each query's cell."""
    size, lanes = size_of(like), lanes_of(like)
    width = WIDEST * lanes
    padded = round_up(cells, lanes)
    clear(like, source + cells * width * size, (padded - cells) * width)
    turn_rows(like, source, width * size, o.turned, padded * size, padded, width)
    base = head_address(array, sizes, head) + begun * size
    here = cell_of(sizes[FIRST_QUERY] + part * looking[PART_PANELS] * width, looking[QUERY_CELLS], looking[ALL_QUERIES])
    for i in range(rows):
        cell = cell_of(sizes[FIRST_QUERY] + first + i, looking[QUERY_CELLS], looking[ALL_QUERIES])
        target = base + (looking[PART_ROWS + part] + cell - here) * array[ROW]
        if highest:
            raise_row(like, o.turned + i * padded * size, target, padded)
        else:
            add_row(like, o.turned + i * padded * size, target, padded)


@helper
def count(like, arrays, sizes, looking, s, o, head, part, first, rows, key, keys, state):
    """How many scores of a block are not masked, for each cell of the map."""
    size, width = size_of(like), WIDEST * lanes_of(like)
    at, cell, begun = key, 0, cell_of(key, looking[KEY_CELLS], sizes[N_K])
    every = state == FULL and sizes[BIAS_FORM] == NO_BIAS
    while at < key + keys:
        end = min(key + keys, end_of(begun + cell, looking[KEY_CELLS], sizes[N_K]))
        target = o.counts + cell * width * size
        if every:
            for i in range(width):
                poke(like, target + i * size, cast(like, end - at))
        else:
            count_scores(like, s.tile + (at - key) * width * size, end - at, target)
        at = end
        cell += 1
    add_to_map(like, arrays[MAP_COUNT], sizes, looking, o, o.counts, head, part, first, rows, begun, cell, False)


@helper
def write_queries(like, arrays, sizes, looking, s, o, head, first, rows):
    """What was found of each query of a panel: entropy, largest weight, distance and best keys."""
    size, width = size_of(like), WIDEST * lanes_of(like)
    entropies, peaks = head_address(arrays[ENTROPY], sizes, head), head_address(arrays[PEAK], sizes, head)
    fars, sinks = head_address(arrays[FAR], sizes, head), head_address(arrays[SINK], sizes, head)
    scores, keys = head_address(arrays[BEST], sizes, head), head_address(arrays[BEST_KEYS], sizes, head)
    for i in range(rows):
        total, top = float(peek(like, s.total + i * size)), float(peek(like, s.top + i * size))
        entropy, share, mass, beside = 0.0, 0.0, 1.0, 0.0
        if total != 0:
            share = 1.0 / total
            if arrays[SINK, ADDRESS] != 0:
                sink = peek(like, row_address(arrays[SINK], sizes, sinks, first + i))
                below = float(cast(like, sink * LOG2E)) - top  # rounded as it was when the sums began with it
                if below > -np.inf:  # the sums have the sink in them, which is no key
                    mass -= 2.0**below * share
                    beside = 2.0**below * share * below
            moment = float(peek(like, o.moment + i * size)) * share - beside
            entropy = max(LN2 * (math.log2(total) * mass - moment), 0.0)
            if math.isnan(total):
                entropy = total
        poke(like, row_address(arrays[ENTROPY], sizes, entropies, first + i), cast(like, entropy))
        poke(like, row_address(arrays[FAR], sizes, fars, first + i), peek(like, o.far + i * size))
        score, key = (
            row_address(arrays[BEST], sizes, scores, first + i),
            row_address(arrays[BEST_KEYS], sizes, keys, first + i),
        )
        for j in range(looking[KEPT]):
            number = peek_integer(like, o.best_keys + (j * width + i) * size)
            weight = share if math.isnan(share) else 0.0
            if number >= 0:
                weight = 2.0 ** (float(peek(like, o.best + (j * width + i) * size)) - top) * share
            if j == 0:
                poke(like, row_address(arrays[PEAK], sizes, peaks, first + i), cast(like, weight))
            if arrays[BEST, ADDRESS] != 0:
                poke(like, score + j * arrays[BEST, COLUMN], cast(like, weight))
                poke_long(key + j * arrays[BEST_KEYS, COLUMN], number)
