"""Biases that depend on the distance: tables of one number per head and distance, never n × n."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from clearhead import biases
from clearhead.call import prepare
from clearhead.dispatch import attention
from clearhead.textbook import relative


class TestMeaning:
    @pytest.mark.parametrize(("n_q", "n_k", "offset"), [(5, 7, None), (7, 5, None), (5, 7, 0), (5, 7, -4), (1, 1, 3)])
    def test_alibi_is_the_textbook_s(self, n_q, n_k, offset):
        got = biases.alibi(6, offset=offset).array(n_q, n_k)
        np.testing.assert_array_equal(got, relative.alibi(n_q, n_k, 6, offset=offset))

    @pytest.mark.parametrize(("n_q", "n_k", "offset"), [(5, 7, None), (70, 51, None), (5, 7, 0), (5, 7, -4), (1, 1, 3)])
    @pytest.mark.parametrize("bidirectional", [True, False])
    def test_t5_is_the_textbook_s(self, rng, n_q, n_k, offset, bidirectional):
        table = rng.standard_normal((12, 3))
        options = {"bidirectional": bidirectional, "max_distance": 31, "offset": offset}
        got = biases.t5(table, **options).array(n_q, n_k)
        np.testing.assert_array_equal(got, relative.t5_bias(n_q, n_k, table, **options))

    def test_slopes_of_one_s_own(self):
        got = biases.alibi([1.0, 0.25, 0.0]).array(2, 4)
        distance = np.abs(np.arange(4) - np.array([[2], [3]]))
        np.testing.assert_array_equal(got, -np.array([1, 0.25, 0])[:, None, None] * distance)

    def test_the_number_of_heads_may_be_a_numpy_integer(self):
        np.testing.assert_array_equal(biases.alibi(np.int32(4)).array(3), biases.alibi(4).array(3))

    def test_any_function_of_distance(self):
        bias = biases.RelativeBias(lambda distance: np.stack([distance, distance**2]))
        distance = np.arange(3)[:, None] - np.arange(5) + 2
        np.testing.assert_array_equal(bias.array(3, 5), np.stack([distance, distance**2]))

    def test_the_table_runs_from_the_last_key_to_the_last_query(self):
        table = biases.RelativeBias(lambda distance: distance[None]).table(3, 5)
        np.testing.assert_array_equal(table, [np.arange(1 - 5, 3) + 2])

    def test_half_precision_slopes_and_tables(self):
        slopes = np.array([0.5, 0.25], np.float16)
        np.testing.assert_array_equal(biases.alibi(slopes).array(3), biases.alibi([0.5, 0.25]).array(3))
        table = np.arange(8, dtype=np.float16).reshape(4, 2)
        assert biases.t5(table).array(3).dtype == np.float16

    def test_a_square_unless_said_otherwise(self):
        np.testing.assert_array_equal(biases.alibi(2).array(4), biases.alibi(2).array(4, 4))


@pytest.mark.parametrize("bias", [biases.alibi(2), biases.t5(np.ones((32, 2)))], ids=["alibi", "t5"])
def test_no_bias_is_ever_n_by_n(bias):
    """At n = 200,000 one head's bias would be 149 GiB of float32."""
    n = 200_000
    q = np.zeros((2, n, 1), np.float32)
    tracemalloc.start()
    call = prepare(q, q, q, bias=bias)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert call.bias is None
    assert call.table.shape == (2, 2 * n - 1)
    assert peak < 300 * n


class TestErrors:
    @pytest.mark.parametrize(
        ("make", "error", "message"),
        [
            (lambda: biases.alibi(0), ValueError, "num_heads must be at least 1, got 0"),
            (lambda: biases.alibi([1, 2]), TypeError, "slopes must be float16, bfloat16, float32 or float64"),
            (lambda: biases.alibi([[0.5]]), ValueError, r"slopes must be one number per head, .* got shape \(1, 1\)"),
            (lambda: biases.alibi(0.5), ValueError, r"slopes must be one number per head, .* got shape \(\)"),
            (lambda: biases.t5(np.ones(3)), ValueError, r"table must have shape \(buckets, h\), got \(3,\)"),
            (lambda: biases.t5(np.ones((4, 2), int)), TypeError, "table must be float16, bfloat16, float32 or float64"),
        ],
    )  # fmt: skip
    def test_when_made(self, make, error, message, unchecked):
        with pytest.raises(error, match=message):
            make()

    @pytest.mark.parametrize(
        ("bias", "message"),
        [
            (biases.alibi(3), "the bias is for 3 heads but there are 2"),
            (biases.t5(np.full((8, 2), np.nan)), "bias contains NaN"),
            (biases.alibi([np.inf, 1.0]), "bias contains NaN"),  # inf · distance 0
            (biases.alibi([-np.inf, 1.0]), "bias contains"),
            (biases.t5(np.full((8, 2), np.inf)), r"bias contains \+inf"),
            (biases.t5(np.ones((3, 2))), "num_buckets must be at least 4, got 3"),
            (biases.t5(np.ones((5, 2))), "num_buckets must be even when bidirectional"),
            (
                biases.RelativeBias(lambda distance: distance),
                r"must give \(heads, 11\) numbers here, got shape \(11,\)",
            ),
            (
                biases.RelativeBias(lambda _: np.ones((2, 3))),
                r"must give \(heads, 11\) numbers here, got shape \(2, 3\)",
            ),
        ],
    )
    def test_when_used(self, rng, bias, message, unchecked):
        q, k = rng.standard_normal((2, 5, 3)), rng.standard_normal((2, 7, 3))
        with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
            attention(q, k, k, bias=bias)

    def test_a_bias_is_numbers(self, rng):
        q = rng.standard_normal((2, 5, 3))
        with pytest.raises(TypeError, match="a relative bias must be float16, bfloat16, float32 or float64, got bool"):
            attention(q, q, q, bias=biases.RelativeBias(lambda distance: distance[None] > 0))


@pytest.mark.parametrize(
    ("bias", "text"),
    [
        (biases.alibi(8), "alibi(8)"),
        (biases.alibi([0.5, 0.25], offset=3), "alibi([0.5, 0.25], offset=3)"),
        (biases.t5(np.zeros((32, 8), np.float32)), "t5(<float32 of shape (32, 8)>)"),
        (
            biases.t5(np.zeros((2, 2)), bidirectional=False, max_distance=9, offset=0),
            "t5([[0.0, 0.0], [0.0, 0.0]], bidirectional=False, max_distance=9, offset=0)",
        ),
        (biases.RelativeBias(np.abs), "RelativeBias(<ufunc 'absolute'>, offset=None)"),
    ],
)
def test_a_bias_prints_as_the_call_that_makes_it(bias, text):
    assert repr(bias) == text
