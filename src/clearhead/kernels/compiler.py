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
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core import caching, event, types

from clearhead.kernels.announcement import Announcer

event.register("numba:compile", Announcer())

helper = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
inlined = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")

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


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that runs without the GIL and is called from Python."""
    dispatcher = numba.njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # no directory can be written: compile in each process
        dispatcher._cache = _Cache(function)
    return dispatcher


def twin(function: Any, **others: Any) -> Any:
    """The same inlined function, in which some names stand for other functions."""
    return inlined(_twin(function.py_func, others))


def for_pairs(dispatcher: Any, **others: Any) -> None:
    """Let a kernel, where it is compiled for PAIRS, be one in which some names stand for other functions.

    So what the two have in common is written once, and only the one that is needed is compiled: whoever computes in
    float32 does not wait for bfloat16. A layer of functions chosen by type would cost everybody a fifth more.
    """
    plain = dispatcher.py_func
    other = _twin(plain, others)
    dispatcher._compiler._get_implementation = lambda kinds, _: other if kinds[0] == types.int16 else plain


def _twin(function: Any, others: dict[str, Any]) -> FunctionType:
    unknown = others.keys() - function.__globals__.keys()
    assert not unknown, f"{function.__name__} knows no {unknown}"
    return FunctionType(function.__code__, function.__globals__ | others, function.__name__)
