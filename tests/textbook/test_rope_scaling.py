from __future__ import annotations

import math

import numpy as np
import pytest

from clearhead.textbook.rope_scaling import (
    dynamic_ntk_scaling,
    linear_scaling,
    llama3_scaling,
    longrope_scaling,
    ntk_scaling,
    proportional_scaling,
    rope_frequencies,
    yarn_scaling,
)


def test_frequencies_fall_from_1_by_the_same_ratio():
    frequencies = rope_frequencies(14, 100.0)
    assert frequencies[0] == 1
    np.testing.assert_allclose(frequencies[1:] / frequencies[:-1], 100 ** (-1 / 7), rtol=1e-14)


def test_linear_slows_every_pair():
    frequencies, factor = linear_scaling(14, factor=5.0)
    np.testing.assert_allclose(rope_frequencies(14) / frequencies, 5, rtol=1e-14)
    assert factor == 1


def test_ntk_keeps_the_fastest_pair_and_slows_the_slowest_by_the_factor():
    frequencies, factor = ntk_scaling(14, factor=5.0)
    slower = rope_frequencies(14) / frequencies
    assert slower[0] == 1
    assert slower[-1] == pytest.approx(5, rel=1e-13)
    assert (np.diff(slower) > 0).all()
    assert factor == 1


@pytest.mark.parametrize("length", [None, 0, 1, 127])
def test_dynamic_ntk_leaves_short_texts_alone(length):
    frequencies, factor = dynamic_ntk_scaling(14, length=length, factor=5.0, original_length=127)
    np.testing.assert_array_equal(frequencies, rope_frequencies(14))
    assert factor == 1


def test_dynamic_ntk_grows_with_the_text():
    slowest = [dynamic_ntk_scaling(14, length=n, factor=5.0, original_length=100)[0][-1] for n in (100, 150, 200)]
    # 5 · length / 100 − 4: nothing at the trained length, 6 at twice that
    np.testing.assert_allclose(rope_frequencies(14)[-1] / slowest, [1, 3.5, 6], rtol=1e-13)


def turns(width, length, base=10000.0):
    return length * rope_frequencies(width, base) / (2 * math.pi)


def test_yarn_keeps_what_turns_often_and_slows_what_hardly_turns():
    frequencies, factor = yarn_scaling(62, factor=5.0, original_length=2048)
    slower = rope_frequencies(62) / frequencies
    often, hardly = turns(62, 2048) > 34, turns(62, 2048) < 0.7  # a pair beyond either edge, which are rounded outwards
    assert 5 < often.sum() < 25
    assert 5 < hardly.sum() < 25
    np.testing.assert_allclose(slower[often], 1, rtol=1e-14)
    np.testing.assert_allclose(slower[hardly], 5, rtol=1e-14)
    assert (np.diff(slower) >= -1e-12).all()
    assert factor == pytest.approx(0.1 * math.log(5) + 1, rel=1e-15)


def test_yarn_blends_linearly_in_the_number_of_the_pair():
    frequencies, _ = yarn_scaling(62, factor=5.0, original_length=2048)
    kept = (frequencies / rope_frequencies(62) - 1 / 5) / (1 - 1 / 5)
    between = kept[(kept > 1e-9) & (kept < 1 - 1e-9)]
    assert len(between) > 5
    np.testing.assert_allclose(np.diff(between), np.diff(between)[0], rtol=1e-10)


def test_yarn_without_truncation_puts_the_edges_where_they_are():
    # base and length chosen so that pair i turns 2^(7 − i) times: exactly 32 times in pair 2 and once in pair 7
    how = {"base": 2.0**10, "original_length": 804, "factor": 5.0}  # 804 / 2π = 127.96
    kept = (yarn_scaling(20, truncate=False, **how)[0] / rope_frequencies(20, 2.0**10) - 1 / 5) / (1 - 1 / 5)
    low, high = math.log2(804 / (2 * math.pi * 32)), math.log2(804 / (2 * math.pi))
    np.testing.assert_allclose(kept, 1 - np.clip((np.arange(10) - low) / (high - low), 0, 1), rtol=0, atol=1e-14)


def test_yarn_with_both_edges_in_one_place_is_a_step():
    frequencies, _ = yarn_scaling(14, factor=5.0, original_length=6)
    np.testing.assert_allclose(frequencies[0], 1, rtol=1e-14)
    np.testing.assert_allclose(frequencies[1:], rope_frequencies(14)[1:] / 5, rtol=1e-14)


def test_yarn_attention_factor():
    def factor(**how):
        return yarn_scaling(14, original_length=2048, **how)[1]

    assert factor(factor=1.0) == 1
    assert factor(factor=5.0, attention_factor=0.25) == 0.25
    both = factor(factor=5.0, mscale=0.707, mscale_all_dim=2.0)
    assert both == pytest.approx((0.1 * 0.707 * math.log(5) + 1) / (0.2 * math.log(5) + 1), rel=1e-14)
    assert factor(factor=5.0, mscale=0.707) == factor(factor=5.0)


def test_llama3_keeps_fast_slows_slow_and_blends_by_turns():
    frequencies, factor = llama3_scaling(62, 500_000.0, factor=8.0, original_length=8192)
    kept = (frequencies / rope_frequencies(62, 500_000.0) - 1 / 8) / (1 - 1 / 8)
    count = turns(62, 8192, 500_000.0)
    for k, n in zip(kept, count, strict=True):
        expected = 1 if n > 4 else 0 if n < 1 else (n - 1) / 3
        assert k == pytest.approx(expected, abs=1e-13)
    assert {True, False} == set((count > 1) & (count < 4))
    assert factor == 1


def test_longrope_has_one_list_for_short_texts_and_one_for_long():
    how = {
        "short_factor": np.arange(1.0, 8.0),
        "long_factor": np.arange(11.0, 18.0),
        "original_length": 128,
        "factor": 32.0,
    }
    for length, own in ((None, "short"), (1, "short"), (128, "short"), (129, "long")):
        frequencies, factor = longrope_scaling(14, length=length, **how)
        np.testing.assert_allclose(rope_frequencies(14) / frequencies, how[f"{own}_factor"], rtol=1e-14)
        assert factor == pytest.approx(math.sqrt(1 + 5 / 7), rel=1e-14)  # log 32 / log 128
    assert longrope_scaling(14, **how, attention_factor=1.5)[1] == 1.5
    assert longrope_scaling(14, **(how | {"factor": 0.5}))[1] == 1


def test_proportional_lets_the_slow_pairs_stand_still():
    frequencies, factor = proportional_scaling(20, partial_rotary_factor=0.35, factor=2.0)
    np.testing.assert_allclose(frequencies[:3], rope_frequencies(20)[:3] / 2, rtol=1e-14)
    np.testing.assert_array_equal(frequencies[3:], 0)
    assert factor == 1
    np.testing.assert_array_equal(proportional_scaling(20)[0], rope_frequencies(20))


LISTS = {"short_factor": [1.0] * 7, "long_factor": [2.0] * 7, "original_length": 64, "factor": 4.0}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rope_frequencies(7), ValueError, r"width must be even, since columns turn in pairs, got 7 \(width=6"),
        (lambda: rope_frequencies(0), ValueError, "width must be at least 2, got 0"),
        (lambda: rope_frequencies(8, 1.0), ValueError, "base must be greater than 1, got 1"),
        (lambda: linear_scaling(8, factor=0), ValueError, "factor must be greater than 0, got 0"),
        (lambda: linear_scaling(8, factor="4"), TypeError, "factor must be a number, got '4'"),
        (lambda: ntk_scaling(2, factor=4.0), ValueError, "width must be at least 4, got 2"),
        (lambda: ntk_scaling(8, "e", factor=4.0), TypeError, "base must be a number, got 'e'"),
        (lambda: ntk_scaling(8, factor=-4.0), ValueError, "factor must be greater than 0, got -4"),
        (
            lambda: dynamic_ntk_scaling(8, factor=2.0, original_length=0),
            ValueError,
            "original_length must be at least 1",
        ),
        (
            lambda: dynamic_ntk_scaling(8, factor=0.0, original_length=9),
            ValueError,
            "factor must be greater than 0, got 0",
        ),
        (lambda: yarn_scaling(8, factor=-1.0, original_length=9), ValueError, "factor must be greater than 0, got -1"),
        (lambda: yarn_scaling(8, factor=2.0, original_length=9.5), TypeError, "original_length must be a whole number"),
        (
            lambda: yarn_scaling(8, factor=2.0, original_length=9, beta_fast=0),
            ValueError,
            "beta_fast must be greater than 0",
        ),
        (
            lambda: yarn_scaling(8, factor=2.0, original_length=9, beta_slow=0),
            ValueError,
            "beta_slow must be greater than 0",
        ),
        (
            lambda: yarn_scaling(8, factor=2.0, original_length=9, attention_factor="a"),
            TypeError,
            "attention_factor must be",
        ),
        (lambda: llama3_scaling(8, factor=0.0, original_length=9), ValueError, "factor must be greater than 0"),
        (
            lambda: llama3_scaling(8, factor=8.0, original_length=9, low_freq_factor=4.0),
            ValueError,
            "high_freq_factor must be greater than 4, got 4",
        ),
        (
            lambda: longrope_scaling(8, **LISTS),
            ValueError,
            r"short_factor needs one factor per pair of columns, shape \(4,\), got shape \(7,\)",
        ),
        (
            lambda: longrope_scaling(14, **(LISTS | {"long_factor": [0.0] * 7})),
            ValueError,
            "long_factor must hold finite numbers greater than 0",
        ),
        (
            lambda: longrope_scaling(14, **(LISTS | {"factor": None})),
            ValueError,
            "longrope_scaling needs factor.*or attention_factor",
        ),
        (
            lambda: longrope_scaling(14, **(LISTS | {"original_length": 1})),
            ValueError,
            "original_length must be at least 2",
        ),
        (
            lambda: proportional_scaling(8, partial_rotary_factor=1.5),
            ValueError,
            "partial_rotary_factor must be between 0 and 1, got 1.5",
        ),
        (lambda: proportional_scaling(8, factor=0.0), ValueError, "factor must be greater than 0"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
