"""The micro-kernel: a small matrix product that lives in registers.

Attention is two of them. Scores are kept transposed, S[key, query], with the queries of a panel side by side in
vector lanes. Then a key row or a value column is a scalar that is spread over the lanes, and both keys and values
are read where they lie, in any layout, with no packing; and the softmax, which runs over keys, needs no sideways
sums. A 6 × 64 tile keeps the machine's multiply-add units busy all the time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from clearhead.kernels.compiler import helper, inlined, named_helper
from clearhead.kernels.memory import lanes_of, size_of
from clearhead.kernels.target import TARGET
from clearhead.kernels.vector import Vectors

ROWS = TARGET.rows
WIDEST = TARGET.vectors
MIDDLE = max(WIDEST // 2, 1)
CHUNK = 32  # terms summed before they join the rest: three quarters of the error of one long sum, for 1 % of the time


@intrinsic(prefer_literal=True)
def multiply(
    typing: Any, like: Any, rows: Any, vectors: Any, a: Any, a_row: Any, a_step: Any, b: Any, c: Any, depth: Any
) -> Any:
    """C[rows, width] = A[rows, depth] · B[depth, width], width = vectors · lanes, B and C contiguous.

    A's element (r, s) lies at a + r · a_row + s · a_step, in bytes.
    """
    signature = types.void(like, rows, vectors, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, _, _, a, a_row, a_step, b, c, depth = args
        count, columns = rows.literal_value, vectors.literal_value
        places = [v.pointer(c, n * v.lanes * v.size) for n in range(count * columns)]
        first = builder.select(builder.icmp_signed("<", depth, v.index(CHUNK)), depth, v.index(CHUNK))
        for place, total in zip(places, _accumulate(v, count, columns, a, a_row, a_step, b, first), strict=True):
            v.store(total, place)

        def add_chunk(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            start = builder.add(first, i)
            left = builder.sub(depth, start)
            here = builder.select(builder.icmp_signed("<", left, v.index(CHUNK)), left, v.index(CHUNK))
            a_here = builder.add(a, builder.mul(start, a_step))
            b_here = builder.add(b, builder.mul(start, v.index(columns * v.lanes * v.size)))
            sums = _accumulate(v, count, columns, a_here, a_row, a_step, b_here, here)
            for place, total in zip(places, sums, strict=True):
                v.store(builder.fadd(v.load(place), total), place)
            return []

        v.loop(builder.sub(depth, first), CHUNK, [], add_chunk)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic(prefer_literal=True)
def multiply_add(
    typing: Any,
    like: Any,
    rows: Any,
    vectors: Any,
    a: Any,
    a_row: Any,
    a_step: Any,
    b: Any,
    c: Any,
    depth: Any,
    alpha: Any,
) -> Any:
    """C[r, :] = C[r, :] · alpha[:] + A · B: the rescaling of online softmax rides along."""
    signature = types.void(
        like, rows, vectors, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp
    )

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, like)
        _, _, _, a, a_row, a_step, b, c, depth, alpha = args
        columns = vectors.literal_value
        sums = _accumulate(v, rows.literal_value, columns, a, a_row, a_step, b, depth)
        scales = [v.load(v.pointer(alpha, u * v.lanes * v.size)) for u in range(columns)]
        for n, total in enumerate(sums):
            # added at the end, not summed onto: small terms added one by one to a large sum lose their digits
            # (RMS error at n = 4096: 1.2e-8, against 3.1e-8)
            place = v.pointer(c, n * v.lanes * v.size)
            v.store(v.fma(v.load(place), scales[n % columns], total), place)
        return context.get_dummy_value()

    return signature, codegen


def _accumulate(
    v: Vectors,
    rows: int,
    vectors: int,
    a: ir.Value,
    a_row: ir.Value,
    a_step: ir.Value,
    b: ir.Value,
    depth: ir.Value,
) -> list[ir.Value]:
    """A · B, one accumulator per row and vector; sums run over depth in order, so the bits never vary."""
    width = vectors * v.lanes * v.size
    bases = [v.pointer(a, v.b.mul(a_row, v.index(r))) for r in range(rows)]

    def step(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        offset = v.b.mul(i, a_step)
        here = v.pointer(b, v.b.mul(i, v.index(width)))
        columns = [v.load(v.b.gep(here, [v.index(u * v.lanes * v.size)])) for u in range(vectors)]
        new = []
        for r in range(rows):
            x = v.splat(v.load(v.b.gep(bases[r], [offset]), v.scalar))
            new += [v.fma(x, columns[u], sums[r * vectors + u]) for u in range(vectors)]
        return new

    return v.loop(depth, 1, [v.const(0.0)] * (rows * vectors), step)


def _products(vectors):
    """The two products of attention for panels that are `vectors` wide; the last few rows go by twos and ones."""

    def product(like, a, a_row, a_step, b, c, rows, depth):
        width = vectors * lanes_of(like) * size_of(like)
        r = 0
        while rows - r >= ROWS:
            multiply(like, ROWS, vectors, a + r * a_row, a_row, a_step, b, c + r * width, depth)
            r += ROWS
        while rows - r >= 2:
            multiply(like, 2, vectors, a + r * a_row, a_row, a_step, b, c + r * width, depth)
            r += 2
        if rows - r:
            multiply(like, 1, vectors, a + r * a_row, a_row, a_step, b, c + r * width, depth)

    def product_add(like, a, a_row, a_step, b, c, rows, depth, alpha):
        width = vectors * lanes_of(like) * size_of(like)
        r = 0
        while rows - r >= ROWS:
            multiply_add(
                like, ROWS, vectors, a + r * a_row, a_row, a_step, b, c + r * width, depth,
                alpha,
            )  # fmt: skip
            r += ROWS
        while rows - r >= 2:
            multiply_add(
                like, 2, vectors, a + r * a_row, a_row, a_step, b, c + r * width, depth,
                alpha,
            )  # fmt: skip
            r += 2
        if rows - r:
            multiply_add(
                like, 1, vectors, a + r * a_row, a_row, a_step, b, c + r * width, depth,
                alpha,
            )  # fmt: skip

    return [named_helper(f"{f.__name__}_{vectors}", f) for f in (product, product_add)]


_wide, _wide_add = _products(WIDEST)
_middle, _middle_add = _products(MIDDLE)
_narrow, _narrow_add = _products(1)


@inlined
def scores(like, vectors, key, key_row, key_step, queries, tile, rows, depth):
    """tile[key, query] = keys · queries."""
    if vectors == WIDEST:
        _wide(like, key, key_row, key_step, queries, tile, rows, depth)
    elif vectors == 1:
        _narrow(like, key, key_row, key_step, queries, tile, rows, depth)
    else:
        _middle(like, key, key_row, key_step, queries, tile, rows, depth)


@helper
def mix(like, vectors, value, value_row, value_step, tile, mixed, columns, rows, alpha):
    """mixed[column, query] = mixed · alpha + valuesᵀ · tile."""
    if vectors == WIDEST:
        _wide_add(like, value, value_step, value_row, tile, mixed, columns, rows, alpha)
    elif vectors == 1:
        _narrow_add(like, value, value_step, value_row, tile, mixed, columns, rows, alpha)
    else:
        _middle_add(like, value, value_step, value_row, tile, mixed, columns, rows, alpha)


@helper
def panel_vectors(like, columns):
    """How many vectors wide the next panel of `columns` columns is."""
    lanes = lanes_of(like)
    if columns <= lanes:
        return 1
    return MIDDLE if columns <= MIDDLE * lanes else WIDEST


@helper
def add_columns(like, a, a_row, a_step, b, c, rows, depth, columns, b_rows, c_rows, c_first, ones):
    """C += A · B for matrices whose columns lie in panels: a panel's rows, then the next panel's.

    B has b_rows rows of which `depth` are used, C has c_rows of which `rows` are, from c_first on. ones: a row of ones.
    """
    size, lanes = size_of(like), lanes_of(like)
    x = 0
    while x < columns:
        vectors = panel_vectors(like, columns - x)
        from_, to = b + x * b_rows * size, c + (x * c_rows + c_first * vectors * lanes) * size
        if vectors == WIDEST:
            _wide_add(like, a, a_row, a_step, from_, to, rows, depth, ones)
        elif vectors == 1:
            _narrow_add(like, a, a_row, a_step, from_, to, rows, depth, ones)
        else:
            _middle_add(like, a, a_row, a_step, from_, to, rows, depth, ones)
        x += vectors * lanes
