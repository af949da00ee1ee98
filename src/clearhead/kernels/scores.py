"""From a call's arrays to a tile of scores: what the forward pass, the backward pass and all who look on share.

A panel of queries lies side by side in vector lanes; a block of keys is read where it lies, or converted. Products
become scores as the options say: scale → softcap → bias → mask. The mask comes as runs of keys for each query, from
which a panel knows its first and last key and whether a block is empty, full or mixed, as a period, or as an array of
flags.
"""

from __future__ import annotations

import numpy as np

from clearhead.kernels.compiler import helper
from clearhead.kernels.formats import read_row
from clearhead.kernels.gemm import panel_vectors, score, score_panel
from clearhead.kernels.job import EMPTY, FULL, LOG2E, MIXED, NO_BIAS, RELATIVE_BIAS, Panel
from clearhead.kernels.memory import (
    Rows,
    cast,
    clear,
    count_flags,
    fill,
    forbid,
    lanes_of,
    peek_flag,
    peek_integer,
    peek_long,
    poke_integer,
    round_up,
    size_of,
    turn_rows,
    turn_rows_scaled,
)
from clearhead.kernels.pairs import STORED, WORD as PAIR, clear_stored, copy_stored, score_pairs
from clearhead.kernels.shaping import add_relative, add_tile, cap, drop, keep_period, keep_ranges, stretch
from clearhead.kernels.storage import FLOAT32, FLOAT64
from clearhead.kernels.structs import AXES, WORD
from clearhead.kernels.thin import thin_scores
from clearhead.kernels.tile import UNROLL, Tile


@helper
def head_address(job, array, head):
    """Where head number `head`, counted over all leading axes, of an array begins."""
    address = array.address
    if job.folded > 1:
        head *= job.folded
    for axis in range(AXES - 1, -1, -1):
        length = peek_long(job.shape + axis * WORD)
        if length > 1:
            address += (head % length) * peek_long(array.axes + axis * WORD)
            head //= length
    return address


@helper
def row_address(job, array, head, row):
    """Where a row of a panel begins. Folded heads follow one another, n_q rows each."""
    if job.folded == 1:
        return head + row * array.row
    return head + (row // job.n_q) * array.sharing + (row % job.n_q) * array.row


@helper
def panel_of(job, head, number):
    """The panel of a head with this number, as wide as all of them."""
    first = number * job.width
    return Panel(head, first, min(job.width, job.n_q * job.folded - first), job.vectors, job.width, 0)


@helper
def narrow_panel_of(job, head, number, careful):
    """The same, but the last one as narrow as its queries let it be, and thin if the job is, unless care is taken."""
    panel = panel_of(job, head, number)
    vectors = min(job.vectors, panel_vectors(job.like, panel.rows))
    thin = job.thin if careful == 0 else 0
    return Panel(head, panel.first, panel.rows, vectors, vectors * lanes_of(job.like), thin)


@helper
def load_queries(job, scratch, panel):
    """The panel's queries, scaled, turned so that they lie side by side; lanes without a query hold zeros.

    A handful stay rows.
    """
    like, query, width, d = job.like, job.query, panel.width, job.d
    size, lanes = size_of(like), lanes_of(like)
    padded = round_up(d, lanes)
    base = head_address(job, query, panel.head)
    factor = cast(like, job.scale)
    rest = cast(like, job.scale - factor)
    rows = Rows(row_address(job, query, base, panel.first), query.row)
    if panel.thin or not whole_panel(job, query, panel, d):
        rows = Rows(scratch.rows, padded * size)
        for r in range(panel.rows):
            read_row(query, row_address(job, query, base, panel.first + r), rows.address + r * rows.step, d)
        if panel.thin:
            stretch(like, rows.address, panel.rows * d, factor, rest)
            return
        clear(like, rows.address + panel.rows * rows.step, (width - panel.rows) * padded)
    fill(like, scratch.total, lanes, factor)
    fill(like, scratch.alpha, lanes, rest)
    turned = Rows(scratch.queries, width * size)
    turn_rows_scaled(like, rows, turned, width, padded, scratch.total, scratch.alpha, np.intp(0))


@helper
def load_query_pairs(job, scratch, panel):
    """The same in pairs of neighbouring columns, as they are stored, not scaled. A handful stay rows."""
    like, query, width, d = job.like, job.query, panel.width, job.d
    lanes = lanes_of(like)
    padded = round_up((d + 1) // 2, lanes)
    base = head_address(job, query, panel.head)
    rows = Rows(row_address(job, query, base, panel.first), query.row)
    whole = job.folded == 1 and panel.rows == width and query.column == STORED and d % (2 * lanes) == 0
    if panel.thin or not whole:
        rows = Rows(scratch.rows, padded * PAIR)
        for r in range(panel.rows):
            target = rows.address + r * rows.step
            copy_stored(like, row_address(job, query, base, panel.first + r), query.column, target, d)
            clear_stored(like, target + d * STORED, d % 2)
        if panel.thin:
            return
        clear(like, rows.address + panel.rows * rows.step, (width - panel.rows) * padded)
    turn_rows(like, rows, Rows(scratch.queries, width * PAIR), width, padded)


@helper
def whole_panel(job, array, panel, columns):
    """Whether a panel of an array can be turned where it lies: computed numbers side by side, nothing to pad."""
    alone = job.folded == 1 and panel.rows == panel.width and columns % lanes_of(job.like) == 0
    return alone and in_place(array)


@helper
def in_place(array):
    """Whether an array's rows can be computed with as they are stored."""
    size = size_of(array.like)
    return array.column == size and array.stored == (FLOAT32 if size == 4 else FLOAT64)


@helper
def load_ranges(job, scratch, panel):
    """Each query's ranges of keys into scratch; returns the first key any of them needs and the one after the last."""
    part = panel.head // job.heads
    start, stop = part * job.split, min(job.n_k, (part + 1) * job.split)
    if job.period > 1:
        load_residues(job, scratch, panel)
    if job.ranges == 0:
        return start, stop
    like, width = job.like, panel.width
    size = size_of(like)
    lows, highs = head_address(job, job.low, panel.head), head_address(job, job.high, panel.head)
    least, most = stop, start
    for i in range(width):
        for r in range(job.ranges):
            low, high = 0, 0
            if i < panel.rows:
                low = peek_long(row_address(job, job.low, lows, panel.first + i) + r * job.low.column)
                high = peek_long(row_address(job, job.high, highs, panel.first + i) + r * job.high.column)
            if low < high:
                least, most = min(least, low), max(most, high)
            poke_integer(like, scratch.low + (r * width + i) * size, low)
            poke_integer(like, scratch.high + (r * width + i) * size, high)
    return max(start, least), min(stop, most)


@helper
def whole_turns(job, bounds):
    """The first key of a panel and the one after the last, a little further apart, so that the sums of an online
    softmax, which go by fours, run in the same order however wide the panel is.
    """
    start, stop = bounds
    return start // UNROLL * UNROLL, min((stop + UNROLL - 1) // UNROLL * UNROLL, job.n_k)


@helper
def load_residues(job, scratch, panel):
    """Which of every `period` keys each query may attend to."""
    size = size_of(job.like)
    for i in range(panel.width):
        residue = ((panel.first + i) % job.n_q + job.phase) % job.period
        poke_integer(job.like, scratch.residue + i * size, residue)


@helper
def tile_state(job, scratch, panel, key, keys):
    """Whether the mask leaves nothing, everything or some of a tile."""
    state = FULL if job.period == 1 else MIXED
    if job.ranges > 0:
        state = min(state, ranges_state(job, scratch, panel, key, key + keys))
    if state != EMPTY and job.allowed.address != 0:
        state = min(state, flags_state(job, panel, key, keys))
    return state


@helper
def ranges_state(job, scratch, panel, start, stop):
    like, rows, width = job.like, panel.rows, panel.width
    size = size_of(like)
    touched, covered = 0, 0
    for i in range(rows):
        whole = 0
        for r in range(job.ranges):
            low = peek_integer(like, scratch.low + (r * width + i) * size)
            high = peek_integer(like, scratch.high + (r * width + i) * size)
            touched += max(low, start) < min(high, stop)
            whole |= low <= start and stop <= high
        covered += whole
    return EMPTY if touched == 0 else (FULL if covered == rows else MIXED)


@helper
def flags_state(job, panel, key, keys):
    allowed = job.allowed
    base = head_address(job, allowed, panel.head) + key * allowed.column
    count = 0
    for i in range(panel.rows):
        row = row_address(job, allowed, base, panel.first + i)
        if allowed.column == 1:
            count += count_flags(row, keys)
        else:
            for j in range(keys):
                count += peek_flag(row + j * allowed.column)
    return EMPTY if count == 0 else (FULL if count == panel.rows * keys else MIXED)


@helper
def score_tile(job, scratch, panel, block):
    """A tile's scores, and what the options make of them."""
    keys = block_rows(job, job.key, panel.head, block, scratch.keys, job.d)
    if panel.thin:
        thin_scores(job, scratch, keys, panel.rows, block.keys)
    else:
        score_panel(job.like, panel.vectors, keys, scratch.queries, scratch.tile, block.keys, job.d)
    shape_scores(job, scratch, panel, block)


@helper
def multiply_keys(job, scratch, panel, block):
    """The products of a block of keys with a panel of queries of any width, scaled, into the tile."""
    keys = block_rows(job, job.key, panel.head, block, scratch.keys, job.d)
    score(job.like, panel.vectors, keys, scratch.queries, scratch.tile, block.keys, job.d)


@helper
def multiply_key_pairs(job, scratch, panel, block):
    """The same of pairs."""
    like = job.like
    keys = stored_rows(job, job.key, panel.head, block, scratch.keys, job.d)
    score_pairs(like, panel.vectors, keys, scratch.queries, scratch.tile, block.keys, job.d, cast(like, job.scale))


@helper
def stored_rows(job, array, head, block, target, columns):
    """A block of bfloat16: where it lies if its rows are pairs there, else copied, with a zero after an odd column."""
    source = head_address(job, array, head) + block.key * array.row
    if array.column == STORED and columns % 2 == 0:
        return Rows(source, array.row)
    step = (columns + columns % 2) * STORED
    for r in range(block.keys):
        copy_stored(job.like, source + r * array.row, array.column, target + r * step, columns)
        clear_stored(job.like, target + r * step + columns * STORED, columns % 2)
    return Rows(target, step)


@helper
def block_rows(job, array, head, block, target, columns):
    """A block of keys or values: where it lies if it can be read there, else converted into scratch."""
    source = head_address(job, array, head) + block.key * array.row
    if in_place(array):
        return Rows(source, array.row)
    size = size_of(job.like)
    for r in range(block.keys):
        read_row(array, source + r * array.row, target + r * columns * size, columns)
    return Rows(target, columns * size)


@helper
def shape_scores(job, scratch, panel, block):
    """softcap → bias → mask, on one tile; the scale is in the queries."""
    like = job.like
    tile = Tile(scratch.tile, block.keys, panel.width)
    if job.softcap > 0:
        cap(like, tile, cast(like, job.softcap * LOG2E))
    flagged = job.allowed.address != 0 and block.state == MIXED
    if job.bias_form == RELATIVE_BIAS and job.folded == 1 and not flagged:
        table = head_address(job, job.bias, panel.head) + (panel.first - block.key) * size_of(like)
        add_relative(like, tile, table)
    elif job.bias_form != NO_BIAS or flagged:
        gather_bias(job, scratch, panel, block, flagged)
        add_tile(like, tile, scratch.bias)
    if job.ranges > 0 and block.state == MIXED:
        keep_ranges(like, tile, block.key, job.ranges, scratch.low, scratch.high)
    if job.period > 1:
        keep_period(like, tile, block.key, job.period, scratch.residue)


@helper
def gather_bias(job, scratch, panel, block, flagged):
    """The tile's bias, turned, with −inf where the mask array says no; zeros where there is no bias."""
    like, bias, allowed, width = job.like, job.bias, job.allowed, panel.width
    size, lanes = size_of(like), lanes_of(like)
    padded = round_up(block.keys, lanes)
    turned = Rows(scratch.bias, width * size)
    base = head_address(job, bias, panel.head) + block.key * bias.column
    if job.bias_form != NO_BIAS and not flagged and whole_panel(job, bias, panel, block.keys):
        turn_rows(like, Rows(row_address(job, bias, base, panel.first), bias.row), turned, width, block.keys)
        return
    clear(like, scratch.bias_rows, width * padded)
    if job.bias_form != NO_BIAS:
        # a relative bias is a row that runs backwards: its column stride is one number less, its row stride one more
        for i in range(panel.rows):
            source = row_address(job, bias, base, panel.first + i)
            read_row(bias, source, scratch.bias_rows + i * padded * size, block.keys)
    if flagged:
        base = head_address(job, allowed, panel.head) + block.key * allowed.column
        for i in range(panel.rows):
            source = row_address(job, allowed, base, panel.first + i)
            forbid(like, source, allowed.column, scratch.bias_rows + i * padded * size, block.keys)
    turn_rows(like, Rows(scratch.bias_rows, padded * size), turned, width, padded)


@helper
def drop_tile(job, scratch, tile, key):
    """Dropout on a tile. A rate next to 1 rounds to all there are, which is one more than 32 bits hold."""
    if job.dropping > 0xFFFFFFFF:
        clear(job.like, tile.address, tile.keys * tile.width)
    else:
        drop(job.like, tile, job.first_key + key, scratch.hash_low, scratch.hash_high, job.dropping)


@helper
def load_hashes(job, scratch, panel):
    """Each query's key for dropout, made from the seed and the query's place."""
    like = job.like
    size = size_of(like)
    for i in range(panel.width):
        number = panel.head % job.heads * job.folded + (panel.first + i) // job.n_q
        number += job.first_head + number // job.own_heads * job.other_heads
        query = job.first_query + (panel.first + i) % job.n_q
        place = (np.uint64(number) << np.uint64(32)) | np.uint64(query)
        key = mix64(place ^ mix64(np.uint64(job.seed)))
        poke_integer(like, scratch.hash_low + i * size, np.intp(key & np.uint64(0xFFFFFFFF)))
        poke_integer(like, scratch.hash_high + i * size, np.intp(key >> np.uint64(32)))


@helper
def mix64(x):
    """Scramble 64 bits, as textbook/dropout.py does."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
