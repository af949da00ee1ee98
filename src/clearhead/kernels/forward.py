"""The forward pass: one panel of queries against all its keys, tile by tile.

A task is one panel of queries (64 on AVX-512, side by side in vector lanes) against the keys of one head, or a part
of them. It keeps the online softmax of its queries and their mixed values in scratch, walks over the keys in blocks,
and skips the blocks its mask empties. Tasks share nothing, so any number of threads gives the same bits.

Where there are few queries, as in decoding, the query heads that share a key head are folded into one panel, so keys
and values are read once for all of them, and the keys are split among tasks whose results are joined at the end.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from clearhead.kernels.compiler import helper, inlined, kernel
from clearhead.kernels.gemm import mix, scores
from clearhead.kernels.layout import (
    ADDRESS,
    ALLOWED,
    BIAS,
    BIAS_FORM,
    COLUMN,
    D_V,
    DROPPING,
    FIRST_QUERY,
    FOLDED,
    GROUP,
    HEADS,
    HIGH,
    KEEP,
    KEY,
    LEADING,
    LEADING_AXES,
    LOW,
    LSE,
    N_K,
    N_Q,
    NEXT,
    NO_BIAS,
    OUTPUT,
    PANELS,
    QUERY,
    RANGES,
    RELATIVE_BIAS,
    ROW,
    SCALE,
    SEED,
    SHAPE,
    SINK,
    SOFTCAP,
    SPLIT,
    STOP,
    STORED,
    TASKS,
    VALUE,
    VECTORS,
    D,
)  # fmt: skip
from clearhead.kernels.memory import (
    FLOAT32,
    FLOAT64,
    all_finite,
    cast,
    clear,
    count_flags,
    forbid,
    lanes_of,
    peek,
    peek_flag,
    peek_integer,
    peek_long,
    poke,
    poke_flag,
    poke_integer,
    read_row,
    round_up,
    size_of,
    turn_rows,
    write_row,
)  # fmt: skip
from clearhead.kernels.target import TARGET
from clearhead.kernels.thin import is_thin, thin_mix, thin_scores
from clearhead.kernels.tile import (
    add_relative,
    add_tile,
    cap,
    drop,
    fetch_add,
    keep_ranges,
    multiply_columns,
    soften,
    stretch,
)

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
    end: int


def scratch_layout(itemsize: int, width: int, d: int, d_v: int, ranges: int) -> Scratch:
    """Where each part begins, counted from the first, and where the last one ends; every part starts a cache line."""
    lanes = TARGET.lanes(itemsize)
    d, d_v = -(-d // lanes) * lanes, -(-d_v // lanes) * lanes
    numbers = [
        d * width, width * max(d, d_v), BLOCK * width, d_v * width, width, width, width, ranges * width, ranges * width,
        width, width, BLOCK * d, BLOCK * d_v, BLOCK * d_v, BLOCK * width, width * BLOCK, BLOCK * width, lanes,
    ]  # fmt: skip
    ends = list(itertools.accumulate(-(-n * itemsize // 64) * 64 for n in numbers))
    return Scratch(0, *ends)


@kernel
def run(like, arrays, sizes, numbers, layout, memory, progress, most):
    """Take up to `most` tasks from the queue and do them in the scratch at `memory`; returns how many were done."""
    scratch = placed(layout, memory)
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


@inlined
def placed(p, base):
    """The parts of a layout as addresses."""
    return Scratch(
        base + p[0], base + p[1], base + p[2], base + p[3], base + p[4], base + p[5], base + p[6], base + p[7],
        base + p[8], base + p[9], base + p[10], base + p[11], base + p[12], base + p[13], base + p[14], base + p[15],
        base + p[16], base + p[17], base + p[18],
    )  # fmt: skip


@helper
def head_address(array, sizes, head):
    """Where head number `head`, counted over all leading axes, of an array begins."""
    address = array[ADDRESS]
    if sizes[FOLDED] > 1:
        head *= sizes[FOLDED]
    for axis in range(LEADING_AXES - 1, -1, -1):
        length = sizes[SHAPE + axis]
        if length > 1:
            address += (head % length) * array[LEADING + axis]
            head //= length
    return address


@helper
def row_address(array, sizes, head, row):
    """Where a row of a panel begins. Folded heads follow one another, n_q rows each."""
    if sizes[FOLDED] == 1:
        return head + row * array[ROW]
    return head + (row // sizes[N_Q]) * array[GROUP] + (row % sizes[N_Q]) * array[ROW]


@inlined
def attend(like, arrays, sizes, numbers, s, head, panel):
    """One panel, from its queries to its output."""
    width = sizes[VECTORS] * lanes_of(like)
    first = panel * width
    rows = min(width, sizes[N_Q] * sizes[FOLDED] - first)
    load_queries(like, arrays, sizes, numbers, s, head, first, rows)
    start, stop = load_ranges(like, arrays, sizes, s, head, first, rows)
    # A value that is NaN or infinite turns even a weight of zero into NaN. Looking for such values costs 1 %, so they
    # are looked for only where something came out that is not finite: then the panel is done again, with care.
    for careful in range(2):
        begin(like, arrays, sizes, numbers, s, head, first, rows)
        for block_start in range(start // BLOCK * BLOCK, stop, BLOCK):
            key = max(block_start, start)
            keys = min(block_start + BLOCK, stop) - key
            state = tile_state(like, arrays, sizes, s, head, first, rows, key, keys)
            if state != EMPTY:
                block(like, arrays, sizes, numbers, s, head, first, rows, key, keys, state, careful)
        if all_finite(like, s.mixed, sizes[D_V] * width):
            break
    finish(like, arrays, sizes, numbers, s, head, first, rows)


@helper
def load_queries(like, arrays, sizes, numbers, s, head, first, rows):
    """The panel's queries, turned so that queries lie side by side; lanes without a query hold zeros."""
    size, lanes = size_of(like), lanes_of(like)
    width, d = sizes[VECTORS] * lanes, sizes[D]
    base = head_address(arrays[QUERY], sizes, head)
    if whole_panel(like, arrays[QUERY], sizes, rows, d):
        source = row_address(arrays[QUERY], sizes, base, first)
        turn_rows(like, source, arrays[QUERY, ROW], s.queries, width * size, width, d)
    else:
        padded = round_up(d, lanes)
        clear(like, s.rows, width * padded)
        for r in range(rows):
            source = row_address(arrays[QUERY], sizes, base, first + r)
            read_row(like, arrays[QUERY, STORED], source, arrays[QUERY, COLUMN], s.rows + r * padded * size, d)
        turn_rows(like, s.rows, padded * size, s.queries, width * size, width, padded)
    factor = cast(like, numbers[SCALE])
    stretch(like, s.queries, d * width, factor, cast(like, numbers[SCALE] - factor))
    if is_thin(like, sizes[VECTORS], rows, d, sizes[D_V]):  # they are wanted as rows too, scaled
        turn_rows(like, s.queries, width * size, s.rows, d * size, d, width)


@helper
def whole_panel(like, array, sizes, rows, columns):
    """Whether a panel of an array can be turned where it lies: computed numbers side by side, nothing to pad."""
    lanes = lanes_of(like)
    alone = sizes[FOLDED] == 1 and rows == sizes[VECTORS] * lanes and columns % lanes == 0
    return alone and in_place(like, array)


@helper
def in_place(like, array):
    """Whether an array's rows can be computed with as they are stored."""
    size = size_of(like)
    return array[COLUMN] == size and array[STORED] == (FLOAT32 if size == 4 else FLOAT64)


@helper
def begin(like, arrays, sizes, numbers, s, head, first, rows):
    """Nothing seen yet. A sink has been seen before any key: it is a score that brings no value."""
    size = size_of(like)
    width = sizes[VECTORS] * lanes_of(like)
    clear(like, s.mixed, sizes[D_V] * width)
    clear(like, s.total, width)
    for i in range(width):
        poke(like, s.top + i * size, cast(like, -np.inf))
    if arrays[SINK, ADDRESS] != 0 and head < sizes[HEADS]:  # with split keys, the first part has the sink
        base = head_address(arrays[SINK], sizes, head)
        for i in range(rows):
            sink = peek(like, row_address(arrays[SINK], sizes, base, first + i))
            if sink > -np.inf:
                poke(like, s.top + i * size, cast(like, sink * LOG2E))
                poke(like, s.total + i * size, cast(like, 1.0))
    if sizes[DROPPING] != 0:
        load_salt(like, sizes, s, head, first)


@helper
def drop_tile(like, sizes, s, tile, keys, width, key):
    """Dropout on a tile. A rate next to 1 rounds to all there are, which is one more than 32 bits hold."""
    if sizes[DROPPING] > 0xFFFFFFFF:
        clear(like, tile, keys * width)
    else:
        drop(like, tile, keys, width, key, s.salt, s.pepper, sizes[DROPPING])


@helper
def load_salt(like, sizes, s, head, first):
    """Each query's key for dropout, made from the seed and the query's place."""
    size = size_of(like)
    for i in range(sizes[VECTORS] * lanes_of(like)):
        number = head % sizes[HEADS] * sizes[FOLDED] + (first + i) // sizes[N_Q]
        query = sizes[FIRST_QUERY] + (first + i) % sizes[N_Q]
        place = (np.uint64(number) << np.uint64(32)) | np.uint64(query)
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


@helper
def load_ranges(like, arrays, sizes, s, head, first, rows):
    """Each query's ranges of keys into scratch; returns the first key any of them needs and the one after the last."""
    part = head // sizes[HEADS]
    start, stop = part * sizes[SPLIT], min(sizes[N_K], (part + 1) * sizes[SPLIT])
    if sizes[RANGES] == 0:
        return start, stop
    size = size_of(like)
    width = sizes[VECTORS] * lanes_of(like)
    lows, highs = head_address(arrays[LOW], sizes, head), head_address(arrays[HIGH], sizes, head)
    least, most = stop, start
    for i in range(width):
        for r in range(sizes[RANGES]):
            low, high = 0, 0
            if i < rows:
                low = peek_long(row_address(arrays[LOW], sizes, lows, first + i) + r * arrays[LOW, COLUMN])
                high = peek_long(row_address(arrays[HIGH], sizes, highs, first + i) + r * arrays[HIGH, COLUMN])
            if low < high:
                least, most = min(least, low), max(most, high)
            poke_integer(like, s.low + (r * width + i) * size, low)
            poke_integer(like, s.high + (r * width + i) * size, high)
    return max(start, least), min(stop, most)


@inlined
def tile_state(like, arrays, sizes, s, head, first, rows, key, keys):
    """Whether the mask leaves nothing, everything or some of a tile."""
    state = FULL
    if sizes[RANGES] > 0:
        state = ranges_state(like, sizes, s, rows, key, key + keys)
    if state != EMPTY and arrays[ALLOWED, ADDRESS] != 0:
        state = min(state, flags_state(arrays, sizes, head, first, rows, key, keys))
    return state


@helper
def ranges_state(like, sizes, s, rows, start, stop):
    size = size_of(like)
    width = sizes[VECTORS] * lanes_of(like)
    touched, covered = 0, 0
    for i in range(rows):
        whole = 0
        for r in range(sizes[RANGES]):
            low = peek_integer(like, s.low + (r * width + i) * size)
            high = peek_integer(like, s.high + (r * width + i) * size)
            touched += max(low, start) < min(high, stop)
            whole |= low <= start and stop <= high
        covered += whole
    return EMPTY if touched == 0 else (FULL if covered == rows else MIXED)


@helper
def flags_state(arrays, sizes, head, first, rows, key, keys):
    base = head_address(arrays[ALLOWED], sizes, head) + key * arrays[ALLOWED, COLUMN]
    count = 0
    for i in range(rows):
        row = row_address(arrays[ALLOWED], sizes, base, first + i)
        if arrays[ALLOWED, COLUMN] == 1:
            count += count_flags(row, keys)
        else:
            for j in range(keys):
                count += peek_flag(row + j * arrays[ALLOWED, COLUMN])
    return EMPTY if count == 0 else (FULL if count == rows * keys else MIXED)


@inlined
def block(like, arrays, sizes, numbers, s, head, first, rows, key, keys, state, careful):
    """One tile: scores, what the options make of them, softmax, and the values mixed in."""
    width = sizes[VECTORS] * lanes_of(like)
    score_tile(like, arrays, sizes, numbers, s, head, first, rows, key, keys, state)
    source, step = block_rows(like, arrays[VALUE], sizes, head, key, keys, s.values, sizes[D_V])
    guarded = careful == 1 and not rows_finite(like, source, step, keys, sizes[D_V])
    if guarded:
        note_allowed(like, s, keys, width)
    soften(like, s.tile, keys, width, s.top, s.total, s.alpha)
    mix_tile(like, sizes, s, source, step, key, keys, rows, guarded)


@inlined
def score_tile(like, arrays, sizes, numbers, s, head, first, rows, key, keys, state):
    """A tile's scores, and what the options make of them."""
    source, step = block_rows(like, arrays[KEY], sizes, head, key, keys, s.keys, sizes[D])
    if is_thin(like, sizes[VECTORS], rows, sizes[D], sizes[D_V]):
        thin_scores(like, source, step, s.rows, s.tile, keys, rows, sizes[D])
    else:
        scores(like, sizes[VECTORS], source, step, size_of(like), s.queries, s.tile, keys, sizes[D])
    shape_scores(like, arrays, sizes, numbers, s, head, first, rows, key, keys, state)


@inlined
def mix_tile(like, sizes, s, source, step, key, keys, rows, guarded):
    """Add the values, weighed by a tile of exponentials, to those mixed so far."""
    size = size_of(like)
    width = sizes[VECTORS] * lanes_of(like)
    if sizes[DROPPING] != 0:
        drop_tile(like, sizes, s, s.tile, keys, width, key)
    if guarded:
        copy_finite(like, source, step, s.clean, keys, sizes[D_V])
        mix(like, sizes[VECTORS], s.clean, sizes[D_V] * size, size, s.tile, s.mixed, sizes[D_V], keys, s.alpha)
        add_strange(like, s, source, step, keys, sizes[D_V], width)
    elif is_thin(like, sizes[VECTORS], rows, sizes[D], sizes[D_V]):
        thin_mix(like, source, step, s.tile, s.mixed, sizes[D_V], keys, rows, s.alpha, s.clean)
    else:
        mix(like, sizes[VECTORS], source, step, size, s.tile, s.mixed, sizes[D_V], keys, s.alpha)


@helper
def block_rows(like, array, sizes, head, first, rows, target, columns):
    """A block of keys or values: where it lies if it can be read there, else converted into scratch."""
    row, column, kind = array[ROW], array[COLUMN], array[STORED]
    source = head_address(array, sizes, head) + first * row
    size = size_of(like)
    if in_place(like, array):
        return source, row
    for r in range(rows):
        read_row(like, kind, source + r * row, column, target + r * columns * size, columns)
    return target, columns * size


@inlined
def shape_scores(like, arrays, sizes, numbers, s, head, first, rows, key, keys, state):
    """softcap → bias → mask, on one tile; the scale is in the queries."""
    width = sizes[VECTORS] * lanes_of(like)
    if numbers[SOFTCAP] > 0:
        cap(like, s.tile, keys, width, cast(like, numbers[SOFTCAP] * LOG2E))
    flagged = arrays[ALLOWED, ADDRESS] != 0 and state == MIXED
    if sizes[BIAS_FORM] == RELATIVE_BIAS and sizes[FOLDED] == 1 and not flagged:
        table = head_address(arrays[BIAS], sizes, head) + (first - key) * size_of(like)
        add_relative(like, s.tile, keys, width, table)
    elif sizes[BIAS_FORM] != NO_BIAS or flagged:
        gather_bias(like, arrays, sizes, s, head, first, rows, key, keys, flagged)
        add_tile(like, s.tile, keys, width, s.bias)
    if sizes[RANGES] > 0 and state == MIXED:
        keep_ranges(like, s.tile, keys, width, key, sizes[RANGES], s.low, s.high)


@helper
def gather_bias(like, arrays, sizes, s, head, first, rows, key, keys, flagged):
    """The tile's bias, turned, with −inf where the mask array says no; zeros where there is no bias."""
    size, lanes = size_of(like), lanes_of(like)
    width = sizes[VECTORS] * lanes
    padded = round_up(keys, lanes)
    base = head_address(arrays[BIAS], sizes, head) + key * arrays[BIAS, COLUMN]
    if sizes[BIAS_FORM] != NO_BIAS and not flagged and whole_panel(like, arrays[BIAS], sizes, rows, keys):
        source = row_address(arrays[BIAS], sizes, base, first)
        turn_rows(like, source, arrays[BIAS, ROW], s.bias, width * size, width, keys)
        return
    clear(like, s.bias_rows, width * padded)
    if sizes[BIAS_FORM] != NO_BIAS:
        # a relative bias is a row that runs backwards: its column stride is one number less, its row stride one more
        for i in range(rows):
            source = row_address(arrays[BIAS], sizes, base, first + i)
            read_row(like, arrays[BIAS, STORED], source, arrays[BIAS, COLUMN], s.bias_rows + i * padded * size, keys)
    if flagged:
        base = head_address(arrays[ALLOWED], sizes, head) + key * arrays[ALLOWED, COLUMN]
        for i in range(rows):
            source = row_address(arrays[ALLOWED], sizes, base, first + i)
            forbid(like, source, arrays[ALLOWED, COLUMN], s.bias_rows + i * padded * size, keys)
    turn_rows(like, s.bias_rows, padded * size, s.bias, width * size, width, padded)


@helper
def rows_finite(like, address, row, rows, columns):
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
def copy_finite(like, source, step, target, rows, columns):
    """A block of values with zeros for those that are NaN or infinite."""
    size = size_of(like)
    for r in range(rows):
        for x in range(columns):
            number = peek(like, source + r * step + x * size)
            poke(like, target + (r * columns + x) * size, number if math.isfinite(number) else cast(like, 0.0))


@helper
def add_strange(like, s, source, step, keys, columns, width):
    """Mix in the values that are NaN or infinite, for the queries that may attend to them and no others."""
    size = size_of(like)
    for j in range(keys):
        for x in range(columns):
            number = peek(like, source + j * step + x * size)
            if not math.isfinite(number):
                for i in range(width):
                    if peek_flag(s.allowed + j * width + i):
                        at = s.mixed + (x * width + i) * size
                        poke(like, at, peek(like, at) + peek(like, s.tile + (j * width + i) * size) * number)


@helper
def finish(like, arrays, sizes, numbers, s, head, first, rows):
    """Divide by the sums, turn the panel back and write it; a query that saw no key gets zeros and −inf."""
    size, lanes = size_of(like), lanes_of(like)
    width, d_v = sizes[VECTORS] * lanes, sizes[D_V]
    base = head_address(arrays[LSE], sizes, head)
    for i in range(rows):
        total = peek(like, s.total + i * size)
        if base != 0:
            lse = cast(like, -np.inf)
            if total != 0:
                lse = cast(like, (peek(like, s.top + i * size) + math.log2(total)) * LN2)
            poke(like, row_address(arrays[LSE], sizes, base, first + i), lse)
        share = 1.0 / (float(total) * numbers[KEEP]) if total != 0 else 0.0
        poke(like, s.total + i * size, cast(like, share))
        poke(like, s.alpha + i * size, cast(like, share - cast(like, share)))
    multiply_columns(like, s.mixed, d_v, width, s.total, s.alpha)
    base = head_address(arrays[OUTPUT], sizes, head)
    if whole_panel(like, arrays[OUTPUT], sizes, rows, d_v):
        target = row_address(arrays[OUTPUT], sizes, base, first)
        turn_rows(like, s.mixed, width * size, target, arrays[OUTPUT, ROW], d_v, width)
        return
    padded = round_up(d_v, lanes)
    turn_rows(like, s.mixed, width * size, s.rows, padded * size, padded, width)
    for i in range(rows):
        target = row_address(arrays[OUTPUT], sizes, base, first + i)
        source = s.rows + i * padded * size
        write_row(like, arrays[OUTPUT, STORED], source, target, arrays[OUTPUT, COLUMN], d_v, s.spare)
