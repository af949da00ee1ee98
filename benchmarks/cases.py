"""The table: what is measured, against what, and what it should reach.

A case takes a size, 1 for the real thing and less for trying it out, and builds its work from that: the problem, and
the calls of every library that can do it, on the same arrays.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import ml_dtypes
import numpy as np

from benchmarks import accuracy, gradients, looking, measure, peers
from benchmarks.measure import Effort, Tick
from benchmarks.peers import Call, Problem
from benchmarks.rows import COST, EXTRA, LARGEST, MEMORY, RMS, SHARE, SPEED, Goal, Peer, Row, spread
from benchmarks.translation import TranslationCase
from clearhead import biases, masks

TYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


class Solvable(Protocol):
    """What a timed case is about: how much work it is, and what should come out."""

    @property
    def operations(self) -> float: ...

    def truth(self, kind: type[np.floating[Any]] = ...) -> np.ndarray: ...


@dataclass(frozen=True)
class Work:
    """What a timed case does: one problem, and the calls that solve it."""

    problem: Solvable
    calls: dict[str, Call]


@dataclass(frozen=True)
class Case:
    """A row of the table that is timed: the same work by every library that can do it."""

    name: str
    group: str
    against: str  # what torch is asked to do
    build: Callable[[float, int], Work]  # from size and threads
    goals: tuple[Goal, ...] = ()
    rounds: int | None = None  # fewer than others have, where one takes long

    def measure(self, effort: Effort, threads: int, size: float = 1.0, tick: Tick = lambda share: None) -> Row:
        work = self.build(size, threads)
        for call in work.calls.values():
            call.run()  # compiles
        if self.rounds is not None:
            effort = replace(effort, rounds=self.rounds, most_rounds=self.rounds)
        seconds = measure.timings(work.calls, effort, tick)
        weighed = {name: measure.extra_bytes(call) for name, call in work.calls.items() if name not in measure.BESIDE}
        values = measure.values(seconds, work.calls, work.problem.operations)
        about_memory = {goal.value for goal in self.goals} & {EXTRA, MEMORY}
        values |= {name: x for name, x in measure.memory_values(weighed).items() if name in about_memory}
        return Row(
            self.name, self.group, self.against, values, self.goals,
            {name: Peer(spread(times), weighed.get(name)) for name, times in seconds.items()},
            len(seconds[measure.OURS]),
            {"operations": work.problem.operations},
        )  # fmt: skip


@dataclass(frozen=True)
class AccuracyCase:
    """A row of the table that is not timed: errors against float64, beside those of the textbook in float32."""

    name: str
    group: str
    draw: Callable[[float, int], Problem]  # from size and seed
    goals: tuple[Goal, ...] = (Goal(LARGEST, 1.0, most=True), Goal(RMS, 1.0, most=True))
    against: str = field(default="the textbook in float32", init=False)

    def measure(self, effort: Effort, threads: int, size: float = 1.0, tick: Tick = lambda share: None) -> Row:
        problems = (self.draw(size, seed) for seed in range(effort.inputs))
        values, figures = accuracy.compare(problems, effort.inputs, tick)
        return Row(self.name, self.group, self.against, values, self.goals, rounds=effort.inputs, figures=figures)


# Problems, from a size


def at(size: float, n: int) -> int:
    return max(8, round(n * size))


def draw(
    n_q: int, n_k: int | None = None, *, b: int = 1, h: int = 8, h_kv: int | None = None, d: int = 64,
    d_v: int | None = None, dtype: str = "float32", seed: int = 0,
) -> Problem:  # fmt: skip
    """Normal numbers of the given shapes."""
    rng = np.random.default_rng(seed)
    n_k, h_kv, d_v = n_k or n_q, h_kv or h, d_v or d
    shapes = (b, h, n_q, d), (b, h_kv, n_k, d), (b, h_kv, n_k, d_v)
    return Problem(*(rng.standard_normal(shape, np.float32).astype(TYPES[dtype]) for shape in shapes))


def plain(n: int, **shape: Any) -> Callable[[float, int], Work]:
    """Self-attention over n positions."""
    return lambda size, threads: work(draw(at(size, n), **shape), threads)


def dense(n: int, h: int, d: int) -> Callable[[float, int], Work]:
    """The same, with the rate of a matrix product measured beside it."""

    def build(size: float, threads: int) -> Work:
        found = work(draw(at(size, n), h=h, d=d), threads)
        return Work(found.problem, found.calls | {measure.YARDSTICK: peers.sgemm(at(size, 2048))})

    return build


def causal_problem(n: int, **shape: Any) -> Problem:
    return replace(draw(n, **shape), causal=True, mask=masks.causal())


def causal(n: int, h: int = 8, **shape: Any) -> Callable[[float, int], Work]:
    return lambda size, threads: work(causal_problem(at(size, n), h=h, **shape), threads)


def window(n: int, width: int, h: int) -> Callable[[float, int], Work]:
    def build(size: float, threads: int) -> Work:
        mask = masks.causal() & masks.window(at(size, width))
        length = at(size, n)
        return work(replace(draw(length, h=h), mask=mask, allowed=mask.array(length).copy()), threads)

    return build


def lengths(size: float, batch: int = 16, shortest: int = 100, longest: int = 1024) -> np.ndarray:
    return np.linspace(at(size, shortest), at(size, longest), batch).astype(int)


def padded_problem(size: float) -> Problem:
    """16 sequences of 100 … 1024 keys, the rest of 1024 being padding."""
    real = lengths(size)
    n = int(real.max())
    allowed = (np.arange(n) < real[:, None])[:, None, None, :]
    return replace(draw(n, b=real.size), mask=masks.key_lengths(real), allowed=allowed)


def padded(size: float, threads: int) -> Work:
    return work(padded_problem(size), threads)


def packed(size: float, threads: int) -> Work:
    """The same sequences, laid end to end for those who can tell them apart, and padded for the others."""
    beside = padded_problem(size)
    real = lengths(size)

    def pack(x: np.ndarray) -> np.ndarray:  # (b, h, n, d) → (1, h, all positions, d)
        return np.concatenate([x[i, :, :length] for i, length in enumerate(real)], axis=1)[None]

    def repacked(call: Call) -> Call:
        return replace(call, read=lambda y: pack(call.read(y)))

    mask = masks.documents(boundaries=np.concatenate([[0], np.cumsum(real)]))
    joined = Problem(*(pack(x) for x in (beside.q, beside.k, beside.v)), mask=mask)
    calls = {name: repacked(call) for name, call in peers.calls(beside, threads).items()}
    return Work(joined, calls | {measure.OURS: peers.with_clearhead(joined, threads)})


def decode(dtype: str) -> Callable[[float, int], Work]:
    """One new token over a cache, 32 query heads on 8 key/value heads."""
    return lambda size, threads: work(draw(1, at(size, 4096), h=32, h_kv=8, dtype=dtype), threads)


def dropped(n: int, rate: float) -> Callable[[float, int], Work]:
    return lambda size, threads: work(replace(draw(at(size, n)), dropout=rate), threads)


def biased(n: int) -> Callable[[float, int], Work]:
    def build(size: float, threads: int) -> Work:
        length = at(size, n)
        bias = np.random.default_rng(1).standard_normal((1, 8, length, length), np.float32)
        return work(replace(draw(length), bias=bias, addition=bias), threads)

    return build


def alibi(n: int) -> Callable[[float, int], Work]:
    """A bias by distance: a rule for clearhead, written out for the others."""

    def build(size: float, threads: int) -> Work:
        length, bias = at(size, n), biases.alibi(8)
        written = bias.array(length)[None].astype(np.float32)
        return work(replace(draw(length), bias=bias, addition=written), threads)

    return build


def drawn(make: Callable[..., Problem], n: int) -> Callable[[float, int], Problem]:
    return lambda size, seed: make(at(size, n), h=2, seed=seed)


def backward(
    n: int, h: int = 8, *, causal: bool = False, bias: bool = False, dropout: float = 0.0, **shape: Any
) -> Callable[[float, int], Work]:
    """Forward and backward over n positions."""

    def build(size: float, threads: int) -> Work:
        length = at(size, n)
        problem = (causal_problem if causal else draw)(length, h=h, **shape)
        if bias:
            drawn = np.random.default_rng(1).standard_normal((1, h, length, length), np.float32)
            problem = replace(problem, bias=drawn, addition=drawn)
        asked = gradients.Gradients(replace(problem, dropout=dropout))
        return Work(asked, gradients.calls(asked) | {measure.YARDSTICK: peers.sgemm(at(size, 2048))})

    return build


def look(n: int, h: int = 8, *, causal: bool = False, others: bool = True) -> Callable[[float, int], Work]:
    """Looking at n positions: the statistics of every head, and a map of 512 × 512 cells."""

    def build(size: float, threads: int) -> Work:
        problem = (causal_problem if causal else draw)(at(size, n), h=h)
        asked = looking.Looking(problem, at(size, 512))
        return Work(asked, looking.calls(asked, threads, alone=others))

    return build


def training(n: int, b: int) -> Callable[[float, int], Work]:
    """A step of a small GPT over b texts of n words; one training goes on from call to call for each library."""

    def build(size: float, threads: int) -> Work:
        from benchmarks.training import ATTENTION, FirstStep, Shape, Training

        shape = Shape(n=at(size, n), b=b)
        return Work(FirstStep(shape), {name: Call(Training(shape, f).step) for name, f in ATTENTION.items()})

    return build


def work(problem: Problem, threads: int) -> Work:
    return Work(problem, peers.calls(problem, threads))


# The table

HEADS = {256: 8, 512: 8, 1024: 8, 2048: 8, 4096: 4, 8192: 2}  # so that a call takes 5 to 700 ms


def faster(bound: float) -> tuple[Goal, ...]:
    return (Goal(SPEED, bound),)


LOOKING = (*faster(6), Goal(COST, 1.7, most=True), Goal(MEMORY, 1 / 50, most=True))

AnyCase = Case | AccuracyCase | TranslationCase

CASES: tuple[AnyCase, ...] = (
    *(
        Case(f"dense n={n} d={d}", "dense", "SDPA", dense(n, HEADS[n], d), (*faster(1.0), Goal(SHARE, 0.8)))
        for d in (64, 128)
        for n in (512, 1024, 2048, 4096, 8192)
    ),
    *(
        Case(f"causal n={n}", "causal", "SDPA, is_causal", causal(n, HEADS[n]), faster(1.7 if n <= 1024 else 1.4))
        for n in (256, 512, 1024, 2048, 4096, 8192)
    ),
    Case("causal window 256 n=8192", "masks", "SDPA, boolean mask", window(8192, 256, 2), faster(12)),
    Case("padded batch 16 × 1024", "masks", "SDPA, boolean mask", padded, faster(2)),
    Case("packed documents", "masks", "SDPA, padded batch and boolean mask", packed),
    Case("decode float32", "decode", "SDPA, enable_gqa", decode("float32"), faster(1.5)),
    Case("decode bfloat16", "decode", "SDPA, enable_gqa", decode("bfloat16"), faster(4)),
    Case("decode float16", "decode", "SDPA, enable_gqa", decode("float16"), faster(4)),
    Case("wide values d_v=96 n=2048", "options", "SDPA", plain(2048, d_v=96), faster(4)),
    Case("dropout 0.1 n=2048", "options", "SDPA, dropout_p", dropped(2048, 0.1), faster(4)),
    Case("bias array n=2048", "options", "SDPA, float mask", biased(2048)),
    Case("bias ALiBi n=2048", "options", "SDPA, float mask", alibi(2048)),
    Case("grouped heads 32/8 n=2048", "options", "SDPA, is_causal, enable_gqa", causal(2048, h=32, h_kv=8)),
    Case("small n=32", "small", "SDPA", plain(32), faster(0.5)),
    *(Case(f"backward n={n}", "backward", "SDPA", backward(n, HEADS[n]), faster(1.2)) for n in (512, 1024, 2048, 4096)),
    *(
        Case(f"backward causal n={n}", "backward", "SDPA, is_causal", backward(n, HEADS[n], causal=True), faster(1.5))
        for n in (512, 1024, 2048, 4096)
    ),
    Case("backward bias n=2048", "backward", "SDPA, float mask", backward(2048, bias=True), faster(4)),
    Case("backward d_v=96 n=2048", "backward", "SDPA", backward(2048, d_v=96), faster(4)),
    Case("backward dropout 0.1 n=2048", "backward", "SDPA, dropout_p", backward(2048, dropout=0.1), faster(4)),
    Case("look n=4096", "look", "eager, all weights", look(4096), LOOKING),
    Case("look causal n=4096", "look", "eager, all weights", look(4096, causal=True), LOOKING),
    Case(
        "look causal n=65536",
        "look",
        "nobody: the weights are 128 GiB",
        look(65536, causal=True, others=False),
        (Goal(EXTRA, 400, most=True),),
        rounds=1,
    ),
    Case("GPT step 8 × 256", "training", "SDPA, is_causal", training(256, 8)),
    Case("GPT step 2 × 1024", "training", "SDPA, is_causal", training(1024, 2)),
    TranslationCase(),
    *(
        AccuracyCase(f"accuracy {kind} n={n}", "accuracy", drawn(make, n))
        for kind, make in (("dense", draw), ("causal", causal_problem))
        for n in (512, 2048)
    ),
)

MEAN_GOALS = {"dense": Goal(SPEED, 1.2)}  # for the geometric mean over a group


def select(patterns: Sequence[str], cases: Iterable[AnyCase] = CASES) -> list[AnyCase]:
    """The groups that are named, and cases whose name contains a pattern, where * and ? stand for others; or all."""
    groups = group_sizes(cases)

    def wanted(case: AnyCase, pattern: str) -> bool:
        if pattern in groups:
            return case.group == pattern
        return fnmatch.fnmatchcase(case.name.lower(), f"*{pattern}*")

    return [case for case in cases if not patterns or any(wanted(case, p.lower()) for p in patterns)]


def group_sizes(cases: Iterable[AnyCase] = CASES) -> dict[str, int]:
    groups = [case.group for case in cases]
    return {group: groups.count(group) for group in groups}
