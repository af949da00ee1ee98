from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead.textbook import patterns
from clearhead.textbook.attention import attention_weights
from clearhead.textbook.patterns import NAMES, name_pattern
from clearhead.textbook.validate import validate_attention

PLAIN = [name for name in NAMES if name != "local"]


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (patterns.diagonal(3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        (patterns.previous_token(3), [[1, 0, 0], [1, 0, 0], [0, 1, 0]]),
        (patterns.first_token(3), [[1, 0, 0], [1, 0, 0], [1, 0, 0]]),
        (patterns.uniform(3), [[1 / 3, 1 / 3, 1 / 3]] * 3),
        (patterns.causal_uniform(3), [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]),
        (patterns.local(4), [[1 / 2, 1 / 2, 0, 0], [1 / 3] * 3 + [0], [0] + [1 / 3] * 3, [0, 0, 1 / 2, 1 / 2]]),
        (patterns.local(4, 2), [[1 / 3] * 3 + [0], [1 / 4] * 4, [1 / 4] * 4, [0] + [1 / 3] * 3]),
        (patterns.local(3, 0), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        (patterns.local(3, 7), [[1 / 3, 1 / 3, 1 / 3]] * 3),
    ],
)
def test_the_zoo_written_out(matrix, expected):
    np.testing.assert_array_equal(matrix, expected)


@given(st.integers(1, 60), st.integers(0, 60))
def test_the_zoo_is_made_of_valid_weights(n, radius):
    for matrix in [*(getattr(patterns, name)(n) for name in PLAIN), patterns.local(n, radius)]:
        assert matrix.shape == (n, n)
        validate_attention(matrix)


@given(st.sampled_from(PLAIN), st.integers(3, 60))
def test_every_pattern_gets_its_name_back(name, n):
    found = name_pattern(getattr(patterns, name)(n))
    assert (found.name, found.tied) == (name, (name,))
    assert found.score == pytest.approx(1, abs=1e-12)


@given(st.integers(3, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 2))))
def test_every_window_gets_its_name_and_radius_back(size):
    n, radius = size
    found = name_pattern(patterns.local(n, radius))
    assert (found.name, found.radius, found.tied) == ("local", radius, ("local",))
    assert found.score == pytest.approx(1, abs=1e-12)


@given(
    st.sampled_from([*PLAIN, "local"]),
    st.integers(5, 23),
    st.floats(0, 0.3),
    st.integers(0, 2**32),
)
def test_the_name_survives_noise(name, n, noise, seed):
    blurred = np.random.default_rng(seed).dirichlet(np.full(n, 3.0), size=n)
    weights = (1 - noise) * getattr(patterns, name)(n) + noise * blurred
    found = name_pattern(weights)
    assert found.name == name
    assert 1 - noise <= found.score <= 1


def test_noise_around_uniform_is_not_taken_for_a_wide_window(rng):
    names = name_pattern(rng.dirichlet(np.ones(17), size=(101, 17))).name
    assert set(names) == {"uniform"}


def test_the_score_is_the_share_of_weight_in_the_right_place():
    weights = np.array([[1.0, 0, 0, 0], [0.7, 0.3, 0, 0], [0, 0.6, 0.4, 0], [0, 0, 0.2, 0.8]])
    found = name_pattern(weights)
    assert found.scores["diagonal"] == pytest.approx((1 + 0.3 + 0.4 + 0.8) / 4)
    assert found.scores["previous_token"] == pytest.approx((1 + 0.7 + 0.6 + 0.2) / 4)
    assert found.scores["first_token"] == pytest.approx((1 + 0.7) / 4)
    assert found.scores["uniform"] == pytest.approx((0.25 + 0.5 + 0.5 + 0.45) / 4)
    assert found.scores["causal_uniform"] == pytest.approx((1 + 0.8 + 2 / 3 + 0.45) / 4)
    # radius 1: ½ of row 0, ⅓ + 0.3 of row 1, ⅓ + ⅓ of row 2, 0.2 + ½ of row 3
    assert found.scores["local"] == pytest.approx((1 / 2 + 1 / 3 + 0.3 + 2 / 3 + 0.7) / 4)
    assert (found.name, found.score) == ("causal_uniform", max(found.scores.values()))


def test_patterns_that_resemble_each_other_are_told_apart():
    scores = name_pattern(np.stack([patterns.diagonal(17), patterns.local(17), patterns.uniform(17)])).scores
    np.testing.assert_allclose(scores["diagonal"], [1, (15 / 3 + 2 / 2) / 17, 1 / 17], atol=1e-12)
    np.testing.assert_allclose(scores["local"][:2], [(15 / 3 + 2 / 2) / 17, 1], atol=1e-12)
    np.testing.assert_allclose(scores["causal_uniform"][2], sum(range(1, 18)) / 17**2, atol=1e-12)


@pytest.mark.parametrize(
    ("matrix", "name", "tied"),
    [
        (patterns.uniform(1), "diagonal", NAMES),
        (patterns.first_token(2), "previous_token", ("previous_token", "first_token")),
        (patterns.local(2, 1), "uniform", ("uniform", "local")),
        (patterns.diagonal(2), "diagonal", ("diagonal",)),
        (patterns.causal_uniform(2), "causal_uniform", ("causal_uniform",)),
    ],
)
def test_what_coincides_is_named_by_order_and_says_so(matrix, name, tied):
    found = name_pattern(matrix)
    assert (found.name, found.score, found.tied) == (name, 1.0, tied)


def test_one_name_per_head():
    zoo = [getattr(patterns, name)(7) for name in PLAIN] + [patterns.local(7, 2)]
    found = name_pattern(np.stack([zoo, zoo[::-1]]))
    expected = np.array([[*PLAIN, "local"], [*PLAIN, "local"][::-1]])
    np.testing.assert_array_equal(found.name, expected)
    np.testing.assert_allclose(found.score, np.ones((2, 6)), atol=1e-12)
    assert (found.radius[0, 5], found.radius[1, 0], found.tied[1, 2]) == (2, 2, ("uniform",))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize("name", NAMES)
def test_names_do_not_depend_on_the_type(name, dtype):
    found = name_pattern(getattr(patterns, name)(11).astype(dtype))
    assert found.name == name
    assert found.score == pytest.approx(1, abs=2e-2 if dtype == ml_dtypes.bfloat16 else 1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_last_queries_stand_at_the_last_keys(name):
    found = name_pattern(getattr(patterns, name)(11)[-5:])
    assert (found.name, found.score) == (name, pytest.approx(1, abs=1e-12))


def test_more_queries_than_keys():
    diagonal = np.concatenate([np.zeros((2, 3)), np.eye(3)])  # queries 0 and 1 stand before the first key
    assert (name_pattern(diagonal).name, name_pattern(diagonal).score) == ("diagonal", 1.0)
    assert name_pattern(np.full((5, 3), 1 / 3)).name == "uniform"
    assert name_pattern(np.eye(3)[[0] * 5]).name == "first_token"


def test_queries_with_no_key_left_do_not_count():
    weights = patterns.previous_token(7)
    weights[[1, 4]] = 0
    found = name_pattern(weights)
    assert (found.name, found.score) == ("previous_token", 1.0)


@pytest.mark.parametrize("shape", [(5, 7), (5, 0), (0, 7)])
def test_a_head_without_weight_has_no_pattern(shape):
    found = name_pattern(np.zeros(shape))
    assert (found.name, found.score, found.tied) == ("none", 0.0, ())


def test_a_sink_costs_score(rng):
    scores = np.where(np.eye(7, dtype=bool), 3.0, -np.inf)
    found = name_pattern(attention_weights(scores, sinks=3.0))
    assert (found.name, found.score) == ("diagonal", pytest.approx(0.5))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: patterns.diagonal(0), ValueError, "n must be at least 1, got 0"),
        (lambda: patterns.uniform(-3), ValueError, "n must be at least 1, got -3"),
        (lambda: patterns.causal_uniform(2.5), TypeError, "n must be a whole number, got 2.5 of type float"),
        (lambda: patterns.local(5, -1), ValueError, "radius must be at least 0, got -1"),
        (lambda: patterns.local(5, 1.5), TypeError, "radius must be a whole number, got 1.5"),
        (lambda: name_pattern(np.eye(5, dtype=int)), TypeError, "weights must be float16, .* got int64"),
        (lambda: name_pattern(np.ones((5, 7))), ValueError, r"weights\[0\] \(row 0\): the weights sum to 7"),
        (
            lambda: name_pattern(np.full((3, 5, 7), np.nan)),
            ValueError,
            r"\(head 0, row 0\): the weight of key 0 is nan",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_has_no_pattern_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()
