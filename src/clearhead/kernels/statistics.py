"""What is read off a tile of attention weights on its way through: the best keys, sums over keys and over queries.

As in `tile`, a tile is [key, query] with one query per vector lane. Everything here is for a panel of full width.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from clearhead.kernels.gemm import WIDEST
from clearhead.kernels.tile import MINUS_INF
from clearhead.kernels.vector import I32, Vectors

GROUP = 4  # keys that are compared with a query's worst kept key at once


@intrinsic
def rank(typing: Any, like: Any, tile: Any, rows: Any, first_key: Any, count: Any, best: Any, best_keys: Any) -> Any:
    """Keep each query's `count` highest scores, in falling order, and their keys; of equal scores, the earlier key.

    best: `count` rows of scores, −inf where there is none yet; best_keys: as many rows of integers of the same size.
    Four keys at a time are compared with the lowest score kept: seldom does one of them get in, and then it is put in
    its place in all lanes at once.
    """
    signature = types.void(like, *(types.intp,) * 6)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, first_key, count, best, best_keys = args
        stride = v.index(WIDEST * v.lanes * v.size)
        bulk = builder.sub(rows, builder.srem(rows, v.index(GROUP)))

        def column(offset: ir.Value) -> None:
            base = v.pointer(tile, offset)
            last = v.pointer(best, builder.add(offset, builder.mul(builder.sub(count, v.index(1)), stride)))

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
                    _insert(
                        v, offset, x, v.splat(builder.trunc(key, I32) if v.size == 4 else key), count, best, best_keys
                    )

            def group(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
                rows_here = [builder.add(i, v.index(u)) for u in range(GROUP)]
                a, b, c, d = (score(row) for row in rows_here)
                with builder.if_then(beats(v.max(v.max(a, b), v.max(c, d))), likely=False):
                    for row in rows_here:
                        try_one(row)
                return []

            def single(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
                try_one(builder.add(bulk, i))
                return []

            v.loop(bulk, GROUP, [], group)
            v.loop(builder.sub(rows, bulk), 1, [], single)

        for c in range(WIDEST):
            column(v.index(c * v.lanes * v.size))
        return context.get_dummy_value()

    return signature, codegen


def _insert(
    v: Vectors, offset: ir.Value, x: ir.Value, key: ir.Value, count: ir.Value, best: ir.Value, best_keys: ir.Value
) -> None:
    """Put a score into its place in each lane, the ones below it moving down; nowhere if it is not above the last."""
    stride = v.index(WIDEST * v.lanes * v.size)

    def step(j: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        score, key, moving = carried
        at = v.b.add(offset, v.b.mul(j, stride))
        place, key_place = v.pointer(best, at), v.pointer(best_keys, at)
        here, key_here = v.load(place), v.load(key_place, v.words)
        moving = v.b.or_(moving, v.b.fcmp_ordered(">", score, here))
        v.store(v.b.select(moving, score, here), place)
        v.store(v.b.select(moving, key, key_here), key_place)
        return [v.b.select(moving, here, score), v.b.select(moving, key_here, key), moving]

    v.loop(count, 1, [x, key, ir.Constant(ir.VectorType(ir.IntType(1), v.lanes), [0] * v.lanes)], step)


@intrinsic
def catch_up(typing: Any, like: Any, then: Any, top: Any, inverse: Any, factor: Any) -> Any:
    """factor = 2^(then − top) · inverse, 0 where the inverse is: makes weights of exponentials taken below `then`."""
    signature = types.void(like, *(types.intp,) * 4)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        for c in range(WIDEST):
            before, now, share = (v.load(v.pointer(x, c * v.lanes * v.size)) for x in args[1:4])
            weight = builder.fmul(v.exp2(builder.fsub(before, now)), share)
            none = builder.fcmp_ordered("==", share, v.const(0.0))
            v.store(builder.select(none, v.const(0.0), weight), v.pointer(args[4], c * v.lanes * v.size))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def pool(
    typing: Any, like: Any, tile: Any, rows: Any, first_key: Any, factor: Any, inverse: Any, position: Any, share: Any,
    far: Any, received: Any, sums: Any, peaks: Any,
) -> Any:  # fmt: skip
    """Read statistics off some rows of a tile of exponentials, whose weights are tile[key, query] · factor[query].

    A negative inverse marks a lane without a query, in which a masked key may have left NaN.

    far[query] += Σ weight · |position[query] − key|     received[key] += Σ weight · share[query] over the queries
    sums[query] = Σ weight, peaks[query] = max weight, over the keys
    """
    signature = types.void(like, *(types.intp,) * 11)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, first_key, factor, inverse, position, share, far, received, sums, peaks = args
        step = v.lanes * v.size
        columns = range(WIDEST)
        base = v.pointer(tile)

        def panel(address: ir.Value) -> list[ir.Value]:
            return [v.load(v.pointer(address, c * step)) for c in columns]

        factors, positions, shares = panel(factor), panel(position), panel(share)
        queries = [builder.fcmp_unordered(">=", x, v.const(0.0)) for x in panel(inverse)]  # or NaN

        def row(i: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
            away, total, peak = carried[:WIDEST], carried[WIDEST : 2 * WIDEST], carried[2 * WIDEST :]
            key = v.splat(builder.sitofp(builder.add(first_key, i), v.scalar))
            here = builder.gep(base, [builder.mul(i, v.index(WIDEST * step))])
            got = v.const(0.0)
            for c in columns:
                weight = builder.fmul(v.load(builder.gep(here, [v.index(c * step)])), factors[c])
                weight = v.select(queries[c], weight, v.const(0.0))
                away[c] = v.fma(weight, v.abs(builder.fsub(positions[c], key)), away[c])
                total[c] = builder.fadd(total[c], weight)
                peak[c] = v.max(weight, peak[c])
                got = v.fma(weight, shares[c], got)
            place = builder.bitcast(v.pointer(received, builder.mul(i, v.index(v.size))), v.scalar.as_pointer())
            builder.store(builder.fadd(builder.load(place), v.reduce_add(got)), place)
            return away + total + peak

        found = v.loop(rows, 1, panel(far) + [v.const(0.0)] * (2 * WIDEST), row)
        for n, address in enumerate((far, sums, peaks)):
            for c in columns:
                v.store(found[n * WIDEST + c], v.pointer(address, c * step))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def count_scores(typing: Any, like: Any, tile: Any, rows: Any, target: Any) -> Any:
    """target[query] = how many of the rows of a tile of scores are not −inf."""
    signature = types.void(like, *(types.intp,) * 3)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, tile, rows, target = args
        step = v.lanes * v.size
        base = v.pointer(tile)

        def row(i: ir.Value, found: list[ir.Value]) -> list[ir.Value]:
            here = builder.gep(base, [builder.mul(i, v.index(WIDEST * step))])
            scores = [v.load(builder.gep(here, [v.index(c * step)])) for c in range(WIDEST)]
            masked = [builder.fcmp_ordered("==", x, v.const(MINUS_INF)) for x in scores]
            ones = [builder.select(m, v.const(0.0), v.const(1.0)) for m in masked]
            return [builder.fadd(n, one) for n, one in zip(found, ones, strict=True)]

        for c, n in enumerate(v.loop(rows, 1, [v.const(0.0)] * WIDEST, row)):
            v.store(n, v.pointer(target, c * step))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def raise_row(typing: Any, like: Any, source: Any, target: Any, count: Any) -> Any:
    """Replace each of `count` numbers, a multiple of the lanes, by a source number that is larger."""
    signature = types.void(like, *(types.intp,) * 3)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)

        def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            offset = builder.mul(i, v.index(v.size))
            place = v.pointer(args[2], offset)
            v.store(v.max(v.load(v.pointer(args[1], offset)), v.load(place)), place)
            return []

        v.loop(args[3], v.lanes, [], turn)
        return context.get_dummy_value()

    return signature, codegen
