"""What happens to a tile of scores between the two products.

A tile is S[key, query], contiguous, with one query per vector lane. Every pass here walks it one column of lanes at a
time, so a lane's running maximum and sum stay in registers and a 192-key column (12 KiB) stays in L1 from one pass to
the next. Scores are exponents of two, not of e: the factor log₂ e goes into the queries together with the scale, or
into the last pass before the softmax.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from clearhead.kernels.vector import I32, I64, Fields, Vectors, vector_code

UNROLL = 4  # rows per turn: enough independent work to hide the latency of max and add
MINUS_INF = float("-inf")
LOG2E = math.log2(math.e)
LN2 = math.log(2)


class Tile(NamedTuple):
    """A number for each of some keys and each query of a panel, tile[key, query]."""

    address: Any
    keys: Any
    width: Any


Body = Callable[[ir.Value, ir.Value, list[ir.Value]], list[ir.Value]]


def _columns(v: Vectors, tile: Tile, body: Callable[[ir.Value], None]) -> None:
    """Run body(byte offset) for each vector column of a tile."""

    def column(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        body(v.b.mul(i, v.index(v.size)))
        return []

    v.loop(tile.width, v.lanes, [], column)


def _rows(v: Vectors, tile: Tile, offset: ir.Value, carried: list[ir.Value], body: Body) -> list[list[ir.Value]]:
    """Fold body(pointer, row, carried) over the rows of one vector column, `UNROLL` at a time, then one by one.

    Each of the `UNROLL` chains carries numbers of its own, and all of them come back.
    """
    stride = v.b.mul(tile.width, v.index(v.size))
    base = v.pointer(tile.address, offset)
    bulk = v.b.sub(tile.keys, v.b.srem(tile.keys, v.index(UNROLL)))
    n = len(carried)

    def place(row: ir.Value) -> ir.Value:
        return v.b.gep(base, [v.b.mul(row, stride)])

    def turn(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        following = [v.b.add(i, v.index(u)) for u in range(UNROLL)]
        return [x for u, r in enumerate(following) for x in body(place(r), r, sums[u * n : (u + 1) * n])]

    sums = v.loop(bulk, UNROLL, carried * UNROLL, turn)

    def last(i: ir.Value, rest: list[ir.Value]) -> list[ir.Value]:
        row = v.b.add(bulk, i)
        return body(place(row), row, rest)

    sums = sums[n:] + v.loop(v.b.sub(tile.keys, bulk), 1, sums[:n], last)
    return [sums[u * n : (u + 1) * n] for u in range(UNROLL)]


def _each(v: Vectors, tile: Tile, change: Callable[[ir.Value], Callable[[ir.Value, ir.Value], None]]) -> None:
    """Run change(offset)(pointer, row) for every vector of a tile; what it does first is done once for each column."""

    def column(offset: ir.Value) -> None:
        one = change(offset)

        def body(p: ir.Value, row: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
            one(p, row)
            return nothing

        _rows(v, tile, offset, [], body)

    _columns(v, tile, column)


def _beside(v: Vectors, tile: Tile, other: ir.Value) -> Callable[[ir.Value, ir.Value], ir.Value]:
    """Where another tile of the same shape has the vector that this one has at (offset, row)."""
    stride = v.b.mul(tile.width, v.index(v.size))
    return lambda offset, row: v.pointer(other, v.b.add(offset, v.b.mul(row, stride)))


@vector_code
def soften(v: Vectors, tile: Tile, top: ir.Value, total: ir.Value, alpha: ir.Value) -> None:
    """One step of online softmax: tile ← 2^(tile − new top), and top, total and alpha move on with it.

    top, total, alpha: `width` numbers each. alpha is what the sums so far must be multiplied by. A lane that has
    seen no key keeps top = −inf and total = 0.
    """
    _columns(v, tile, lambda offset: _soften(v, tile, offset, (top, total, alpha)))


@vector_code
def soften_and_keep(
    v: Vectors, tile: Tile, top: ir.Value, total: ir.Value, alpha: ir.Value, moment: ir.Value, kept: ir.Value
) -> None:
    """`soften`, which also keeps the exponentials at `kept` and moves on moment = Σ exponential · (score − top)."""
    _columns(v, tile, lambda offset: _soften(v, tile, offset, (top, total, alpha), (moment, kept)))


def _soften(
    v: Vectors,
    tile: Tile,
    offset: ir.Value,
    running: tuple[ir.Value, ir.Value, ir.Value],
    watched: tuple[ir.Value, ir.Value] | None = None,
) -> None:
    """One vector column of `soften`, and of `soften_and_keep` where it is watched."""
    builder = v.b
    top, total, alpha = running
    kept = None if watched is None else _beside(v, tile, watched[1])

    def highest(p: ir.Value, _: ir.Value, best: list[ir.Value]) -> list[ir.Value]:
        return [v.max(v.load(p), best[0])]

    (a,), (b,), (c,), (d,) = _rows(v, tile, offset, [v.const(MINUS_INF)], highest)
    best = v.max(v.max(a, b), v.max(c, d))
    before = v.load(v.pointer(top, offset))
    after = v.max(best, before)
    empty = builder.fcmp_ordered("==", after, v.const(MINUS_INF))
    reference = builder.select(empty, v.const(0.0), after)
    shrink = v.exp2(builder.fsub(before, reference))

    def exponential(p: ir.Value, row: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        below = builder.fsub(v.load(p), reference)
        value = v.exp2(below)
        v.store(value, p)
        if kept is None:
            return [builder.fadd(sums[0], value)]
        v.store(value, kept(offset, row))
        return [builder.fadd(sums[0], value), v.fma(value, v.above_least(below), sums[1])]

    zeros = [v.const(0.0)] * (1 if kept is None else 2)
    chains = _rows(v, tile, offset, zeros, exponential)
    sums, *moments = (builder.fadd(builder.fadd(a, b), builder.fadd(c, d)) for a, b, c, d in zip(*chains, strict=True))
    total_so_far = v.load(v.pointer(total, offset))
    if watched is not None:
        # scores that were so far below the old top are that much further below the new one
        lower = builder.select(
            builder.fcmp_ordered("==", before, v.const(MINUS_INF)), v.const(0.0), builder.fsub(before, reference)
        )
        moment = v.pointer(watched[0], offset)
        moved = v.fma(lower, total_so_far, v.load(moment))
        v.store(v.fma(moved, shrink, moments[0]), moment)
    v.store(v.fma(total_so_far, shrink, sums), v.pointer(total, offset))
    v.store(after, v.pointer(top, offset))
    v.store(shrink, v.pointer(alpha, offset))


@vector_code
def cap(v: Vectors, tile: Tile, softcap: ir.Value) -> None:
    """tile ← softcap · tanh(tile); what was divided by the cap went into the queries."""
    outward = v.splat(softcap)
    _each(v, tile, lambda _: lambda p, row: v.store(v.b.fmul(v.tanh(v.load(p)), outward), p))


@vector_code
def add_relative(v: Vectors, tile: Tile, table: ir.Value) -> None:
    """tile[key, query] ← tile + log₂ e · table[query − key]; `table` is the address of query 0 − key 0."""

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        here = v.pointer(table, offset)

        def add(p: ir.Value, row: ir.Value) -> None:
            bias = v.load(v.b.gep(here, [v.b.mul(row, v.index(-v.size))]))
            v.store(_biased(v, v.load(p), bias), p)

        return add

    _each(v, tile, column)


@vector_code
def add_tile(v: Vectors, tile: Tile, bias: ir.Value) -> None:
    """tile ← tile + log₂ e · bias, and −inf where the bias is, whatever the score."""
    beside = _beside(v, tile, bias)
    _each(v, tile, lambda at: lambda p, row: v.store(_biased(v, v.load(p), v.load(beside(at, row))), p))


def _biased(v: Vectors, score: ir.Value, bias: ir.Value) -> ir.Value:
    """score + log₂ e · bias; selected, not summed, where the bias is −inf: NaN + −inf would be NaN.

    A finite score with a finite bias stays finite: a bias near the end of the range is a bias still, and must not
    overflow into a mask. A score that is infinite by itself stays so.
    """
    forbidden = v.b.fcmp_ordered("==", bias, v.const(MINUS_INF))
    # in two parts: an error in the factor would be the same for every key and not average out
    high = float(np.float32(LOG2E)) if v.size == 4 else LOG2E
    small = v.b.fmul(bias, v.const(LOG2E - high))
    value = v.fma(bias, v.const(high), v.b.fadd(score, small))
    most = float(np.finfo(np.float32 if v.size == 4 else np.float64).max)
    clipped = v.b.select(v.b.fcmp_ordered(">", v.const(-most), value), v.const(-most), value)
    clipped = v.b.select(v.b.fcmp_ordered("<", v.const(most), clipped), v.const(most), clipped)
    value = v.b.select(_is_finite(v, score), clipped, score)
    return v.b.select(forbidden, v.const(MINUS_INF), value)


def _product(v: Vectors, x: ir.Value, factor: ir.Value, rest: ir.Value) -> ir.Value:
    """x · (factor + rest), rounded once; with factor alone where x is infinite, since its two products could cancel."""
    return v.fma(x, factor, v.b.select(_is_finite(v, x), v.b.fmul(x, rest), v.const(0.0)))


def _is_finite(v: Vectors, x: ir.Value) -> ir.Value:
    """0 · x is NaN for everything else."""
    zero = v.b.fmul(x, v.const(0.0))
    return v.b.fcmp_ordered("ord", zero, zero)


@vector_code
def stretch(v: Vectors, address: ir.Value, count: ir.Value, by: ir.Value, rest: ir.Value) -> None:
    """Multiply `count` numbers (a multiple of the lanes) by by + rest, rounding once.

    The factor is the same for every key; rounded to the numbers' own type, its error would not average out.
    """
    factor, remainder = v.splat(by), v.splat(rest)
    v.each(count, address, change=lambda x: _product(v, x, factor, remainder))


@vector_code
def multiply_columns(v: Vectors, tile: Tile, by: ir.Value, rest: ir.Value) -> None:
    """tile[row, query] ← tile · (by[query] + rest[query]): a division by a reciprocal of twice the digits.

    A vector division takes ten times as long as the two products.
    """

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        factor, remainder = (v.load(v.pointer(x, offset)) for x in (by, rest))
        return lambda p, row: v.store(_product(v, v.load(p), factor, remainder), p)

    _each(v, tile, column)


@vector_code
def keep_ranges(v: Vectors, tile: Tile, first_key: ir.Value, ranges: ir.Value, low: ir.Value, high: ir.Value) -> None:
    """tile[key, query] ← −inf unless low[r, query] ≤ first_key + key < high[r, query] for one of the ranges r.

    low, high: `ranges` rows of `width` integers of the element's size.
    """
    builder = v.b
    flags = ir.VectorType(ir.IntType(1), v.lanes)

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        def keep(p: ir.Value, row: ir.Value) -> None:
            key = builder.add(first_key, row)
            key = v.splat(builder.trunc(key, I32) if v.size == 4 else key)

            def inside(r: ir.Value, found: list[ir.Value]) -> list[ir.Value]:
                at = builder.add(offset, builder.mul(builder.mul(r, tile.width), v.index(v.size)))
                from_, to = (v.load(v.pointer(x, at), v.words) for x in (low, high))
                hit = builder.and_(builder.icmp_signed("<=", from_, key), builder.icmp_signed("<", key, to))
                return [builder.or_(found[0], hit)]

            (allowed,) = v.loop(ranges, 1, [ir.Constant(flags, [0] * v.lanes)], inside)
            v.store(builder.select(allowed, v.load(p), v.const(MINUS_INF)), p)

        return keep

    _each(v, tile, column)


@vector_code
def keep_period(v: Vectors, tile: Tile, first_key: ir.Value, period: ir.Value, residue: ir.Value) -> None:
    """tile[key, query] ← −inf unless (first_key + key) % period is the query's residue, an integer of that size."""
    builder = v.b
    stride = builder.mul(tile.width, v.index(v.size))
    step = builder.trunc(period, I32)  # dividing 32 bits takes half the time

    def row(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        rest = builder.urem(builder.trunc(builder.add(first_key, i), I32), step)
        wanted = v.splat(rest if v.size == 4 else builder.zext(rest, I64))
        base = v.pointer(tile.address, builder.mul(i, stride))

        def keep(offset: ir.Value) -> None:
            here = builder.icmp_signed("==", v.load(v.pointer(residue, offset), v.words), wanted)
            place = builder.gep(base, [offset])
            v.store(builder.select(here, v.load(place), v.const(MINUS_INF)), place)

        _columns(v, tile, keep)
        return []

    v.loop(tile.keys, 1, [], row)


@vector_code
def drop(v: Vectors, tile: Tile, first_key: ir.Value, low: ir.Value, high: ir.Value, threshold: ir.Value) -> None:
    """tile[key, query] ← 0 where the hash of the place is below the threshold (see textbook/dropout.py).

    low, high: the two halves of each query's key, `width` integers of the element's size.
    """
    builder = v.b
    bits = ir.VectorType(I32, v.lanes)

    def narrow(x: ir.Value) -> ir.Value:
        return builder.trunc(x, bits) if v.size == 8 else x

    def const(n: int) -> ir.Constant:
        return ir.Constant(bits, [n] * v.lanes)

    limit = v.splat(builder.trunc(threshold, I32))

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        first, second = (narrow(v.load(v.pointer(x, offset), v.words)) for x in (low, high))

        def maybe(p: ir.Value, row: ir.Value) -> None:
            x = builder.add(v.splat(builder.trunc(builder.add(first_key, row), I32)), first)
            x = builder.mul(builder.xor(x, builder.lshr(x, const(16))), const(0x7FEB352D))
            x = builder.xor(x, second)
            x = builder.mul(builder.xor(x, builder.lshr(x, const(15))), const(0x846CA68B))
            x = builder.xor(x, builder.lshr(x, const(16)))
            kept = builder.icmp_unsigned(">=", x, limit)
            v.store(builder.select(kept, v.load(p), v.const(0.0)), p)

        return maybe

    _each(v, tile, column)


@vector_code
def slope_of_cap(v: Vectors, tile: Tile, target: ir.Value) -> None:
    """target ← 1 − tanh²(tile): how much of a capped score's gradient reaches the score."""
    beside = _beside(v, tile, target)

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        def slope(p: ir.Value, row: ir.Value) -> None:
            y = v.tanh(v.load(p))
            v.store(v.fma(v.b.fneg(y), y, v.const(1.0)), beside(offset, row))

        return slope

    _each(v, tile, column)


@vector_code
def weigh(v: Vectors, tile: Tile, other: ir.Value, top: ir.Value, delta: ir.Value, factor: ir.Value) -> None:
    """tile ← P = 2^(tile − top), other ← dS = P · (other · factor − delta).

    Both are 0 where the score is −inf, whatever else is NaN, and where the top is +inf: that is how a lane without a
    query, or whose query saw no key, is marked. other holds dP. top and delta: `width` numbers.
    """
    builder = v.b
    scale = v.splat(factor)
    beside = _beside(v, tile, other)

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        reference, less = v.load(v.pointer(top, offset)), builder.fneg(v.load(v.pointer(delta, offset)))
        idle = builder.fcmp_ordered("==", reference, v.const(-MINUS_INF))

        def weight(p: ir.Value, row: ir.Value) -> None:
            place = beside(offset, row)
            score = v.load(p)
            value = v.exp2(builder.fsub(score, reference))
            slope = builder.fmul(value, v.fma(v.load(place), scale, less))
            unused = builder.or_(idle, builder.fcmp_ordered("==", score, v.const(MINUS_INF)))
            v.store(builder.select(unused, v.const(0.0), value), p)
            v.store(builder.select(unused, v.const(0.0), slope), place)

        return weight

    _each(v, tile, column)


@vector_code
def weigh_scores(v: Vectors, tile: Tile, top: ir.Value, by: ir.Value, rest: ir.Value) -> None:
    """tile ← 2^(tile − top) · (by + rest), the inverse of the sum; 0 where the score is −inf, whatever the sum."""
    builder = v.b

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        highest, factor, remainder = (v.load(v.pointer(x, offset)) for x in (top, by, rest))
        empty = builder.fcmp_ordered("==", highest, v.const(MINUS_INF))
        reference = builder.select(empty, v.const(0.0), highest)

        def weight(p: ir.Value, row: ir.Value) -> None:
            v.store(_weight(v, v.load(p), reference, factor, remainder), p)

        return weight

    _each(v, tile, column)


@vector_code
def pool_weights(v: Vectors, tile: Tile, scratch: Fields, cell: Fields) -> None:
    """cell.sums[query] = Σ weight and cell.peaks[query] = max weight over the keys of a tile of scores.

    The weights are those of `weigh_scores`, with scratch.top, total and alpha. A maximum passes over NaN.
    """
    builder = v.b
    top, by, rest, sums, peaks = scratch.top, scratch.total, scratch.alpha, cell.sums, cell.peaks

    def column(offset: ir.Value) -> None:
        highest, factor, remainder = (v.load(v.pointer(x, offset)) for x in (top, by, rest))
        empty = builder.fcmp_ordered("==", highest, v.const(MINUS_INF))
        reference = builder.select(empty, v.const(0.0), highest)

        def add(p: ir.Value, _: ir.Value, found: list[ir.Value]) -> list[ir.Value]:
            weight = _weight(v, v.load(p), reference, factor, remainder)
            return [builder.fadd(found[0], weight), v.max(weight, found[1])]

        chains = _rows(v, tile, offset, [v.const(0.0)] * 2, add)
        total, peak = chains[0]
        for more, other in chains[1:]:
            total, peak = builder.fadd(total, more), v.max(other, peak)
        v.store(total, v.pointer(sums, offset))
        v.store(peak, v.pointer(peaks, offset))

    _columns(v, tile, column)


@vector_code
def count_allowed(v: Vectors, tile: Tile, target: ir.Value) -> None:
    """target[query] = how many scores of a tile are not −inf."""
    builder = v.b

    def column(offset: ir.Value) -> None:
        def one(p: ir.Value, _: ir.Value, found: list[ir.Value]) -> list[ir.Value]:
            masked = builder.fcmp_ordered("==", v.load(p), v.const(MINUS_INF))
            return [builder.fadd(found[0], builder.select(masked, v.const(0.0), v.const(1.0)))]

        (a,), (b,), (c,), (d,) = _rows(v, tile, offset, [v.const(0.0)], one)
        v.store(builder.fadd(builder.fadd(a, b), builder.fadd(c, d)), v.pointer(target, offset))

    _columns(v, tile, column)


def _weight(v: Vectors, score: ir.Value, reference: ir.Value, factor: ir.Value, rest: ir.Value) -> ir.Value:
    weight = _product(v, v.exp2(v.b.fsub(score, reference)), factor, rest)
    return v.b.select(v.b.fcmp_ordered("==", score, v.const(MINUS_INF)), v.const(0.0), weight)


@vector_code
def multiply_tile(v: Vectors, tile: Tile, by: ir.Value) -> None:
    """tile ← tile · by, number by number; what is 0 stays 0, also beside NaN."""

    def product(x: ir.Value, y: ir.Value) -> ir.Value:
        return v.b.select(v.b.fcmp_ordered("==", x, v.const(0.0)), x, v.b.fmul(x, y))

    v.each(v.b.mul(tile.keys, tile.width), tile.address, by, change=product)


@vector_code
def add_row(v: Vectors, source: ir.Value, target: ir.Value, count: ir.Value) -> None:
    """Add `count` numbers, a multiple of the lanes, to as many others."""
    v.each(count, target, source, change=v.b.fadd)


@vector_code
def add_distances(v: Vectors, tile: Tile, table: ir.Value) -> None:
    """table[query − key] += tile[key, query]; `table` is the address of query 0 − key 0."""
    builder = v.b

    def column(offset: ir.Value) -> None:
        here = v.pointer(table, offset)
        stride = builder.mul(tile.width, v.index(v.size))
        base = v.pointer(tile.address, offset)

        def add(row: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            place = builder.gep(here, [builder.mul(row, v.index(-v.size))])
            v.store(builder.fadd(v.load(place), v.load(builder.gep(base, [builder.mul(row, stride)]))), place)
            return []

        v.loop(tile.keys, 1, [], add)

    _columns(v, tile, column)
