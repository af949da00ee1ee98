"""The process a learner's file runs in: it imports, waits for a word, loads the file, and answers probes to its end.

Run as `python -m clearhead.practice.child EXERCISE FILE` by process.py, which speaks to it over standard input and
output. The learner's code gets an empty standard input, and its prints go elsewhere. Nothing here decides what is
right: outcomes go back as data, and the judge lives in the other process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from clearhead.practice import exercises, wire
from clearhead.practice.answers import Failure, outcome
from clearhead.practice.exercise import Exercise
from clearhead.practice.probes import call_of
from clearhead.practice.traces import trace_of
from clearhead.practice.uncompiled import leave_the_compiler_out

MEMORY = 2 << 30  # bytes of address space beyond what the imports have taken


class TimeLimitError(BaseException):
    """Raised in the learner's lines when the other process says that it has taken too long.

    Not an Exception, so that `except Exception` in a loop does not go on for ever.
    """


def main(name: str, file: str) -> None:
    requests, answers = _private_channels()
    exercise = exercises.load(name)
    _import(exercise)
    _limit_memory()
    _listen_for_the_limit()
    before = replaceable()
    _tell(answers, {"ready": True})
    if not requests.readline():  # a process may be started long before its file is saved, or be ended without one
        return
    functions, report = load(exercise, file)
    _tell(answers, report | {"replaced": replaced(before)})
    for request in requests:
        asked = wire.message(request)
        part = next(part for part in exercise.parts if part.name == asked["part"])
        reply = answer(part, functions[part.name], wire.probe_of(asked["probe"]), file)
        _tell(answers, reply | {"replaced": replaced(before), "threads": left_running()})


def _import(exercise: Exercise) -> None:
    """What the learner's file will import, ahead of it: a learner waits, and importing does not count as their time.

    Nothing imported is garbage: without looking for some, torch takes 1.05 s of processor and not 1.21.
    """
    gc.disable()
    with contextlib.suppress(ImportError):  # said when the learner's file is loaded
        exec(exercise.imports, {})
    leave_the_compiler_out()
    gc.enable()


def load(exercise: Exercise, file: str) -> tuple[dict[str, Callable[..., Any]], dict[str, Any]]:
    """The functions of a learner's file, and what is to be told of loading it: a failure, or those that are missing."""
    module = types.ModuleType(f"practice_{exercise.name}")
    module.__file__ = file
    sys.modules[module.__name__] = module
    sys.path.append(str(Path(file).parent))  # last, so that no file of the learner's hides a library
    try:
        exec(compile(Path(file).read_bytes(), file, "exec"), vars(module))
    except BaseException as error:
        return {}, {"failure": _failure(error, file)}
    found = {part.name: vars(module).get(part.name) for part in exercise.parts}
    functions = {name: value for name, value in found.items() if callable(value)}
    return functions, {"missing": [name for name in found if name not in functions]}


def answer(part: Any, function: Callable[..., Any], probe: Any, file: str) -> dict[str, Any]:
    try:
        return wire.packed_outcome(outcome(part, part.adapted(function), lambda: call_of(part, probe), file))
    except BaseException as error:  # outcome() takes what is ordinary; the limit, or a raised KeyboardInterrupt, is not
        return {"answer": None, "failure": _failure(error, file), "changed": []}


def replaceable() -> dict[tuple[str, str], Any]:
    """What a learner's code might replace, and everybody who uses NumPy would then get: by module and name."""
    modules = (np, np.random, np.linalg)
    return {(m.__name__, name): value for m in modules for name, value in vars(m).items() if not name.startswith("_")}


def replaced(before: dict[tuple[str, str], Any]) -> list[str]:
    """The names that are no longer what they were."""
    return sorted(f"{module}.{name}" for (module, name), value in before.items() if _now(module, name) is not value)


def left_running() -> int:
    """How many threads other than this one are running."""
    return threading.active_count() - 1


def _now(module: str, name: str) -> Any:
    return vars(sys.modules[module]).get(name)


def _failure(error: BaseException, file: str) -> list[Any]:
    failure = Failure(type(error).__name__, _message(error), trace_of(error, file))
    return [failure.name, failure.message, wire.packed_trace(failure.trace)]


def _message(error: BaseException) -> str:
    return str(error.msg) if isinstance(error, SyntaxError) else str(error)


def _private_channels() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output under other numbers, so that input() finds nothing and prints go with the errors."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, answers


def _tell(answers: BinaryIO, message: dict[str, Any]) -> None:
    with contextlib.suppress(Exception):  # closed by the learner's code, or put in its place
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        os.write(2, wire.PRINTS_END)
    answers.write(wire.line(message))
    answers.flush()


def _limit_memory() -> None:
    """Let a runaway array end in a MemoryError rather than in a machine that swaps; only Linux says what is in use."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _listen_for_the_limit() -> None:
    def stop(*_: object) -> None:
        raise TimeLimitError

    if hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, stop)


if __name__ == "__main__":
    main(*sys.argv[1:])
