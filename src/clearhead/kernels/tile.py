"""What happens to a tile of scores between the two products.

A tile is S[key, query], `rows` keys by `width` queries, contiguous, with one query per vector lane. Every pass here
walks it one column of lanes at a time, so a lane's running maximum and sum stay in registers and a 192-key column
(12 KiB) stays in L1 from one pass to the next. Scores are exponents of two, not of e: the factor log₂ e goes into the
queries together with the scale, or into the last pass before the softmax.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from clearhead.kernels.vector import I32, I64, Vectors

UNROLL = 4  # rows per turn: enough independent work to hide the latency of max and add
MINUS_INF = float("-inf")
LOG2E = math.log2(math.e)


def _columns(v: Vectors, width: ir.Value, body: Any) -> None:
    """Run body(byte offset) for each vector column of a row of `width` numbers."""

    def column(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        body(v.b.mul(i, v.index(v.size)))
        return []

    v.loop(width, v.lanes, [], column)


def _rows(
    v: Vectors,
    tile: ir.Value,
    offset: ir.Value,
    rows: ir.Value,
    width: ir.Value,
    carried: list[ir.Value],
    body: Callable[[ir.Value, ir.Value, list[ir.Value]], list[ir.Value]],
) -> list[list[ir.Value]]:
    """Fold body(pointer, row, carried) over the rows of one vector column, `UNROLL` at a time, then one by one.

    Each of the `UNROLL` chains carries numbers of its own, and all of them come back.
    """
    stride = v.b.mul(width, v.index(v.size))
    base = v.pointer(tile, offset)
    bulk = v.b.sub(rows, v.b.srem(rows, v.index(UNROLL)))
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

    sums = sums[n:] + v.loop(v.b.sub(rows, bulk), 1, sums[:n], last)
    return [sums[u * n : (u + 1) * n] for u in range(UNROLL)]


@intrinsic
def soften(typing: Any, like: Any, tile: Any, rows: Any, width: Any, top: Any, total: Any, alpha: Any) -> Any:
    """One step of online softmax: tile ← 2^(tile − new top), and top, total and alpha move on with it.

    top, total, alpha: `width` numbers each. alpha is what the sums so far must be multiplied by. A lane that has
    seen no key keeps top = −inf and total = 0.
    """
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, top, total, alpha = args
        _columns(v, width, lambda offset: _soften(v, offset, tile, rows, width, top, total, alpha))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def soften_and_keep(
    typing: Any, like: Any, tile: Any, rows: Any, width: Any, top: Any, total: Any, alpha: Any, moment: Any, kept: Any
) -> Any:
    """`soften`, which also keeps the exponentials at `kept` and moves on moment = Σ exponential · (score − top)."""
    signature = types.void(like, *(types.intp,) * 8)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, top, total, alpha, moment, kept = args
        _columns(v, width, lambda offset: _soften(v, offset, tile, rows, width, top, total, alpha, moment, kept))
        return context.get_dummy_value()

    return signature, codegen


def _soften(
    v: Vectors,
    offset: ir.Value,
    tile: ir.Value,
    rows: ir.Value,
    width: ir.Value,
    top: ir.Value,
    total: ir.Value,
    alpha: ir.Value,
    moment: ir.Value | None = None,
    kept: ir.Value | None = None,
) -> None:
    """One vector column of `soften`, and of `soften_and_keep` where there is a moment."""
    builder = v.b

    def highest(p: ir.Value, _: ir.Value, best: list[ir.Value]) -> list[ir.Value]:
        return [v.max(v.load(p), best[0])]

    (a,), (b,), (c,), (d,) = _rows(v, tile, offset, rows, width, [v.const(MINUS_INF)], highest)
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
        place = builder.mul(builder.mul(row, width), v.index(v.size))
        v.store(value, v.pointer(kept, builder.add(offset, place)))
        return [builder.fadd(sums[0], value), v.fma(value, v.above_least(below), sums[1])]

    zeros = [v.const(0.0)] * (1 if kept is None else 2)
    chains = _rows(v, tile, offset, rows, width, zeros, exponential)
    sums, *moments = (builder.fadd(builder.fadd(a, b), builder.fadd(c, d)) for a, b, c, d in zip(*chains, strict=True))
    total_so_far = v.load(v.pointer(total, offset))
    if moment is not None:
        # scores that were so far below the old top are that much further below the new one
        lower = builder.select(
            builder.fcmp_ordered("==", before, v.const(MINUS_INF)), v.const(0.0), builder.fsub(before, reference)
        )
        moved = v.fma(lower, total_so_far, v.load(v.pointer(moment, offset)))
        v.store(v.fma(moved, shrink, moments[0]), v.pointer(moment, offset))
    v.store(v.fma(total_so_far, shrink, sums), v.pointer(total, offset))
    v.store(after, v.pointer(top, offset))
    v.store(shrink, v.pointer(alpha, offset))


@intrinsic
def cap(typing: Any, like: Any, tile: Any, rows: Any, width: Any, softcap: Any) -> Any:
    """tile ← softcap · tanh(tile); what was divided by the cap went into the queries."""
    signature = types.void(like, types.intp, types.intp, types.intp, like)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, softcap = args
        outward = v.splat(softcap)

        def squeeze(p: ir.Value, _: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
            v.store(builder.fmul(v.tanh(v.load(p)), outward), p)
            return nothing

        _columns(v, width, lambda offset: _rows(v, tile, offset, rows, width, [], squeeze))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_relative(typing: Any, like: Any, tile: Any, rows: Any, width: Any, table: Any) -> Any:
    """tile[key, query] ← tile + log₂ e · table[query − key]; `table` is the address of query 0 − key 0."""
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, table = args

        def column(offset: ir.Value) -> None:
            here = v.pointer(table, offset)

            def add(p: ir.Value, row: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
                bias = v.load(builder.gep(here, [builder.mul(row, v.index(-v.size))]))
                v.store(_biased(v, v.load(p), bias), p)
                return nothing

            _rows(v, tile, offset, rows, width, [], add)

        _columns(v, width, column)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_tile(typing: Any, like: Any, tile: Any, rows: Any, width: Any, bias: Any) -> Any:
    """tile ← tile + log₂ e · bias, and −inf where the bias is, whatever the score."""
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, bias = args
        stride = builder.mul(width, v.index(v.size))

        def column(offset: ir.Value) -> None:
            def add(p: ir.Value, row: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
                amount = v.load(v.pointer(bias, builder.add(offset, builder.mul(row, stride))))
                v.store(_biased(v, v.load(p), amount), p)
                return nothing

            _rows(v, tile, offset, rows, width, [], add)

        _columns(v, width, column)
        return context.get_dummy_value()

    return signature, codegen


def _biased(v: Vectors, score: ir.Value, bias: ir.Value) -> ir.Value:
    """score + log₂ e · bias; selected, not summed, where the bias is −inf: NaN + −inf would be NaN."""
    forbidden = v.b.fcmp_ordered("==", bias, v.const(MINUS_INF))
    # in two parts: an error in the factor would be the same for every key and not average out
    high = float(np.float32(LOG2E)) if v.size == 4 else LOG2E
    small = v.b.fmul(bias, v.const(LOG2E - high))
    value = v.fma(bias, v.const(high), v.b.fadd(score, small))
    # a bias near the end of the range is a bias still, and must not overflow into a mask
    lowest = v.const(float(np.finfo(np.float32 if v.size == 4 else np.float64).min))
    value = v.b.select(v.b.fcmp_ordered(">", lowest, value), lowest, value)
    return v.b.select(forbidden, v.const(MINUS_INF), value)


def _product(v: Vectors, x: ir.Value, factor: ir.Value, rest: ir.Value) -> ir.Value:
    """x · (factor + rest), rounded once; with factor alone where x is infinite, since its two products could cancel."""
    zero = v.b.fmul(x, v.const(0.0))
    finite = v.b.fcmp_ordered("ord", zero, zero)
    return v.fma(x, factor, v.b.select(finite, v.b.fmul(x, rest), v.const(0.0)))


@intrinsic
def stretch(typing: Any, like: Any, address: Any, count: Any, by: Any, rest: Any) -> Any:
    """Multiply `count` numbers (a multiple of the lanes) by by + rest, rounding once.

    The factor is the same for every key; rounded to the numbers' own type, its error would not average out.
    """
    signature = types.void(like, types.intp, types.intp, like, like)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, address, count, by, rest = args
        factor, remainder = v.splat(by), v.splat(rest)

        def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            place = v.pointer(address, builder.mul(i, v.index(v.size)))
            v.store(_product(v, v.load(place), factor, remainder), place)
            return []

        v.loop(count, v.lanes, [], turn)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def multiply_columns(typing: Any, like: Any, tile: Any, rows: Any, width: Any, by: Any, rest: Any) -> Any:
    """tile[row, query] ← tile · (by[query] + rest[query]): a division by a reciprocal of twice the digits.

    A vector division takes ten times as long as the two products.
    """
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, by, rest = args

        def column(offset: ir.Value) -> None:
            factor, remainder = (v.load(v.pointer(x, offset)) for x in (by, rest))

            def product(p: ir.Value, _: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
                v.store(_product(v, v.load(p), factor, remainder), p)
                return nothing

            _rows(v, tile, offset, rows, width, [], product)

        _columns(v, width, column)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def keep_ranges(
    typing: Any, like: Any, tile: Any, rows: Any, width: Any, first_key: Any, ranges: Any, low: Any, high: Any
) -> Any:
    """tile[key, query] ← −inf unless low[r, query] ≤ first_key + key < high[r, query] for one of the ranges r.

    low, high: `ranges` rows of `width` integers of the element's size.
    """
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, first_key, ranges, low, high = args
        flags = ir.VectorType(ir.IntType(1), v.lanes)

        def column(offset: ir.Value) -> None:
            def keep(p: ir.Value, row: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
                key = builder.add(first_key, row)
                key = v.splat(builder.trunc(key, I32) if v.size == 4 else key)

                def inside(r: ir.Value, found: list[ir.Value]) -> list[ir.Value]:
                    at = builder.add(offset, builder.mul(builder.mul(r, width), v.index(v.size)))
                    from_ = v.load(v.pointer(low, at), v.words)
                    to = v.load(v.pointer(high, at), v.words)
                    hit = builder.and_(builder.icmp_signed("<=", from_, key), builder.icmp_signed("<", key, to))
                    return [builder.or_(found[0], hit)]

                (allowed,) = v.loop(ranges, 1, [ir.Constant(flags, [0] * v.lanes)], inside)
                v.store(builder.select(allowed, v.load(p), v.const(MINUS_INF)), p)
                return nothing

            _rows(v, tile, offset, rows, width, [], keep)

        _columns(v, width, column)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def drop(
    typing: Any, like: Any, tile: Any, rows: Any, width: Any, first_key: Any, low: Any, high: Any, threshold: Any
) -> Any:
    """tile[key, query] ← 0 where the hash of the place is below the threshold (see textbook/dropout.py).

    low, high: the two halves of each query's key, `width` integers of the element's size.
    """
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, first_key, low, high, threshold = args
        bits = ir.VectorType(I32, v.lanes)

        def narrow(x: ir.Value) -> ir.Value:
            return builder.trunc(x, bits) if v.size == 8 else x

        def const(n: int) -> ir.Constant:
            return ir.Constant(bits, [n] * v.lanes)

        limit = v.splat(builder.trunc(threshold, I32))

        def column(offset: ir.Value) -> None:
            salt = narrow(v.load(v.pointer(low, offset), v.words))
            pepper = narrow(v.load(v.pointer(high, offset), v.words))

            def maybe(p: ir.Value, row: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
                x = builder.add(v.splat(builder.trunc(builder.add(first_key, row), I32)), salt)
                x = builder.mul(builder.xor(x, builder.lshr(x, const(16))), const(0x7FEB352D))
                x = builder.xor(x, pepper)
                x = builder.mul(builder.xor(x, builder.lshr(x, const(15))), const(0x846CA68B))
                x = builder.xor(x, builder.lshr(x, const(16)))
                kept = builder.icmp_unsigned(">=", x, limit)
                v.store(builder.select(kept, v.load(p), v.const(0.0)), p)
                return nothing

            _rows(v, tile, offset, rows, width, [], maybe)

        _columns(v, width, column)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def slope_of_cap(typing: Any, like: Any, tile: Any, rows: Any, width: Any, target: Any) -> Any:
    """target ← 1 − tanh²(tile): how much of a capped score's gradient reaches the score."""
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, target = args
        stride = builder.mul(width, v.index(v.size))

        def column(offset: ir.Value) -> None:
            def slope(p: ir.Value, row: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
                y = v.tanh(v.load(p))
                place = v.pointer(target, builder.add(offset, builder.mul(row, stride)))
                v.store(v.fma(builder.fneg(y), y, v.const(1.0)), place)
                return nothing

            _rows(v, tile, offset, rows, width, [], slope)

        _columns(v, width, column)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def weigh(
    typing: Any, like: Any, tile: Any, rows: Any, width: Any, other: Any, lse: Any, delta: Any, factor: Any
) -> Any:
    """tile ← P = 2^(tile − lse), other ← dS = P · (other · factor − delta); both 0 where the score is −inf.

    other holds dP. lse (in powers of two) and delta: `width` numbers.
    """
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp, like)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, other, lse, delta, factor = args
        stride = builder.mul(width, v.index(v.size))
        scale = v.splat(factor)

        def column(offset: ir.Value) -> None:
            reference, less = v.load(v.pointer(lse, offset)), builder.fneg(v.load(v.pointer(delta, offset)))

            def weight(p: ir.Value, row: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
                place = v.pointer(other, builder.add(offset, builder.mul(row, stride)))
                score = v.load(p)
                value = v.exp2(builder.fsub(score, reference))
                slope = builder.fmul(value, v.fma(v.load(place), scale, less))
                masked = builder.fcmp_ordered("==", score, v.const(MINUS_INF))
                v.store(value, p)
                v.store(builder.select(masked, v.const(0.0), slope), place)
                return nothing

            _rows(v, tile, offset, rows, width, [], weight)

        _columns(v, width, column)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def multiply_tile(typing: Any, like: Any, tile: Any, rows: Any, width: Any, by: Any) -> Any:
    """tile ← tile · by, number by number."""
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)

        def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            offset = builder.mul(i, v.index(v.size))
            place = v.pointer(args[1], offset)
            v.store(builder.fmul(v.load(place), v.load(v.pointer(args[4], offset))), place)
            return []

        v.loop(builder.mul(args[2], args[3]), v.lanes, [], turn)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_row(typing: Any, like: Any, source: Any, target: Any, count: Any) -> Any:
    """Add `count` numbers, a multiple of the lanes, to as many others."""
    signature = types.void(like, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)

        def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            offset = builder.mul(i, v.index(v.size))
            place = v.pointer(args[2], offset)
            v.store(builder.fadd(v.load(place), v.load(v.pointer(args[1], offset))), place)
            return []

        v.loop(args[3], v.lanes, [], turn)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_distances(typing: Any, like: Any, tile: Any, rows: Any, width: Any, table: Any) -> Any:
    """table[query − key] += tile[key, query]; `table` is the address of query 0 − key 0."""
    signature = types.void(like, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, width, table = args

        def column(offset: ir.Value) -> None:
            here = v.pointer(table, offset)
            stride = builder.mul(width, v.index(v.size))
            base = v.pointer(tile, offset)

            def add(row: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
                place = builder.gep(here, [builder.mul(row, v.index(-v.size))])
                v.store(builder.fadd(v.load(place), v.load(builder.gep(base, [builder.mul(row, stride)]))), place)
                return []

            v.loop(rows, 1, [], add)

        _columns(v, width, column)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def fetch_add(typing: Any, address: Any, amount: Any) -> Any:
    """Add to a shared 64-bit counter and return what it held, atomically."""
    signature = types.intp(types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", builder.inttoptr(args[0], I64.as_pointer()), args[1], "monotonic")

    return signature, codegen
