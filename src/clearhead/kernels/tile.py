"""A tile of scores, and how it is walked over.

A tile is S[key, query], contiguous, with one query per vector lane. Every pass walks it one column of lanes at a time,
so a lane's running maximum and sum stay in registers and a 192-key column (12 KiB) stays in L1 from one pass to the
next. Scores are exponents of two, not of e: the factor log₂ e goes into the queries together with the scale, or into
the last pass before the softmax. What happens to a tile between the two products is in `shaping`, what makes weights
of it again in `weighing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir

from clearhead.kernels.vector import Vectors

UNROLL = 4  # rows per turn: enough independent work to hide the latency of max and add
MINUS_INF = float("-inf")


class Tile(NamedTuple):
    """A number for each of some keys and each query of a panel, tile[key, query]."""

    address: Any
    keys: Any
    width: Any


Body = Callable[[ir.Value, ir.Value, list[ir.Value]], list[ir.Value]]


def each_column(v: Vectors, tile: Tile, body: Callable[[ir.Value], None]) -> None:
    """Run body(byte offset) for each vector column of a tile."""

    def column(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        body(v.b.mul(i, v.index(v.size)))
        return []

    v.loop(tile.width, v.lanes, [], column)


def fold_rows(v: Vectors, tile: Tile, offset: ir.Value, carried: list[ir.Value], body: Body) -> list[list[ir.Value]]:
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


def fold_pairs(
    v: Vectors, tile: Tile, offset: ir.Value, change: Callable[[ir.Value], ir.Value], put: Callable[..., None]
) -> list[list[ir.Value]]:
    """Sum change(pointer) over the rows of one vector column, as `fold_rows` does, and put(two of them, their number).

    The number of rows is even, or one more is there.
    """
    stride = v.b.mul(tile.width, v.index(v.size))
    base = v.pointer(tile.address, offset)
    bulk = v.b.sub(tile.keys, v.b.srem(tile.keys, v.index(UNROLL)))

    def some(row: ir.Value, count: int) -> list[ir.Value]:
        found = [change(v.b.gep(base, [v.b.mul(v.b.add(row, v.index(u)), stride)])) for u in range(count)]
        for u in range(0, count, 2):
            put(found[u], found[u + 1], v.b.sdiv(v.b.add(row, v.index(u)), v.index(2)))
        return found

    def turn(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        return [v.b.fadd(x, y) for x, y in zip(sums, some(i, UNROLL), strict=True)]

    def last(i: ir.Value, rest: list[ir.Value]) -> list[ir.Value]:
        first, second = some(v.b.add(bulk, i), 2)
        return [v.b.fadd(v.b.fadd(rest[0], first), second)]

    sums = v.loop(bulk, UNROLL, [v.const(0.0)] * UNROLL, turn)
    sums = sums[1:] + v.loop(v.b.sub(tile.keys, bulk), 2, sums[:1], last)
    return [[x] for x in sums]


def each_vector(v: Vectors, tile: Tile, change: Callable[[ir.Value], Callable[[ir.Value, ir.Value], None]]) -> None:
    """Run change(offset)(pointer, row) for every vector of a tile; what it does first is done once for each column."""

    def column(offset: ir.Value) -> None:
        one = change(offset)

        def body(p: ir.Value, row: ir.Value, nothing: list[ir.Value]) -> list[ir.Value]:
            one(p, row)
            return nothing

        fold_rows(v, tile, offset, [], body)

    each_column(v, tile, column)


def beside_of(v: Vectors, tile: Tile, other: ir.Value) -> Callable[[ir.Value, ir.Value], ir.Value]:
    """Where another tile of the same shape has the vector that this one has at (offset, row)."""
    stride = v.b.mul(tile.width, v.index(v.size))
    return lambda offset, row: v.pointer(other, v.b.add(offset, v.b.mul(row, stride)))


def product(v: Vectors, x: ir.Value, factor: ir.Value, rest: ir.Value) -> ir.Value:
    """x · (factor + rest), rounded once; with factor alone where x is infinite, since its two products could cancel."""
    return v.fma(x, factor, v.b.select(is_finite(v, x), v.b.fmul(x, rest), v.const(0.0)))


def is_finite(v: Vectors, x: ir.Value) -> ir.Value:
    """0 · x is NaN for everything else."""
    zero = v.b.fmul(x, v.const(0.0))
    return v.b.fcmp_ordered("ord", zero, zero)
