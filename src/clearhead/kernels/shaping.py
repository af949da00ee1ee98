"""What happens to a tile of scores between the two products: cap, bias, mask, softmax, dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from clearhead.kernels.job import LOG2E
from clearhead.kernels.pairs import rounded
from clearhead.kernels.tile import (
    MINUS_INF,
    Tile,
    beside_of,
    each_column,
    each_vector,
    fold_pairs,
    fold_rows,
    is_finite,
    product,
)
from clearhead.kernels.vector import I32, I64, Vectors, vector_code


@vector_code
def soften(v: Vectors, tile: Tile, top: ir.Value, total: ir.Value, alpha: ir.Value) -> None:
    """One step of online softmax: tile ← 2^(tile − new top), and top, total and alpha move on with it.

    top, total, alpha: `width` numbers each. alpha is what the sums so far must be multiplied by. A lane that has
    seen no key keeps top = −inf and total = 0.
    """
    each_column(v, tile, lambda offset: _soften(v, tile, offset, (top, total, alpha)))


@vector_code
def soften_and_keep(
    v: Vectors, tile: Tile, top: ir.Value, total: ir.Value, alpha: ir.Value, moment: ir.Value, kept: ir.Value
) -> None:
    """`soften`, which also keeps the exponentials at `kept` and moves on moment = Σ exponential · (score − top)."""
    each_column(v, tile, lambda offset: _soften(v, tile, offset, (top, total, alpha), (moment, kept)))


@vector_code
def soften_pairs(v: Vectors, tile: Tile, top: ir.Value, total: ir.Value, alpha: ir.Value, pairs: ir.Value) -> None:
    """`soften`, whose exponentials go, rounded, into pairs[key / 2, query]. After an odd key comes a row of −inf."""
    each_column(v, tile, lambda offset: _soften(v, tile, offset, (top, total, alpha), pairs=pairs))


def _soften(
    v: Vectors,
    tile: Tile,
    offset: ir.Value,
    running: tuple[ir.Value, ir.Value, ir.Value],
    watched: tuple[ir.Value, ir.Value] | None = None,
    pairs: ir.Value | None = None,
) -> None:
    """One vector column of `soften`, of `soften_and_keep` where it is watched, and of `soften_pairs`."""
    builder = v.b
    top, total, alpha = running
    kept = None if watched is None else beside_of(v, tile, watched[1])

    def highest(p: ir.Value, _: ir.Value, best: list[ir.Value]) -> list[ir.Value]:
        return [v.max(v.load(p), best[0])]

    (a,), (b,), (c,), (d,) = fold_rows(v, tile, offset, [v.const(MINUS_INF)], highest)
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
    if pairs is None:
        chains = fold_rows(v, tile, offset, zeros, exponential)
    else:
        beside = beside_of(v, tile, pairs)
        chains = fold_pairs(
            v, tile, offset,
            lambda p: v.exp2(builder.fsub(v.load(p), reference)),
            lambda one, other, row: v.store(rounded(v, one, other), beside(offset, row)),
        )  # fmt: skip
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
    each_vector(v, tile, lambda _: lambda p, row: v.store(v.b.fmul(v.tanh(v.load(p)), outward), p))


@vector_code
def add_relative(v: Vectors, tile: Tile, table: ir.Value) -> None:
    """tile[key, query] ← tile + log₂ e · table[query − key]; `table` is the address of query 0 − key 0."""

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        here = v.pointer(table, offset)

        def add(p: ir.Value, row: ir.Value) -> None:
            bias = v.load(v.b.gep(here, [v.b.mul(row, v.index(-v.size))]))
            v.store(_biased(v, v.load(p), bias), p)

        return add

    each_vector(v, tile, column)


@vector_code
def add_tile(v: Vectors, tile: Tile, bias: ir.Value) -> None:
    """tile ← tile + log₂ e · bias, and −inf where the bias is, whatever the score."""
    beside = beside_of(v, tile, bias)
    each_vector(v, tile, lambda at: lambda p, row: v.store(_biased(v, v.load(p), v.load(beside(at, row))), p))


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
    value = v.b.select(is_finite(v, score), clipped, score)
    return v.b.select(forbidden, v.const(MINUS_INF), value)


@vector_code
def stretch(v: Vectors, address: ir.Value, count: ir.Value, by: ir.Value, rest: ir.Value) -> None:
    """Multiply `count` numbers (a multiple of the lanes) by by + rest, rounding once.

    The factor is the same for every key; rounded to the numbers' own type, its error would not average out.
    """
    factor, remainder = v.splat(by), v.splat(rest)
    v.each(count, address, change=lambda x: product(v, x, factor, remainder))


@vector_code
def multiply_columns(v: Vectors, tile: Tile, by: ir.Value, rest: ir.Value) -> None:
    """tile[row, query] ← tile · (by[query] + rest[query]): a division by a reciprocal of twice the digits.

    A vector division takes ten times as long as the two products.
    """

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        factor, remainder = (v.load(v.pointer(x, offset)) for x in (by, rest))
        return lambda p, row: v.store(product(v, v.load(p), factor, remainder), p)

    each_vector(v, tile, column)


@vector_code
def invert(v: Vectors, job: Any, total: ir.Value, rest: ir.Value, count: ir.Value) -> None:
    """total ← 1 / (total · job.keep), 0 where the total is, with what rounding took from it in `rest`.

    A product with both is rounded once. `count` numbers, a multiple of the lanes, at two addresses.
    """
    builder = v.b
    wide = ir.VectorType(ir.DoubleType(), v.lanes)
    one, zero = (ir.Constant(wide, [x] * v.lanes) for x in (1.0, 0.0))
    keep = v.splat(job.keep)

    def widened(x: ir.Value) -> ir.Value:
        return x if v.size == 8 else builder.fpext(x, wide)

    def narrowed(x: ir.Value) -> ir.Value:
        return x if v.size == 8 else builder.fptrunc(x, v.vec)

    def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        offset = builder.mul(i, v.index(v.size))
        sums = v.load(v.pointer(total, offset))
        inverse = builder.fdiv(one, builder.fmul(widened(sums), keep))
        empty = builder.fcmp_ordered("==", sums, v.const(0.0))
        inverse = builder.select(empty, zero, inverse)
        high = narrowed(inverse)
        v.store(high, v.pointer(total, offset))
        v.store(narrowed(builder.fsub(inverse, widened(high))), v.pointer(rest, offset))
        return []

    v.loop(count, v.lanes, [], turn)


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

    each_vector(v, tile, column)


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

        each_column(v, tile, keep)
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

    each_vector(v, tile, column)
