"""Whatever is computed again is as exact as the forward pass had it, and that is as exact as the textbook in float32.

Scores grow with the queries, to thousands here. What is rounded to the size of a score, as a float32 lse would be, is
then good for three digits of a weight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clearhead import masks
from clearhead.textbook.validate import validate_attention
from clearhead.views import average, flow, look, pooled_rollout, rollout, windows

from ..problems import build, row
from .truth import Truth, error, options_of_look, tile

N, ORDERS = 131, 16
EPS = float(np.finfo(np.float32).eps)
SIZES = (1, 5, 30, 300)  # standard deviations of the queries
CALLS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"mask": "causal()"},
    "window and lengths": {"mask": "window(29) & key_lengths([131, 40])"},
    "array": {"mask": "flags(.4, 3, 131, 131)"},
    "rule": {"mask": "where(lambda b, h, i, j: (b + h + i + j) % 3 > 0)"},
    "sinks": {"mask": "causal()", "sinks": "30 * draw(3)"},
    "softcap": {"mask": "causal()", "softcap": 50.0},
    "bias": {"bias": "100 * draw(3, 131, 131)"},
    "alibi": {"bias": "alibi(3)", "mask": "causal()"},
}
WORDS = np.arange(N) // 5
SCATTERED = np.arange(N) * 7 % 11
ONE_HOT, SCATTERED_HOT = (x[:, None] == np.arange(x.max() + 1) for x in (WORDS, SCATTERED))
PREVIOUS = np.maximum(np.arange(N) - 1, 0)
FURTHER = masks.window(9, 3)
VALUES = np.random.default_rng(5).uniform(-1, 1, (N, 3)).astype(np.float32)
SHARES = np.random.default_rng(6).uniform(0, 1 / N, N).astype(np.float32)
SINGLE_WEIGHTS = ("window", "row", "on_self", "on_first", "previous token")  # some weights, held to the worst of all


def at(weights: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Each query's weight on a key of its own."""
    return weights[..., np.arange(N), keys]


def between(weights: np.ndarray, allowed: np.ndarray, hot: np.ndarray) -> np.ndarray:
    """Attention between groups: summed over keys, averaged over queries; those with no key left are padding here."""
    there = (allowed.any(axis=-1)[..., None] & hot).astype(weights.dtype)
    return there.swapaxes(-1, -2) @ (weights @ hot) / np.maximum(there.sum(axis=-2), 1)[..., None]


def through_two(weights: np.ndarray) -> np.ndarray:
    """Two equal layers, half of which passes attention by."""
    layer = (np.eye(N) + weights.mean(axis=-3)).astype(weights.dtype) / 2
    return layer @ layer


# Every way to recompute, and what it is of the whole matrix: of a view, and of weights with the places not masked.
WAYS: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "weights": (lambda view: view.weights(), lambda w, _: w),
    "window": (
        lambda view: view.weights([2, 0], slice(70, 10, -3), [5, 130, 64], batch=1),
        lambda w, _: w[1, [2, 0], 70:10:-3][..., [5, 130, 64]],
    ),
    "row": (lambda view: view.row(77), lambda w, _: w[..., 77, :]),
    "on_self": (lambda view: view.on_self, lambda w, _: at(w, np.arange(N))),
    "on_first": (lambda view: view.on_first, lambda w, _: w[..., 0]),
    "max_weight": (lambda view: view.max_weight, lambda w, _: w.max(axis=-1)),
    "mass": (lambda view: view.mass(FURTHER), lambda w, _: (w * FURTHER.array(N)).sum(axis=-1)),
    "total": (lambda view: view.mass(), lambda w, _: w.sum(axis=-1)),
    "mix": (lambda view: view.mix(VALUES), lambda w, _: w @ VALUES),
    "received_from": (lambda view: view.received_from(SHARES), lambda w, _: SHARES @ w),
    "words": (lambda view: view.grouped(WORDS), lambda w, a: between(w, a, ONE_HOT)),
    "scattered groups": (lambda view: view.grouped(SCATTERED), lambda w, a: between(w, a, SCATTERED_HOT)),
    "mean tile": (lambda view: view.tile(size=40), lambda w, a: np.nan_to_num(tile(w, a, (40, 40), "mean"))),
    "max tile": (
        lambda view: view.tile(size=40, reduce="max"),
        lambda w, a: np.nan_to_num(tile(w, a, (40, 40), "max")),
    ),
    "previous token": (lambda view: windows.at(view, PREVIOUS), lambda w, _: at(w, PREVIOUS)),
    "rollout": (lambda view: rollout([view, view], 100), lambda w, _: through_two(w)[..., 100, :]),
    "flow": (lambda view: flow([view, view], 3), lambda w, _: through_two(w)[..., 3]),
    "pooled rollout": (lambda view: pooled_rollout([view, view], N).shares, lambda w, _: through_two(w)),
    "average": (lambda view: average(view).weights(), lambda w, _: w.mean(axis=-3)),
    "average tile": (
        lambda view: average(view).tile(size=40),
        lambda w, a: np.nan_to_num(tile(w.mean(axis=-3), a.any(axis=-3), (40, 40), "mean")),
    ),
}


@pytest.fixture(scope="module", params=[f"{call}, {size}" for call in CALLS for size in SIZES])
def looked_at(request):
    """A view, the exact weights and which are not masked, and the weights of the textbook in float32."""
    call, size = request.param.split(", ")
    problem = build(row(call, (2, 3, N, 32), N, spoil=f"q *= {size}", **CALLS[call]))
    truth = Truth(problem)
    orders = [np.random.default_rng(n).permutation(32) for n in range(ORDERS)]
    plain = [truth.matrix(np.dtype(np.float32), order)[0] for order in orders]
    return look(*problem.arrays, **options_of_look(problem)), truth, plain


@pytest.mark.parametrize("way", WAYS)
def test_no_way_is_worse_than_the_textbook(looked_at, way):
    view, truth, plain = looked_at
    ask, define = WAYS[way]
    allowed = np.broadcast_to(truth.allowed, truth.weights.shape)
    exact = define(truth.weights, allowed)
    if way in SINGLE_WEIGHTS:
        usual = max(error(weights, truth.weights) for weights in plain)
    else:
        usual = max(error(define(weights, allowed), exact) for weights in plain)
    got = np.nan_to_num(np.asarray(ask(view)))
    assert got.shape == exact.shape
    bound = max(2 * usual, 4 * EPS * max(1, np.abs(exact).max()))  # by that much the textbook's own errors differ
    assert error(got, exact) <= bound, f"{error(got, exact):.2g} where the textbook's error is {usual:.2g}"


def test_they_are_the_weights_that_the_values_were_mixed_with(looked_at):
    """Nothing is lost between the forward pass and what is computed again, however large the scores are."""
    view, _, _ = looked_at
    weights, (_, _, v) = view.weights().astype(np.float64), view.inputs
    padded = False if view.padding is None else view.padding.queries[:, None, :, None]  # whose output is attention's
    np.testing.assert_allclose(weights @ v, np.where(padded, 0, view.output), rtol=0, atol=8 * EPS * np.abs(v).max())
    np.testing.assert_array_equal(weights.max(axis=-1), view.max_weight)
    there = view.top_k.indices >= 0
    top = np.take_along_axis(weights, np.where(there, view.top_k.indices, 0), axis=-1)
    np.testing.assert_array_equal(np.where(there, top, 0), view.top_k.weights)
    every = np.ones((view.n_q, view.n_k), bool)
    np.testing.assert_allclose(view.mass(every), weights.sum(axis=-1), rtol=0, atol=8 * EPS)
    np.testing.assert_allclose(view.received, weights.sum(axis=-2), rtol=0, atol=32 * EPS)


def test_rows_are_distributions(looked_at):
    view, truth, _ = looked_at
    if view.call.sinks is None:
        weights = view.weights()
        there = np.broadcast_to(truth.allowed, weights.shape).any(axis=-1)
        np.testing.assert_allclose(weights.sum(axis=-1, dtype=np.float64), there, rtol=0, atol=4 * EPS)
        validate_attention(np.where(there[..., None], weights, 1 / N))


@pytest.mark.parametrize("size", SIZES)
def test_a_handful_of_queries_is_as_exact(size):
    """They may be multiplied in another order than panels of them are."""
    problem = build(row("few", (2, 4, 3, 32), 577, kv=(2, 2), spoil=f"q *= {size}", mask="causal()"))
    view, truth = look(*problem.arrays, **options_of_look(problem)), Truth(problem)
    plain = [truth.matrix(np.dtype(np.float32), np.random.default_rng(n).permutation(32))[0] for n in range(ORDERS)]
    further, words = masks.window(100), np.arange(577) // 9
    for got, define in (
        (view.weights(), lambda w: w),
        (view.mass(further), lambda w: (w * further.array(3, 577)).sum(axis=-1)),
        (view.grouped(np.arange(3), words), lambda w: w @ (words[:, None] == np.arange(65))),
    ):
        usual = max(error(define(weights), define(truth.weights)) for weights in plain)
        assert error(got, define(truth.weights)) <= max(2 * usual, 4 * EPS)
