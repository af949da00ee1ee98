"""What kernels become: code that needs nobody, and names that stand for other functions."""

from __future__ import annotations

import ctypes
import gc
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest

from clearhead.kernels import compiler, machine_code
from clearhead.kernels.compiler import Written, for_pairs, helper, kernel, twin
from clearhead.kernels.memory import cast, peek, poke, size_of
from clearhead.kernels.structs import PAIRS

KINDS = {"float32": np.dtype(np.float32), "float64": np.dtype(np.float64)}


@helper
def doubled(like, x):
    return cast(like, 2 * x)


@helper
def tripled(like, x):
    return cast(like, 3 * x)


@helper
def changed(like, x):
    return doubled(like, x)


@kernel
def change(like, address, count):
    """Change numbers in place, and say how many."""
    for i in range(count):
        place = address + i * size_of(like)
        poke(like, place, changed(like, peek(like, place)))
    return count


@kernel
def quotient(a, b):
    return a // b


@kernel
def is_larger(a, b):
    return a > b


@pytest.fixture(scope="module")
def of_numbers():
    """The kernels above for each type, loaded as the room's own are."""
    return {name: machine_code._in_memory(compiler.machine_code(__name__, kind)) for name, kind in KINDS.items()}


def called(engine, name, *numbers):
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(numbers))
    return function(engine.get_function_address(machine_code.PREFIX + name))(*numbers)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_computes_in_the_type_it_is_compiled_for(of_numbers, kind):
    numbers = np.arange(7, dtype=kind)
    assert called(of_numbers[kind], "change", numbers.ctypes.data, 5) == 5
    np.testing.assert_array_equal(numbers, np.array([0, 2, 4, 6, 8, 5, 6], kind))


@pytest.mark.parametrize("on", [True, False])
def test_garbage_is_collected_afterwards_if_it_was_before(on):
    was_on = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        compiler.optimised(__name__, KINDS["float32"])
        assert gc.isenabled() == on
        with pytest.raises(AssertionError, match="must be told in which type"):
            compiler.optimised(__name__, None)
        assert gc.isenabled() == on
    finally:
        (gc.enable if was_on else gc.disable)()


def test_nothing_is_raised_and_truth_is_a_number(of_numbers):
    engine = of_numbers["float32"]
    assert [called(engine, "quotient", a, 3) for a in (7, -7, 0)] == [2, -3, 0]
    assert called(engine, "quotient", 7, 0) == 0
    assert [called(engine, "is_larger", a, 3) for a in (2, 4)] == [0, 1]


def test_the_code_of_attention_needs_neither_python_nor_numba():
    module = compiler.optimised("clearhead.kernels.join", KINDS["float32"])
    declared = {x.name for x in module.functions if x.is_declaration and not x.name.startswith("llvm.")}
    assert declared <= {"exp", "log"}
    assert [x.name for x in module.functions if not x.is_declaration and x.linkage == llvm.Linkage.external] == [
        "clearhead.join"
    ]


def test_for_pairs_a_kernel_may_be_another():
    def run(like, x):
        return changed(like, x)

    written = Written(run)
    assert written.for_pairs is run
    for_pairs(written, changed=twin(changed, doubled=tripled))
    assert written.function is run
    assert written.for_pairs.__globals__["changed"].py_func.__globals__["doubled"] is tripled
    assert changed.py_func.__globals__["doubled"] is doubled
    assert [str(kind) for kind in written.argument_types(PAIRS)] == ["int16", "int64"]


def test_a_twin_of_what_is_not_there():
    with pytest.raises(AssertionError, match=r"changed knows no \{'quadrupled'\}"):
        twin(changed, quadrupled=tripled)


def test_the_kernels_above_are_those_of_this_file():
    own = {name for name, x in vars(sys.modules[__name__]).items() if isinstance(x, Written)}
    assert own == {"change", "quotient", "is_larger"}
