"""Between the caller's arrays and the kernels' scratch.

Arrays come in four float types and in any layout; the kernels compute in float32 or float64 on rows they can walk.
This file reads, converts and writes rows. Only a tile's worth is ever converted at a time, so a bfloat16 cache is never
copied whole.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from clearhead.kernels.compiler import helper
from clearhead.kernels.memory import lanes_of, poke, size_of
from clearhead.kernels.storage import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from clearhead.kernels.target import TARGET
from clearhead.kernels.vector import BYTE, I16, I32, NUMBER, Vectors, vector_code


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
