"""Structs in memory: what a kernel is told, as one block of 8-byte words that it reads by name.

A struct is a NamedTuple of whole numbers, floats, `Axes` and other structs. Python fills one in by keyword and packs
it; a kernel is handed the address, and with `job = view(Job, like, address)` it says `job.n_q` and `job.query.row`.
What goes from function to function is then one address, where a NamedTuple would be copied word by word. Any mixture
of types, layouts and options makes the same struct, so a kernel is compiled for float32, for float64, for pairs of
bfloat16 and for nothing else: `job.like` is a number of the type it computes in.

Scratch is described by structs too. Python says how much each part of it needs (`laid_out`), and each thread turns
that into the addresses of its own memory (`addressed`).
"""

from __future__ import annotations

import array
import functools
import itertools
import struct
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

WORD = 8
CACHE_LINE = 64
AXES = 8  # leading axes that a kernel walks over: parts of the keys, up to five batch axes, key heads, query heads
I64 = ir.IntType(64)
PAIRS = np.dtype(np.int16)  # what a kernel is compiled for whose products are of pairs of bfloat16


class Axes(tuple[int, ...]):
    """A number for each of the leading axes. A kernel gets the address of the first."""

    __slots__ = ()


@functools.cache
def _fields(kind: Any) -> dict[str, tuple[int, Any]]:
    """Each field's place, in words from the beginning of the struct, and its type."""
    hints = typing.get_type_hints(kind)
    starts = itertools.accumulate((_words(field) for field in hints.values()), initial=0)
    return dict(zip(hints, zip(starts, hints.values(), strict=False), strict=True))


@functools.cache
def _words(kind: Any) -> int:
    if kind in (int, float):
        return 1
    return AXES if kind is Axes else sum(_words(field) for _, field in _fields(kind).values())


@functools.cache
def _format(kind: Any) -> struct.Struct:
    def letters(kind: Any) -> str:
        if kind in (int, float):
            return "q" if kind is int else "d"
        return f"{AXES}q" if kind is Axes else "".join(letters(field) for _, field in _fields(kind).values())

    return struct.Struct("=" + letters(kind))


def pack(value: Any) -> array.array[int]:
    """A struct as words. Whoever hands their address to a kernel holds on to them until it is done."""
    kind: Any = type(value)
    return array.array("q", _format(kind).pack(*_flattener(kind)(value)))


def first_word(kind: Any, name: str) -> int:
    """Which word of a packed struct a field begins with."""
    return _fields(kind)[name][0]


@functools.cache
def _flattener(kind: Any) -> Any:
    """A function that makes one tuple of a struct and those in it: (v[0][0], v[0][1], …, *v[0][5], …)

    Written out, as a small call would spend a tenth of its time in a loop over the fields.
    """

    def written(kind: Any, name: str) -> Iterator[str]:
        for place, (_, field) in enumerate(_fields(kind).values()):
            inner = f"{name}[{place}]"
            if field in (int, float, Axes):
                yield f"*{inner}" if field is Axes else inner
            else:
                yield from written(field, inner)

    return eval(f"lambda v: ({', '.join(written(kind, 'v'))},)")


def laid_out(kind: Any, itemsize: int, **numbers: int) -> Any:
    """A struct of scratch: for each part, how many bytes from the beginning it lies; the last field is the `end`.

    The addresses themselves come first (see `addressed`). Every part starts a cache line.
    """
    sizes = (WORD * _words(kind), *(numbers[name] * itemsize for name in kind._fields[:-1]))
    return kind._make(itertools.accumulate(-(-size // CACHE_LINE) * CACHE_LINE for size in sizes))


class Struct(types.Type):
    """The address of a struct, for code that computes in one element type."""

    def __init__(self, kind: Any, element: types.Type) -> None:
        self.kind, self.element = kind, element
        super().__init__(name=f"{kind.__name__}[{element}]")

    def type_of(self, name: str) -> types.Type:
        _, kind = _fields(self.kind)[name]
        if kind in (int, float, Axes):
            return types.float64 if kind is float else types.intp
        return Struct(kind, self.element)

    def read(self, builder: ir.IRBuilder, address: ir.Value, name: str) -> ir.Value:
        """A field's number; of a struct within the struct, and of axes, the address."""
        start, kind = _fields(self.kind)[name]
        place = builder.add(address, ir.Constant(I64, WORD * start))
        if kind not in (int, float):
            return place
        return builder.load(builder.inttoptr(place, (I64 if kind is int else ir.DoubleType()).as_pointer()))


@register_model(Struct)
class _Address(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, I64)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = Struct

    def generic_resolve(self, owner: Struct, name: str) -> types.Type | None:
        if name == "like":
            return owner.element
        return owner.type_of(name) if name in _fields(owner.kind) else None


@lower_getattr_generic(Struct)
def _read_attribute(context: Any, builder: ir.IRBuilder, owner: Struct, address: ir.Value, name: str) -> ir.Value:
    return context.get_constant(owner.element, 0) if name == "like" else owner.read(builder, address, name)


@intrinsic
def view(typing: Any, kind: Any, like: Any, address: Any) -> Any:
    """The struct that lies at an address. `like`: a number of the type to compute in, or of PAIRS."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        return args[2]

    element = types.float32 if like == types.int16 else like  # around products of pairs, all is float32
    return Struct(kind.instance_class, element)(kind, like, types.intp), codegen


@intrinsic
def addressed(typing: Any, parts: Any, memory: Any) -> Any:
    """The struct of scratch whose parts lie so far into `memory`, as addresses, which are written at its beginning."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, args: Any) -> Any:
        parts_address, base = args
        for n in range(_words(parts.kind)):
            source, target = (
                builder.inttoptr(builder.add(x, ir.Constant(I64, WORD * n)), I64.as_pointer())
                for x in (parts_address, base)
            )
            builder.store(builder.add(builder.load(source), base), target)
        return base

    return parts(parts, types.intp), codegen
