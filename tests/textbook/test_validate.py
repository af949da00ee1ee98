from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from clearhead.textbook.attention import attention_weights, scaled_dot_product_attention
from clearhead.textbook.softmax import softmax
from clearhead.textbook.validate import sum_tolerance, validate_attention

TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def drawn(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return softmax(3 * rng.standard_normal(shape))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_k", [1, 2, 13, 1009, 20_011])
def test_softmax_of_any_type_and_length_is_valid(rng, dtype, n_k):
    for spread in (0.0, 1.0, 30.0):
        scores = (spread * rng.standard_normal((2, 3, n_k))).astype(dtype)
        assert validate_attention(softmax(scores)) is None


@pytest.mark.parametrize("dtype", TYPES)
def test_a_softmax_summed_one_by_one_is_still_valid(rng, dtype):
    kind = np.float64 if dtype == np.float64 else np.float32
    exponentials = np.exp(rng.standard_normal((5, 4099)).astype(kind))
    total = np.zeros((5, 1), dtype=kind)
    for column in exponentials.T:
        total += column[:, None]
    validate_attention((exponentials / total).astype(dtype))


@pytest.mark.parametrize(("dtype", "off"), [(np.float16, 5e-3), (ml_dtypes.bfloat16, 3e-2), (np.float32, 5e-6)])
def test_the_tolerance_is_no_larger_than_the_type_needs(rng, dtype, off):
    weights = np.full((7, 2), 0.5)
    weights[4, 1] += off
    with pytest.raises(ValueError, match=r"weights\[4\] \(row 4\): the weights sum to .*, expected 1"):
        validate_attention(weights.astype(dtype))


def test_float64_is_held_to_float64(rng):
    weights = drawn(rng, 3, 5, 7)
    weights[2, 1, 3] += 1e-13
    with pytest.raises(
        ValueError, match=r"weights\[2, 1\] \(head 2, row 1\): the weights sum to 1 \+ 1e-13, expected 1"
    ):
        validate_attention(weights)
    validate_attention(weights, tolerance=1e-12)


def test_float32_weights_widened_to_float64_are_told_so():
    weights = softmax(np.arange(35, dtype=np.float32).reshape(5, 7)).astype(np.float64)
    with pytest.raises(ValueError, match=r"sum to 1 [+-] \S+e-09, .*the tolerance here is 3e-15; tolerance= all"):
        validate_attention(weights)
    validate_attention(weights, tolerance=1e-6)


def test_tolerance_grows_with_the_length_and_the_type():
    wide, narrow = np.zeros((1, 10_007), np.float32), np.zeros((1, 2), np.float32)
    assert sum_tolerance(wide) > sum_tolerance(narrow)
    sizes = [sum_tolerance(narrow.astype(dtype)) for dtype in (np.float64, np.float32, np.float16, ml_dtypes.bfloat16)]
    assert sizes == sorted(sizes)


def test_a_query_with_no_key_left_is_valid(rng):
    mask = np.ones((5, 7), dtype=bool)
    mask[3] = False
    Q, K, V = (rng.standard_normal((2, n, 11)) for n in (5, 7, 7))
    validate_attention(scaled_dot_product_attention(Q, K, V, mask)[1])


@pytest.mark.parametrize("shape", [(5, 0), (0, 7), (2, 0, 5, 7)])
def test_nothing_is_valid(shape):
    validate_attention(np.zeros(shape))


def test_sinks_must_be_announced(rng):
    weights = attention_weights(rng.standard_normal((3, 5, 7)), sinks=np.array([0.5, -np.inf, 2.0]))
    validate_attention(weights, sinks=True)
    with pytest.raises(ValueError, match=r"weights\[0, 0\] \(head 0, row 0\).*sinks=True allows less than 1"):
        validate_attention(weights)


def test_sinks_do_not_excuse_more_than_1(rng):
    weights = drawn(rng, 3, 5, 7)
    weights[1, 2, 3] += 0.25
    with pytest.raises(ValueError, match=r"\(head 1, row 2\): the weights sum to 1.25, expected 1 \(weights after dro"):
        validate_attention(weights, sinks=True)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.nan, "the weight of key 6 is nan, expected a number in .0, 1. .was every key of this query masked"),
        (np.inf, "the weight of key 6 is inf, expected a number in .0, 1. .weights are shares of 1"),
        (-np.inf, "the weight of key 6 is -inf, expected a number in .0, 1. .are these scores"),
        (-0.25, "the weight of key 6 is -0.25, expected a number in .0, 1. .are these scores"),
        (1.5, "the weight of key 6 is 1.5, expected a number in .0, 1. .are these scores before softmax"),
    ],
)
def test_a_wrong_weight_is_named(rng, value, said):
    weights = drawn(rng, 2, 3, 5, 7)
    weights[1, 2, 4, 6] = value
    with pytest.raises(ValueError, match=rf"^weights\[1, 2, 4\] \(batch 1, head 2, row 4\): {said}"):
        validate_attention(weights)


def test_the_first_of_many_is_named_with_all_its_indices(rng):
    weights = drawn(rng, 2, 3, 5, 7, 11)
    weights[1, 2, 0, 3] = np.inf, *[0.0] * 9, -np.inf
    weights[1, 0, 4, 6, 2] = 7.0
    weights[1, 2, 3] = 0.0  # empty rows are no fault
    with pytest.raises(
        ValueError,
        match=r"^weights\[1, 0, 4, 6\] \(batch \(1, 0\), head 4, row 6\): .* key 2 is 7.*; 1 more row not valid",
    ):
        validate_attention(weights)


def test_softmax_over_the_wrong_axis_is_recognised(rng):
    weights = softmax(rng.standard_normal((3, 7, 7)), axis=-2)
    with pytest.raises(ValueError, match=r"head 0, row 0.*softmax ran over the queries, use axis=-1\); 20 more rows"):
        validate_attention(weights)


def test_a_row_that_lost_weight_is_told_from_an_empty_one(rng):
    weights = drawn(rng, 5, 7)
    weights[2, :] *= 1e-30
    with pytest.raises(ValueError, match=r"\(row 2\): the weights sum to 1e-30, expected 1"):
        validate_attention(weights)


@pytest.mark.parametrize(
    ("weights", "options", "error", "said"),
    [
        (np.eye(3, dtype=int), {}, TypeError, "weights must be float16, bfloat16, float32 or float64, got int64"),
        (
            np.ones(3),
            {},
            ValueError,
            r"weights needs at least 2 dimensions, got shape \(3,\) \(weights\[None\] adds one",
        ),
        (np.eye(3), {"tolerance": -1.0}, ValueError, "tolerance must be at least 0, got -1"),
        (np.eye(3), {"tolerance": np.nan}, ValueError, "tolerance must be finite, got nan"),
        (np.eye(3), {"tolerance": "1"}, TypeError, "tolerance must be a number, got '1' of type str"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_weights_is_refused(weights, options, error, said):
    with pytest.raises(error, match=said):
        validate_attention(weights, **options)
