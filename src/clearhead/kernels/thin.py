"""The two products for a handful of queries, as in decoding.

With queries in lanes every number of a key is spread over a vector of which a few queries use a quarter or less. Here
the width of keys and values lies in lanes instead, so each of their numbers is loaded once, sixteen at a time, and used
for four queries. The tile of scores lies as everywhere else, [key, query]; queries and what is mixed for them are rows.
Pairs of bfloat16 are multiplied as they are stored, so a cache of them is read once and never converted.
Over 4,096 keys with 4 queries for each of 8 heads this takes 40 % of the time (`make bench ARGS="--only decode"`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir

from clearhead.kernels.compiler import helper
from clearhead.kernels.memory import Rows, cast, lanes_of, size_of
from clearhead.kernels.pairs import STORED, dot, paired
from clearhead.kernels.tile import Tile
from clearhead.kernels.vector import I16, I32, Vectors, vector_code

FOUR = 4  # queries, and keys or vectors of columns: 16 sums in registers


@helper
def thin_scores(job, scratch, keys, rows, count):
    """scratch.tile[key, query] = Σ key · query, for `count` Rows of keys and the first `rows` queries of the panel."""
    like = job.like
    lanes, size = lanes_of(like), size_of(like)
    for first in range(0, rows, FOUR):
        queries = scratch.rows + first * job.d * size
        dots(like, keys, queries, job.d, Tile(scratch.tile + first * size, count, lanes))


@helper
def thin_scores_pairs(job, scratch, keys, rows, count):
    """The same of pairs of bfloat16, keys and queries as they are stored."""
    like = job.like
    lanes, size = lanes_of(like), size_of(like)
    for first in range(0, rows, FOUR):
        queries = scratch.rows + first * job.d * STORED
        tile = Tile(scratch.tile + first * size, count, lanes)
        dots_of_pairs(like, keys, queries, job.d, tile, cast(like, job.scale))


@helper
def thin_mix(job, scratch, values, rows, count, alpha):
    """scratch.mixed[query, column] ← mixed · alpha + Σ tile[key, query] · value[key, column]; alpha 0: nothing there"""
    lanes, size = lanes_of(job.like), size_of(job.like)
    for first in range(0, rows, FOUR):
        four = Mixed(scratch.mixed + first * job.d_v * size, job.d_v, alpha if alpha == 0 else alpha + first * size)
        weighed(job.like, values, Tile(scratch.tile + first * size, count, lanes), four)


@helper
def thin_mix_pairs(job, scratch, values, rows, count, alpha):
    """The same of pairs of bfloat16, values as they are stored and weights in scratch.pairs."""
    lanes, size = lanes_of(job.like), size_of(job.like)
    for first in range(0, rows, FOUR):
        four = Mixed(scratch.mixed + first * job.d_v * size, job.d_v, alpha if alpha == 0 else alpha + first * size)
        weighed_pairs(job.like, values, Tile(scratch.pairs + first * size, count, lanes), four)


@vector_code
def dots(v: Vectors, keys: Rows, queries: ir.Value, d: ir.Value, tile: Tile) -> None:
    """Four neighbours of a tile's row, for each key: its products with four rows of queries.

    Does nothing where a vector has fewer lanes than that: `plan.is_thin` never says so.
    """
    if v.lanes < FOUR:
        return
    builder = v.b
    query_row = builder.mul(d, v.index(v.size))
    rows = [v.pointer(queries, builder.mul(query_row, v.index(r))) for r in range(FOUR)]
    row = v.index(v.lanes * v.size)

    def some(first: ir.Value, count: int) -> None:
        places = [builder.add(first, v.index(n)) for n in range(count)]
        sources = [v.pointer(keys.address, builder.mul(place, keys.step)) for place in places]

        def step(x: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            offset = builder.mul(x, v.index(v.size))
            wanted = [v.load(builder.gep(p, [offset])) for p in rows]
            found = [v.load(builder.gep(p, [offset])) for p in sources]
            pairs = [(f, w) for f in found for w in wanted]
            return [v.fma(f, w, total) for (f, w), total in zip(pairs, sums, strict=True)]

        sums = v.loop(d, v.lanes, [v.const(0.0)] * (count * FOUR), step)
        for n, place in enumerate(places):
            four = _sums_of_four(v, sums[n * FOUR : (n + 1) * FOUR])
            v.store(four, v.pointer(tile.address, builder.mul(place, row)))

    _by_fours(v, tile.keys, 1, some)


@vector_code
def dots_of_pairs(v: Vectors, keys: Rows, queries: ir.Value, d: ir.Value, tile: Tile, scale: ir.Value) -> None:
    """Four neighbours of a tile's row, for each key: its products with four rows of queries, scaled.

    d: a multiple of twice the lanes.
    """
    builder = v.b
    row_bytes = builder.mul(d, v.index(STORED))
    rows = [v.pointer(queries, builder.mul(row_bytes, v.index(r))) for r in range(FOUR)]
    factor = v.splat(scale)
    four = builder.shuffle_vector(factor, factor, ir.Constant(ir.VectorType(I32, FOUR), list(range(FOUR))))

    def some(first: ir.Value, count: int) -> None:
        places = [builder.add(first, v.index(n)) for n in range(count)]
        sources = [v.pointer(keys.address, builder.mul(place, keys.step)) for place in places]

        def step(x: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            offset = builder.mul(x, v.index(STORED))
            wanted, found = ([v.load(builder.gep(p, [offset]), v.words) for p in group] for group in (rows, sources))
            both = [(f, w) for f in found for w in wanted]
            return [dot(v, f, w, total) for (f, w), total in zip(both, sums, strict=True)]

        sums = v.loop(d, 2 * v.lanes, [v.const(0.0)] * (count * FOUR), step)
        for n, place in enumerate(places):
            scores = builder.fmul(_sums_of_four(v, sums[n * FOUR : (n + 1) * FOUR]), four)
            v.store(scores, v.pointer(tile.address, builder.mul(place, v.index(v.lanes * v.size))))

    _by_fours(v, tile.keys, 1, some)


def _by_fours(
    v: Vectors, count: ir.Value, step: int, some: Callable[[ir.Value, int], None], at_once: int = FOUR
) -> None:
    """some(first, 4) for every four steps of `count`, or as many `at_once`, then some(first, 1) for what is left."""

    def many(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        some(i, at_once)
        return []

    def one(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        some(v.b.add(bulk, i), 1)
        return []

    bulk = v.b.sub(count, v.b.srem(count, v.index(at_once * step)))
    v.loop(bulk, at_once * step, [], many)
    v.loop(v.b.sub(count, bulk), step, [], one)


def _sums_of_four(v: Vectors, four: list[ir.Value]) -> ir.Value:
    """The sums over the lanes of four vectors, as one vector of four: neighbours are added, two vectors at a time."""
    a, b, c, d = four
    n = v.lanes
    evens = [x for i in range(0, n, 2) for x in (i, n + i)]
    pair = [_added(v, x, y, evens, [i + 1 for i in evens]) for x, y in ((a, b), (c, d))]
    first = [x for i in range(0, n, 4) for x in (i, i + 1, n + i, n + i + 1)]
    total = _added(v, pair[0], pair[1], first, [i + 2 for i in first])
    while n > FOUR:
        n //= 2
        total = _added(v, total, total, list(range(n)), list(range(n, 2 * n)))
    return total


def _added(v: Vectors, x: ir.Value, y: ir.Value, one: list[int], other: list[int]) -> ir.Value:
    """The sum of two choices among the lanes of two vectors."""
    chosen = [v.b.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, len(lanes)), lanes)) for lanes in (one, other)]
    return v.b.fadd(*chosen)


class Mixed(NamedTuple):
    """Four rows of mixed values, and where what they are to be rescaled by lies; that is 0 before anything is mixed."""

    address: Any
    columns: Any
    alpha: Any

    def add(self, v: Vectors, sums: list[ir.Value], first: ir.Value) -> None:
        """Add what was summed up, as many vectors of each of the four rows as there are, from column `first` on."""
        count = len(sums) // FOUR
        starts = [v.b.add(first, v.b.mul(self.columns, v.index(r))) for r in range(FOUR)]
        rows = [v.pointer(self.address, v.b.mul(start, v.index(v.size))) for start in starts]
        places = [v.b.gep(row, [v.index(n * v.lanes * v.size)]) for row in rows for n in range(count)]
        with v.b.if_else(v.b.icmp_signed("==", self.alpha, v.index(0))) as (at_first, later):
            with at_first:
                for total, place in zip(sums, places, strict=True):
                    v.store(total, place)
            with later:
                scales = [v.splat(v.load(v.pointer(self.alpha, r * v.size), v.scalar)) for r in range(FOUR)]
                for n, (total, place) in enumerate(zip(sums, places, strict=True)):
                    v.store(v.fma(v.load(place), scales[n // count], total), place)


@vector_code
def weighed(v: Vectors, values: Rows, tile: Tile, mixed: Mixed) -> None:
    """Add the values of all keys, weighed by four neighbours of the tile's rows, to four rows of what is mixed."""
    builder = v.b
    vector = v.lanes * v.size

    def some(x: ir.Value, count: int) -> None:
        offset = builder.mul(x, v.index(v.size))
        base, weights = v.pointer(values.address, offset), v.pointer(tile.address)

        def step(j: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            here = builder.gep(base, [builder.mul(j, values.step)])
            at = builder.gep(weights, [builder.mul(j, v.index(vector))])
            found = [v.load(builder.gep(here, [v.index(n * vector)])) for n in range(count)]
            shares = [v.splat(v.load(builder.gep(at, [v.index(r * v.size)]), v.scalar)) for r in range(FOUR)]
            pairs = [(share, f) for share in shares for f in found]
            return [v.fma(share, f, total) for (share, f), total in zip(pairs, sums, strict=True)]

        mixed.add(v, v.loop(tile.keys, 1, [v.const(0.0)] * (count * FOUR), step), x)

    _by_fours(v, mixed.columns, v.lanes, some)


@vector_code
def weighed_pairs(v: Vectors, values: Rows, weights: Tile, mixed: Mixed) -> None:
    """The same, weighed by four neighbours of the rows of pairs of weights; columns: a multiple of twice the lanes."""
    builder = v.b
    vector = v.lanes * v.size
    stored = ir.VectorType(I16, 2 * v.lanes)

    def some(x: ir.Value, count: int) -> None:
        base, of_weights = v.pointer(values.address, builder.mul(x, v.index(STORED))), v.pointer(weights.address)

        def add(j: ir.Value, second: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            """The key number j, and the one whose row is `second` bytes further."""
            here = builder.gep(base, [builder.mul(j, values.step)])
            at = builder.gep(of_weights, [builder.mul(builder.sdiv(j, v.index(2)), v.index(vector))])
            found: list[ir.Value] = []
            for n in range(count):
                first = builder.gep(here, [v.index(n * vector)])
                found += paired(v, v.load(first, stored), v.load(builder.gep(first, [second]), stored))
            shares = [v.splat(v.load(builder.gep(at, [v.index(r * v.size)]), v.word)) for r in range(FOUR)]
            both = [(share, f) for share in shares for f in found]
            return [dot(v, share, f, total) for (share, f), total in zip(both, sums, strict=True)]

        whole = builder.sub(weights.keys, builder.srem(weights.keys, v.index(2)))
        sums = v.loop(whole, 2, [v.const(0.0)] * (2 * count * FOUR), lambda j, sums: add(j, values.step, sums))
        # an odd key stands beside itself, where its weight is 0
        left = builder.sub(weights.keys, whole)
        sums = v.loop(left, 1, sums, lambda _, sums: add(whole, v.index(0), sums))
        mixed.add(v, sums, x)

    _by_fours(v, mixed.columns, 2 * v.lanes, some, at_once=2)
