"""The backward pass: gradients of queries, keys, values and bias, from the output's gradient and each query's gathered.

A task takes one key head, all query heads that share it, and some of the keys. It turns the queries and the output's
gradient into panels once, then walks over its keys in blocks; for each block it walks over the panels, recomputes the
weights, and adds up five products:

    S = K·Qᵀ     dP = V·dOᵀ     dV += P·dO     dK += dS·Q     dQᵀ += Kᵀ·dS        dS = P ∘ (dP − Δ)

where Δ = Σ dO ∘ O of each query, worked out when its panel comes in. Weights are 2^(S − top) / total, and the division
goes into dO and Δ, once for each query. No two tasks share a key, so dK and dV are written once; the queries' gradient
is summed over the parts of the keys in order. So nothing depends on which thread did what, and one head alone still
fills every thread. How a panel comes in, and how gradients go out, is in `backward_rows`.
"""

from __future__ import annotations

from clearhead.kernels.backward_job import Backward, PanelScratch
from clearhead.kernels.backward_rows import (
    add_to_bias,
    load_panel,
    load_panel_of_pairs,
    write_block,
    write_queries,
)
from clearhead.kernels.compiler import for_pairs, helper, kernel, twin
from clearhead.kernels.gemm import Columns, Operand, add_columns, mix, panel_vectors, score
from clearhead.kernels.job import BLOCK, EMPTY, FULL, Block
from clearhead.kernels.memory import (
    cast,
    clear,
    lanes_of,
    poke,
    round_up,
    size_of,
)
from clearhead.kernels.pairs import (
    WORD as PAIR,
    add_columns_pairs,
    clear_strange,
    mix_pairs,
    pair_keys,
    round_rows,
    score_pairs,
)
from clearhead.kernels.scores import (
    block_rows,
    drop_tile,
    load_hashes,
    load_ranges,
    panel_of,
    shape_scores,
    stored_rows,
    tile_state,
)
from clearhead.kernels.strange import copy_finite, rows_finite
from clearhead.kernels.struct_types import addressed, view
from clearhead.kernels.target import WIDEST
from clearhead.kernels.tasks import taken
from clearhead.kernels.tile import Tile
from clearhead.kernels.weighing import multiply_tile, slope_of_cap, weigh, weigh_by


@kernel
def run(like, address, memory, progress, most):
    """Take up to `most` tasks of the Backward at an address and do them in scratch at `memory`; returns how many."""
    back = view(Backward, like, address)
    scratch = addressed(back.job.scratch, memory)
    gathered = addressed(back.block, scratch.end)
    heads, together = back.job.heads, back.job.heads_per_task
    splits = back.job.tasks * together // heads
    done = 0
    for task in taken(progress, memory, back.job.tasks, most):
        # all parts of a head's keys, then the next head: under a causal mask one part has more to do than another
        first = task // splits * together + task % splits * heads
        for head in range(first, first + together):
            differentiate(back, scratch, gathered, head)
        done += 1
    return done


@helper
def differentiate(back, scratch, gathered, head):
    """One task: all queries of a key head against some of its keys."""
    job = back.job
    like = job.like
    for i in range(WIDEST * lanes_of(like)):
        poke(like, gathered.ones + i * size_of(like), cast(like, 1.0))
    for number in range(job.panels):
        panel, queries = panel_of(job, head, number), addressed(back.panel, gathered.end + number * back.panel_size)
        start, end = load_ranges(job, scratch, panel)
        if start < end:
            load_panel(back, scratch, queries, panel)
        else:  # none of its queries sees any of the keys
            clear(like, queries.d_queries, job.d * job.width)
    part = head // job.heads
    stop = min(job.n_k, (part + 1) * job.split)
    for key in range(part * job.split, stop, BLOCK):
        block = Block(key, min(BLOCK, stop - key), FULL)
        clear_columns(like, gathered.d_keys, block.keys, job.d)
        clear_columns(like, gathered.d_values, block.keys, job.d_v)
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
                    queries = view(PanelScratch, like, gathered.end + number * back.panel_size)
                    add_tile_gradients(
                        back, scratch, gathered, queries, panel, Block(start, end - start, state), finite
                    )
        write_block(job, scratch, back.d_key, head, block, Columns(gathered.d_keys, BLOCK, 0), job.d, job.true_scale)
        write_block(
            job, scratch, back.d_value, head, block, Columns(gathered.d_values, BLOCK, 0), job.d_v, 1.0 / job.keep
        )
    for number in range(job.panels):
        queries = view(PanelScratch, like, gathered.end + number * back.panel_size)
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
def add_tile_gradients(back, scratch, gathered, queries, panel, block, finite):
    """Some keys against one panel of queries: what they add to the gathered.

    `finite` says that the keys and values of the whole block hold no NaN and no infinity.
    """
    job = back.job
    like, width, d, d_v = job.like, job.width, job.d, job.d_v
    size = size_of(like)
    weights, slopes = Tile(scratch.tile, block.keys, width), Tile(gathered.slopes, block.keys, width)
    keys = block_rows(job, job.key, panel.head, block, scratch.keys, d)
    score(like, job.vectors, keys, queries.queries, weights.address, block.keys, d)
    if job.softcap > 0:
        slope_of_cap(like, weights, gathered.caps)
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
        multiply_tile(like, slopes, gathered.caps)
    offset = block.key % job.split % BLOCK
    of_weights, of_slopes = Operand(weights.address, width * size, size), Operand(slopes.address, width * size, size)
    gradients, query_rows = Columns(queries.gradient_rows, width, 0), Columns(queries.query_rows, width, 0)
    add_columns(like, of_weights, gradients, Columns(gathered.d_values, BLOCK, offset), block.keys, d_v, gathered.ones)
    add_columns(like, of_slopes, query_rows, Columns(gathered.d_keys, BLOCK, offset), block.keys, d, gathered.ones)
    if not finite:
        keys = copy_finite(like, keys, gathered.clean, block.keys, d)
    mix(like, job.vectors, keys, slopes.address, queries.d_queries, d, block.keys, gathered.ones)


@helper
def add_pair_gradients(back, scratch, gathered, queries, panel, block, finite):
    """The same in pairs of bfloat16: weights and their slopes are rounded before they are multiplied."""
    job = back.job
    like, width, d, d_v, count = job.like, job.width, job.d, job.d_v, block.keys
    size = size_of(like)
    weights, slopes = Tile(scratch.tile, count, width), Tile(gathered.slopes, count, width)
    keys = stored_rows(job, job.key, panel.head, block, scratch.keys, d)
    score_pairs(like, job.vectors, keys, queries.queries, weights.address, count, d, cast(like, job.scale))
    if job.softcap > 0:
        slope_of_cap(like, weights, gathered.caps)
    shape_scores(job, scratch, panel, block)
    values = stored_rows(job, job.value, panel.head, block, scratch.values, d_v)
    score_pairs(like, job.vectors, values, queries.gradient, slopes.address, count, d_v, cast(like, 1.0))
    if job.dropping != 0:
        load_hashes(job, scratch, panel)
        drop_tile(job, scratch, slopes, block.key)
    weigh_by(like, weights, slopes.address, queries.top, queries.delta, cast(like, 1.0 / job.keep), queries.inverse)
    if job.dropping != 0:
        drop_tile(job, scratch, weights, block.key)
    if back.d_bias.address != 0:
        add_to_bias(back, scratch, panel, block, slopes)
    if job.softcap > 0:
        multiply_tile(like, slopes, gathered.caps)
    clear(like, slopes.address + count * width * size, width * (count % 2))
    round_rows(like, Tile(weights.address, round_up(count, 2), width), slopes.address, scratch.pairs)
    offset = block.key % job.split % BLOCK
    of_weights, of_slopes = Operand(weights.address, width * size, PAIR), Operand(slopes.address, width * size, PAIR)
    gradients, query_rows = Columns(queries.gradient_rows, width // 2, 0), Columns(queries.query_rows, width // 2, 0)
    add_columns_pairs(like, of_weights, gradients, Columns(gathered.d_values, BLOCK, offset), count, d_v, gathered.ones)
    add_columns_pairs(like, of_slopes, query_rows, Columns(gathered.d_keys, BLOCK, offset), count, d, gathered.ones)
    pair_keys(like, keys, count, d, gathered.clean)
    if not finite:
        clear_strange(like, gathered.clean, round_up(count, 2) * d)
    mix_pairs(like, job.vectors, gathered.clean, scratch.pairs, queries.d_queries, d, count, gathered.ones)


for_pairs(
    run,
    differentiate=twin(differentiate, load_panel=load_panel_of_pairs, add_tile_gradients=add_pair_gradients),
)
