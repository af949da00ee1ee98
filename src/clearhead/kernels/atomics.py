"""Words that several threads read and write at once, and waiting for them to change."""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from clearhead.kernels.rounds import CLOCK

I32, I64 = ir.IntType(32), ir.IntType(64)
_X86, _ARM = ("llvm.x86.sse2.pause",), ("llvm.aarch64.hint", 1)
WAITING = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}.get(platform.machine())


def _place(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    return builder.inttoptr(address, I64.as_pointer())


@intrinsic
def load_word(typing: Any, address: Any) -> Any:
    """What a shared word holds, and with it all that was written before it was stored."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        return builder.load_atomic(_place(builder, args[0]), "acquire", 8)

    return types.intp(types.intp), codegen


@intrinsic
def store_word(typing: Any, address: Any, value: Any) -> Any:
    """Set a shared word, after all that was written before."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        builder.store_atomic(args[1], _place(builder, args[0]), "release", 8)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), codegen


@intrinsic
def replace_word(typing: Any, address: Any, old: Any, new: Any) -> Any:
    """Whether a shared word held `old`, which it then does no longer: of several threads that try, one succeeds."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        pair = builder.cmpxchg(_place(builder, args[0]), args[1], args[2], "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(types.intp, types.intp, types.intp), codegen


@intrinsic
def count_up(typing: Any, address: Any) -> Any:
    """Add 1 to a shared word, after all that was written before, and return what it held."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _place(builder, args[0]), ir.Constant(I64, 1), "acq_rel")

    return types.intp(types.intp), codegen


@intrinsic
def mark_bits(typing: Any, address: Any, bits: Any) -> Any:
    """Set bits of a shared word, and return what it held."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        return builder.atomic_rmw("or", _place(builder, args[0]), args[1], "monotonic")

    return types.intp(types.intp, types.intp), codegen


@intrinsic
def first_bit(typing: Any, bits: Any) -> Any:
    """The number of the lowest bit that is set; there is one."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.intp(types.intp), codegen


@intrinsic
def raise_word(typing: Any, address: Any, value: Any) -> Any:
    """Let a shared word hold `value` if that is larger."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        builder.atomic_rmw("max", _place(builder, args[0]), args[1], "monotonic")
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), codegen


@intrinsic
def nanoseconds(typing: Any) -> Any:
    """The time by CLOCK, or 0 where there is none."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        if CLOCK is None:
            return ir.Constant(I64, 0)
        clock_gettime = builder.module.globals.get("clock_gettime") or ir.Function(
            builder.module, ir.FunctionType(I32, [I32, I64.as_pointer()]), "clock_gettime"
        )
        with builder.goto_entry_block():
            place = builder.alloca(I64, 2)
        builder.call(clock_gettime, [ir.Constant(I32, CLOCK), place])
        seconds, rest = (builder.load(builder.gep(place, [ir.Constant(I32, n)])) for n in range(2))
        return builder.add(builder.mul(seconds, ir.Constant(I64, 10**9)), rest)

    return types.intp(), codegen


@intrinsic
def pause(typing: Any) -> Any:
    """Tell the processor that this thread is only waiting, where it has a word for that."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        if WAITING is not None:
            name, *numbers = WAITING
            kind = ir.FunctionType(ir.VoidType(), [I32] * len(numbers))
            function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
            builder.call(function, [ir.Constant(I32, n) for n in numbers])
        return context.get_dummy_value()

    return types.void(), codegen
