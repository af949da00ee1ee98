"""The micro-kernel: a small matrix product that lives in registers.

Attention is two of them. Scores are kept transposed, S[key, query], with the queries of a panel side by side in
vector lanes. Then a key row or a value column is a scalar that is spread over the lanes, and both keys and values
are read where they lie, in any layout, with no packing; and the softmax, which runs over keys, needs no sideways
sums. A tile of 6 × 64 or 8 × 32 keeps the machine's multiply-add units busy all the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir

from clearhead.kernels.compiler import helper
from clearhead.kernels.memory import lanes_of, size_of
from clearhead.kernels.target import MIDDLE, PANEL, TARGET, WIDEST
from clearhead.kernels.vector import Vectors, vector_code

# Rows of a tile, by its width in vectors. 8 × 1 are as many sums as two multiply-add units have under way. With 8 × 2
# dense attention is 2 to 3 % faster than with 6 × 2 (d = 64, on Zen 5); with 12 × 2 the addresses of the rows no longer
# fit into registers.
ROWS = {1: 8, MIDDLE: 8, WIDEST: TARGET.rows}
UNROLL = 2  # terms in a turn of the innermost loop: 1 % of the time of attention
CHUNK = 32  # terms summed before they join the rest: three quarters of the error of one long sum, for 1 % of the time


class Operand(NamedTuple):
    """A matrix whose element (r, s) lies at address + r · row + s · step, in bytes."""

    address: Any
    row: Any
    step: Any


class Columns(NamedTuple):
    """A matrix of `rows` rows from row `first` on. Its columns lie in panels: a panel's rows, then the next one's."""

    address: Any
    rows: Any
    first: Any


class Way(NamedTuple):
    """How a number of A, spread over the lanes, is multiplied with a vector of B."""

    of_a: ir.Type  # what is spread
    of_b: ir.Type
    times: Callable[[ir.Value, ir.Value, ir.Value], ir.Value]  # x, y, z → x · y + z


def of_numbers(v: Vectors) -> Way:
    """Numbers of the type that is computed in."""
    return Way(v.scalar, v.vec, v.fma)


class Product(NamedTuple):
    """C[rows, width] of A[rows, depth] and B[depth, width], width = vectors · lanes, B and C contiguous."""

    rows: int
    vectors: int
    a: Operand
    b: Any
    c: Any
    depth: Any


def multiply(v: Vectors, product: Product, scale: ir.Value) -> None:
    """C = A · B. Nothing is scaled here: the scale is in B."""
    by_chunks(v, of_numbers(v), product)


def multiply_add(v: Vectors, product: Product, alpha: ir.Value) -> None:
    """C[r, :] = C[r, :] · alpha[:] + A · B: the rescaling of online softmax rides along.

    Where alpha is no address but 0, nothing is there yet: C = A · B.
    """
    onto_rescaled(v, of_numbers(v), product, alpha)


def by_chunks(v: Vectors, way: Way, product: Product, scale: ir.Value | None = None) -> None:
    """C = A · B, or that times a scale, summed a chunk at a time."""
    builder = v.b
    rows, vectors, a, b, c, depth = product
    places = [v.pointer(c, n * v.lanes * v.size) for n in range(rows * vectors)]
    first = builder.select(builder.icmp_signed("<", depth, v.index(CHUNK)), depth, v.index(CHUNK))
    for place, total in zip(places, _accumulate(v, way, product._replace(depth=first)), strict=True):
        v.store(total if scale is None else builder.fmul(total, scale), place)

    def add_chunk(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        start = builder.add(first, i)
        left = builder.sub(depth, start)
        here = builder.select(builder.icmp_signed("<", left, v.index(CHUNK)), left, v.index(CHUNK))
        a_here = a._replace(address=builder.add(a.address, builder.mul(start, a.step)))
        b_here = builder.add(b, builder.mul(start, v.index(vectors * v.lanes * v.size)))
        sums = _accumulate(v, way, Product(rows, vectors, a_here, b_here, c, here))
        for place, total in zip(places, sums, strict=True):
            so_far = v.load(place)
            v.store(builder.fadd(so_far, total) if scale is None else v.fma(total, scale, so_far), place)
        return []

    v.loop(builder.sub(depth, first), CHUNK, [], add_chunk)


def onto_rescaled(v: Vectors, way: Way, product: Product, alpha: ir.Value) -> None:
    """C[r, :] = C[r, :] · alpha[:] + A · B, or A · B where alpha is 0."""
    sums = _accumulate(v, way, product)
    places = [v.pointer(product.c, n * v.lanes * v.size) for n in range(len(sums))]
    with v.b.if_else(v.b.icmp_signed("==", alpha, v.index(0))) as (first, later):
        with first:
            for total, place in zip(sums, places, strict=True):
                v.store(total, place)
        with later:
            scales = [v.load(v.pointer(alpha, u * v.lanes * v.size)) for u in range(product.vectors)]
            for n, (total, place) in enumerate(zip(sums, places, strict=True)):
                # added at the end, not summed onto: small terms added one by one to a large sum lose their digits
                # (RMS error at n = 4096: 1.2e-8, against 3.1e-8)
                v.store(v.fma(v.load(place), scales[n % product.vectors], total), place)


def _accumulate(v: Vectors, way: Way, product: Product) -> list[ir.Value]:
    """A · B, one accumulator per row and vector; sums run over depth in order, so the bits never vary."""
    rows, vectors, a, b, _, depth = product
    width = vectors * v.lanes * v.size
    bases = [v.pointer(a.address, v.b.mul(a.row, v.index(r))) for r in range(rows)]

    def step(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        offset = v.b.mul(i, a.step)
        here = v.pointer(b, v.b.mul(i, v.index(width)))
        columns = [v.load(v.b.gep(here, [v.index(u * v.lanes * v.size)]), way.of_b) for u in range(vectors)]
        new = []
        for r in range(rows):
            x = v.splat(v.load(v.b.gep(bases[r], [offset]), way.of_a))
            new += [way.times(x, columns[u], sums[r * vectors + u]) for u in range(vectors)]
        return new

    whole = v.b.and_(depth, v.index(-UNROLL))

    def steps(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        for n in range(UNROLL):
            sums = step(v.b.add(i, v.index(n)), sums)
        return sums

    sums = v.loop(whole, UNROLL, [v.const(0.0)] * (rows * vectors), steps)
    return v.loop(v.b.sub(depth, whole), 1, sums, lambda i, sums: step(v.b.add(whole, i), sums))


def products(vectors: int, of_a_tile: Callable[[Vectors, Product, ir.Value], None]) -> Any:
    """A product of any number of rows, in panels `vectors` wide; the last few rows go by fours, twos and ones.

    by: what the product of a tile is scaled by, or where what its sums so far are scaled by lies.
    """

    @vector_code(apart=f"{of_a_tile.__name__}_{vectors}")
    def product(
        v: Vectors, a: Operand, b: ir.Value, c: ir.Value, rows: ir.Value, depth: ir.Value, by: ir.Value
    ) -> None:
        width = vectors * v.lanes * v.size

        def from_row(start: ir.Value, count: int) -> ir.Value:
            """As many times as there are so many rows left; returns the row after them."""
            left = v.b.sub(rows, start)

            def some(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
                row = v.b.add(start, i)
                here = a._replace(address=v.b.add(a.address, v.b.mul(row, a.row)))
                target = v.b.add(c, v.b.mul(row, v.index(width)))
                of_a_tile(v, Product(count, vectors, here, b, target, depth), by)
                return []

            done = v.b.sub(left, v.b.srem(left, v.index(count)))
            v.loop(done, count, [], some)
            return v.b.add(start, done)

        row = v.index(0)
        for count in sorted({ROWS[vectors], 4, 2, 1}, reverse=True):  # without fours, d = 36 and 60 take 3 % longer
            row = from_row(row, count)

    return product


_wide, _middle, _narrow = (products(n, multiply) for n in (WIDEST, MIDDLE, 1))
_wide_add, _middle_add, _narrow_add = (products(n, multiply_add) for n in (WIDEST, MIDDLE, 1))


_panel, _panel_add = (_middle, _middle_add) if MIDDLE == PANEL else (_wide, _wide_add)


@helper
def score_panel(like, vectors, keys, queries, tile, count, depth):
    """tile[key, query] = keys · queries, for `count` Rows of keys and a panel of one vector or PANEL."""
    a = Operand(keys.address, keys.step, size_of(like))
    if vectors == 1:
        _narrow(like, a, queries, tile, count, depth, 1)
    else:
        _panel(like, a, queries, tile, count, depth, 1)


@helper
def mix_panel(like, vectors, values, tile, mixed, columns, count, alpha):
    """mixed[column, query] = mixed · alpha + valuesᵀ · tile, for `count` Rows of values; alpha 0: nothing is mixed."""
    a = Operand(values.address, size_of(like), values.step)
    if vectors == 1:
        _narrow_add(like, a, tile, mixed, columns, count, alpha)
    else:
        _panel_add(like, a, tile, mixed, columns, count, alpha)


@helper
def score(like, vectors, keys, queries, tile, count, depth):
    """The same for a panel of any width."""
    a = Operand(keys.address, keys.step, size_of(like))
    if vectors == WIDEST:
        _wide(like, a, queries, tile, count, depth, 1)
    elif vectors == 1:
        _narrow(like, a, queries, tile, count, depth, 1)
    else:
        _middle(like, a, queries, tile, count, depth, 1)


@helper
def mix(like, vectors, values, tile, mixed, columns, count, alpha):
    """mixed[column, query] = mixed · alpha + valuesᵀ · tile, for `count` Rows of values."""
    a = Operand(values.address, size_of(like), values.step)
    if vectors == WIDEST:
        _wide_add(like, a, tile, mixed, columns, count, alpha)
    elif vectors == 1:
        _narrow_add(like, a, tile, mixed, columns, count, alpha)
    else:
        _middle_add(like, a, tile, mixed, columns, count, alpha)


@helper
def panel_vectors(like, columns):
    """How many vectors wide the next panel of `columns` columns is."""
    lanes = lanes_of(like)
    if columns <= lanes:
        return 1
    return MIDDLE if columns <= MIDDLE * lanes else WIDEST


def columns_adder(wide: Any, middle: Any, narrow: Any) -> Any:
    """C += A · B for `columns` Columns of all rows of B, and of so many rows of C. ones: a row of ones."""

    def add(like, a, b, c, rows, columns, ones):
        size, lanes = size_of(like), lanes_of(like)
        x = 0
        while x < columns:
            vectors = panel_vectors(like, columns - x)
            source, target = b.address + x * b.rows * size, c.address + (x * c.rows + c.first * vectors * lanes) * size
            if vectors == WIDEST:
                wide(like, a, source, target, rows, b.rows, ones)
            elif vectors == 1:
                narrow(like, a, source, target, rows, b.rows, ones)
            else:
                middle(like, a, source, target, rows, b.rows, ones)
            x += vectors * lanes

    return helper(add)


add_columns = columns_adder(_wide_add, _middle_add, _narrow_add)
