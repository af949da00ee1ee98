"""What a wrong output shows by itself, and where asking further finds it right."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.practice import words
from clearhead.practice.describing import described, probed
from clearhead.practice.exercise import Part
from clearhead.practice.probes import Probe

PART = Part(
    solution=len, judge=len, outputs={"weights": "h n_q n_k"}, weights="weights", sizes={"h": 2, "n_q": 3, "n_k": 5}
)
PLAIN = Part(solution=len, judge=len, outputs={"y": "b n d"})


@pytest.fixture
def weights(rng):
    drawn = rng.random((2, 3, 5))
    return drawn / drawn.sum(axis=-1, keepdims=True)


def starts(said):
    return [text.en.split("{")[0][:20] for text in said]


def test_softmax_over_the_queries(weights):
    turned = weights / weights.sum(axis=-2, keepdims=True)
    assert described(PART, "weights", weights, turned)[0] == words.seen.COLUMNS_SUM_TO_ONE


def test_rows_that_do_not_sum_to_one(weights):
    got = weights.copy()
    got[0, 1] *= 0.5
    assert described(PART, "weights", weights, got)[0] == words.seen.ROWS_DO_NOT_SUM.filled(sum="0.5")


def test_negative_weights(weights):
    got = weights.copy()
    got[0, 0, :2] = -1, got[0, 0, :2].sum() + 1
    assert described(PART, "weights", weights, got)[0] == words.seen.NEGATIVE_WEIGHTS


def test_the_future_and_other_masked_keys(rng):
    causal = np.tril(np.ones((2, 4, 4)))
    causal /= causal.sum(axis=-1, keepdims=True)
    got = np.full((2, 4, 4), 0.25)
    assert words.seen.FUTURE.filled(query=0, key=1, weight="0.25") in described(PART, "weights", causal, got)
    padded = np.array([[[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]])
    assert words.seen.LEAK.filled(query=0, key=2, weight="0.333") in described(
        PART, "weights", padded, np.full((1, 2, 3), 1 / 3)
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda y: -y, words.seen.NEGATED),
        (lambda y: 3 * y, words.seen.FACTOR.filled(factor="3")),
        (lambda y: y + 0.5, words.seen.ADDED.filled(added="0.5")),
        (lambda y: y[..., ::-1], words.seen.COLUMNS_PERMUTED),
        (lambda y: y[:, [1, 2, 0]], words.seen.ROWS_PERMUTED),
        (lambda y: np.concatenate([y[:1], y[1:] ** 2]), words.seen.FIRST_ALONE.filled(letter="b")),
        (
            lambda y: np.concatenate([y[:, :2], y[:, 2:] ** 2], axis=1),
            words.seen.ONE_PLACE_WRONG.filled(letter="n", place=2),
        ),
    ],
)
def test_the_output_as_a_whole(rng, change, said):
    right = rng.standard_normal((2, 3, 4))
    assert described(PLAIN, "y", right, change(right))[0] == said


def test_nothing_is_said_of_what_shows_nothing(rng):
    right = rng.standard_normal((2, 3, 4))
    assert described(PLAIN, "y", right, rng.standard_normal((2, 3, 4))) == ()
    assert described(PLAIN, "y", "yes", "no") == ()


def test_right_for_one_head_alone():
    probe = Probe(tuple(PART.sizes.items()))
    assert probed(PART, probe, probe, lambda p: dict(p.sizes)["h"] == 1) == (
        words.seen.ONLY_ONE["h"].filled(letter="h"),
    )
    assert probed(PART, probe, probe, lambda p: dict(p.sizes)["n_q"] == 1) == (
        words.seen.ONLY_WHEN_ONE.filled(letter="n_q"),
    )


def test_right_where_two_sizes_are_equal():
    probe = Probe(tuple(PART.sizes.items()))
    square = probed(PART, probe, probe, lambda p: dict(p.sizes)["n_q"] == dict(p.sizes)["n_k"])
    assert square == (words.seen.ONLY_WHEN_EQUAL.filled(a="n_q", b="n_k"),)
    assert probed(PART, probe, probe, lambda p: False) == ()
    assert probed(PART, Probe(further=0), Probe(further=0), lambda p: True) == ()


def test_right_where_two_sizes_are_equal_by_chance():
    probe = Probe(tuple(PART.sizes.items()))
    assert probed(PART, probe, probe, lambda p: dict(p.sizes) == {"h": 2, "n_q": 2, "n_k": 5}) == ()


def test_what_is_shown_never_belies_what_is_said():
    probe = Probe(tuple(PART.sizes.items()))
    shown = Probe((("h", 2), ("n_q", 1), ("n_k", 1)))
    assert probed(PART, probe, shown, lambda p: dict(p.sizes)["n_k"] == 1) == ()
    assert probed(PART, probe, shown, lambda p: dict(p.sizes)["n_q"] == dict(p.sizes)["n_k"]) == ()


def test_a_factor_that_reads_as_one_is_not_spoken_of(rng):
    right = rng.standard_normal((2, 3, 4))
    assert described(PLAIN, "y", right, right * (1 + 1e-6)) == ()


def test_a_mask_is_counted_either_way():
    mask = np.tri(4, dtype=bool)
    part = Part(solution=len, judge=len, outputs={"mask": "n n_k"})
    assert described(part, "mask", mask, ~mask)[0] == words.seen.EXCHANGED
    shifted = np.tri(4, k=-1, dtype=bool)
    assert described(part, "mask", mask, shifted)[0] == words.seen.TOO_MANY_AND_TOO_FEW.filled(extra=0, missing=4)


def test_rows_with_a_factor_or_a_number_of_their_own(rng):
    right, own = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 3, 1))
    assert described(PLAIN, "y", right, right * own)[0] == words.seen.ROW_FACTORS
    assert described(PLAIN, "y", right, right + own)[0] == words.seen.ROW_SHIFTS
    assert described(PLAIN, "y", right[..., :2], right[..., :2] * rng.standard_normal((2, 3, 2))) == ()
