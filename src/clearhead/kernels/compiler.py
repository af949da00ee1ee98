"""How kernels are compiled: by numba to LLVM's language, all of one as one piece, and that once to machine code.

numba compiles functions in layers. By itself it would optimise and assemble each of them, and again with each that
calls it. Here a `helper` is only translated; what a kernel is made of is then put together, optimised once and
assembled once, with nothing visible from outside but the kernel itself. Passes of numba's that find nothing in this
room are left out. Together that halves the time of the first call (`make bench ARGS="--only first"`).

Kernels have numba's types inside and whole numbers outside: addresses, mostly. They raise nothing (a division by zero
gives zero, as in NumPy), so their code needs neither Python nor numba, and a process that finds it on the disk loads
neither (`machine_code`).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import codegen, compiler, funcdesc, lowering, typed_passes, types, untyped_passes
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.registry import CPUDispatcher, cpu_target
from numba.np.numpy_support import from_dtype

from clearhead.kernels.machine_code import PREFIX
from clearhead.kernels.target import target_machine

I64 = ir.IntType(64)
LEVEL = 2  # with 3, loops that are written out already are unrolled once more: half as long again, and no faster
OPTIONS = {
    "nopython": True, "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy",
    "_nrt": False,
}  # fmt: skip


class _Library(codegen.JITCodeLibrary):
    """A function in LLVM's language, as it was translated, and which others it calls."""

    def _optimize_functions(self, module: llvm.ModuleRef) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True

    def called(self, seen: list[codegen.CodeLibrary]) -> list[codegen.CodeLibrary]:
        """All that it calls, and all that those call."""
        for library in self._linking_libraries:
            if library not in seen:
                seen.append(library)
                if isinstance(library, _Library):
                    library.called(seen)
        return seen

    def module(self) -> llvm.ModuleRef:
        """What it is made of, to be linked into something else."""
        return self._final_module


@register_pass(mutates_CFG=True, analysis_only=False)
class _Translation(LoweringPass):
    """numba's last step without what comes after: nothing is optimised, assembled or made to be called from Python."""

    _name = "clearhead_translation"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        library = state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        described = funcdesc.PythonFunctionDescriptor.from_specialized_function(
            state.func_ir, state.typemap, state.return_type, state.calltypes, mangler=state.targetctx.mangler,
            inline=False, noalias=False, abi_tags=[state.flags.get_mangle_string()],
        )  # fmt: skip
        with state.targetctx.push_code_library(library):
            lower = lowering.Lower(state.targetctx, library, described, state.func_ir, metadata=state.metadata)
            lower.lower()
        library.finalize()
        # whoever calls it finds it by what it is known as: its library
        state.targetctx.insert_user_function(library, described, [library])
        state["cr"] = compiler._LowerResult(described, lower.call_helper, cfunc=library, env=lower.env)
        return True


class _Pipeline(compiler.CompilerBase):
    """numba's passes as far as this room needs them: no closures, no `with`, no loops over tuples, no arrays."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("clearhead")
        for step in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            untyped_passes.IRProcessing,
            untyped_passes.ReconstructSSA,
            typed_passes.NopythonTypeInference,
            typed_passes.PreLowerStripPhis,
            typed_passes.IRLegalization,
            _Translation,
            typed_passes.NoPythonBackend,
        ):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]


class _Dispatcher(CPUDispatcher):
    """A function that kernels call, and Python does not."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


def helper(function: Callable[..., Any]) -> Any:
    """A function that kernels call. It is translated for each set of types that it is called with."""
    return _Dispatcher(function, {}, OPTIONS, pipeline_class=_Pipeline)


class Written:
    """A kernel as it is written: in Python, and for pairs perhaps otherwise."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = self.for_pairs = function

    def argument_types(self, kind: np.dtype[Any] | None) -> tuple[types.Type, ...]:
        """Whole numbers, after a number of the type that is computed in where it asks for one."""
        names = inspect.signature(self.function).parameters
        return tuple(_number(kind) if name == "like" else types.intp for name in names)


def _number(kind: np.dtype[Any] | None) -> types.Type:
    assert kind is not None, "a kernel that computes must be told in which type"
    return from_dtype(kind)


def kernel(function: Callable[..., Any]) -> Written:
    """A function that is called from outside (`machine_code.Kernel`), with whole numbers."""
    return Written(function)


def twin(function: Any, **others: Any) -> Any:
    """The same helper, in which some names stand for other functions."""
    return helper(_twin(function.py_func, others))


def for_pairs(written: Written, **others: Any) -> None:
    """Let a kernel, where it is compiled for PAIRS, be one in which some names stand for other functions.

    So what the two have in common is written once, and only the one that is needed is compiled: whoever computes in
    float32 does not wait for bfloat16. A layer of functions chosen by type would cost everybody a fifth more.
    """
    written.for_pairs = _twin(written.function, others)


def _twin(function: Any, others: dict[str, Any]) -> FunctionType:
    unknown = others.keys() - function.__globals__.keys()
    assert not unknown, f"{function.__name__} knows no {unknown}"
    return FunctionType(function.__code__, function.__globals__ | others, function.__name__)


def machine_code(module: str, kind: np.dtype[Any] | None) -> bytes:
    """The kernels of a module for one type, as an object file."""
    return target_machine().emit_object(optimised(module, kind))


def assembly(module: str, kind: np.dtype[Any] | None) -> str:
    """The same to be read."""
    return str(target_machine().emit_assembly(optimised(module, kind)))


def optimised(module: str, kind: np.dtype[Any] | None) -> llvm.ModuleRef:
    """The kernels of a module for one type and all they are made of, in LLVM's language."""
    with global_compiler_lock:
        with _nothing_collected():
            whole = _together(module, kind)
        options = llvm.create_pipeline_tuning_options(LEVEL)
        options.loop_vectorization = options.slp_vectorization = True
        passes = llvm.create_pass_builder(target_machine(), options)
        passes.getModulePassManager().run(whole, passes)
        return whole


@contextlib.contextmanager
def _nothing_collected() -> Iterator[None]:
    """numba makes many small objects and keeps most of them: looking for garbage among them is a tenth of its time."""
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_on:
            gc.enable()


def _together(module: str, kind: np.dtype[Any] | None) -> llvm.ModuleRef:
    context, typing = cpu_target.target_context, cpu_target.typing_context
    context.codegen()._check_llvm_bugs()
    whole = _Library(context.codegen(), module)
    written = {name: x for name, x in vars(importlib.import_module(module)).items() if isinstance(x, Written)}
    for name, own in written.items():
        kinds = own.argument_types(kind)
        function = own.for_pairs if types.int16 in kinds else own.function
        flags = compiler.Flags()
        cpu_target.options.parse_as_flags(flags, OPTIONS)
        result = compiler.compile_extra(
            typing, context, function, kinds, None, flags, {}, pipeline_class=_Pipeline
        )  # fmt: skip
        whole.add_linking_library(result.library)
        whole.add_ir_module(_entry(whole, name, result))
    found = whole.module()
    for library in whole.called([]):
        of_numba = not isinstance(library, _Library)
        found.link_in(library._get_module_for_linking() if of_numba else library.module(), preserve=True)
    _hide(found, {PREFIX + name for name in written})
    found.verify()
    return found


def _entry(library: _Library, name: str, result: Any) -> ir.Module:
    """A function as C has them, of whole numbers, that calls one of numba's; a type is told by a zero of it."""
    context, described = cpu_target.target_context, result.fndesc
    module = library.create_ir_module(f"{name}_entry")
    numbers = [kind for kind in described.argtypes if kind == types.intp]
    function = ir.Function(module, ir.FunctionType(I64, [I64] * len(numbers)), PREFIX + name)
    builder = ir.IRBuilder(function.append_basic_block())
    given = iter(function.args)
    arguments = [next(given) if kind == types.intp else context.get_constant(kind, 0) for kind in described.argtypes]
    callee = context.declare_function(module, described)
    _, value = context.call_conv.call_function(builder, callee, described.restype, described.argtypes, arguments)
    none = described.restype == types.none
    builder.ret(ir.Constant(I64, 0) if none else context.cast(builder, value, described.restype, types.intp))
    return module


def _hide(module: llvm.ModuleRef, seen: set[str]) -> None:
    """Let nothing but these names be seen from outside, so that what is not needed goes away."""
    for x in [*module.functions, *module.global_variables]:
        if not x.is_declaration and x.name not in seen:
            x.linkage = "internal"
