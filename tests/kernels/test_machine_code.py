"""Machine code on disk: what is loaded is what was saved for the same kernel, and half a file is none."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.kernels import compiler, machine_code
from clearhead.kernels.target import Processor

KIND = np.dtype(np.float32)
MODULE = "clearhead.kernels.forward"


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """What was compiled, in order; the cache is a folder of its own, and nothing takes time."""
    asked = []

    def machine_code_of(module, kind):
        asked.append((module, kind))
        return f"{module} for {kind}, number {len(asked)}".encode()

    monkeypatch.setattr(compiler, "machine_code", machine_code_of)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return asked


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_what_was_compiled_once_comes_from_the_disk(compiled, tmp_path):
    first = machine_code.code_of(MODULE, KIND)
    assert machine_code.code_of(MODULE, KIND) == first
    assert compiled == [(MODULE, KIND)]
    assert len(files(tmp_path)) == 1


def test_each_kernel_and_type_has_a_file_of_its_own(compiled, tmp_path):
    asked = [(module, kind) for module in (MODULE, "clearhead.kernels.join") for kind in (KIND, np.dtype(np.float64))]
    assert len({machine_code.code_of(*which) for which in asked}) == len(files(tmp_path)) == 4
    assert compiled == asked


@pytest.mark.parametrize(
    ("name", "other"), [("_room", lambda: "other source"), ("processor", lambda: Processor("another", "+sse2"))]
)
def test_other_source_and_another_processor_have_other_files(compiled, monkeypatch, tmp_path, name, other):
    first = machine_code.code_of(MODULE, KIND)
    with monkeypatch.context() as patched:
        patched.setattr(machine_code, name, other)
        assert machine_code.code_of(MODULE, KIND) != first
    assert machine_code.code_of(MODULE, KIND) == first
    assert len(files(tmp_path)) == len(compiled) == 2


@pytest.mark.parametrize("damage", [lambda x: b"", lambda x: x[:-1], lambda x: x[:40] + b"?" + x[41:]])
def test_a_damaged_file_is_compiled_again_and_replaced(compiled, tmp_path, damage):
    machine_code.code_of(MODULE, KIND)
    (file,) = files(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    again = machine_code.code_of(MODULE, KIND)
    assert len(compiled) == 2
    assert machine_code.code_of(MODULE, KIND) == again
    assert len(compiled) == 2


def test_kernels_outside_the_room_are_known_by_their_own_source_too(compiled, monkeypatch, tmp_path):
    (tmp_path / "elsewhere.py").write_text("one")
    monkeypatch.syspath_prepend(tmp_path)
    first = machine_code.code_of("elsewhere", None)
    (tmp_path / "elsewhere.py").write_text("another")
    assert machine_code.code_of("elsewhere", None) != first


def test_a_kernel_returns_what_it_counted():
    join = machine_code.Kernel("clearhead.kernels.join", "join", numbers=1)
    assert join.address(KIND) == join.address(np.dtype("float32")) != join.address(np.dtype(np.float64))
