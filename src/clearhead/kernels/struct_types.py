"""Structs as a kernel reads them: a type of numba's that is an address, and whose fields are read by name.

`structs` packs them, in Python alone; what is here is needed only where a kernel is compiled.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from clearhead.kernels.structs import WORD, Axes, fields_of, words_of

I64 = ir.IntType(64)


class Struct(types.Type):
    """The address of a struct, for code that computes in one element type."""

    def __init__(self, kind: Any, element: types.Type) -> None:
        self.kind, self.element = kind, element
        super().__init__(name=f"{kind.__name__}[{element}]")

    def type_of(self, name: str) -> types.Type:
        _, kind = fields_of(self.kind)[name]
        if kind in (int, float, Axes):
            return types.float64 if kind is float else types.intp
        return Struct(kind, self.element)

    def read(self, builder: ir.IRBuilder, address: ir.Value, name: str) -> ir.Value:
        """A field's number; of a struct within the struct, and of axes, the address."""
        start, kind = fields_of(self.kind)[name]
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
        return owner.type_of(name) if name in fields_of(owner.kind) else None


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
        for n in range(words_of(parts.kind)):
            source, target = (
                builder.inttoptr(builder.add(x, ir.Constant(I64, WORD * n)), I64.as_pointer())
                for x in (parts_address, base)
            )
            builder.store(builder.add(builder.load(source), base), target)
        return base

    return parts(parts, types.intp), codegen
