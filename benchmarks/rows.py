"""What a measurement is, and whether it reaches its goals.

A row holds values by name, each with its spread, and goals that name the value they are about. So a new kind of
measurement needs nothing here: it fills in values under names of its own, and states goals for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

# The values that are reported in columns of their own.
SPEED = "speed"  # torch's time / clearhead's
INTERFACE = "speed through the interface"  # torch's time / that of clearhead's attention called by transformers
SHARE = "share of sgemm"  # clearhead's operations per second / those of a plain matrix product
COST = "of attention"  # clearhead's time / that of its attention without looking
MEMORY = "share of memory"  # clearhead's / torch's
EXTRA = "extra MiB"
LARGEST = "largest error"  # clearhead's / that of the textbook in float32
RMS = "RMS error"
MICROSECONDS = "microseconds"
MILLISECONDS = "milliseconds"
COLD = "seconds, cold"  # of a first call that compiles
FROM_DISK = "seconds, from the disk"  # of one that finds what was compiled


def over(peer: str) -> str:
    """The value that is the time of a peer other than torch / clearhead's."""
    return f"speed over {peer}"


@dataclass(frozen=True)
class Goal:
    """A bound on a value: at least so much, or with `most` at most."""

    value: str
    bound: float
    most: bool = False

    def met(self, number: float) -> bool:
        return number <= self.bound if self.most else number >= self.bound

    @property
    def limit(self) -> str:
        return f"{'≤' if self.most else '≥'} {self.bound:g}"

    def __str__(self) -> str:
        return f"{self.value} {self.limit}"


@dataclass(frozen=True)
class Value:
    """A number and the quartiles of what it was taken from: rounds, or inputs."""

    number: float
    low: float
    high: float


@dataclass(frozen=True)
class Peer:
    """What one library took."""

    seconds: Value
    extra_bytes: int | None  # the most memory in use during a call beyond that before it; None if that is not known


@dataclass(frozen=True)
class Row:
    """One measured case."""

    name: str
    group: str
    against: str
    values: dict[str, Value]
    goals: tuple[Goal, ...] = ()
    peers: dict[str, Peer] = field(default_factory=dict)
    rounds: int = 0
    figures: dict[str, float] = field(default_factory=dict)  # what else there is to know

    @property
    def judged(self) -> tuple[Goal, ...]:
        """Goals whose value was measured. The others are neither reached nor missed."""
        return tuple(goal for goal in self.goals if goal.value in self.values)

    @property
    def missed(self) -> tuple[Goal, ...]:
        return tuple(goal for goal in self.judged if not goal.met(self.values[goal.value].number))

    @property
    def verdict(self) -> str:
        """`met`, `missed`, or nothing where there is no goal."""
        return "" if not self.judged else "missed" if self.missed else "met"


@dataclass(frozen=True)
class Mean:
    """The geometric mean of one value over the rows of a group, and the goal for it."""

    group: str
    number: float
    goal: Goal
    rows: int  # how many it was taken over
    of: int  # and how many there are

    @property
    def verdict(self) -> str:
        return "met" if self.goal.met(self.number) else "missed"


def spread(samples: Iterable[float], number: float | None = None) -> Value:
    """The median of samples, or a number that is given, with their quartiles."""
    low, middle, high = np.quantile(np.fromiter(samples, float), (0.25, 0.5, 0.75)).tolist()
    return Value(middle if number is None else number, low, high)


def geometric_mean(numbers: Iterable[float]) -> float:
    logarithms = [math.log(x) for x in numbers]
    return math.exp(sum(logarithms) / len(logarithms))


def means(rows: Iterable[Row], goals: dict[str, Goal], sizes: dict[str, int]) -> list[Mean]:
    """For each group with a goal for its mean, that mean over the rows there are; sizes: rows in a whole group."""
    found = []
    for group, goal in goals.items():
        numbers = [row.values[goal.value].number for row in rows if row.group == group and goal.value in row.values]
        if numbers:
            found.append(Mean(group, geometric_mean(numbers), goal, len(numbers), sizes.get(group, len(numbers))))
    return found
