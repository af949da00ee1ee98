"""The two products in bfloat16, for processors that multiply pairs: twice as many numbers as of float32 at a time.

The instruction takes vectors of pairs, (x₀, x₁) · (y₀, y₁), and adds x₀y₀ + x₁y₁ to a float32 in each lane. So what a
float32 is elsewhere in this room is here a word of two bfloat16: neighbouring columns of a query and of a key in the
first product, neighbouring keys in the second. Keys are read where they lie, as a row of them is a row of such words;
queries are turned word by word; values are paired, two rows at a time, for each block of keys; and weights are rounded,
two rows at a time, when they are made. An odd one out is paired with zero. Scores, sums and the mixed values are
float32, and queries stay as they came: the scores are scaled, not they.

The instruction takes a number too small for full precision (below 1.2e-38) for zero, and gives zero instead of one.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils

from clearhead.kernels.compiler import helper
from clearhead.kernels.gemm import (
    Operand,
    Product,
    Way,
    by_chunks,
    columns_adder,
    onto_rescaled,
    products,
)
from clearhead.kernels.target import MIDDLE, WIDEST
from clearhead.kernels.tile import Tile, each_column
from clearhead.kernels.vector import I16, I32, Vectors, vector_code

WORD = 4  # bytes of a pair
STORED = 2  # and of one bfloat16


class _BFloat16(ir.Type):
    """LLVM's bfloat, which llvmlite does not know."""

    def __str__(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _BFloat16)

    def __hash__(self) -> int:
        return hash(_BFloat16)


def _stored_in(v: Vectors) -> ir.VectorType:
    """A vector of bfloat16."""
    return ir.VectorType(_BFloat16(), 2 * v.lanes)


def dot(v: Vectors, x: ir.Value, y: ir.Value, total: ir.Value) -> ir.Value:
    """total + x₀y₀ + x₁y₁ in each lane, of words of two bfloat16."""
    pairs = [v.b.bitcast(z, _stored_in(v)) for z in (x, y)]
    return v.call("llvm.x86.avx512bf16.dpbf16ps.512", v.vec, total, *pairs)


def rounded(v: Vectors, first: ir.Value, second: ir.Value) -> ir.Value:
    """Two vectors of float32 rounded to nearest, as words of two bfloat16."""
    halves = v.call("llvm.x86.avx512bf16.cvtne2ps2bf16.512", _stored_in(v), second, first)
    halves = v.b.bitcast(halves, ir.VectorType(I16, 2 * v.lanes))
    order = [place for lane in range(v.lanes) for place in (lane, v.lanes + lane)]
    return v.b.bitcast(_shuffled(v, halves, halves, order), v.words)


def paired(v: Vectors, first: ir.Value, second: ir.Value) -> list[ir.Value]:
    """The words (first[i], second[i]) of two vectors of bfloat16, as bits: two vectors of them."""
    order = [place for lane in range(2 * v.lanes) for place in (lane, 2 * v.lanes + lane)]
    halves = (order[: 2 * v.lanes], order[2 * v.lanes :])
    return [v.b.bitcast(_shuffled(v, first, second, half), v.words) for half in halves]


def _shuffled(v: Vectors, x: ir.Value, y: ir.Value, order: list[int]) -> ir.Value:
    return v.b.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, len(order)), order))


def of_pairs(v: Vectors) -> Way:
    """Words of two bfloat16."""
    return Way(I32, v.words, lambda x, y, total: dot(v, x, y, total))


def multiply_pairs(v: Vectors, product: Product, scale: ir.Value) -> None:
    """C[rows, width] = scale · A · B, where A and B are words of two bfloat16 along the depth."""
    by_chunks(v, of_pairs(v), product, v.splat(scale))


def multiply_add_pairs(v: Vectors, product: Product, alpha: ir.Value) -> None:
    """C[r, :] = C[r, :] · alpha[:] + A · B, where A and B are words of two bfloat16 along the depth."""
    onto_rescaled(v, of_pairs(v), product, alpha)


_wide, _middle, _narrow = (products(n, multiply_pairs) for n in (WIDEST, MIDDLE, 1))
_wide_add, _middle_add, _narrow_add = (products(n, multiply_add_pairs) for n in (WIDEST, MIDDLE, 1))


@helper
def score_pairs(like, vectors, keys, queries, tile, count, columns, scale):
    """tile[key, query] = scale · keys · queries, for `count` Rows of keys that are an even number of columns wide."""
    a = Operand(keys.address, keys.step, WORD)
    depth = (columns + 1) // 2
    if vectors == WIDEST:
        _wide(like, a, queries, tile, count, depth, scale)
    elif vectors == 1:
        _narrow(like, a, queries, tile, count, depth, scale)
    else:
        _middle(like, a, queries, tile, count, depth, scale)


@helper
def mix_pairs(like, vectors, values, weights, mixed, columns, count, alpha):
    """mixed[column, query] = mixed · alpha + valuesᵀ · weights, for the pairs of `count` keys."""
    a = Operand(values, WORD, columns * WORD)
    depth = (count + 1) // 2
    if vectors == WIDEST:
        _wide_add(like, a, weights, mixed, columns, depth, alpha)
    elif vectors == 1:
        _narrow_add(like, a, weights, mixed, columns, depth, alpha)
    else:
        _middle_add(like, a, weights, mixed, columns, depth, alpha)


add_columns_pairs = columns_adder(_wide_add, _middle_add, _narrow_add)


@vector_code
def round_tile(v: Vectors, tile: Tile, target: ir.Value) -> None:
    """target[key / 2, query] = two keys' numbers of a tile, rounded: of an even number of keys."""
    stride = v.b.mul(tile.width, v.index(v.size))

    def column(offset: ir.Value) -> None:
        def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            first = v.b.add(offset, v.b.mul(i, stride))
            two = [v.load(v.pointer(tile.address, x)) for x in (first, v.b.add(first, stride))]
            at = v.b.add(offset, v.b.mul(v.b.sdiv(i, v.index(2)), stride))
            v.store(rounded(v, *two), v.pointer(target, at))
            return []

        v.loop(tile.keys, 2, [], turn)

    each_column(v, tile, column)


@vector_code
def round_rows(v: Vectors, weights: Tile, slopes: ir.Value, pairs: ir.Value) -> None:
    """Round two tiles of an even number of keys, each row into its own first half; slopes also into pairs of keys.

    A column of lanes is rounded into what an earlier one, or itself, was read from.
    """
    stride = v.b.mul(weights.width, v.index(v.size))
    narrow = ir.VectorType(_BFloat16(), v.lanes)

    def column(offset: ir.Value) -> None:
        half = v.b.sdiv(offset, v.index(WORD // STORED))

        def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            rows = [v.b.mul(row, stride) for row in (i, v.b.add(i, v.index(1)))]
            for tile in (weights.address, slopes):
                two = [v.load(v.pointer(tile, v.b.add(row, offset))) for row in rows]
                for row, numbers in zip(rows, two, strict=True):
                    stored = v.call("llvm.x86.avx512bf16.cvtneps2bf16.512", narrow, numbers)
                    v.store(stored, v.pointer(tile, v.b.add(row, half)))
            at = v.b.add(offset, v.b.mul(v.b.sdiv(i, v.index(2)), stride))
            v.store(rounded(v, *two), v.pointer(pairs, at))
            return []

        v.loop(weights.keys, 2, [], turn)

    each_column(v, weights, column)


@vector_code
def pair_rows(v: Vectors, first: ir.Value, second: ir.Value, target: ir.Value, count: ir.Value) -> None:
    """target[column] = the words (first[column], second[column]) for `count` columns, rows of bfloat16 side by side."""
    done = v.index(0)
    for lanes in (2 * v.lanes, v.lanes, 1):
        whole = v.b.sub(count, v.b.srem(count, v.index(lanes)))

        def some(i: ir.Value, _: list[ir.Value], done: ir.Value = done, lanes: int = lanes) -> list[ir.Value]:
            at = v.b.add(done, i)
            kind, words = ir.VectorType(I16, lanes), ir.VectorType(I32, lanes)
            one, other = (v.load(v.pointer(x, v.b.mul(at, v.index(STORED))), kind) for x in (first, second))
            place = v.pointer(target, v.b.mul(at, v.index(WORD)))
            if lanes > v.lanes:
                for n, vector in enumerate(paired(v, one, other)):
                    v.store(vector, v.b.gep(place, [v.index(n * v.lanes * WORD)]))
            else:
                upper = v.b.shl(v.b.zext(other, words), ir.Constant(words, [16] * lanes))
                v.store(v.b.or_(v.b.zext(one, words), upper), place)
            return []

        v.loop(v.b.sub(whole, done), lanes, [], some)
        done = whole


@helper
def pair_keys(like, rows, count, columns, target):
    """target[key / 2, column] = the words of two neighbouring keys. An odd one stands beside itself, with no weight."""
    for r in range(0, count, 2):
        first = rows.address + r * rows.step
        second = first if r + 1 == count else first + rows.step
        pair_rows(like, first, second, target + r // 2 * columns * WORD, columns)


@vector_code
def copy_stored(v: Vectors, source: ir.Value, step: ir.Value, target: ir.Value, count: ir.Value) -> None:
    """`count` bfloat16, `step` bytes from one to the next, side by side."""

    def one(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        number = v.load(v.pointer(source, v.b.mul(i, step)), I16)
        v.store(number, v.pointer(target, v.b.mul(i, v.index(STORED))))
        return []

    together = v.b.icmp_signed("==", step, v.index(STORED))
    with v.b.if_else(together) as (then, otherwise):
        with then:
            cgutils.raw_memcpy(v.b, v.pointer(target), v.pointer(source), count, STORED, align=1)
        with otherwise:
            v.loop(count, 1, [], one)


@vector_code
def clear_stored(v: Vectors, address: ir.Value, count: ir.Value) -> None:
    """Set `count` bfloat16 to zero."""
    cgutils.memset(v.b, v.pointer(address), v.b.mul(count, v.index(STORED)), 0)


@vector_code
def clear_strange(v: Vectors, address: ir.Value, count: ir.Value) -> None:
    """Set those of `count` bfloat16 to zero that are NaN or infinite."""

    def one(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        place = v.pointer(address, v.b.mul(i, v.index(STORED)))
        bits = v.load(place, I16)
        most = ir.Constant(I16, 0x7F80)
        strange = v.b.icmp_unsigned("==", v.b.and_(bits, most), most)
        v.store(v.b.select(strange, ir.Constant(I16, 0), bits), place)
        return []

    v.loop(count, 1, [], one)
