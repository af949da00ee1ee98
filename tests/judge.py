"""Whether an answer is as good as the textbook's.

The judge is the textbook, run in a wider type than the one under test. The bound on the error is the error that the
textbook itself makes in that type on the same input, for the largest and for the root mean square over all numbers,
or the floor stated at `Judge` where the textbook was luckier than that. How lucky it is depends on the order in which
its dot products are summed, which the BLAS underneath chooses anew for every shape; so it runs in several orders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from clearhead.kernels.target import TARGET
from clearhead.textbook.attention import share_heads

from .problems import Expected, Problem, in_range

ORDERS = 4


def judge(problem: Problem) -> Judge:
    """The judge of one problem."""
    wide = np.dtype(np.float64 if problem.kind == np.float32 else np.longdouble)
    orders = [np.random.default_rng(n).permutation(problem.q.shape[-1]) for n in range(ORDERS)]
    return Judge(problem, problem.textbook(wide), [problem.textbook(problem.kind, order) for order in orders])


@dataclass(frozen=True)
class Judge:
    """Compares an answer with the textbook in a wider type.

    The bound on an error is the textbook's own, or a floor where that is smaller:

        output    largest 2, root mean square ¼, times eps · max|v| · max(1, max|score| / 4)
        lse       largest 4, root mean square 2, times eps · max(1, |lse|)

    The floors grow with the scores because rounding a score s changes its weight by eps · s / 2.
    Half precision is computed in float32 and then rounded, which costs half a unit in the last place of each number.
    Where the processor multiplies pairs of bfloat16, weights are rounded to it before they mix values. Each is then off
    by at most a part in 2⁸, and the output by Σ weight · |value| / 2⁸. But errors of many keys point all ways: their
    root mean square may be that of errors that are spread evenly up to there and know nothing of each other.
    `slack` multiplies the bounds: small answers, of which there are a few numbers, have errors of any size below them.
    """

    problem: Problem
    exact: Expected
    plain: list[Expected]

    def check(self, output: np.ndarray, lse: np.ndarray | None = None, *, slack: float = 1.0) -> None:
        """Fail unless the output, and the log Σ exp if there is one, are within the bounds."""
        q, v, kind = self.problem.q, self.problem.v, self.problem.kind
        assert output.dtype == q.dtype.newbyteorder("="), f"the output is {output.dtype}, the queries are {q.dtype}"
        eps = float(np.finfo(kind).eps)
        value = np.abs(v[np.isfinite(v)].astype(np.float64)).max(initial=0)
        value /= 1 - self.problem.options.get("dropout", 0)  # what is kept grows
        score = self.exact.largest_score if self.exact.largest_score < 1 / eps else 0  # beyond, none is told apart
        granted = half_unit(self.exact.output, output.dtype) if output.dtype != kind else 0.0
        unit = np.full(output.shape, eps * value * max(1, score / 4))
        floors = [2 * unit, unit / 4]
        if rounds_weights(self.problem):
            most, usual = of_rounded_weights(self.problem, self.exact.weights)
            floors = [most + floors[0], usual + floors[1]]
        self._compare("output", output, floors, granted, slack)
        if lse is not None:
            assert lse.dtype == kind, f"lse is {lse.dtype}, arithmetic is in {kind}"
            unit = eps * np.maximum(np.abs(self._lowest(self.exact.lse)), 1)
            self._compare("lse", lse, [4 * unit, 2 * unit], 0.0, slack)

    def _compare(self, what: str, got: np.ndarray, floors: list[np.ndarray], granted: Any, slack: float) -> None:
        exact = getattr(self.exact, what)
        assert got.shape == exact.shape, f"{what} has shape {got.shape}, expected {exact.shape}"
        finite = np.isfinite(exact)
        np.testing.assert_array_equal(got[~finite].astype(float), exact[~finite].astype(float), err_msg=what)
        if not finite.any():
            return
        exact = self._lowest(exact)

        def error_of(x: np.ndarray) -> np.ndarray:
            with np.errstate(invalid="ignore"):
                return np.where(finite, np.abs(self._lowest(x.astype(exact.dtype)) - exact), 0)

        error, usual = np.maximum(error_of(got) - granted, 0), [error_of(getattr(x, what)) for x in self.plain]
        for name, size, floor in zip(("largest", "RMS"), (np.max, root_mean_square), floors, strict=True):
            textbook = max(size(x) for x in usual)
            bound = slack * max(textbook, size(np.where(finite, floor, 0)))
            assert size(error) <= bound, (
                f"{what}: the {name} error is {size(error):.3g} and may be {bound:.3g}; the textbook's is "
                f"{textbook:.3g}; the largest is at {tuple(map(int, np.unravel_index(error.argmax(), error.shape)))}"
            )

    def _lowest(self, x: np.ndarray) -> np.ndarray:
        """Numbers at the end of the range are all the same: a score may be kept in any base, 2 or e."""
        return in_range(x, self.problem.kind, 0.69)


def rounds_weights(problem: Problem) -> bool:
    """Whether weights are rounded to bfloat16 before they mix values."""
    return TARGET.pairs and all(x.dtype == ml_dtypes.bfloat16 for x in problem.arrays)


def half_unit_of_weights() -> float:
    """The part of a weight that rounding it to bfloat16 changes, at most."""
    return float(ml_dtypes.finfo(ml_dtypes.bfloat16).eps) / 2


def of_rounded_weights(problem: Problem, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far rounding weights to bfloat16 moves each number of the output: at most, and as a root mean square."""
    half = half_unit_of_weights()
    weights = np.where(np.isfinite(weights), weights, 0)
    v = np.where(np.isfinite(problem.v), problem.v, 0).astype(np.float64)
    if problem.lead:
        v = share_heads(v, np.empty((*problem.lead, 1, 1)))
    return half * (weights @ np.abs(v)), half * np.sqrt(weights**2 @ v**2 / 3)


def root_mean_square(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64))))


def half_unit(x: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    """Half the distance between neighbouring numbers of a type around each x."""
    limits = ml_dtypes.finfo(kind)
    with np.errstate(invalid="ignore"):
        exponent = np.frexp(np.where(np.isfinite(x), x, 0).astype(np.float64))[1] - 1
    return np.ldexp(0.5, np.maximum(exponent, limits.minexp) - limits.nmant)
