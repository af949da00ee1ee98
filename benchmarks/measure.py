"""Time and memory of calls that do the same thing, all of them in one run.

Machines drift: they warm up, and others use them. So every round calls each library once, each round begins with
another one, and ratios are taken within a round before their spread is. Pools of threads that wait for work by
spinning would take a core away from whoever comes next, so each turn begins when the process has come to rest.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.problems import Call
from benchmarks.rows import (
    COST,
    EXTRA,
    INTERFACE,
    MEMORY,
    MICROSECONDS,
    MILLISECONDS,
    SHARE,
    SPEED,
    Value,
    over,
    spread,
)  # fmt: skip

OURS, THEIRS, YARDSTICK, ALONE = "clearhead", "torch", "sgemm", "attention alone"
THROUGH_INTERFACE = "clearhead.hf"  # a whole model whose attention is ours by transformers' interface
BESIDE = (YARDSTICK, ALONE)  # what is timed for comparison and computes something else
ALWAYS = (SPEED, SHARE, COST)  # values that are reported without a goal too
TURN = 0.050  # seconds that a turn lasts at least, by repeating short calls
REST = 0.005  # seconds between two looks at whether the process is at rest
LONGEST_REST = 0.25

Tick = Callable[[float], None]  # told the share that is done, 0 … 1


@dataclass(frozen=True)
class Effort:
    """How long to measure a case: at least so many rounds, and more while there is time left."""

    rounds: int = 7
    seconds: float = 5.0
    most_rounds: int = 101
    inputs: int = 9  # drawn one after another, for accuracy

    def done(self, rounds: int, seconds: float) -> float:
        """Which share of the case that is."""
        return min(1.0, rounds / self.rounds, seconds / self.seconds if self.seconds else 1.0)


QUICK = Effort(rounds=3, seconds=1.0, inputs=3)


def timings(
    calls: Mapping[str, Call], effort: Effort, tick: Tick = lambda share: None, *, stretch: float = 0.0
) -> dict[str, list[float]]:
    """Seconds per call, one entry per round, for each of the calls. They have been called before, so are compiled.

    stretch: seconds that a turn lasts where all that happens in it counts, with what is done before each call
    """
    names = list(calls)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    began = time.perf_counter()
    with _no_collection():
        for done in range(effort.most_rounds):
            spent = time.perf_counter() - began
            if done >= effort.rounds and spent * (done + 1) / done > effort.seconds:
                break
            first = done % len(names)
            for name in names[first:] + names[:first]:
                call = calls[name]
                seconds[name].append(throughout(call, stretch) if stretch else turn(call))
            tick(effort.done(done + 1, time.perf_counter() - began))
    return seconds


def turn(call: Call) -> float:
    """Seconds per call in one turn: the median of its calls, as one of three hundred may be interrupted for so long
    as all the others take together.

    How many a short call makes is left to the clock. Threads that are woken may be put on the core of whoever woke
    them, and stay there for some 10 ms: how long one call took says little of how many a turn has room for.
    """
    rest()
    with call.inside():
        end = time.perf_counter() + TURN
        first = _timed(call)
        if first >= TURN:
            return first
        seconds = [_timed(call)]  # the first of short calls pays for waking threads, which a long one hardly notices
        while time.perf_counter() < end:
            seconds.append(_timed(call))
        return statistics.median(seconds)


def throughout(call: Call, seconds: float) -> float:
    """Seconds from one call to the next, with what is done before each, on average for so long.

    Where others hold the cores, a few calls wait for milliseconds and most for nothing, and a call that holds back its
    own threads may hold back what comes next: neither a median nor the call alone would tell.
    """
    rest()
    with call.inside():
        _timed(call)
        began, calls = time.perf_counter(), 0
        while True:
            _timed(call)
            calls += 1
            if (spent := time.perf_counter() - began) >= seconds:
                return spent / calls


def once(call: Call) -> Any:
    """What a call gives, where it is to be called."""
    with call.inside():
        call.before()
        return call.run()


def _timed(call: Call) -> float:
    call.before()
    began = time.perf_counter()
    call.run()
    return time.perf_counter() - began


def rest() -> None:
    """Return when no thread of this process is spinning any more."""
    limit = time.perf_counter() + LONGEST_REST
    while time.perf_counter() < limit:
        used = time.process_time()
        time.sleep(REST)
        if time.process_time() - used < REST / 10:
            return


def ratio(numerator: list[float], denominator: list[float], factor: float = 1.0) -> Value:
    """The ratio of the medians, with the quartiles of the ratios taken round by round."""
    whole = factor * spread(numerator).number / spread(denominator).number
    return spread([factor * a / b for a, b in zip(numerator, denominator, strict=True)], whole)


def values(seconds: Mapping[str, list[float]], calls: Mapping[str, Call], operations: float) -> dict[str, Value]:
    """How many times as fast as torch and others, which share of the yardstick's rate, how many times attention alone,
    and how long it took in itself."""
    ours = seconds[OURS]
    found = {over(name): ratio(times, ours) for name, times in seconds.items() if name not in (OURS, THEIRS, *BESIDE)}
    found |= {unit: spread([scale * x for x in ours]) for unit, scale in ((MICROSECONDS, 1e6), (MILLISECONDS, 1e3))}
    if THEIRS in seconds:
        found[SPEED] = ratio(seconds[THEIRS], ours)
    if THEIRS in seconds and THROUGH_INTERFACE in seconds:
        found[INTERFACE] = ratio(seconds[THEIRS], seconds[THROUGH_INTERFACE])
    if YARDSTICK in seconds:
        found[SHARE] = ratio(seconds[YARDSTICK], ours, operations / calls[YARDSTICK].operations)
    if ALONE in seconds:
        found[COST] = ratio(ours, seconds[ALONE])
    return found


def memory_values(weighed: Mapping[str, int | None]) -> dict[str, Value]:
    """How much memory ours took, and which share of torch's that is, as far as it is known."""
    ours, theirs = weighed.get(OURS), weighed.get(THEIRS)
    found = {} if ours is None else {EXTRA: spread([ours / 2**20])}
    return found | ({MEMORY: spread([ours / theirs])} if ours is not None and theirs else {})


def extra_bytes(call: Call) -> int | None:
    """The most memory in use at once during a call beyond that in use before it, output included.

    Linux keeps the high-water mark of a process and lets it be set back; None where that cannot be done. What stays
    from earlier calls is not in it, such as the half MiB of scratch that each thread of clearhead keeps.
    """
    if not call.weighed:
        return None
    run = call.run if call.lean is None else call.lean()
    with call.inside():
        gc.collect()
        _give_back()
        try:
            Path("/proc/self/clear_refs").write_text("5")
            before = _high_water()
            run()
            return max(0, _high_water() - before)
        except OSError:
            return None


def _high_water() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/self/status has no line VmHWM")


def _give_back() -> None:
    """Return freed memory to the system, where it would be counted if it were taken again."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # C libraries other than glibc have no such function
        ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector, which would be timed with whoever happens to be running."""
    was = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
