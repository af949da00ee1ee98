"""The forward pass: one panel of queries against all its keys, tile by tile.

A task is one panel (64 queries on AVX-512, side by side in vector lanes) of one head. It keeps the online softmax
of its queries and their mixed values in scratch, walks over the keys in blocks, and skips the blocks its mask
empties. Tasks share nothing, so any number of threads gives the same bits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from clearhead.kernels.compiler import helper, inlined, kernel
from clearhead.kernels.gemm import mix, scores
from clearhead.kernels.layout import (
    ADDRESS, ALLOWED, BIAS, BIAS_FORM, COLUMN, D, D_V, DROPPING, FIRST_QUERY, FULL_BIAS, HIGH, KEEP, KEY, LEADING, LEADING_AXES,
    LOW, LSE, N_K, N_Q, NEXT, NO_BIAS, OUTPUT, PANELS, QUERY, RANGES, RELATIVE_BIAS, ROW, SCALE, SEED, SHAPE, SIGN,
    SINK, SOFTCAP, STOP, STORED, TASKS, VALUE, VECTORS,
)  # fmt: skip
from clearhead.kernels.memory import (
    FLOAT32, FLOAT64, all_finite, cast, lanes_of, peek, peek_integer, poke, poke_flag, poke_integer, read_rows,
    round_up, size_of, turn_rows, write_row,
)  # fmt: skip
from clearhead.kernels.tile import add_relative, add_tile, cap, divide, drop, fetch_add, keep_ranges, soften

BLOCK = 192  # keys per tile: 192 × 64 scores are 48 KiB, well inside L2 with the keys and values beside them
LOG2E = math.log2(math.e)
LN2 = math.log(2)
EMPTY, MIXED, FULL = range(3)


class Scratch(NamedTuple):
    """Addresses of one thread's working memory. Rows are queries unless said otherwise."""

    queries: int  # (d, width): the panel, turned
    rows: int  # (width, max(d, d_v)): the panel as it comes and as it leaves
    tile: int  # (BLOCK, width): scores, then their exponentials; rows are keys
    mixed: int  # (d_v, width): Σ exponential · value
    top: int  # (width,): the largest score so far, in powers of two
    total: int  # (width,): Σ exponential
    alpha: int  # (width,): what a new largest score makes of the sums so far
    low: int  # (ranges, width): which keys each query may attend to
    high: int
    salt: int  # (width,): each query's key for dropout, in two halves
    pepper: int
    keys: int  # (BLOCK, d): keys that had to be converted
    values: int  # (BLOCK, d_v)
    clean: int  # (BLOCK, d_v): values without those that are not finite
    allowed: int  # (BLOCK, width) bytes: which scores were not masked, when some value is not finite
    bias_rows: int  # (width, BLOCK): the bias as it comes
    bias: int  # (BLOCK, width): the bias, turned
    spare: int  # one vector


@helper
def _layout(like, sizes, base):
    """Where each part of the scratch begins, and where the last one ends."""
    size, lanes = size_of(like), lanes_of(like)
    width = sizes[VECTORS] * lanes
    d, d_v = round_up(sizes[D], lanes), round_up(sizes[D_V], lanes)
    queries = base
    rows = queries + d * width * size
    tile = rows + width * max(d, d_v) * size
    mixed = tile + BLOCK * width * size
    top = mixed + d_v * width * size
    total = top + width * size
    alpha = total + width * size
    low = alpha + width * size
    high = low + sizes[RANGES] * width * size
    salt = high + sizes[RANGES] * width * size
    pepper = salt + width * size
    keys = pepper + width * size
    values = keys + BLOCK * d * size
    clean = values + BLOCK * d_v * size
    allowed = clean + BLOCK * d_v * size
    bias_rows = allowed + BLOCK * width
    bias = bias_rows + width * BLOCK * size
    spare = bias + width * BLOCK * size
    parts = Scratch(
        queries, rows, tile, mixed, top, total, alpha, low, high, salt, pepper, keys, values, clean, allowed,
        bias_rows, bias, spare,
    )  # fmt: skip
    return parts, spare + 64


@kernel
def run(like, arrays, sizes, numbers, progress, most):
    """Take up to `most` tasks from the queue and do them; returns how many were done."""
    _, end = _layout(like, sizes, 0)
    memory = np.empty(end + 64, np.uint8)
    base = np.intp(memory.ctypes.data)
    scratch, _ = _layout(like, sizes, round_up(base, 64))
    next_task = np.intp(progress.ctypes.data) + 8 * NEXT
    done = 0
    while done < most and progress[STOP] == 0:
        task = fetch_add(next_task, 1)
        if task >= sizes[TASKS]:
            break
        # the last panel first: under a causal mask it has the most to do
        attend(like, arrays, sizes, numbers, scratch, task // sizes[PANELS], sizes[PANELS] - 1 - task % sizes[PANELS])
        done += 1
    return done


@helper
def head_address(arrays, sizes, which, head):
    """Where head number `head`, counted over all leading axes, of an array begins."""
    address = arrays[which, ADDRESS]
    for axis in range(LEADING_AXES - 1, -1, -1):
        length = sizes[SHAPE + axis]
        address += (head % length) * arrays[which, LEADING + axis]
        head //= length
    return address


@inlined
def attend(like, arrays, sizes, numbers, s, head, panel):
    """One panel of one head, from its queries to its output."""
    width = sizes[VECTORS] * lanes_of(like)
    first_query = panel * width
    queries = min(width, sizes[N_Q] - first_query)
    load_queries(like, arrays, sizes, numbers, s, head, first_query, queries)
    start, stop = load_ranges(like, arrays, sizes, s, head, first_query, queries)
    begin(like, arrays, sizes, numbers, s, head, first_query, queries)
    for first_key in range(start // BLOCK * BLOCK, stop, BLOCK):
        first_here = max(first_key, start)
        keys = min(first_key + BLOCK, stop) - first_here
        state = tile_state(arrays, sizes, head, first_query, queries, first_here, keys)
        if state != EMPTY:
            block(like, arrays, sizes, numbers, s, head, first_query, queries, first_here, keys, state)
    finish(like, arrays, sizes, numbers, s, head, first_query, queries)


@helper
def load_queries(like, arrays, sizes, numbers, s, head, first_query, queries):
    """The panel's queries, turned so that queries lie side by side; lanes without a query hold zeros."""
    size, lanes = size_of(like), lanes_of(like)
    width, d = sizes[VECTORS] * lanes, sizes[D]
    padded = round_up(d, lanes)
    clear(like, s.rows, width * padded)
    source = head_address(arrays, sizes, QUERY, head) + first_query * arrays[QUERY, ROW]
    read_rows(
        like,
        arrays[QUERY, STORED],
        source,
        arrays[QUERY, ROW],
        arrays[QUERY, COLUMN],
        s.rows,
        padded * size,
        queries,
        d,
    )
    turn_rows(like, s.rows, padded * size, s.queries, width * size, width, padded)
    if numbers[SIGN] != 1:
        for i in range(d * width):
            at = s.queries + i * size
            poke(like, at, peek(like, at) * cast(like, numbers[SIGN]))


@helper
def load_ranges(like, arrays, sizes, s, head, first_query, queries):
    """Each query's ranges of keys into scratch; returns the first key any of them needs and the one after the last."""
    if sizes[RANGES] == 0:
        return 0, sizes[N_K]
    size = size_of(like)
    width = sizes[VECTORS] * lanes_of(like)
    lows, highs = head_address(arrays, sizes, LOW, head), head_address(arrays, sizes, HIGH, head)
    start, stop = sizes[N_K], 0
    for r in range(sizes[RANGES]):
        for i in range(width):
            low, high = 0, 0
            if i < queries:
                low = peek_integer(8, lows + r * arrays[LOW, ROW] + (first_query + i) * 8)
                high = peek_integer(8, highs + r * arrays[HIGH, ROW] + (first_query + i) * 8)
            if low < high:
                start, stop = min(start, low), max(stop, high)
            poke_integer(like, s.low + (r * width + i) * size, low)
            poke_integer(like, s.high + (r * width + i) * size, high)
    return start, stop


@helper
def begin(like, arrays, sizes, numbers, s, head, first_query, queries):
    """Nothing seen yet. A sink has been seen before any key: it is a score that brings no value."""
    size = size_of(like)
    width = sizes[VECTORS] * lanes_of(like)
    top, total = cast(like, -np.inf), cast(like, 0.0)
    if arrays[SINK, ADDRESS] != 0:
        sink = peek(like, head_address(arrays, sizes, SINK, head))
        if sink > -np.inf:
            top, total = cast(like, sink * LOG2E), cast(like, 1.0)
    for i in range(width):
        poke(like, s.top + i * size, top)
        poke(like, s.total + i * size, total)
    clear(like, s.mixed, sizes[D_V] * width)
    if sizes[DROPPING] != 0:
        for i in range(width):
            place = (np.uint64(head) << np.uint64(32)) | np.uint64(sizes[FIRST_QUERY] + first_query + i)
            key = mix64(place ^ mix64(np.uint64(sizes[SEED])))
            poke_integer(like, s.salt + i * size, np.intp(key & np.uint64(0xFFFFFFFF)))
            poke_integer(like, s.pepper + i * size, np.intp(key >> np.uint64(32)))


@helper
def mix64(x):
    """Scramble 64 bits, as textbook/dropout.py does."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inlined
def tile_state(arrays, sizes, head, first_query, queries, first_key, keys):
    """Whether the mask leaves nothing, everything or some of a tile."""
    state = FULL
    if sizes[RANGES] > 0:
        state = ranges_state(arrays, sizes, head, first_query, queries, first_key, first_key + keys)
    if state != EMPTY and arrays[ALLOWED, ADDRESS] != 0:
        state = min(state, flags_state(arrays, sizes, head, first_query, queries, first_key, keys))
    return state


@helper
def ranges_state(arrays, sizes, head, first_query, queries, start, stop):
    lows, highs = head_address(arrays, sizes, LOW, head), head_address(arrays, sizes, HIGH, head)
    touched, covered = 0, 0
    for i in range(first_query, first_query + queries):
        whole = 0
        for r in range(sizes[RANGES]):
            low = peek_integer(8, lows + r * arrays[LOW, ROW] + i * 8)
            high = peek_integer(8, highs + r * arrays[HIGH, ROW] + i * 8)
            touched += max(low, start) < min(high, stop)
            whole |= low <= start and stop <= high
        covered += whole
    return EMPTY if touched == 0 else (FULL if covered == queries else MIXED)


@helper
def flags_state(arrays, sizes, head, first_query, queries, first_key, keys):
    base = head_address(arrays, sizes, ALLOWED, head) + first_query * arrays[ALLOWED, ROW]
    base += first_key * arrays[ALLOWED, COLUMN]
    count = 0
    for i in range(queries):
        row = base + i * arrays[ALLOWED, ROW]
        for j in range(keys):
            count += peek_integer(1, row + j * arrays[ALLOWED, COLUMN])
    return EMPTY if count == 0 else (FULL if count == queries * keys else MIXED)


@inlined
def block(like, arrays, sizes, numbers, s, head, first_query, queries, first_key, keys, state):
    """One tile: scores, what the options make of them, softmax, and the values mixed in."""
    size = size_of(like)
    width = sizes[VECTORS] * lanes_of(like)
    key, key_row = block_rows(like, arrays, sizes, KEY, head, first_key, keys, s.keys, sizes[D])
    scores(like, sizes[VECTORS], key, key_row, size, s.queries, s.tile, keys, sizes[D])
    factor = shape_scores(like, arrays, sizes, numbers, s, head, first_query, queries, first_key, keys, state)
    value, value_row = block_rows(like, arrays, sizes, VALUE, head, first_key, keys, s.values, sizes[D_V])
    guarded = state == MIXED or sizes[BIAS_FORM] != NO_BIAS
    if guarded:
        guarded = not rows_finite(like, value, value_row, keys, sizes[D_V], s.spare)
    if guarded:
        note_allowed(like, s, keys, width)
    scale = cast(like, factor * LOG2E)
    rest = cast(like, factor * LOG2E - scale)
    soften(like, s.tile, keys, width, s.top, s.total, s.alpha, scale, rest)
    if sizes[DROPPING] != 0:
        drop(like, s.tile, keys, width, first_key, s.salt, s.pepper, sizes[DROPPING])
    if guarded:
        mix_guarded(like, sizes, s, value, value_row, keys, width)
    else:
        mix(like, sizes[VECTORS], value, value_row, size, s.tile, s.mixed, sizes[D_V], keys, s.alpha)


@helper
def block_rows(like, arrays, sizes, which, head, first, rows, target, columns):
    """A block of keys or values: where it lies if it can be read there, else converted into scratch."""
    row, column, kind = arrays[which, ROW], arrays[which, COLUMN], arrays[which, STORED]
    source = head_address(arrays, sizes, which, head) + first * row
    size = size_of(like)
    if column == size and kind == (FLOAT32 if size == 4 else FLOAT64):
        return source, row
    read_rows(like, kind, source, row, column, target, columns * size, rows, columns)
    return target, columns * size


@inlined
def shape_scores(like, arrays, sizes, numbers, s, head, first_query, queries, first_key, keys, state):
    """scale → softcap → bias → mask, on one tile. Returns the scale that is still to be applied."""
    width = sizes[VECTORS] * lanes_of(like)
    factor = numbers[SCALE]
    if numbers[SOFTCAP] > 0:
        cap(like, s.tile, keys, width, cast(like, factor), cast(like, numbers[SOFTCAP]))
        factor = 1.0
    if sizes[BIAS_FORM] == RELATIVE_BIAS:
        table = head_address(arrays, sizes, BIAS, head) + (first_query - first_key) * size_of(like)
        add_relative(like, s.tile, keys, width, cast(like, factor), table)
        factor = 1.0
    flagged = arrays[ALLOWED, ADDRESS] != 0 and state == MIXED
    if sizes[BIAS_FORM] == FULL_BIAS or flagged:
        gather_bias(like, arrays, sizes, s, head, first_query, queries, first_key, keys, flagged)
        add_tile(like, s.tile, keys, width, cast(like, factor), s.bias)
        factor = 1.0
    if sizes[RANGES] > 0 and state == MIXED:
        keep_ranges(like, s.tile, keys, width, first_key, sizes[RANGES], s.low, s.high)
    return factor


@helper
def gather_bias(like, arrays, sizes, s, head, first_query, queries, first_key, keys, flagged):
    """The bias array's tile, turned, with −inf where the mask array says no; zeros where there is no bias."""
    size, lanes = size_of(like), lanes_of(like)
    width = sizes[VECTORS] * lanes
    row = round_up(keys, lanes) * size
    clear(like, s.bias_rows, width * round_up(keys, lanes))
    if sizes[BIAS_FORM] == FULL_BIAS:
        source = (
            head_address(arrays, sizes, BIAS, head) + first_query * arrays[BIAS, ROW] + first_key * arrays[BIAS, COLUMN]
        )
        read_rows(
            like, arrays[BIAS, STORED], source, arrays[BIAS, ROW], arrays[BIAS, COLUMN], s.bias_rows, row, queries, keys
        )
    if flagged:
        source = head_address(arrays, sizes, ALLOWED, head) + first_query * arrays[ALLOWED, ROW]
        source += first_key * arrays[ALLOWED, COLUMN]
        for i in range(queries):
            for j in range(keys):
                if peek_integer(1, source + i * arrays[ALLOWED, ROW] + j * arrays[ALLOWED, COLUMN]) == 0:
                    poke(like, s.bias_rows + i * row + j * size, cast(like, -np.inf))
    turn_rows(like, s.bias_rows, row, s.bias, width * size, width, round_up(keys, lanes))


@helper
def rows_finite(like, address, row, rows, columns, spare):
    """Whether a block of values holds no NaN and no infinity."""
    lanes, size = lanes_of(like), size_of(like)
    whole = columns - columns % lanes
    for r in range(rows):
        if not all_finite(like, address + r * row, whole):
            return False
        for x in range(whole, columns):
            if not math.isfinite(peek(like, address + r * row + x * size)):
                return False
    return True


@helper
def note_allowed(like, s, keys, width):
    """Remember which scores of a tile are not −inf."""
    for n in range(keys * width):
        poke_flag(s.allowed + n, peek(like, s.tile + n * size_of(like)) > -np.inf)


@helper
def mix_guarded(like, sizes, s, value, value_row, keys, width):
    """Mix values some of which are NaN or infinite: they reach the queries that may attend to them, and no others."""
    size, d_v = size_of(like), sizes[D_V]
    # a copy with zeros in their place takes the usual way; it may already be a copy
    for j in range(keys):
        for x in range(d_v):
            number = peek(like, value + j * value_row + x * size)
            if math.isfinite(number):
                poke(like, s.clean + (j * d_v + x) * size, number)
            else:
                poke(like, s.clean + (j * d_v + x) * size, cast(like, 0.0))
    mix(like, sizes[VECTORS], s.clean, d_v * size, size, s.tile, s.mixed, d_v, keys, s.alpha)
    for j in range(keys):
        for x in range(d_v):
            number = peek(like, value + j * value_row + x * size)
            if not math.isfinite(number):
                for i in range(width):
                    if peek_integer(1, s.allowed + j * width + i) != 0:
                        at = s.mixed + (x * width + i) * size
                        poke(like, at, peek(like, at) + peek(like, s.tile + (j * width + i) * size) * number)


@helper
def finish(like, arrays, sizes, numbers, s, head, first_query, queries):
    """Divide by the sums, turn the panel back and write it; a query that saw no key gets zeros and −inf."""
    size, lanes = size_of(like), lanes_of(like)
    width, d_v = sizes[VECTORS] * lanes, sizes[D_V]
    padded = round_up(d_v, lanes)
    for i in range(queries):
        total = peek(like, s.total + i * size)
        if arrays[LSE, ADDRESS] != 0:
            at = head_address(arrays, sizes, LSE, head) + (first_query + i) * arrays[LSE, ROW]
            poke(
                like, at, cast(like, (peek(like, s.top + i * size) + math.log2(total)) * LN2 if total != 0 else -np.inf)
            )
        poke(like, s.total + i * size, cast(like, 1.0 if total == 0 else total * numbers[KEEP]))
    divide(like, s.mixed, d_v, width, s.total)
    turn_rows(like, s.mixed, width * size, s.rows, padded * size, padded, width)
    target = head_address(arrays, sizes, OUTPUT, head) + first_query * arrays[OUTPUT, ROW]
    for i in range(queries):
        write_row(
            like, arrays[OUTPUT, STORED], s.rows + i * padded * size, target + i * arrays[OUTPUT, ROW],
            arrays[OUTPUT, COLUMN], d_v, s.spare,
        )  # fmt: skip


@helper
def clear(like, address, count):
    for i in range(count):
        poke(like, address + i * size_of(like), cast(like, 0.0))
