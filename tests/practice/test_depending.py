"""What an output depends on is found by changing what goes in, and watching both answers."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import practice
from clearhead.practice import exercises, words
from clearhead.practice.exercise import Call, Exercise, Part
from clearhead.practice.grading import check

PAIR = exercises.load("softmax")


def running(x, gamma):
    """Each position adds up what came before it, itself included."""
    return gamma * np.cumsum(x, axis=-2)


def draw(rng, sizes):
    b, n, d = sizes.values()
    return Call((rng.standard_normal((b, n, d)), rng.standard_normal(d)))


EXERCISE = Exercise(
    name="running", note="01", section=PAIR.section, title=PAIR.title, task=PAIR.task, hints=PAIR.hints,
    parts=(Part(solution=running, judge=running, draw=draw, sizes={"b": 2, "n": 4, "d": 3}, outputs={"y": "b n d"}),),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda x, gamma: np.cumsum(x, axis=-2) ** 3, words.seen.IGNORED.filled(argument="gamma")),
        (
            lambda x, gamma: gamma * (np.cumsum(x, axis=-2) + np.sin(x.sum(axis=-2, keepdims=True))),
            words.seen.REACHES.filled(argument="x", letter="n", place=3, other=0),
        ),
        (
            lambda x, gamma: running(x, gamma) + np.sin(x).sum(axis=0),
            words.seen.REACHES.filled(argument="x", letter="b", place=1, other=0),
        ),
        (
            lambda x, gamma: gamma * np.cumsum(np.where(np.arange(4)[:, None] == 0, 0.5, x), axis=-2) ** 3,
            words.seen.MISSES.filled(argument="x", letter="n", place=0, other=0),
        ),
    ],
    ids=["ignored", "the future", "the batch", "the first left out"],
)
def test_what_it_depends_on_and_must_not_or_must_and_does_not(wrong, said):
    assert said in check(EXERCISE, wrong).said


def test_the_future_is_seen_without_looking_at_weights():
    def normalised_over_everything_before_it(x, gamma, beta, *, eps=1e-5):
        mean = np.cumsum(x, axis=-2) / np.arange(1, x.shape[-2] + 1)[:, None]
        return gamma * (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta

    verdict = practice.check("layer_norm", normalised_over_everything_before_it)
    assert words.seen.REACHES.filled(argument="x", letter="n", place=0, other=1) in verdict.said


def test_nothing_is_said_of_what_depends_as_it_should():
    verdict = check(EXERCISE, lambda x, gamma: running(x, gamma) ** 3)
    assert not any("must not depend" in said.en or "makes no difference" in said.en for said in verdict.said)


def test_a_mask_that_is_not_used():
    def without_the_mask(Q, K, V, mask):
        scores = Q @ K.swapaxes(-1, -2) / Q.shape[-1]  # and wrong otherwise too, so that no mistake explains it
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = powers / powers.sum(axis=-1, keepdims=True)
        return weights @ V, weights

    verdict = practice.check("masked_attention", without_the_mask)
    assert verdict.mistake is None
    assert any("mask" in said.en for said in verdict.said)


def test_an_argument_that_matters_elsewhere_is_not_called_unused():
    def right_but_for_low_scores(Q, K, V, mask):
        scores = np.where(mask, Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]), -2e9)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.round(powers / powers.sum(axis=-1, keepdims=True) * mask, 13)
        return weights @ V, weights

    verdict = practice.check("masked_attention", right_but_for_low_scores)
    assert not verdict.right
    assert not any("makes no difference" in said.en for said in verdict.said)
