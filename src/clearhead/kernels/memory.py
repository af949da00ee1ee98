"""Memory as the kernels use it: numbers, flags and counters at addresses, rows that are turned.

Scratch holds numbers of the type that is computed in; how the caller's arrays are read and written is in `formats`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from clearhead.kernels.compiler import helper
from clearhead.kernels.tile import product
from clearhead.kernels.vector import BYTE, I32, I64, NUMBER, Vectors, vector_code

LINE = 64  # bytes that a processor fetches at a time


class Rows(NamedTuple):
    """Rows of computed numbers, `step` bytes from one to the next."""

    address: Any
    step: Any


@vector_code
def turn(v: Vectors, source: Rows, target: Rows) -> None:
    """Transpose one lanes × lanes block."""
    rows = [v.load(v.pointer(source.address, v.b.mul(source.step, v.index(r)))) for r in range(v.lanes)]
    for r, row in enumerate(_transposed(v, rows)):
        v.store(row, v.pointer(target.address, v.b.mul(target.step, v.index(r))))


def _transposed(v: Vectors, rows: list[ir.Value]) -> list[ir.Value]:
    """Rows become columns in log₂(lanes) rounds: round s swaps bit s of the row number with bit s of the lane."""
    mask_type = ir.VectorType(I32, v.lanes)
    s = 1
    while s < v.lanes:
        low = [i if not i & s else v.lanes + i - s for i in range(v.lanes)]
        high = [i + s if not i & s else v.lanes + i for i in range(v.lanes)]
        new = list(rows)
        for r in range(v.lanes):
            if not r & s:
                new[r] = v.b.shuffle_vector(rows[r], rows[r + s], ir.Constant(mask_type, low))
                new[r + s] = v.b.shuffle_vector(rows[r], rows[r + s], ir.Constant(mask_type, high))
        rows, s = new, s * 2
    return rows


@vector_code
def turn_scaled(v: Vectors, source: Rows, target: Rows, by: ir.Value, rest: ir.Value) -> None:
    """Transpose one lanes × lanes block, each row times the vector at `by` + the one at `rest`, rounded once."""
    factor, remainder = (v.load(v.pointer(x)) for x in (by, rest))
    rows = [v.load(v.pointer(source.address, v.b.mul(source.step, v.index(r)))) for r in range(v.lanes)]
    for r, row in enumerate(_transposed(v, [product(v, row, factor, remainder) for row in rows])):
        v.store(row, v.pointer(target.address, v.b.mul(target.step, v.index(r))))


@vector_code(returns=types.uint8)
def all_finite(v: Vectors, address: ir.Value, count: ir.Value) -> ir.Value:
    """Whether `count` numbers (a multiple of the lanes) hold no NaN and no infinity: x · 0 is 0 for the others.

    Four sums, as one alone would wait for itself: a quarter of the time.
    """
    four = 4 * v.lanes
    bulk = v.b.sub(count, v.b.srem(count, v.index(four)))

    def zeros(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        base = v.pointer(address, v.b.mul(i, v.index(v.size)))
        found = [v.load(v.b.gep(base, [v.index(n * v.lanes * v.size)])) for n in range(len(sums))]
        return [v.fma(x, v.const(0.0), total) for x, total in zip(found, sums, strict=True)]

    a, b, c, d = v.loop(bulk, four, [v.const(0.0)] * 4, zeros)
    total = v.b.fadd(v.b.fadd(a, b), v.b.fadd(c, d))
    (total,) = v.loop(v.b.sub(count, bulk), v.lanes, [total], lambda i, sums: zeros(v.b.add(bulk, i), sums))
    return v.b.zext(v.b.fcmp_ordered("==", v.reduce_add(total), ir.Constant(v.scalar, 0.0)), BYTE)


@vector_code(returns=NUMBER)
def dot_rows(v: Vectors, one: ir.Value, other: ir.Value, count: ir.Value) -> ir.Value:
    """Σ one · other over `count` numbers at two addresses: as many sums as there are lanes, then those left over."""

    def at(address: ir.Value, i: ir.Value, kind: ir.Type) -> ir.Value:
        return v.load(v.pointer(address, v.b.mul(i, v.index(v.size))), kind)

    whole = v.b.sub(count, v.b.srem(count, v.index(v.lanes)))
    (sums,) = v.loop(
        whole, v.lanes, [v.const(0.0)], lambda i, sums: [v.fma(at(one, i, v.vec), at(other, i, v.vec), sums[0])]
    )

    def left_over(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        place = v.b.add(whole, i)
        return [v.b.fadd(sums[0], v.b.fmul(at(one, place, v.scalar), at(other, place, v.scalar)))]

    (total,) = v.loop(v.b.sub(count, whole), 1, [v.reduce_add(sums)], left_over)
    return total


@vector_code(returns=NUMBER)
def peek(v: Vectors, address: ir.Value) -> ir.Value:
    """The number at an address in scratch."""
    return v.load(v.pointer(address), v.scalar)


@vector_code
def poke(v: Vectors, address: ir.Value, value: ir.Value) -> None:
    """Set the number at an address in scratch."""
    v.store(value, v.pointer(address))


@vector_code(returns=types.intp)
def peek_integer(v: Vectors, address: ir.Value) -> ir.Value:
    """The integer of the element's size at an address in scratch."""
    value = v.load(v.pointer(address), v.word)
    return value if v.size == 8 else v.b.sext(value, I64)


@vector_code
def poke_integer(v: Vectors, address: ir.Value, value: ir.Value) -> None:
    """Set an integer of the element's size at an address in scratch."""
    v.store(value if v.size == 8 else v.b.trunc(value, I32), v.pointer(address))


@vector_code
def clear(v: Vectors, address: ir.Value, count: ir.Value) -> None:
    """Set `count` numbers in scratch to zero."""
    cgutils.memset(v.b, v.pointer(address), v.b.mul(count, v.index(v.size)), 0)


@vector_code
def fill(v: Vectors, address: ir.Value, count: ir.Value, value: ir.Value) -> None:
    """Set `count` numbers in scratch, a multiple of the lanes, to a value."""
    numbers = v.splat(value)
    v.each(count, address, change=lambda _: numbers)


@vector_code
def copy(v: Vectors, source: ir.Value, target: ir.Value, count: ir.Value) -> None:
    """Copy `count` numbers."""
    cgutils.raw_memcpy(v.b, v.pointer(target), v.pointer(source), count, v.size, align=1)


@vector_code
def copy_vectors(v: Vectors, source: ir.Value, target: ir.Value, count: ir.Value) -> None:
    """The same of few numbers, a multiple of the lanes: no function is called."""
    v.each(count, target, source, change=lambda _, numbers: numbers)


@vector_code
def expect(v: Vectors, address: ir.Value, size: ir.Value) -> None:
    """Say that `size` bytes will be read soon, so that they are on their way by then. They need not be anyone's."""
    _expect(v, address, size, writing=0)


@vector_code
def expect_writing(v: Vectors, address: ir.Value, size: ir.Value) -> None:
    """The same of bytes that will be written."""
    _expect(v, address, size, writing=1)


def _expect(v: Vectors, address: ir.Value, size: ir.Value, *, writing: int) -> None:
    how, often, data = (ir.Constant(I32, n) for n in (writing, 3, 1))

    def line(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        v.call("llvm.prefetch.p0", ir.VoidType(), v.pointer(address, i), how, often, data)
        return []

    v.loop(size, LINE, [], line)


@vector_code
def forbid_vectors(v: Vectors, flags: ir.Value, target: ir.Value, count: ir.Value) -> None:
    """Where a byte is 0, set the number in scratch to −inf; count is a multiple of the lanes."""
    zero = ir.Constant(ir.VectorType(BYTE, v.lanes), [0] * v.lanes)

    def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        allowed = v.b.icmp_unsigned("!=", v.load(v.pointer(flags, i), zero.type), zero)
        place = v.pointer(target, v.b.mul(i, v.index(v.size)))
        v.store(v.b.select(allowed, v.load(place), v.const(float("-inf"))), place)
        return []

    v.loop(count, v.lanes, [], turn)


@vector_code(returns=types.intp)
def size_of(v: Vectors) -> ir.Value:
    """Bytes of one computed number."""
    return v.index(v.size)


@vector_code(returns=types.intp)
def lanes_of(v: Vectors) -> ir.Value:
    """Numbers in one vector."""
    return v.index(v.lanes)


@intrinsic
def cast(typing: Any, like: Any, value: Any) -> Any:
    """A number as a computed number."""

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        return context.cast(builder, args[1], value, like)

    return like(like, value), codegen


@intrinsic
def poke_flag(typing: Any, address: Any, value: Any) -> Any:
    """Set a byte to 1 or 0."""

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        flag = context.cast(builder, args[1], value, types.uint8)
        builder.store(flag, builder.inttoptr(args[0], BYTE.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.intp, value), codegen


@intrinsic
def peek_flag(typing: Any, address: Any) -> Any:
    """The byte at an address, 0 or 1."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        return builder.zext(builder.load(builder.inttoptr(args[0], BYTE.as_pointer())), I64)

    return types.intp(types.intp), codegen


@intrinsic
def peek_long(typing: Any, address: Any) -> Any:
    """The 64-bit integer at an address in a caller's array."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        value = builder.load(builder.inttoptr(args[0], I64.as_pointer()))
        value.align = 1
        return value

    return types.intp(types.intp), codegen


@intrinsic
def poke_long(typing: Any, address: Any, value: Any) -> Any:
    """Store a 64-bit integer."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], I64.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), codegen


@intrinsic
def count_flags(typing: Any, address: Any, count: Any) -> Any:
    """How many of `count` bytes that lie together, each 0 or 1, are 1."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        v = Vectors(builder, types.float32)
        whole = builder.sub(args[1], builder.srem(args[1], v.index(v.lanes)))

        def many(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            flags = v.load(v.pointer(args[0], i), ir.VectorType(BYTE, v.lanes))
            return [builder.add(sums[0], builder.zext(flags, v.words))]

        def one(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            flag = v.load(v.pointer(args[0], builder.add(whole, i)), BYTE)
            return [builder.add(sums[0], builder.zext(flag, I64))]

        (sums,) = v.loop(whole, v.lanes, [v.integers(0)], many)
        total = v.call(f"llvm.vector.reduce.add.v{v.lanes}i32", I32, sums)
        (total,) = v.loop(builder.sub(args[1], whole), 1, [builder.zext(total, I64)], one)
        return total

    return types.intp(types.intp, types.intp), codegen


@helper
def round_up(n, step):
    return (n + step - 1) // step * step


@helper
def forbid(like, flags, step, target, count):
    """Where a flag, `step` bytes from the next, is 0, set the number in a row of scratch to −inf."""
    done = 0
    if step == 1:
        done = count - count % lanes_of(like)
        forbid_vectors(like, flags, target, done)
    for j in range(done, count):
        if peek_flag(flags + j * step) == 0:
            poke(like, target + j * size_of(like), cast(like, -np.inf))


@helper
def turn_rows(like, source, target, rows, columns):
    """target[column, row] = source[row, column]; rows and columns are multiples of the lanes."""
    lanes, size = lanes_of(like), size_of(like)
    for r in range(0, rows, lanes):
        for c in range(0, columns, lanes):
            turn(
                like, Rows(source.address + r * source.step + c * size, source.step),
                Rows(target.address + c * target.step + r * size, target.step),
            )  # fmt: skip


@helper
def turn_rows_scaled(like, source, target, rows, columns, by, rest, step):
    """`turn_rows`, and rows are multiplied by a vector at `by` and `rest`, `step` bytes further for each column."""
    lanes, size = lanes_of(like), size_of(like)
    for r in range(0, rows, lanes):
        for c in range(0, columns, lanes):
            turn_scaled(
                like, Rows(source.address + r * source.step + c * size, source.step),
                Rows(target.address + c * target.step + r * size, target.step), by + c * step, rest + c * step,
            )  # fmt: skip


@intrinsic
def fetch_add(typing: Any, address: Any, amount: Any) -> Any:
    """Add to a shared 64-bit counter and return what it held, atomically."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", builder.inttoptr(args[0], I64.as_pointer()), args[1], "monotonic")

    return types.intp(types.intp, types.intp), codegen


def _changed_in_place(change: Any, kind: Any) -> Any:
    """A function of an address and a number, which replaces what lies there."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        element = ir.DoubleType() if kind == types.float64 else I64
        place = builder.inttoptr(args[0], element.as_pointer())
        builder.store(change(builder, builder.load(place), args[1]), place)
        return context.get_dummy_value()

    return types.void(types.intp, kind), codegen


@intrinsic
def add_long(typing: Any, address: Any, value: Any) -> Any:
    """Add to a 64-bit integer."""
    return _changed_in_place(lambda b, old, new: b.add(old, new), types.intp)


@intrinsic
def add_double(typing: Any, address: Any, value: Any) -> Any:
    """Add to a float64."""
    return _changed_in_place(lambda b, old, new: b.fadd(old, new), types.float64)


@intrinsic
def raise_double(typing: Any, address: Any, value: Any) -> Any:
    """Replace a float64 by a larger one."""
    return _changed_in_place(lambda b, old, new: b.select(b.fcmp_ordered(">", new, old), new, old), types.float64)
