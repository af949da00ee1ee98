from __future__ import annotations

from functools import partial

import ml_dtypes
import numpy as np
import pytest

from clearhead.textbook.rope import apply_rope, rope, rope_table
from clearhead.textbook.rope_scaling import dynamic_ntk_scaling, linear_scaling, rope_frequencies, yarn_scaling

LAYOUTS = pytest.mark.parametrize("interleaved", [False, True], ids=["half-split", "interleaved"])


def turned_in_the_complex_plane(x, positions, *, base, interleaved):
    """RoPE by its definition: each pair is a complex number, and turning is multiplying by exp(i · angle)."""
    pairs = x.shape[-1] // 2
    result = np.empty_like(x)
    for row, position in enumerate(positions):
        for pair in range(pairs):
            first, second = (2 * pair, 2 * pair + 1) if interleaved else (pair, pair + pairs)
            point = x[..., row, first] + 1j * x[..., row, second]
            point = point * np.exp(1j * position * base ** (-pair / pairs))
            result[..., row, first], result[..., row, second] = point.real, point.imag
    return result


@LAYOUTS
@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_it_turns_in_the_complex_plane(rng, leading, interleaved):
    x = rng.standard_normal((*leading, 7, 10))
    expected = turned_in_the_complex_plane(x, range(7), base=10000.0, interleaved=interleaved)
    np.testing.assert_allclose(rope(x, interleaved=interleaved), expected, rtol=0, atol=1e-13)
    positions = np.array([5, 0, 5, 19, 2, 1000, 3])
    expected = turned_in_the_complex_plane(x, positions, base=70.0, interleaved=interleaved)
    np.testing.assert_allclose(rope(x, positions, base=70.0, interleaved=interleaved), expected, rtol=0, atol=1e-12)


@LAYOUTS
def test_the_match_depends_on_the_distance_alone(rng, interleaved):
    q, k = rng.standard_normal((2, 1, 14))

    def match(m, n):
        turned = (rope(x, np.array([p]), interleaved=interleaved) for x, p in ((q, m), (k, n)))
        return np.vdot(*turned)

    assert match(3, 8) == pytest.approx(match(103, 108), abs=1e-12)
    assert match(3, 8) != pytest.approx(match(8, 3), abs=1e-3)


@LAYOUTS
def test_turning_keeps_the_length_and_position_0_turns_nothing(rng, interleaved):
    x = rng.standard_normal((3, 11, 14))
    y = rope(x, interleaved=interleaved)
    np.testing.assert_allclose(np.linalg.norm(y, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-13)
    np.testing.assert_array_equal(y[:, 0], x[:, 0])


def test_the_layouts_differ_by_a_permutation_of_columns(rng):
    x = rng.standard_normal((3, 11, 14))
    split = np.concatenate([np.arange(0, 14, 2), np.arange(1, 14, 2)])
    np.testing.assert_array_equal(rope(x, interleaved=True)[..., split], rope(x[..., split]))


@LAYOUTS
def test_only_the_first_columns_turn(rng, interleaved):
    x = rng.standard_normal((3, 11, 13))
    y = rope(x, width=6, interleaved=interleaved)
    np.testing.assert_array_equal(y[..., :6], rope(x[..., :6], interleaved=interleaved))
    np.testing.assert_array_equal(y[..., 6:], x[..., 6:])


def test_each_text_has_its_own_positions(rng):
    x = rng.standard_normal((2, 3, 5, 14))  # (b, h, n, d)
    positions = rng.integers(0, 99, (2, 5))
    y = rope(x, positions[:, None])
    for text in range(2):
        np.testing.assert_array_equal(y[text], rope(x[text], positions[text]))


def test_decoding_step_by_step_gives_the_same_rows(rng):
    x = rng.standard_normal((3, 11, 14))
    turn = partial(rope, base=500_000.0)
    for step in range(11):
        np.testing.assert_array_equal(turn(x[:, [step]], np.array([step])), turn(x)[:, [step]])


def test_scaling_is_asked_with_the_number_of_positions_in_use(rng):
    x, asked = rng.standard_normal((5, 14)), []

    def scaling(width, base, length):
        asked.append((width, base, length))
        return rope_frequencies(width, base) / 3, 2.0

    y = rope(x, np.array([4, 9, 2, 3, 1]), base=77.0, width=6, scaling=scaling)
    assert asked == [(6, 77.0, 10)]
    np.testing.assert_allclose(
        y[..., :6], 2 * rope(x[..., :6], np.array([4, 9, 2, 3, 1]) / 3, base=77.0), rtol=0, atol=1e-13
    )


def test_the_attention_factor_stretches_queries_and_keys():
    scaling = partial(yarn_scaling, factor=8.0, original_length=64)
    cos, sin = rope_table(np.arange(7), 14, scaling=scaling)
    np.testing.assert_allclose(np.hypot(cos, sin), scaling(14)[1], rtol=1e-14)


def test_dynamic_scaling_begins_past_the_trained_length(rng):
    x = rng.standard_normal((17, 14))
    scaling = partial(dynamic_ntk_scaling, factor=2.0, original_length=13)
    np.testing.assert_array_equal(rope(x[:13], scaling=scaling), rope(x[:13]))
    assert np.abs(rope(x, scaling=scaling) - rope(x)).max() > 0.01


def test_linear_scaling_moves_positions_closer_together(rng):
    x = rng.standard_normal((17, 14))
    scaled = rope(x, scaling=partial(linear_scaling, factor=4.0))
    np.testing.assert_allclose(scaled, rope(x, np.arange(17) / 4), rtol=0, atol=1e-13)


@LAYOUTS
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_the_type_stays(rng, kind, interleaved):
    x = rng.standard_normal((3, 11, 10)).astype(kind)
    y = rope(x, width=6, interleaved=interleaved)
    assert y.dtype == kind
    exact = rope(x.astype(np.float64), width=6, interleaved=interleaved)
    np.testing.assert_allclose(y.astype(np.float64), exact, rtol=0, atol=4 * float(ml_dtypes.finfo(kind).eps))


def test_nothing_to_turn():
    assert rope(np.ones((3, 0, 14))).shape == (3, 0, 14)


ANGLES = np.ones((5, 3))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rope(np.ones((5, 6), int)), TypeError, "x must be float16"),
        (lambda: rope(np.ones(6)), ValueError, "x needs at least 2 dimensions"),
        (lambda: rope(np.ones((5, 7))), ValueError, r"width must be even.*got 7 \(width=6 leaves the last column"),
        (lambda: rope(np.ones((5, 6)), width=8), ValueError, "4 angles turn 8 columns but x has only 6"),
        (lambda: rope(np.ones((5, 6)), width=0), ValueError, "width must be at least 2, got 0"),
        (lambda: rope(np.ones((5, 6)), base=1.0), ValueError, "base must be greater than 1, got 1"),
        (
            lambda: rope(np.ones((5, 6)), np.arange(4)),
            ValueError,
            r"positions of shape \(4,\) do not fit x of shape \(5, 6\)",
        ),
        (lambda: rope(np.ones((2, 3, 5, 6)), np.zeros((2, 5))), ValueError, r"passed as positions\[:, None\]"),
        (lambda: rope(np.ones((5, 6)), np.zeros((2, 5))), ValueError, r"must broadcast to \(5,\)"),
        (lambda: rope(np.ones((5, 6)), np.ones(5, bool)), TypeError, "positions must be numbers.*got bool"),
        (
            lambda: rope(np.ones((5, 6)), 3),
            ValueError,
            r"positions need one number per row of x, shape \(n,\), got .* 3",
        ),
        (lambda: rope(np.ones((5, 6)), np.full(5, np.nan)), ValueError, "positions must be finite, got NaN or inf"),
        (
            lambda: apply_rope(np.ones((5, 6)), ANGLES, ANGLES[:, :2]),
            ValueError,
            r"cos has shape \(5, 3\) and sin \(5, 2\)",
        ),
        (lambda: apply_rope(np.ones((5, 6)), ANGLES.astype(int), ANGLES), TypeError, "cos must be float16"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
