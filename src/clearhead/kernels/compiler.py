"""How kernels are compiled: on first use, once, into a cache on disk.

numba compiles functions in layers, and each layer optimises the ones below it again. So a function on the main line,
used in one place, is `inlined` into its caller before any of that happens, and the rest are `helper`s next to it:
on the forward kernel this cut the first compilation from 15 s to 7 s. Only a `kernel` can be called from Python.

The cache lies beside the source, or in the user's cache directory where that cannot be written, or in
NUMBA_CACHE_DIR. numba looks only at the file a kernel is in to tell whether a cached one is stale; ours are made of
several, so the stamp is a hash of the whole room, and it is part of a cached file's name.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, event
from numba.extending import overload

from clearhead.kernels.announcement import Announcer

event.register("numba:compile", Announcer())

_OPTIONS = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
helper = numba.njit(**_OPTIONS)
inlined = numba.njit(**_OPTIONS, inline="always")

_STAMP = hashlib.sha256(b"".join(p.read_bytes() for p in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


class _Stamped:
    def get_source_stamp(self) -> str:
        return _STAMP


class _GivenDirectory(_Stamped, caching.UserProvidedCacheLocator):
    """NUMBA_CACHE_DIR."""


class _BesideSource(_Stamped, caching.InTreeCacheLocator):
    """__pycache__, if it can be written."""


class _UserDirectory(_Stamped, caching.UserWideCacheLocator):
    """The user's cache directory."""


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = (_GivenDirectory, _BesideSource, _UserDirectory)


class Files(caching.IndexDataCacheFile):
    """One file for each kernel, its types and the processor, named after all of that and the source.

    numba numbers its files and keeps an index of them. Two processes that write at once can leave the index of one
    over the code of the other, and from then on everybody runs the wrong code.
    """

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self.name(key), data)

    def load(self, key: Any) -> Any:
        try:
            return self._load_data(self.name(key))
        except OSError:  # not compiled yet
            return None

    def flush(self) -> None:
        """Nothing is stale: other source has other names."""

    def name(self, key: Any) -> str:
        whole = repr((key, self._source_stamp, self._version))
        return f"{self._index_name.removesuffix('.nbi')}.{hashlib.sha256(whole.encode()).hexdigest()[:24]}.nbc"


class _Cache(caching.FunctionCache):
    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())


def named_helper(name: str, function: Callable[..., Any]) -> Any:
    """A helper that is made in a function, once for each of several values.

    Kernels that come from the disk are linked by the names of what they call, and numba tells namesakes apart by a
    number that begins anew in each process. Two that were compiled in different processes would call each other's.
    """
    function.__name__ = function.__qualname__ = name
    return helper(function)


def either(numbers: Callable[..., Any], pairs: Callable[..., Any]) -> Any:
    """A function for kernels that is one of two, by its first argument, a struct: is it for numbers or for pairs?

    Only the one that is needed is compiled, so whoever computes in float32 does not wait for the other.
    """
    numbers, pairs = (getattr(function, "py_func", function) for function in (numbers, pairs))

    def chosen(*arguments: Any) -> Any:
        raise NotImplementedError(f"{numbers.__name__} is called by kernels")

    def choose(job: Any, *_: Any) -> Callable[..., Any]:
        return pairs if job.paired else numbers

    choose.__signature__ = inspect.signature(numbers)  # type: ignore[attr-defined]
    overload(chosen, jit_options=_OPTIONS)(choose)
    return chosen


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that runs without the GIL and is called from Python."""
    dispatcher = numba.njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # no directory can be written: compile in each process
        dispatcher._cache = _Cache(function)
    return dispatcher
