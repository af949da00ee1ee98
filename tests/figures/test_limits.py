from __future__ import annotations

import numpy as np
import pytest

from clearhead.figures.limits import DECADES, RARE, fitted_limits
from clearhead.textbook.patterns import causal_uniform, local, uniform


def causal(n: int) -> np.ndarray:
    return np.where(np.tri(n, dtype=bool), causal_uniform(n), np.nan)


@pytest.mark.parametrize("n", [100, 500, 2000])
def test_under_a_causal_mask_the_usual_weight_is_seen(n):
    cells = causal(n)
    limits = fitted_limits(cells)
    assert limits.scale == "log"
    shade = np.log(np.nanmedian(cells) / limits.low) / np.log(limits.high / limits.low)
    assert 0.2 < shade < 0.8
    assert limits.above <= np.ceil(RARE * limits.total)
    assert (limits.total, limits.largest) == (n * (n + 1) // 2, 1.0)


def test_even_attention_is_neither_white_nor_black():
    assert fitted_limits(uniform(100))[:4] == ("linear", 0.0, 0.02, 0)


def test_what_is_wide_is_linear_while_it_can_be_seen(rng):
    cells = 1 + rng.random((100, 100))
    assert fitted_limits(cells)[:2] == ("linear", 0.0)
    assert fitted_limits(cells).high == pytest.approx(max(cells.max(), 2 * np.median(cells)), rel=1e-3)


def test_what_is_seldom_may_lie_past_the_end_and_is_counted(rng):
    cells = 0.01 * rng.random((100, 100)) + 0.005
    cells[0, :3] = 1.0
    limits = fitted_limits(cells)
    assert limits.scale == "linear"
    assert limits.high < 0.03
    assert (limits.above, limits.total, limits.largest) == (3, 10_000, 1.0)


def test_what_holds_most_of_the_weight_is_never_past_the_end(rng):
    cells = 1e-7 * (1 + rng.random((100, 100)))  # were the scale theirs, noise would be all there is
    cells[:, 3] = [0.9] + [1e-7] * 99
    limits = fitted_limits(cells)
    assert (limits.scale, limits.high, limits.above) == ("log", 0.9, 0)
    assert limits.low == pytest.approx(0.9 / 10**DECADES)


def test_where_nearly_nothing_has_weight_its_largest_is_the_end():
    cells = np.zeros((100, 100))
    cells[7, 9] = 0.5
    assert fitted_limits(cells)[:4] == ("linear", 0.0, 0.5, 0)
    assert fitted_limits(local(100))[:3] == ("linear", 0.0, 0.5)


@pytest.mark.parametrize("cells", [np.zeros((3, 3)), np.full((3, 3), np.nan)], ids=["zero", "masked"])
def test_nothing_at_all_has_a_scale(cells):
    assert fitted_limits(cells)[:4] == ("linear", 0.0, 1.0, 0)
