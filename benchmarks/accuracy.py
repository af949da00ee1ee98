"""Errors against the float64 textbook, beside those that somebody else makes in the same type.

In float32 that is the textbook itself, in bfloat16 torch. The largest error of one input is a single number that chance
picked, so neither is ahead on every input: several are drawn, and the middle ratio counts. The worst one is kept beside
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from benchmarks.measure import OURS, Tick
from benchmarks.peers import with_clearhead, with_torch
from benchmarks.problems import Problem
from benchmarks.rows import LARGEST, RMS, Value, spread

THEIRS = "judge"
KINDS = (LARGEST, RMS)

Judge = Callable[[Problem], np.ndarray]  # whose error ours is held against


def by_textbook(problem: Problem) -> np.ndarray:
    return problem.truth(np.float32)


def by_torch(problem: Problem) -> np.ndarray:
    call = with_torch(problem, 0)
    return call.read(call.run())


def compare(
    problems: Iterable[Problem], count: int, tick: Tick = lambda share: None, judge: Judge = by_textbook
) -> tuple[dict[str, Value], dict[str, float]]:
    """Ratios of clearhead's error to the judge's over `count` inputs, and the figures they come from."""
    errors: dict[str, list[dict[str, float]]] = {OURS: [], THEIRS: []}
    for done, problem in enumerate(problems):
        truth = problem.truth()
        errors[OURS].append(error(with_clearhead(problem, 0).run(), truth))
        errors[THEIRS].append(error(judge(problem), truth))
        tick((done + 1) / count)
    values, figures = {}, {}
    for kind in KINDS:
        ratios = [a[kind] / b[kind] for a, b in zip(errors[OURS], errors[THEIRS], strict=True)]
        values[kind] = spread(ratios)
        figures[f"{kind}, worst ratio"] = max(ratios)
        figures |= {f"{kind}, {name}": max(e[kind] for e in found) for name, found in errors.items()}
    return values, figures


def error(answer: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    difference = answer.astype(np.float64) - truth
    return {LARGEST: float(np.abs(difference).max()), RMS: float(np.sqrt(np.square(difference).mean()))}
