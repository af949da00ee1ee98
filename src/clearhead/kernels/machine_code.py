"""Kernels as machine code: from the disk, or compiled and put there.

Whoever calls a kernel names it (`Kernel`) and does not load its source: numba takes 0.3 s to load and 0.2 s to be
ready, and where the code lies on the disk it is not needed at all. Then LLVM alone puts the code into memory, and it is
called as C calls a function.

The code lies in NUMBA_CACHE_DIR, if that is set; else beside the source, or in the user's cache directory where that
cannot be written. A file is named after the kernel, what it is compiled for, and a hash of the whole room: kernels are
made of several files, and a change in any of them makes all of them other kernels. It begins with a hash of itself, so
that half a file is as good as none.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from clearhead.files import write_whole
from clearhead.kernels.announcement import announced
from clearhead.kernels.target import processor, target_machine

ROOM = Path(__file__).parent
DIGEST = hashlib.sha256().digest_size
SWITCHES = ("NUMBA_DEBUGINFO", "NUMBA_BOUNDSCHECK", "NUMBA_OPT")  # of numba's, that make other code of the same source
PREFIX = "clearhead."  # of the names that kernels have in machine code


class Kernel:
    """A kernel, by the module it is written in and its name there: a function of whole numbers that returns one.

    `kind` is the type that it computes in, for one that is compiled for several.
    """

    def __init__(self, module: str, name: str = "run", *, numbers: int = 4) -> None:
        self.module, self.name = module, name
        self._type = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * numbers)
        self._found: dict[np.dtype[Any] | None, tuple[int, Callable[..., int]]] = {}

    def address(self, kind: np.dtype[Any] | None = None) -> int:
        """Where its code for a type begins, to be called as C calls a function."""
        return self._code(kind)[0]

    def function(self, kind: np.dtype[Any] | None = None) -> Callable[..., int]:
        """The same for Python, which lets go of the GIL while it runs."""
        return self._code(kind)[1]

    def _code(self, kind: np.dtype[Any] | None) -> tuple[int, Callable[..., int]]:
        if kind not in self._found:
            with _lock:
                address = _loaded(self.module, kind).get_function_address(PREFIX + self.name)
            self._found[kind] = address, self._type(address)
        return self._found[kind]


_units: dict[tuple[str, np.dtype[Any] | None], llvm.ExecutionEngine] = {}  # by module and type
_lock = threading.RLock()


def _loaded(module: str, kind: np.dtype[Any] | None) -> llvm.ExecutionEngine:
    """The kernels of a module for one type, in memory."""
    with _lock:
        if (module, kind) not in _units:
            _units[module, kind] = _in_memory(code_of(module, kind))
        return _units[module, kind]


def _in_memory(code: bytes) -> llvm.ExecutionEngine:
    apart = platform.machine() in ("aarch64", "arm64")  # where LLVM's own way puts code and data too far apart
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine(), use_lmm=apart)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def code_of(module: str, kind: np.dtype[Any] | None) -> bytes:
    """The machine code of a module's kernels for one type: from the disk, or compiled now and left there."""
    name = _file_name(module, kind)
    for folder in folders():
        with contextlib.suppress(OSError):  # not there
            digest, code = _parted((folder / name).read_bytes())
            if hashlib.sha256(code).digest() == digest:
                return code
    from clearhead.kernels import compiler  # loads numba

    with announced(module.rpartition(".")[2]):
        code = compiler.machine_code(module, kind)
    for folder in folders():
        with contextlib.suppress(OSError):  # cannot be written
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, hashlib.sha256(code).digest() + code)
            break
    return code


def _parted(content: bytes) -> tuple[bytes, bytes]:
    return content[:DIGEST], content[DIGEST:]


def folders() -> Iterator[Path]:
    """Where machine code may lie, the first one that can be written first."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        yield Path(given) / "clearhead"
        return
    yield ROOM / "__pycache__"
    with contextlib.suppress(RuntimeError):  # nobody's home
        yield _users_cache() / "clearhead"


def _users_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _file_name(module: str, kind: np.dtype[Any] | None) -> str:
    """Other source, another type, another processor or another compiler: another file."""
    compilers = importlib.metadata.version("numba"), importlib.metadata.version("llvmlite"), sys.version_info[:2]
    switches = [os.environ.get(name) for name in SWITCHES]
    whole = repr((_source(module), str(kind), llvm.get_process_triple(), processor(), compilers, switches))
    plain = "any" if kind is None else kind.name
    return f"{module.rpartition('.')[2]}-{plain}.{hashlib.sha256(whole.encode()).hexdigest()[:24]}.code"


def _source(module: str) -> tuple[str, str]:
    """A module's name, and a hash of all that its kernels may be made of."""
    if module.startswith(f"{__package__}."):
        return module, _room()
    found = importlib.util.find_spec(module)
    assert found is not None, f"there is no module {module}"
    assert found.origin is not None, f"{module} is no file"
    return module, _room() + hashlib.sha256(Path(found.origin).read_bytes()).hexdigest()


@functools.cache
def _room() -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(ROOM.glob("*.py")))).hexdigest()


if hasattr(os, "register_at_fork"):  # a fork waits for a compilation, whose locks would stay locked in the child
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
