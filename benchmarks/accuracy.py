"""Errors against the float64 textbook, beside those that the textbook itself makes in float32.

The largest error of one input is a single number that chance picked, so neither is ahead on every input: several are
drawn, and the middle ratio counts. The worst one is kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.measure import Tick
from benchmarks.peers import Problem, with_clearhead
from benchmarks.rows import LARGEST, RMS, Value, spread

OURS, THEIRS = "clearhead", "textbook"
KINDS = (LARGEST, RMS)


def compare(
    problems: Iterable[Problem], count: int, tick: Tick = lambda share: None
) -> tuple[dict[str, Value], dict[str, float]]:
    """Ratios of clearhead's error to the textbook's over `count` inputs, and the figures they come from."""
    errors: dict[str, list[dict[str, float]]] = {OURS: [], THEIRS: []}
    for done, problem in enumerate(problems):
        truth = problem.truth()
        errors[OURS].append(error(with_clearhead(problem, 0).run(), truth))
        errors[THEIRS].append(error(problem.truth(np.float32), truth))
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
