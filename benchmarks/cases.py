"""Kinds of rows, and how each of them is measured."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from benchmarks import accuracy, measure, peers
from benchmarks.measure import Effort, Tick
from benchmarks.problems import Problem
from benchmarks.rows import LARGEST, RMS, Goal, Peer, Row, spread
from benchmarks.work import Build


@dataclass(frozen=True)
class Case:
    """A row of the table that is timed: the same work by every library that can do it."""

    name: str
    group: str
    against: str  # what torch is asked to do
    build: Build
    goals: tuple[Goal, ...] = ()
    rounds: int | None = None  # so many and no more, where one takes long or more are wanted
    situation: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext  # while it is timed
    stretch: float = 0.0  # seconds of a turn in which everything counts: see `measure.timings`
    threads: int | None = None  # where it is not for the user to say
    needs: tuple[str, ...] = ()  # packages without which there is nothing to measure

    def measure(self, effort: Effort, threads: int, size: float = 1.0, tick: Tick = lambda share: None) -> Row:
        if self.rounds is not None:
            rounds = self.rounds if effort.rounds > measure.QUICK.rounds else min(self.rounds, effort.rounds)
            effort = replace(effort, rounds=rounds, most_rounds=rounds)
        with these_threads(self.threads, threads):
            work = self.build(size, self.threads or threads)
            for call in work.calls.values():
                measure.once(call)  # compiles
            with self.situation():
                seconds = measure.timings(work.calls, effort, tick, stretch=min(1.0, size) * self.stretch)
            weighed = {name: measure.extra_bytes(x) for name, x in work.calls.items() if name not in measure.BESIDE}
        values = measure.values(seconds, work.calls, work.problem.operations) | measure.memory_values(weighed)
        wanted = {*measure.ALWAYS, *(goal.value for goal in self.goals)}
        return Row(
            self.name, self.group, self.against,
            {name: value for name, value in values.items() if name in wanted}, self.goals,
            {name: Peer(spread(times), weighed.get(name)) for name, times in seconds.items()},
            len(seconds[measure.OURS]),
            {"operations": work.problem.operations},
        )  # fmt: skip


@contextlib.contextmanager
def these_threads(own: int | None, usual: int) -> Iterator[None]:
    """Its own number of threads for a case that has one."""
    if own is None:
        yield
        return
    peers.set_threads(own)
    try:
        yield
    finally:
        peers.set_threads(usual)


@dataclass(frozen=True)
class AccuracyCase:
    """A row of the table that is not timed: errors against float64, beside those of somebody in the same type."""

    name: str
    group: str
    draw: Callable[[float, int], Problem]  # from size and seed
    against: str = "the textbook in float32"
    judge: accuracy.Judge = accuracy.by_textbook
    goals: tuple[Goal, ...] = (Goal(LARGEST, 1.0, most=True), Goal(RMS, 1.0, most=True))
    needs: tuple[str, ...] = field(default=(), init=False)

    def measure(self, effort: Effort, threads: int, size: float = 1.0, tick: Tick = lambda share: None) -> Row:
        problems = (self.draw(size, seed) for seed in range(effort.inputs))
        values, figures = accuracy.compare(problems, effort.inputs, tick, self.judge)
        return Row(self.name, self.group, self.against, values, self.goals, rounds=effort.inputs, figures=figures)
