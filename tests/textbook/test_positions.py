from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from clearhead.textbook.positions import add_positional_encoding, positional_encoding


@pytest.mark.parametrize("base", [10000.0, 31.0])
@pytest.mark.parametrize(("seq_len", "d_model"), [(11, 14), (7, 13), (5, 1), (1, 2), (0, 3)])
def test_it_is_the_formula(seq_len, d_model, base):
    expected = np.empty((seq_len, d_model))
    for position in range(seq_len):
        for column in range(d_model):
            pair = column // 2
            angle = position / base ** (2 * pair / d_model)
            expected[position, column] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    np.testing.assert_allclose(positional_encoding(seq_len, d_model, base=base), expected, rtol=0, atol=1e-14)


def test_the_first_position_is_zeros_and_ones():
    np.testing.assert_array_equal(positional_encoding(2, 5)[0], [0, 1, 0, 1, 0])


def test_the_match_of_two_positions_depends_on_their_distance_alone():
    encoding = positional_encoding(29, 22)
    matches = encoding @ encoding.T
    for distance in range(29):
        along = np.diagonal(matches, distance)
        np.testing.assert_allclose(along, along[0], rtol=0, atol=1e-12)


def test_no_two_positions_look_alike():
    encoding = positional_encoding(200, 13)
    apart = np.linalg.norm(encoding[:, None] - encoding, axis=-1) + np.eye(200)
    assert apart.min() > 0.1


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_adding_it(rng, leading):
    x = rng.standard_normal((*leading, 7, 5))
    np.testing.assert_array_equal(add_positional_encoding(x), x + positional_encoding(7, 5))
    np.testing.assert_array_equal(add_positional_encoding(x, base=17.0), x + positional_encoding(7, 5, base=17.0))


def test_decoding_step_by_step_gives_the_same_rows(rng):
    x = rng.standard_normal((3, 11, 5))
    whole = add_positional_encoding(x)
    for step in range(11):
        np.testing.assert_array_equal(
            add_positional_encoding(x[:, step : step + 1], start=step), whole[:, step : step + 1]
        )


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_the_type_stays(rng, kind):
    x = rng.standard_normal((3, 7, 5)).astype(kind)
    y = add_positional_encoding(x)
    assert y.dtype == kind
    exact = x.astype(np.float64) + positional_encoding(7, 5)
    np.testing.assert_allclose(
        y.astype(np.float64), exact, rtol=float(ml_dtypes.finfo(kind).eps), atol=float(ml_dtypes.finfo(kind).eps)
    )


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: positional_encoding(-1, 4), ValueError, "seq_len must be at least 0, got -1"),
        (lambda: positional_encoding(3, 0), ValueError, "d_model must be at least 1, got 0"),
        (lambda: positional_encoding(3.5, 4), TypeError, "seq_len must be a whole number, got 3.5"),
        (lambda: positional_encoding(3, 4, base=0.0), ValueError, "base must be greater than 0, got 0"),
        (lambda: add_positional_encoding(np.ones(3)), ValueError, "x needs at least 2 dimensions"),
        (lambda: add_positional_encoding(np.ones((3, 4), int)), TypeError, "x must be float16.*did you pass token ids"),
        (lambda: add_positional_encoding(np.ones((3, 4)), start=-1), ValueError, "start must be at least 0, got -1"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
