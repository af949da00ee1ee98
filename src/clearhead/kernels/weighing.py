"""Weights made of a tile of scores once more, from the sums of each query, and what is added up of them.

For the backward pass, which needs their slopes, and for those who look on.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from clearhead.kernels.tile import MINUS_INF, Tile, beside_of, each_column, each_vector, fold_rows, product
from clearhead.kernels.vector import Fields, Vectors, vector_code


@vector_code
def slope_of_cap(v: Vectors, tile: Tile, target: ir.Value) -> None:
    """target ← 1 − tanh²(tile): how much of a capped score's gradient reaches the score."""
    beside = beside_of(v, tile, target)

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        def slope(p: ir.Value, row: ir.Value) -> None:
            y = v.tanh(v.load(p))
            v.store(v.fma(v.b.fneg(y), y, v.const(1.0)), beside(offset, row))

        return slope

    each_vector(v, tile, column)


@vector_code
def weigh(v: Vectors, tile: Tile, other: ir.Value, top: ir.Value, delta: ir.Value, factor: ir.Value) -> None:
    """tile ← P = 2^(tile − top), other ← dS = P · (other · factor − delta).

    Both are 0 where the score is −inf, whatever else is NaN, and where the top is +inf: that is how a lane without a
    query, or whose query saw no key, is marked. other holds dP. top and delta: `width` numbers.
    """
    _weigh(v, tile, other, top, delta, factor, None)


@vector_code
def weigh_by(
    v: Vectors, tile: Tile, other: ir.Value, top: ir.Value, delta: ir.Value, factor: ir.Value, inverse: ir.Value
) -> None:
    """`weigh`, with P = 2^(tile − top) · inverse."""
    _weigh(v, tile, other, top, delta, factor, inverse)


def _weigh(
    v: Vectors,
    tile: Tile,
    other: ir.Value,
    top: ir.Value,
    delta: ir.Value,
    factor: ir.Value,
    inverse: ir.Value | None,
) -> None:
    builder = v.b
    scale = v.splat(factor)
    beside = beside_of(v, tile, other)

    def column(offset: ir.Value) -> Callable[[ir.Value, ir.Value], None]:
        reference, less = v.load(v.pointer(top, offset)), builder.fneg(v.load(v.pointer(delta, offset)))
        idle = builder.fcmp_ordered("==", reference, v.const(-MINUS_INF))
        share = None if inverse is None else v.load(v.pointer(inverse, offset))

        def weight(p: ir.Value, row: ir.Value) -> None:
            place = beside(offset, row)
            score = v.load(p)
            value = v.exp2(builder.fsub(score, reference))
            if share is not None:
                value = builder.fmul(value, share)
            slope = builder.fmul(value, v.fma(v.load(place), scale, less))
            unused = builder.or_(idle, builder.fcmp_ordered("==", score, v.const(MINUS_INF)))
            v.store(builder.select(unused, v.const(0.0), value), p)
            v.store(builder.select(unused, v.const(0.0), slope), place)

        return weight

    each_vector(v, tile, column)


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

    each_vector(v, tile, column)


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

        chains = fold_rows(v, tile, offset, [v.const(0.0)] * 2, add)
        total, peak = chains[0]
        for more, other in chains[1:]:
            total, peak = builder.fadd(total, more), v.max(other, peak)
        v.store(total, v.pointer(sums, offset))
        v.store(peak, v.pointer(peaks, offset))

    each_column(v, tile, column)


@vector_code
def count_allowed(v: Vectors, tile: Tile, target: ir.Value) -> None:
    """target[query] = how many scores of a tile are not −inf."""
    builder = v.b

    def column(offset: ir.Value) -> None:
        def one(p: ir.Value, _: ir.Value, found: list[ir.Value]) -> list[ir.Value]:
            masked = builder.fcmp_ordered("==", v.load(p), v.const(MINUS_INF))
            return [builder.fadd(found[0], builder.select(masked, v.const(0.0), v.const(1.0)))]

        (a,), (b,), (c,), (d,) = fold_rows(v, tile, offset, [v.const(0.0)], one)
        v.store(builder.fadd(builder.fadd(a, b), builder.fadd(c, d)), v.pointer(target, offset))

    each_column(v, tile, column)


def _weight(v: Vectors, score: ir.Value, reference: ir.Value, factor: ir.Value, rest: ir.Value) -> ir.Value:
    weight = product(v, v.exp2(v.b.fsub(score, reference)), factor, rest)
    return v.b.select(v.b.fcmp_ordered("==", score, v.const(MINUS_INF)), v.const(0.0), weight)


@vector_code
def multiply_tile(v: Vectors, tile: Tile, by: ir.Value) -> None:
    """tile ← tile · by, number by number; what is 0 stays 0, also beside NaN."""

    def times(x: ir.Value, y: ir.Value) -> ir.Value:
        return v.b.select(v.b.fcmp_ordered("==", x, v.const(0.0)), x, v.b.fmul(x, y))

    v.each(v.b.mul(tile.keys, tile.width), tile.address, by, change=times)


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

    each_column(v, tile, column)
