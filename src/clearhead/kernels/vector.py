"""Vector arithmetic as LLVM IR.

numba compiles loops, but whether LLVM turns a loop into the vector code one had in mind is luck. A kernel that
must run at the speed of the machine says which vectors it wants, and this file is how: `Vectors` writes vector
instructions into a numba function that is being compiled. It holds no state of its own beyond that function's
builder and works in float32 or float64. `vector_code` makes a function that writes them into one that kernels call.
"""

from __future__ import annotations

import functools
import inspect
import math
import typing
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.types.containers import BaseNamedTuple
from numba.core.types.misc import unliteral
from numba.extending import intrinsic

from clearhead.kernels.struct_types import Struct
from clearhead.kernels.target import TARGET

BYTE, I16, I32, I64 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)
BYTES = BYTE.as_pointer()

# Polynomials, highest power first, fitted by Remez exchange for the least relative error; key: bytes of the type.
# 2^x on [0, 1], off by at most 2e-9 and 3e-18 before rounding.
EXP2 = {
    4: (
        0.00021565984934568405, 0.0012482288293540478, 0.009673775173723698, 0.05548618361353874,
        0.24022908508777618, 0.6931470632553101, 1.0,
    ),
    8: (
        6.270925043393652e-10, 6.555689521327556e-09, 1.0254061745043982e-07, 1.3208261757711914e-06,
        1.5253183139822172e-05, 0.00015403511915316432, 0.0013333558641776813, 0.009618129099318822,
        0.055504108665627334, 0.24022650695906198, 0.693147180559946, 1.0,
    ),
}  # fmt: skip
# Exponents from here down give 0. With AVX-512 the instruction that scales by a power of two underflows by itself;
# elsewhere the exponent is put together by hand and has to be that of a normal number.
LEAST_EXPONENT = {4: -200.0, 8: -1200.0} if TARGET.name == "avx512" else {4: -126.0, 8: -1022.0}
# tanh(x) / x in powers of x² for |x| < ¼, off by at most 2e-11 and 4e-18.
TANH = {
    4: (0.020540015315475004, -0.053896514070928643, 0.13333174198212592, -0.33333332094056398, 1.0),
    8: (
        -0.0013168218538160854, 0.0035782876933283391, -0.0088625107010256968, 0.021869467420642333,
        -0.053968253633515261, 0.13333333333072417, -0.33333333333332558, 1.0,
    ),
}  # fmt: skip


class Vectors:
    """Writes vector instructions of one element type with `builder`."""

    def __init__(self, builder: ir.IRBuilder, element: types.Type) -> None:
        self.b = builder
        self.size = 4 if element == types.float32 else 8
        self.lanes = TARGET.lanes(self.size)
        self.scalar = ir.FloatType() if self.size == 4 else ir.DoubleType()
        self.word = I32 if self.size == 4 else I64
        self.vec = ir.VectorType(self.scalar, self.lanes)
        self.words = ir.VectorType(self.word, self.lanes)

    # constants

    def index(self, n: int) -> ir.Constant:
        return ir.Constant(I64, n)

    def const(self, x: float) -> ir.Constant:
        return ir.Constant(self.vec, [_rounded(x, self.size)] * self.lanes)

    def integers(self, n: int | Sequence[int]) -> ir.Constant:
        return ir.Constant(self.words, [n] * self.lanes if isinstance(n, int) else list(n))

    # memory: addresses are integers, offsets are bytes, nothing needs to be aligned

    def pointer(self, address: ir.Value, offset: ir.Value | int = 0) -> ir.Value:
        if isinstance(offset, int):
            offset = self.index(offset)
        return self.b.gep(self.b.inttoptr(address, BYTES), [offset])

    def load(self, pointer: ir.Value, kind: ir.Type | None = None) -> ir.Value:
        value = self.b.load(self.b.bitcast(pointer, (kind or self.vec).as_pointer()))
        value.align = 1
        return value

    def store(self, value: ir.Value, pointer: ir.Value) -> None:
        self.b.store(value, self.b.bitcast(pointer, value.type.as_pointer())).align = 1

    def splat(self, scalar: ir.Value) -> ir.Value:
        kind = ir.VectorType(scalar.type, self.lanes)
        undefined = ir.Constant(kind, ir.Undefined)
        one = self.b.insert_element(undefined, scalar, ir.Constant(I32, 0))
        return self.b.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(I32, self.lanes), [0] * self.lanes))

    # arithmetic

    def call(self, name: str, result: ir.Type, *args: ir.Value, **flags: Any) -> ir.Value:
        module = self.b.module
        function = module.globals.get(name) or ir.Function(
            module, ir.FunctionType(result, [a.type for a in args]), name
        )
        return self.b.call(function, args, **flags)

    def suffix(self) -> str:
        return f"v{self.lanes}f{self.size * 8}"

    def fma(self, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
        if TARGET.name == "generic":  # without the instruction, llvm.fma is a library call per lane
            return self.b.fadd(self.b.fmul(x, y), z)
        return self.call(f"llvm.fma.{self.suffix()}", self.vec, x, y, z)

    def max(self, x: ir.Value, y: ir.Value) -> ir.Value:
        """The larger; y where x is NaN."""
        return self.b.select(self.b.fcmp_ordered(">", x, y), x, y)

    def abs(self, x: ir.Value) -> ir.Value:
        return self.call(f"llvm.fabs.{self.suffix()}", self.vec, x)

    def select(self, where: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.select(where, x, y)

    def any(self, flags: ir.Value) -> ir.Value:
        """Whether a lane says yes."""
        bits = self.b.bitcast(flags, ir.IntType(self.lanes))
        return self.b.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    def polynomial(self, x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
        """Highest power first, by Horner's rule."""
        value = self.const(coefficients[0])
        for c in coefficients[1:]:
            value = self.fma(value, x, self.const(c))
        return value

    def exp2(self, x: ir.Value) -> ir.Value:
        """2^x for x ≤ 0: exactly 0 for −inf, NaN for NaN."""
        if TARGET.name == "avx512":
            return self.times_power(self.polynomial(self.above_floor(x), EXP2[self.size]), x)
        least, inside = self.const(LEAST_EXPONENT[self.size]), self.above_least(x)
        whole = self.call(f"llvm.floor.{self.suffix()}", self.vec, inside)
        value = self.polynomial(self.b.fsub(inside, whole), EXP2[self.size])
        bias, shift = (127, 23) if self.size == 4 else (1023, 52)
        exponent = self.b.add(self.b.fptosi(whole, self.words), self.integers(bias))
        power = self.b.bitcast(self.b.shl(exponent, self.integers(shift)), self.vec)
        tiny = self.b.fcmp_ordered("<=", x, least)
        return self.b.select(tiny, self.const(0.0), self.b.fmul(value, power))

    def above_least(self, x: ir.Value) -> ir.Value:
        """An exponent, raised to the highest one that gives 0 if it is lower: it can be multiplied by that 0."""
        least = self.const(LEAST_EXPONENT[self.size])
        return self.b.select(self.b.fcmp_ordered(">", least, x), least, x)

    def above_floor(self, x: ir.Value) -> ir.Value:
        """x − ⌊x⌋ in one instruction, 0 where x is infinite."""
        return self.masked("reduce", x, ir.Constant(I32, 9))  # 9: towards −∞, no flags raised

    def times_power(self, x: ir.Value, exponent: ir.Value) -> ir.Value:
        """x · 2^⌊exponent⌋ in one instruction, 0 where that is too small for a number."""
        return self.masked("scalef", x, exponent)

    def masked(self, name: str, x: ir.Value, by: ir.Value) -> ir.Value:
        """An instruction of AVX-512's of two operands, in every lane."""
        kind, bits, every = ("ps", ir.IntType(16), 0xFFFF) if self.size == 4 else ("pd", ir.IntType(8), 0xFF)
        keep, rounding = ir.Constant(bits, every), ir.Constant(I32, 4)
        return self.call(f"llvm.x86.avx512.mask.{name}.{kind}.512", self.vec, x, by, x, keep, rounding)

    def tanh(self, x: ir.Value) -> ir.Value:
        """tanh x = 1 − 2 / (e^2x + 1), but by its odd series near 0, where that difference would lose digits."""
        size = self.abs(x)
        decay = self.exp2(self.b.fmul(size, self.const(-2 / math.log(2))))
        far = self.b.fdiv(self.b.fsub(self.const(1.0), decay), self.b.fadd(self.const(1.0), decay))
        far = self.call(f"llvm.copysign.{self.suffix()}", self.vec, far, x)
        square = self.b.fmul(x, x)
        near = self.b.fmul(x, self.polynomial(square, TANH[self.size]))
        return self.b.select(self.b.fcmp_ordered("<", size, self.const(0.25)), near, far)

    def reduce_add(self, x: ir.Value) -> ir.Value:
        zero = ir.Constant(self.scalar, 0.0)
        return self.call(f"llvm.vector.reduce.fadd.{self.suffix()}", self.scalar, zero, x, fastmath=("reassoc",))

    # control

    def loop(
        self,
        count: ir.Value,
        step: int,
        carried: Sequence[ir.Value],
        body: Callable[[ir.Value, list[ir.Value]], Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """for i in range(0, count, step): carried = body(i, carried). Runs no time at all if count is 0."""
        before = self.b.block
        head, inside, after = (self.b.append_basic_block() for _ in range(3))
        self.b.branch(head)
        self.b.position_at_end(head)
        i = self.b.phi(I64)
        i.add_incoming(self.index(0), before)
        values = [self.b.phi(v.type) for v in carried]
        for phi, v in zip(values, carried, strict=True):
            phi.add_incoming(v, before)
        self.b.cbranch(self.b.icmp_signed("<", i, count), inside, after)
        self.b.position_at_end(inside)
        new = body(i, list(values))
        i.add_incoming(self.b.add(i, self.index(step)), self.b.block)
        for phi, v in zip(values, new, strict=True):
            phi.add_incoming(v, self.b.block)
        self.b.branch(head)
        self.b.position_at_end(after)
        return list(values)

    def each(self, count: ir.Value, target: ir.Value, *sources: ir.Value, change: Callable[..., ir.Value]) -> None:
        """target[i] ← change(target[i], source[i], …) for `count` numbers, a multiple of the lanes, at addresses."""

        def turn(i: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            offset = self.b.mul(i, self.index(self.size))
            place = self.pointer(target, offset)
            self.store(change(self.load(place), *(self.load(self.pointer(x, offset)) for x in sources)), place)
            return []

        self.loop(count, self.lanes, [], turn)


def _rounded(x: float, size: int) -> float:
    """x as the element type holds it: LLVM refuses a float constant with more digits than a float has."""
    return float(np.float32(x)) if size == 4 else float(x)


NUMBER = "number"  # of the element type


class Fields:
    """A struct that was passed to vector code: reading a field writes the instruction that reads it."""

    def __init__(self, builder: ir.IRBuilder, kind: Struct, address: ir.Value) -> None:
        self._builder, self._kind, self._address = builder, kind, address

    def __getattr__(self, name: str) -> ir.Value:
        return self._kind.read(self._builder, self._address, name)


def vector_code(write: Callable[..., Any] | None = None, *, returns: Any = types.void, apart: str = "") -> Any:
    """Make a function that kernels call of one that writes vector code.

        @vector_code
        def add_row(v: Vectors, source: ir.Value, target: ir.Value, count: ir.Value) -> None: ...

        add_row(like, source, target, count)

    `like` is a number of the element type and says what `v` works in. Whole numbers arrive as 64-bit integers, others
    in the element type, NamedTuples as NamedTuples of such, structs with their fields; a parameter that is annotated
    `int` must be a constant and arrives as one. `returns`: NUMBER, or a type of numba's. It is written into its
    callers, or where it is long and has several, `apart`: as a function of its own, of this name, that returns nothing.
    """
    if write is None:
        return functools.partial(vector_code, returns=returns, apart=apart)
    hints = typing.get_type_hints(write)
    names = list(inspect.signature(write).parameters)[1:]

    def define(typing_context: Any, like: Any, *arguments: Any) -> Any:
        kinds = [
            argument if hints[name] is int else _passed_as(like, unliteral(argument))
            for name, argument in zip(names, arguments, strict=True)
        ]

        def written(builder: ir.IRBuilder, values: Sequence[ir.Value]) -> Any:
            given = (
                argument.literal_value if hints[name] is int else _given(builder, kind, value)
                for name, argument, kind, value in zip(names, arguments, kinds, values, strict=True)
            )
            return write(Vectors(builder, like), *given)

        def codegen(context: Any, builder: ir.IRBuilder, _: Any, values: Any) -> Any:
            if apart:
                builder.call(_function(builder.module, f"clearhead.{apart}.{like}", values[1:], written), values[1:])
                return context.get_dummy_value()
            value = written(builder, values[1:])
            return context.get_dummy_value() if value is None else value

        return (like if returns is NUMBER else returns)(like, *kinds), codegen

    parameters = ["typing_context", "like", *names]
    define.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in parameters]
    )
    define.__name__, define.__doc__ = write.__name__, write.__doc__
    return intrinsic(prefer_literal=any(hints[name] is int for name in names))(define)


def _function(
    module: ir.Module, name: str, values: Sequence[ir.Value], write: Callable[[ir.IRBuilder, Sequence[ir.Value]], Any]
) -> ir.Function:
    """The function of this name in a module, written there if it is not yet. Linked together, namesakes become one."""
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(ir.VoidType(), [value.type for value in values]), name)
        found.linkage = "linkonce_odr"
        builder = ir.IRBuilder(found.append_basic_block())
        write(builder, found.args)
        builder.ret_void()
    return found


def _passed_as(like: types.Type, kind: types.Type) -> types.Type:
    if isinstance(kind, (Struct, BaseNamedTuple)):
        return kind
    return like if isinstance(kind, types.Float) else types.intp


def _given(builder: ir.IRBuilder, kind: types.Type, value: ir.Value) -> Any:
    """An argument as the function that writes vector code gets it."""
    if isinstance(kind, Struct):
        return Fields(builder, kind, value)
    if isinstance(kind, BaseNamedTuple):
        return kind.instance_class(*cgutils.unpack_tuple(builder, value))
    return value
