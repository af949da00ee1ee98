"""What a view must say, from the textbook's full matrix in a wider type than the one under test.

check_look(problem)                         # all of it, for a problem of tests/problems.py
truth = Truth(problem)
truth.check("entropy", view.entropy)        # within the bounds stated at `check`
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from clearhead import masks
from clearhead.dispatch import attention
from clearhead.textbook.attention import attention_scores, attention_weights, mask_scores
from clearhead.textbook.patterns import name_pattern
from clearhead.views import look
from clearhead.views.patterns import Patterns

from ..problems import Problem, computing_in, in_range

ORDERS = 3
MAP = 11
NOT_OF_LOOK = ("dropout", "seed", "return_lse", "strict")


def options_of_look(problem: Problem) -> dict[str, Any]:
    """The options of a row that `look` has too."""
    return {name: x for name, x in problem.options.items() if name not in NOT_OF_LOOK}


def check_look(
    problem: Problem, *, slack: float = 1.0, look: Callable[..., Any] = look, attention: Callable[..., Any] = attention
) -> None:
    """Fail unless looking leaves the output as it is, and all that is seen is within the bounds times `slack`.

    look: another way of looking, with the `attention` that its output must have the bits of.
    """
    options = options_of_look(problem)
    view = look(*problem.arrays, **options, top_k=5, map_size=MAP)
    output, lse = attention(*problem.arrays, **options, return_lse=True)
    np.testing.assert_array_equal(view.output.view(np.uint8), output.view(np.uint8), "looking changed the output")
    np.testing.assert_array_equal(view.lse, lse)
    truth = Truth(problem)
    for name in ("entropy", "max_weight", "on_first", "on_self"):
        truth.check(name, getattr(view, name), slack=slack)
    truth.check("distance", view.distance, slack=2 * slack, floor=16)  # thousands of terms, one after another
    truth.check("mass", view.mass(), slack=slack)
    truth.check("weights", view.weights(), slack=slack)
    truth.check_top(*view.top_k, slack=slack)
    truth.check("received", view.received, slack=slack)
    mapless = look(*problem.arrays, **options, top_k=0, map_size=0)
    for reduce in ("mean", "max"):
        truth.check(reduce, view.map(reduce), slack=slack)
        truth.check(reduce, mapless.tile(size=MAP, reduce=reduce), slack=slack)


def padding_by_mask(problem: Problem) -> np.ndarray:
    """Which keys the mask of a problem says are padding: (*lead, n_k), the same for all heads."""
    n_q, n_k = problem.q.shape[-2], problem.k.shape[-2]
    mask = problem.options.get("mask")
    if isinstance(mask, np.ndarray):
        mask = masks.array(mask if mask.dtype == np.bool_ else ~np.isneginf(mask))
    found = None if mask is None else mask.padding(masks.Sizes(n_q, n_k, problem.lead[:-1], (1, *problem.lead)[-1]))
    if found is None:
        found = np.zeros(n_k, np.bool_)
    return np.broadcast_to(found[..., None, :] if problem.lead else found, (*problem.lead, n_k))


def statistics(
    weights: np.ndarray, allowed: np.ndarray, map_size: int = MAP, padding: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Every statistic by its definition: weights (…, n_q, n_k)  padding (…, n_k)"""
    n_q, n_k = weights.shape[-2:]
    query, key = np.arange(n_q)[:, None] + n_k - n_q, np.arange(n_k)
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    total = weights.sum(axis=-1)
    far = (weights * abs(query - key)).sum(axis=-1)
    first = np.zeros(weights.shape[:-2], int) if padding is None or padding.all() else (~padding).argmax(axis=-1)
    return {
        "weights": weights,
        "entropy": -(weights * logarithms).sum(axis=-1),
        "max_weight": weights.max(axis=-1, initial=0),
        "received": weights.sum(axis=-2),
        "distance": np.divide(far, total, out=np.zeros_like(far), where=total != 0),
        "on_first": np.where(key == first[..., None, None], weights, 0).sum(axis=-1),
        "on_self": np.where(query == key, weights, 0).sum(axis=-1),
        "mass": total,
        "mean": tile(weights, allowed, (map_size, map_size), "mean"),
        "max": tile(weights, allowed, (map_size, map_size), "max"),
    }


def tile(weights: np.ndarray, allowed: np.ndarray, size: tuple[int, int], reduce: str) -> np.ndarray:
    """A window in at most so many cells of powers of two: weights (…, rows, cols) → (…, cells_q, cells_k)

    The mean or the maximum over the places that are not masked, NaN where all are.
    """
    starts = []  # the first query and the first key of each cell
    for n, most in zip(weights.shape[-2:], size, strict=True):
        length = 1
        while -(-n // length) > most:
            length *= 2
        starts.append(np.arange(0, n, length))
    if 0 in weights.shape:
        return np.full((*weights.shape[:-2], *map(len, starts)), np.nan, weights.dtype)
    allowed = np.broadcast_to(allowed, weights.shape)

    def over_cells(how: np.ufunc, x: np.ndarray) -> np.ndarray:
        return how.reduceat(how.reduceat(x, starts[0], axis=-2), starts[1], axis=-1)

    count = over_cells(np.add, allowed.astype(np.int64))
    values = np.where(allowed, weights, 0)
    found = over_cells(np.add, values) / np.maximum(count, 1) if reduce == "mean" else over_cells(np.maximum, values)
    return np.where(count > 0, found, np.nan)


class Truth:
    """The statistics of one problem in a wide type, and those the textbook finds in the type under test."""

    def __init__(self, problem: Problem, map_size: int = MAP) -> None:
        self.problem = problem
        self.map_size = map_size
        self.padding = padding_by_mask(problem)
        wide = np.dtype(np.float64 if problem.kind == np.float32 else np.longdouble)
        self.weights, self.allowed, self.scored, self.score = self.matrix(wide)

    @functools.cached_property
    def exact(self) -> dict[str, np.ndarray]:
        """Every statistic in the wide type; whoever asks for patterns alone does without."""
        return statistics(self.weights, self.allowed, self.map_size, self.padding)

    def matrix(self, kind: np.dtype[Any], order: Any = slice(None)) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """The textbook's weights, which places are not masked and which score more than −inf, and the largest score.

        In self-attention the queries at keys that are padding have no key left.
        """
        problem = self.problem
        options = {name: x for name, x in problem.written_out().items() if name not in NOT_OF_LOOK}
        for name in ("mask", "bias"):
            if (x := options.get(name)) is not None and x.dtype != np.bool_:
                options[name] = in_range(x, kind).astype(kind)
        with computing_in(kind):
            Q, K = problem.q.astype(kind), problem.k.astype(kind)
            Q = np.broadcast_to(Q, (*problem.lead, *Q.shape[-2:]))[..., order]
            scores = attention_scores(Q, K[..., order], scale=options.get("scale"), softcap=options.get("softcap"))
            scores = mask_scores(scores, options.get("mask"), bias=options.get("bias"))
            weights = attention_weights(scores, sinks=options.get("sinks"))
            open_places = mask_scores(np.zeros_like(scores), options.get("mask"), bias=options.get("bias"))
        largest = float(np.abs(scores[np.isfinite(scores)]).max(initial=0))
        allowed = ~np.isneginf(open_places)
        if problem.q.shape[-2] == problem.k.shape[-2]:
            allowed = allowed & ~self.padding[..., None]
        weights = np.where(allowed, weights, 0)  # a NaN in sight of a query is not in its masked keys
        return weights, allowed, allowed & ~np.isneginf(scores), largest

    @functools.cached_property
    def plain(self) -> list[dict[str, np.ndarray]]:
        """The textbook's own statistics in the type under test, its products summed in several orders."""
        orders = [np.random.default_rng(n).permutation(self.problem.q.shape[-1]) for n in range(ORDERS)]
        matrices = (self.matrix(self.problem.kind, order) for order in orders)
        return [statistics(weights, allowed, self.map_size, self.padding) for weights, allowed, _, _ in matrices]

    def check(self, name: str, got: np.ndarray, *, slack: float = 1.0, floor: float = 4.0) -> None:
        """Fail unless the error is at most twice the textbook's own, or a floor where the textbook was luckier.

        The floor is `floor` eps times the largest number of the statistic, growing with the scores, because rounding a
        score s changes its weight by eps · s / 2.
        """
        exact, kind = self.exact[name], self.problem.kind
        assert got.dtype == kind, f"{name} is {got.dtype}, arithmetic is in {kind}"
        assert got.shape == exact.shape, f"{name} has shape {got.shape}, expected {exact.shape}"
        undefined = np.isnan(exact)
        np.testing.assert_array_equal(np.isnan(got), undefined, err_msg=f"{name}: where it is NaN")
        if undefined.all():
            return
        usual = max(error(x[name], exact) for x in self.plain)
        eps = float(np.finfo(kind).eps)
        score = self.score if self.score < 1 / eps else 0  # beyond, none is told apart
        size = max(1.0, float(np.abs(exact[~undefined]).max(initial=0)))
        bound = slack * max(2 * usual, floor * eps * size * max(1, score / 4))
        assert error(got, exact) <= bound, (
            f"{name}: the largest error is {error(got, exact):.3g} and may be {bound:.3g}; "
            f"the textbook's is {usual:.3g}"
        )

    def check_top(self, indices: np.ndarray, weights: np.ndarray, *, slack: float = 1.0) -> None:
        """The keys named are as heavy as the heaviest, which differ from them only where rounding decides."""
        k = indices.shape[-1]
        there = np.broadcast_to(self.scored, self.weights.shape)
        places = np.minimum(there.sum(axis=-1, keepdims=True), k)
        spoilt = np.isnan(self.weights).any(axis=-1)  # of NaN none is the largest
        np.testing.assert_array_equal((indices >= 0)[~spoilt], (np.arange(k) < places)[~spoilt])
        assert (indices[indices < 0] == -1).all()
        assert not weights[(indices < 0) & ~spoilt[..., None]].any()
        in_order = np.sort(indices[~spoilt], axis=-1)
        assert ((in_order[..., 1:] != in_order[..., :-1]) | (in_order[..., 1:] < 0)).all(), "a key is named twice"
        padded = np.concatenate([self.weights, np.zeros((*self.weights.shape[:-1], k), self.weights.dtype)], axis=-1)
        best = -np.sort(-padded, axis=-1)[..., :k]
        named = np.take_along_axis(padded, np.where(indices < 0, self.weights.shape[-1], indices), axis=-1)
        self.exact["top"] = np.where(spoilt[..., None], np.nan, best)
        for x in self.plain:
            x["top"] = -np.sort(-x["weights"], axis=-1)
            x["top"] = np.concatenate([x["top"], np.zeros_like(padded[..., :k], x["top"].dtype)], axis=-1)[..., :k]
        for got in (named.astype(weights.dtype), weights):
            self.check("top", np.where(spoilt[..., None], np.nan, got).astype(weights.dtype), slack=slack)

    def check_patterns(self, found: Patterns, token_ids: np.ndarray | None = None) -> None:
        """Names, scores and shares are what the textbook finds in its matrix, in every head that has no NaN in it.

        Errors may be as large as the floor of `check` is for an entropy, which a score is the exponential of.
        """
        n_q, n_k = self.weights.shape[-2:]
        heads = int(np.prod(self.weights.shape[:-2]))
        weights, allowed = (
            np.broadcast_to(x, self.weights.shape).reshape(heads, 1, n_q, n_k) for x in (self.weights, self.allowed)
        )
        clean = ~np.isnan(weights).any(axis=(-3, -2, -1))
        real = ~self.padding.reshape(heads, 1, 1, n_k)
        # of these the second says what is padding; the first would too, of a single query, were it not turned twice
        mask = ~masks.array(~allowed[clean]) & masks.array(real[clean])
        exact = name_pattern(weights[clean].astype(self.problem.kind), mask, token_ids)

        def of_clean(x: Any, *axes: int) -> np.ndarray:
            return np.reshape(x, (heads, 1, *axes))[clean]

        np.testing.assert_array_equal(of_clean(found.labels), exact.name)
        np.testing.assert_array_equal(of_clean(found.radius), exact.radius)
        mixed = exact.name == "mixed"
        np.testing.assert_array_equal(of_clean(found.closest, 2)[mixed], exact.closest[mixed])
        assert list(found.scores) == list(found.shares) == list(exact.scores)
        eps = float(np.finfo(self.problem.kind).eps)
        score = self.score if self.score < 1 / eps else 0  # beyond, none is told apart
        bound = 16 * eps * max(1, np.log(max(n_k, 1))) * max(1, score / 4)
        for name in exact.scores:
            np.testing.assert_allclose(of_clean(found.shares[name]), exact.shares[name], 0, bound, err_msg=name)
            np.testing.assert_allclose(of_clean(found.scores[name]), exact.scores[name], 0, bound, err_msg=name)
        np.testing.assert_allclose(of_clean(found.score), exact.score, 0, bound)


def error(got: np.ndarray, exact: np.ndarray) -> float:
    """The largest difference, where there is a number."""
    with np.errstate(invalid="ignore"):
        return float(np.where(np.isnan(exact), 0, np.abs(got.astype(exact.dtype) - exact)).max(initial=0))
