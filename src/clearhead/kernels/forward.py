"""The forward pass: one panel of queries against all its keys, tile by tile.

A task is one panel of queries (32 on AVX-512, side by side in vector lanes) against the keys of one head, or a part
of them. It keeps the online softmax of its queries and their mixed values in scratch, walks over the keys in blocks,
and skips the blocks its mask empties. Tasks share nothing, so any number of threads gives the same bits.

Where there are few queries, as in decoding, the query heads that share a key head are folded into one panel, so keys
and values are read once for all of them, and the keys are split among tasks whose results are joined at the end.
"""

from __future__ import annotations

import math

import numpy as np

from clearhead.kernels.compiler import for_pairs, helper, kernel, twin
from clearhead.kernels.formats import write_row
from clearhead.kernels.gemm import mix_panel
from clearhead.kernels.job import BLOCK, EMPTY, LN2, LOG2E, NOWHERE, Block, Job
from clearhead.kernels.memory import (
    Rows,
    all_finite,
    cast,
    clear,
    expect_writing,
    fill,
    lanes_of,
    peek,
    poke,
    round_up,
    size_of,
    turn_rows_scaled,
)
from clearhead.kernels.paired import attend_pairs
from clearhead.kernels.scores import (
    block_rows,
    drop_tile,
    head_address,
    load_hashes,
    load_queries,
    load_query_pairs,
    load_ranges,
    narrow_panel_of,
    row_address,
    score_tile,
    tile_state,
    whole_panel,
    whole_turns,
)
from clearhead.kernels.shaping import invert, soften, stretch
from clearhead.kernels.strange import add_strange, copy_finite, note_allowed, rows_finite
from clearhead.kernels.struct_types import addressed, view
from clearhead.kernels.tasks import taken
from clearhead.kernels.thin import thin_mix
from clearhead.kernels.tile import Tile

WORTH_FETCHING = 128  # keys of a panel: with 32, saying where its output goes takes 2 % longer than not to


@kernel
def run(like, address, memory, progress, most):
    """Take up to `most` tasks of the Job at an address and do them in the scratch at `memory`; returns how many."""
    job = view(Job, like, address)
    scratch = addressed(job.scratch, memory)
    splits = job.tasks // (job.heads * job.panels)
    done = 0
    for task in taken(progress, memory, job.tasks, most):
        number, part = task // splits, task % splits  # all parts of a head's keys, then the next head
        # the last panel first: under a causal mask it has the most to do
        attend(job, scratch, part * job.heads + number // job.panels, job.panels - 1 - number % job.panels)
        done += 1
    return done


@helper
def attend(job, scratch, head, number):
    """One panel of a head, from its queries to its output."""
    # A value that is NaN or infinite turns even a weight of zero into NaN. Looking for such values costs 1 %, so they
    # are looked for only where something came out that is not finite: then the panel is done again, with care.
    for careful in range(2):
        panel = narrow_panel_of(job, head, number, careful)
        load_queries(job, scratch, panel)
        start, stop = whole_turns(job, load_ranges(job, scratch, panel))
        begin(job, scratch, panel)
        if stop - start >= WORTH_FETCHING:
            expect_output(job, panel)
        alpha = NOWHERE  # until something is mixed: clearing what is not there would take 1 to 2 % of the time
        for block_start in range(start // BLOCK * BLOCK, stop, BLOCK):
            key = max(block_start, start)
            keys = min(block_start + BLOCK, stop) - key
            state = tile_state(job, scratch, panel, key, keys)
            if state != EMPTY:
                attend_block(job, scratch, panel, Block(key, keys, state), careful, alpha)
                alpha = scratch.alpha
        mixed = job.d_v * (panel.rows if panel.thin else panel.width)
        if alpha == NOWHERE:
            clear(job.like, scratch.mixed, mixed)
        if all_finite(job.like, scratch.mixed, mixed):
            break
    finish(job, scratch, panel)


@helper
def expect_output(job, panel):
    """Say where the panel's output will be written: saves 3 % of the kernel's time in a BERT over 256 words."""
    output = job.output
    base = head_address(job, output, panel.head)
    for i in range(panel.rows):
        place = row_address(job, output, base, panel.first + i)
        expect_writing(job.like, place, job.d_v * min(output.column, size_of(job.like)))


@helper
def begin(job, scratch, panel):
    """No key yet. A sink comes before any key: it is a score that brings no value."""
    like, sinks, width = job.like, job.sink, panel.width
    size = size_of(like)
    clear(like, scratch.total, width)
    fill(like, scratch.top, width, cast(like, -np.inf))
    if sinks.address != 0 and panel.head < job.heads:  # with split keys, the first part has the sink
        base = head_address(job, sinks, panel.head)
        for i in range(panel.rows):
            sink = peek(like, row_address(job, sinks, base, panel.first + i))
            if sink > -np.inf:
                poke(like, scratch.top + i * size, cast(like, sink * LOG2E))
                poke(like, scratch.total + i * size, cast(like, 1.0))
    if job.dropping != 0:
        load_hashes(job, scratch, panel)


@helper
def attend_block(job, scratch, panel, block, careful, alpha):
    """One tile: scores, what the options make of them, softmax, and the values mixed in."""
    like = job.like
    score_tile(job, scratch, panel, block)
    values, guarded = load_values(job, scratch, panel, block, careful)
    tile = Tile(scratch.tile, block.keys, panel.width)
    if guarded:
        note_allowed(like, tile, scratch.allowed)
    soften(like, tile, scratch.top, scratch.total, scratch.alpha)
    mix_tile(job, scratch, panel, block, values, guarded, alpha)


@helper
def load_values(job, scratch, panel, block, careful):
    """The values of a block, to be mixed, and whether some must be kept out of the product: if care is taken."""
    values = block_rows(job, job.value, panel.head, block, scratch.values, job.d_v)
    return values, careful == 1 and not rows_finite(job.like, values, block.keys, job.d_v)


@helper
def mix_tile(job, scratch, panel, block, values, guarded, alpha):
    """Add the values, weighed by a tile of exponentials, to those mixed so far, times alpha; 0 if there are none."""
    like = job.like
    tile = Tile(scratch.tile, block.keys, panel.width)
    if job.dropping != 0:
        drop_tile(job, scratch, tile, block.key)
    if guarded:
        clean = copy_finite(like, values, scratch.clean, block.keys, job.d_v)
        mix_panel(like, panel.vectors, clean, scratch.tile, scratch.mixed, job.d_v, block.keys, alpha)
        add_strange(job, scratch, values, tile)
    elif panel.thin:
        thin_mix(job, scratch, values, panel.rows, block.keys, alpha)
    else:
        mix_panel(like, panel.vectors, values, scratch.tile, scratch.mixed, job.d_v, block.keys, alpha)


@helper
def write_sums(job, scratch, panel):
    """Each query's largest score and sum, from which any weight can be computed again as it was here."""
    if job.top.address == 0:
        return
    like = job.like
    size = size_of(like)
    tops, totals = head_address(job, job.top, panel.head), head_address(job, job.total, panel.head)
    for i in range(panel.rows):
        poke(like, row_address(job, job.top, tops, panel.first + i), peek(like, scratch.top + i * size))
        poke(like, row_address(job, job.total, totals, panel.first + i), peek(like, scratch.total + i * size))


@helper
def split_inverse(like, total, high, low):
    """1 / total in two words at two addresses, 0 where the total is: a product with both is rounded once."""
    inverse = 1.0 / float(total) if total != 0 else 0.0
    poke(like, high, cast(like, inverse))
    poke(like, low, cast(like, inverse - cast(like, inverse)))


@helper
def finish(job, scratch, panel):
    """Divide by the sums, turn the panel back and write it; a query that saw no key gets zeros and −inf."""
    like, output, width, d_v = job.like, job.output, panel.width, job.d_v
    size = size_of(like)
    padded = round_up(d_v, lanes_of(like))
    write_sums(job, scratch, panel)
    write_lse(job, scratch, panel)
    invert(like, job, scratch.total, scratch.alpha, width)
    base = head_address(job, output, panel.head)
    rows = Rows(scratch.rows, padded * size)
    if panel.thin:
        rows = Rows(scratch.mixed, d_v * size)
        for i in range(panel.rows):
            by, rest = peek(like, scratch.total + i * size), peek(like, scratch.alpha + i * size)
            stretch(like, rows.address + i * rows.step, d_v, by, rest)
    else:
        whole = whole_panel(job, output, panel, d_v)
        if whole:
            rows = Rows(row_address(job, output, base, panel.first), output.row)
        mixed = Rows(scratch.mixed, width * size)
        turn_rows_scaled(like, mixed, rows, padded, width, scratch.total, scratch.alpha, size)
        if whole:
            return
    for i in range(panel.rows):
        target = row_address(job, output, base, panel.first + i)
        write_row(output, rows.address + i * rows.step, target, d_v, scratch.spare)


@helper
def write_lse(job, scratch, panel):
    """Each query's lse, if it is wanted."""
    like = job.like
    size = size_of(like)
    base = head_address(job, job.lse, panel.head)
    if base == 0:
        return
    for i in range(panel.rows):
        total, lse = peek(like, scratch.total + i * size), cast(like, -np.inf)
        if total != 0:
            lse = cast(like, (peek(like, scratch.top + i * size) + math.log2(total)) * LN2)
        poke(like, row_address(job, job.lse, base, panel.first + i), lse)


for_pairs(run, attend=twin(attend, load_queries=load_query_pairs, attend_block=attend_pairs))
