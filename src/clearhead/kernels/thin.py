"""The two products for a handful of queries, as in decoding.

With queries in lanes every number of a key is spread over a vector of which a few queries use a quarter or less. Here
the width of keys and values lies in lanes instead, so each of their numbers is loaded once, sixteen at a time, and used
for four queries. What comes out lies as everywhere else: a tile of scores [key, query], values mixed [column, query].
Over 4,096 keys with 4 queries for each of 8 heads this takes 40 % of the time (`make bench ARGS="--only decode"`).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from clearhead.kernels.compiler import helper
from clearhead.kernels.memory import clear, lanes_of, size_of, turn_rows
from clearhead.kernels.vector import I32, Vectors

TOGETHER = 4  # queries, and keys or vectors of columns: 16 sums in registers
MOST = 8  # queries; with more, the other way is as fast


@helper
def is_thin(like, vectors, rows, d, d_v):
    """Whether a panel has so few queries that these products are the faster ones."""
    lanes = lanes_of(like)
    return vectors == 1 and rows <= MOST and lanes >= TOGETHER and d % lanes == 0 and d_v % lanes == 0


@helper
def thin_scores(like, key, key_row, queries, tile, keys, rows, d):
    """tile[key, query] = Σ key · query; the queries lie in rows, each d numbers after the one before."""
    lanes, size = lanes_of(like), size_of(like)
    clear(like, tile, keys * lanes)
    for first in range(0, rows, TOGETHER):
        dots(like, key, key_row, queries + first * d * size, d, tile + first * size, keys)


@helper
def thin_mix(like, value, value_row, tile, mixed, columns, keys, rows, alpha, spare):
    """mixed[column, query] ← mixed · alpha + Σ tile[key, query] · value[key, column]

    spare: room for 2 · lanes rows of columns
    """
    lanes, size = lanes_of(like), size_of(like)
    clear(like, spare, lanes * columns)
    for first in range(0, rows, TOGETHER):
        weighed(like, value, value_row, tile + first * size, keys, spare + first * columns * size, columns)
    turned = spare + lanes * columns * size
    turn_rows(like, spare, columns * size, turned, lanes * size, lanes, columns)
    rescale(like, mixed, alpha, turned, columns)


@intrinsic
def dots(typing: Any, like: Any, key: Any, key_row: Any, queries: Any, d: Any, tile: Any, keys: Any) -> Any:
    """Four neighbours of a tile's row, for each key: its products with four rows of queries.

    Does nothing where a vector has fewer lanes than that: `is_thin` never asks.
    """
    signature = types.void(like, *(types.intp,) * 6)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, key, key_row, queries, d, tile, keys = args
        if v.lanes < TOGETHER:
            return context.get_dummy_value()
        query_row = builder.mul(d, v.index(v.size))
        rows = [v.pointer(queries, builder.mul(query_row, v.index(r))) for r in range(TOGETHER)]
        row = v.index(v.lanes * v.size)

        def some(first: ir.Value, count: int) -> None:
            places = [builder.add(first, v.index(n)) for n in range(count)]
            sources = [v.pointer(key, builder.mul(place, key_row)) for place in places]

            def step(x: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
                offset = builder.mul(x, v.index(v.size))
                wanted = [v.load(builder.gep(p, [offset])) for p in rows]
                found = [v.load(builder.gep(p, [offset])) for p in sources]
                pairs = [(f, w) for f in found for w in wanted]
                return [v.fma(f, w, total) for (f, w), total in zip(pairs, sums, strict=True)]

            sums = v.loop(d, v.lanes, [v.const(0.0)] * (count * TOGETHER), step)
            for n, place in enumerate(places):
                four = _sums_of_four(v, sums[n * TOGETHER : (n + 1) * TOGETHER])
                v.store(four, v.pointer(tile, builder.mul(place, row)))

        def many(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            some(i, TOGETHER)
            return []

        def one(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            some(builder.add(bulk, i), 1)
            return []

        bulk = builder.sub(keys, builder.srem(keys, v.index(TOGETHER)))
        v.loop(bulk, TOGETHER, [], many)
        v.loop(builder.sub(keys, bulk), 1, [], one)
        return context.get_dummy_value()

    return signature, codegen


def _sums_of_four(v: Vectors, four: list[ir.Value]) -> ir.Value:
    """The sums over the lanes of four vectors, as one vector of four: neighbours are added, two vectors at a time."""
    a, b, c, d = four
    n = v.lanes
    evens = [x for i in range(0, n, 2) for x in (i, n + i)]
    pair = [_added(v, x, y, evens, [i + 1 for i in evens]) for x, y in ((a, b), (c, d))]
    first = [x for i in range(0, n, 4) for x in (i, i + 1, n + i, n + i + 1)]
    total = _added(v, pair[0], pair[1], first, [i + 2 for i in first])
    while n > TOGETHER:
        n //= 2
        total = _added(v, total, total, list(range(n)), list(range(n, 2 * n)))
    return total


def _added(v: Vectors, x: ir.Value, y: ir.Value, one: list[int], other: list[int]) -> ir.Value:
    """The sum of two choices among the lanes of two vectors."""
    chosen = [v.b.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, len(lanes)), lanes)) for lanes in (one, other)]
    return v.b.fadd(*chosen)


@intrinsic
def weighed(typing: Any, like: Any, value: Any, value_row: Any, tile: Any, keys: Any, target: Any, columns: Any) -> Any:
    """Four rows of target: the values of all keys, weighed by four neighbours of the tile's rows."""
    signature = types.void(like, *(types.intp,) * 6)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, value, value_row, tile, keys, target, columns = args
        vector = v.lanes * v.size

        def some(x: ir.Value, count: int) -> None:
            offset = builder.mul(x, v.index(v.size))
            base, weights = v.pointer(value, offset), v.pointer(tile)

            def step(j: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
                here = builder.gep(base, [builder.mul(j, value_row)])
                at = builder.gep(weights, [builder.mul(j, v.index(vector))])
                found = [v.load(builder.gep(here, [v.index(n * vector)])) for n in range(count)]
                shares = [v.splat(v.load(builder.gep(at, [v.index(r * v.size)]), v.scalar)) for r in range(TOGETHER)]
                pairs = [(share, f) for share in shares for f in found]
                return [v.fma(share, f, total) for (share, f), total in zip(pairs, sums, strict=True)]

            sums = v.loop(keys, 1, [v.const(0.0)] * (count * TOGETHER), step)
            for r in range(TOGETHER):
                row = builder.add(offset, builder.mul(columns, v.index(r * v.size)))
                for n in range(count):
                    v.store(sums[r * count + n], v.pointer(target, builder.add(row, v.index(n * vector))))

        def many(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            some(i, TOGETHER)
            return []

        def one(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            some(builder.add(bulk, i), 1)
            return []

        bulk = builder.sub(columns, builder.srem(columns, v.index(TOGETHER * v.lanes)))
        v.loop(bulk, TOGETHER * v.lanes, [], many)
        v.loop(builder.sub(columns, bulk), v.lanes, [], one)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def rescale(typing: Any, like: Any, mixed: Any, alpha: Any, added: Any, columns: Any) -> Any:
    """mixed[column, :] ← mixed · alpha + added[column, :], one vector of queries wide."""
    signature = types.void(like, *(types.intp,) * 4)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, mixed, alpha, added, columns = args
        factor = v.load(v.pointer(alpha))

        def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            offset = builder.mul(i, v.index(v.lanes * v.size))
            place = v.pointer(mixed, offset)
            v.store(v.fma(v.load(place), factor, v.load(v.pointer(added, offset))), place)
            return []

        v.loop(columns, 1, [], turn)
        return context.get_dummy_value()

    return signature, codegen
