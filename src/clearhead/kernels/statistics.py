"""What is read off a tile of attention weights on its way through: the best keys, sums over keys and over queries.

As in `tile`, a tile is [key, query] with one query per vector lane. Everything here is for a panel of full width.
"""

from __future__ import annotations

from llvmlite import ir

from clearhead.kernels.target import WIDEST
from clearhead.kernels.tile import Tile
from clearhead.kernels.vector import I32, Fields, Vectors, vector_code

COMPARED = 4  # keys that are compared with a query's worst kept key at once


@vector_code
def rank(v: Vectors, tile: Tile, first_key: ir.Value, count: ir.Value, best: ir.Value, best_keys: ir.Value) -> None:
    """Keep each query's `count` highest scores, in falling order, and their keys; of equal scores, the earlier key.

    best: `count` rows of scores, −inf where there is none yet; best_keys: as many rows of integers of the same size.
    Four keys at a time are compared with the lowest score kept: seldom does one of them get in, and then it is put in
    its place in all lanes at once.
    """
    builder = v.b
    stride = v.index(WIDEST * v.lanes * v.size)
    bulk = builder.sub(tile.keys, builder.srem(tile.keys, v.index(COMPARED)))

    def column(offset: ir.Value) -> None:
        base = v.pointer(tile.address, offset)
        last = v.pointer(best, builder.add(offset, builder.mul(builder.sub(count, v.index(1)), stride)))
        lists = (count, v.pointer(best, offset), v.pointer(best_keys, offset))

        def score(row: ir.Value) -> ir.Value:
            return v.load(builder.gep(base, [builder.mul(row, stride)]))

        def beats(x: ir.Value) -> ir.Value:
            hits = builder.fcmp_ordered(">", x, v.load(last))
            bits = builder.bitcast(hits, ir.IntType(v.lanes))
            return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

        def try_one(row: ir.Value) -> None:
            x = score(row)
            with builder.if_then(beats(x), likely=False):
                key = builder.add(first_key, row)
                _insert(v, x, v.splat(builder.trunc(key, I32) if v.size == 4 else key), lists)

        def compare(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            rows_here = [builder.add(i, v.index(u)) for u in range(COMPARED)]
            a, b, c, d = (score(row) for row in rows_here)
            with builder.if_then(beats(v.max(v.max(a, b), v.max(c, d))), likely=False):
                for row in rows_here:
                    try_one(row)
            return []

        def single(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            try_one(builder.add(bulk, i))
            return []

        v.loop(bulk, COMPARED, [], compare)
        v.loop(builder.sub(tile.keys, bulk), 1, [], single)

    for c in range(WIDEST):
        column(v.index(c * v.lanes * v.size))


def _insert(v: Vectors, x: ir.Value, key: ir.Value, lists: tuple[ir.Value, ir.Value, ir.Value]) -> None:
    """Put a score into its place in each lane, the ones below it moving down; nowhere if it is not above the last."""
    stride = v.index(WIDEST * v.lanes * v.size)
    count, best, best_keys = lists

    def step(j: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        score, key, moving = carried
        place, key_place = (v.b.gep(p, [v.b.mul(j, stride)]) for p in (best, best_keys))
        here, key_here = v.load(place), v.load(key_place, v.words)
        moving = v.b.or_(moving, v.b.fcmp_ordered(">", score, here))
        v.store(v.b.select(moving, score, here), place)
        v.store(v.b.select(moving, key, key_here), key_place)
        return [v.b.select(moving, here, score), v.b.select(moving, key_here, key), moving]

    v.loop(count, 1, [x, key, ir.Constant(ir.VectorType(ir.IntType(1), v.lanes), [0] * v.lanes)], step)


@vector_code
def catch_up(v: Vectors, then: ir.Value, top: ir.Value, inverse: ir.Value, factor: ir.Value) -> None:
    """factor = 2^(then − top) · inverse, 0 where the inverse is: makes weights of exponentials taken below `then`."""
    for c in range(WIDEST):
        before, now, share = (v.load(v.pointer(x, c * v.lanes * v.size)) for x in (then, top, inverse))
        weight = v.b.fmul(v.exp2(v.b.fsub(before, now)), share)
        none = v.b.fcmp_ordered("==", share, v.const(0.0))
        v.store(v.b.select(none, v.const(0.0), weight), v.pointer(factor, c * v.lanes * v.size))


@vector_code
def read_statistics(
    v: Vectors, tile: Tile, first_key: ir.Value, notes: Fields, received: ir.Value, sums: ir.Value
) -> None:
    """Read statistics off some rows of a tile of exponentials, whose weights are tile[key, query] · factor[query].

    A negative inverse marks a lane without a query, in which a masked key may have left NaN.

    distance[query] += Σ weight · |position[query] − key|    received[key] += Σ weight · share[query] over the queries
    sums[query] = Σ weight over the keys
    """
    builder = v.b
    step = v.lanes * v.size
    columns = range(WIDEST)
    base = v.pointer(tile.address)
    distance = notes.distance

    def panel(address: ir.Value) -> list[ir.Value]:
        return [v.load(v.pointer(address, c * step)) for c in columns]

    factors, positions, shares = panel(notes.factor), panel(notes.position), panel(notes.share)
    queries = [builder.fcmp_unordered(">=", x, v.const(0.0)) for x in panel(notes.inverse)]  # or NaN

    def row(i: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        away, total = carried[:WIDEST], carried[WIDEST:]
        key = v.splat(builder.sitofp(builder.add(first_key, i), v.scalar))
        here = builder.gep(base, [builder.mul(i, v.index(WIDEST * step))])
        got = v.const(0.0)
        for c in columns:
            weight = builder.fmul(v.load(builder.gep(here, [v.index(c * step)])), factors[c])
            weight = v.select(queries[c], weight, v.const(0.0))
            away[c] = v.fma(weight, v.abs(builder.fsub(positions[c], key)), away[c])
            total[c] = builder.fadd(total[c], weight)
            got = v.fma(weight, shares[c], got)
        place = builder.bitcast(v.pointer(received, builder.mul(i, v.index(v.size))), v.scalar.as_pointer())
        builder.store(builder.fadd(builder.load(place), v.reduce_add(got)), place)
        return away + total

    found = v.loop(tile.keys, 1, panel(distance) + [v.const(0.0)] * WIDEST, row)
    for n, address in enumerate((distance, sums)):
        for c in columns:
            v.store(found[n * WIDEST + c], v.pointer(address, c * step))
