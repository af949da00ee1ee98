"""Between the caller's arrays and the kernels' scratch.

Arrays come in four float types and in any layout; the kernels compute in float32 or float64 on rows they can walk.
This file reads, converts, turns and writes rows. Only a tile's worth is ever converted at a time, so a bfloat16
cache is never copied whole.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from clearhead.kernels.compiler import helper
from clearhead.kernels.target import TARGET
from clearhead.kernels.vector import BYTE, I16, I32, I64, NUMBER, Vectors, vector_code

# How a number is stored: what Strided.stored says.
FLOAT16, BFLOAT16, FLOAT32, FLOAT64 = range(4)
KINDS = {"float16": FLOAT16, "bfloat16": BFLOAT16, "float32": FLOAT32, "float64": FLOAT64}


@functools.cache
def stored_kind(dtype: np.dtype[Any]) -> int:
    """How a float type is stored; 0 for booleans and integers, which are not read as floats."""
    return KINDS.get(dtype.name, 0)


def _shaped(element: ir.Type, like: ir.Type) -> ir.Type:
    """`element`, or as many of them as `like` has."""
    return ir.VectorType(element, like.count) if isinstance(like, ir.VectorType) else element


def _const(kind: ir.Type, n: float) -> ir.Constant:
    return ir.Constant(kind, [n] * kind.count if isinstance(kind, ir.VectorType) else n)


def _widened(v: Vectors, raw: ir.Value, kind: int) -> ir.Value:
    """Stored numbers as numbers to compute with. Only a float64 bias beside float32 queries is rounded by it."""
    if kind == BFLOAT16:
        raw = _from_bfloat16(v.b, raw)
    elif kind == FLOAT16:
        raw = v.b.bitcast(raw, _shaped(ir.HalfType(), raw.type)) if TARGET.converts_half else _from_half(v.b, raw)
    wide = _shaped(v.scalar, raw.type)
    if raw.type == wide:
        return raw
    return (v.b.fptrunc if kind == FLOAT64 else v.b.fpext)(raw, wide)


def _narrowed(v: Vectors, value: ir.Value, kind: int) -> ir.Value:
    """Computed numbers rounded to nearest, ties to even, as they are stored."""
    if kind == FLOAT64 or (kind == FLOAT32 and v.size == 4):
        return value
    if v.size == 8:
        value = v.b.fptrunc(value, _shaped(ir.FloatType(), value.type)) if kind == FLOAT32 else _to_odd(v.b, value)
    if kind == FLOAT32:
        return value
    if kind == BFLOAT16:
        return _to_bfloat16(v.b, value)
    return v.b.fptrunc(value, _shaped(ir.HalfType(), value.type)) if TARGET.converts_half else _to_half(v.b, value)


def _to_odd(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """float64 → float32 with the last bit set where it is not exact, so that rounding once more rounds only once."""
    whole, single = _shaped(I32, value.type), _shaped(ir.FloatType(), value.type)
    flag = _shaped(ir.IntType(1), value.type)
    near = b.fptrunc(value, single)
    back = b.fpext(near, value.type)
    zero = _const(value.type, 0.0)
    negative = b.fcmp_ordered("<", value, zero)
    beyond = b.select(negative, b.fcmp_ordered("<", back, value), b.fcmp_ordered(">", back, value))
    inexact = b.fcmp_unordered("!=", back, value)
    bits = b.sub(b.bitcast(near, whole), b.zext(b.and_(beyond, inexact), whole))
    return b.bitcast(b.or_(bits, b.zext(b.and_(inexact, _const(flag, 1)), whole)), single)


def _from_bfloat16(b: ir.IRBuilder, raw: ir.Value) -> ir.Value:
    """bfloat16 is the upper half of a float32."""
    whole = _shaped(I32, raw.type)
    return b.bitcast(b.shl(b.zext(raw, whole), _const(whole, 16)), _shaped(ir.FloatType(), raw.type))


def _to_bfloat16(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    whole, half = _shaped(I32, value.type), _shaped(I16, value.type)
    bits = b.bitcast(value, whole)
    even = b.and_(b.lshr(bits, _const(whole, 16)), _const(whole, 1))
    rounded = b.add(bits, b.add(even, _const(whole, 0x7FFF)))
    quiet = b.or_(bits, _const(whole, 0x400000))  # rounding a NaN up could carry into infinity
    bits = b.select(b.fcmp_unordered("uno", value, value), quiet, rounded)
    return b.trunc(b.lshr(bits, _const(whole, 16)), half)


def _from_half(b: ir.IRBuilder, raw: ir.Value) -> ir.Value:
    """float16 by hand, where there is no instruction for it: move the bits up, then multiply the exponent right."""
    whole, single = _shaped(I32, raw.type), _shaped(ir.FloatType(), raw.type)
    bits = b.zext(raw, whole)
    sign = b.shl(b.and_(bits, _const(whole, 0x8000)), _const(whole, 16))
    size = b.and_(bits, _const(whole, 0x7FFF))
    moved = b.shl(size, _const(whole, 13))
    finite = b.fmul(b.bitcast(moved, single), _const(single, 2.0**112))
    strange = b.or_(moved, _const(whole, 0x7F800000))
    bits = b.select(b.icmp_unsigned(">=", size, _const(whole, 0x7C00)), strange, b.bitcast(finite, whole))
    return b.bitcast(b.or_(bits, sign), single)


def _to_half(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """float16 by hand: adding ½ lets the adder round what becomes subnormal; elsewhere round and shift the bits."""
    whole, half, single = (_shaped(t, value.type) for t in (I32, I16, ir.FloatType()))
    bits = b.bitcast(value, whole)
    sign = b.and_(bits, _const(whole, -0x80000000))
    size = b.xor(bits, sign)
    shifted = b.fadd(b.bitcast(size, single), _const(single, 0.5))
    tiny = b.sub(b.bitcast(shifted, whole), _const(whole, 0x3F000000))
    odd = b.and_(b.lshr(size, _const(whole, 13)), _const(whole, 1))
    normal = b.lshr(b.add(b.add(size, _const(whole, 0xFFF - (112 << 23))), odd), _const(whole, 13))
    nan = b.icmp_unsigned(">", size, _const(whole, 0x7F800000))
    huge = b.select(nan, _const(whole, 0x7E00), _const(whole, 0x7C00))
    result = b.select(b.icmp_unsigned("<", size, _const(whole, 0x38800000)), tiny, normal)
    result = b.select(b.icmp_unsigned(">=", size, _const(whole, 0x47800000)), huge, result)
    return b.trunc(b.or_(result, b.lshr(sign, _const(whole, 16))), half)


FORMATS: dict[int, tuple[ir.Type, int]] = {
    FLOAT16: (I16, 2),
    BFLOAT16: (I16, 2),
    FLOAT32: (ir.FloatType(), 4),
    FLOAT64: (ir.DoubleType(), 8),
}


class Rows(NamedTuple):
    """Rows of computed numbers, `step` bytes from one to the next."""

    address: Any
    step: Any


@vector_code(returns=NUMBER)
def read(v: Vectors, kind: int, address: ir.Value) -> ir.Value:
    """One stored number."""
    element, _ = FORMATS[kind]
    return _widened(v, v.load(v.pointer(address), element), kind)


@vector_code
def read_vectors(v: Vectors, kind: int, source: ir.Value, target: ir.Value, count: ir.Value) -> None:
    """Convert the first count (a multiple of the lanes) of a run of stored numbers."""
    element, size = FORMATS[kind]

    def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        raw = v.load(v.pointer(source, v.b.mul(i, v.index(size))), ir.VectorType(element, v.lanes))
        v.store(_widened(v, raw, kind), v.pointer(target, v.b.mul(i, v.index(v.size))))
        return []

    v.loop(count, v.lanes, [], turn)


@vector_code
def write_vectors(v: Vectors, kind: int, source: ir.Value, target: ir.Value, count: ir.Value) -> None:
    """Round the first count (a multiple of the lanes) of a run of computed numbers to their stored form."""
    _, size = FORMATS[kind]

    def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
        value = v.load(v.pointer(source, v.b.mul(i, v.index(v.size))))
        v.store(_narrowed(v, value, kind), v.pointer(target, v.b.mul(i, v.index(size))))
        return []

    v.loop(count, v.lanes, [], turn)


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


@vector_code(returns=types.uint8)
def all_finite(v: Vectors, address: ir.Value, count: ir.Value) -> ir.Value:
    """Whether `count` numbers (a multiple of the lanes) hold no NaN and no infinity: x · 0 is 0 for the others."""

    def step(i: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        x = v.load(v.pointer(address, v.b.mul(i, v.index(v.size))))
        return [v.fma(x, v.const(0.0), sums[0])]

    (total,) = v.loop(count, v.lanes, [v.const(0.0)], step)
    return v.b.zext(v.b.fcmp_ordered("==", v.reduce_add(total), ir.Constant(v.scalar, 0.0)), BYTE)


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
def copy(v: Vectors, source: ir.Value, target: ir.Value, count: ir.Value) -> None:
    """Copy `count` numbers within scratch."""
    cgutils.raw_memcpy(v.b, v.pointer(target), v.pointer(source), count, v.size, align=1)


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
def stored_size(kind):
    """Bytes of one stored number."""
    return 2 if kind <= BFLOAT16 else (4 if kind == FLOAT32 else 8)


@helper
def read_one(like, kind, address):
    if kind == FLOAT16:
        return read(like, FLOAT16, address)
    if kind == BFLOAT16:
        return read(like, BFLOAT16, address)
    if kind == FLOAT32:
        return read(like, FLOAT32, address)
    return read(like, FLOAT64, address)


@helper
def read_row(array, source, target, count):
    """Convert `count` stored numbers of a row of a caller's array into a run of computed ones."""
    like, kind, step = array.like, array.stored, array.column
    done = 0
    if step == stored_size(kind):
        done = count - count % lanes_of(like)
        if kind == FLOAT16:
            read_vectors(like, FLOAT16, source, target, done)
        elif kind == BFLOAT16:
            read_vectors(like, BFLOAT16, source, target, done)
        elif kind == FLOAT32:
            read_vectors(like, FLOAT32, source, target, done)
        else:
            read_vectors(like, FLOAT64, source, target, done)
    for x in range(done, count):
        poke(like, target + x * size_of(like), read_one(like, kind, source + x * step))


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
def write_row(array, source, target, count, spare):
    """Round a run of computed numbers into a row of a caller's array."""
    like, kind, step = array.like, array.stored, array.column
    size = stored_size(kind)
    lanes = lanes_of(like)
    done = count - count % lanes if step == size else 0
    _write(like, kind, source, target, done)
    for x in range(done, count, lanes):  # what does not fill a vector, or does not lie together, goes by way of spare
        here = min(lanes, count - x)
        _write(like, kind, source + x * size_of(like), spare, lanes)
        for i in range(here):
            for byte in range(size):
                _copy_byte(spare + i * size + byte, target + (x + i) * step + byte)


@helper
def _write(like, kind, source, target, count):
    if kind == FLOAT16:
        write_vectors(like, FLOAT16, source, target, count)
    elif kind == BFLOAT16:
        write_vectors(like, BFLOAT16, source, target, count)
    elif kind == FLOAT32:
        write_vectors(like, FLOAT32, source, target, count)
    elif size_of(like) == 8:
        write_vectors(like, FLOAT64, source, target, count)


@intrinsic
def _copy_byte(typing: Any, source: Any, target: Any) -> Any:
    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        pointers = [builder.inttoptr(a, BYTE.as_pointer()) for a in args]
        builder.store(builder.load(pointers[0]), pointers[1])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), codegen


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
