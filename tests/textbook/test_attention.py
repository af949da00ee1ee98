from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as torch_attention

from clearhead.textbook.attention import (
    attention_scores,
    attention_weights,
    causal_self_attention,
    mask_scores,
    mix_values,
    scaled_dot_product_attention,
    self_attention,
)
from clearhead.textbook.masks import create_causal_mask, create_padding_mask
from clearhead.textbook.softmax import softmax

from .loops import attention_by_loops

TIGHT = {"rtol": 0, "atol": 1e-13}


@pytest.fixture
def qkv(rng):
    """b = 2, h = 3, n_q = 5, n_k = 7, d = 11, d_v = 13"""
    return tuple(rng.standard_normal((2, 3, n, d)) for n, d in ((5, 11), (7, 11), (7, 13)))


class TestTheFormula:
    def test_by_hand(self):
        """One query between two keys: scores ln 3 and 0, weights ¾ and ¼."""
        Q, K, V = np.array([[1.0]]), np.array([[np.log(3.0)], [0.0]]), np.array([[4.0, 8.0], [0.0, 16.0]])
        output, weights = scaled_dot_product_attention(Q, K, V)
        np.testing.assert_allclose(weights, [[0.75, 0.25]], **TIGHT)
        np.testing.assert_allclose(output, [[3, 10]], **TIGHT)

    def test_the_two_heads_of_the_course(self):
        """X = [1, 2], every projection column 0.5 in head 1 and 0.3 in head 2: outputs 1.5 and 0.9."""
        X = np.array([[1.0, 2.0]])
        heads = [self_attention(X, *[np.full((2, 1), w)] * 3)[0] for w in (0.5, 0.3)]
        np.testing.assert_allclose(np.concatenate(heads, axis=-1), [[1.5, 0.9]], **TIGHT)

    @pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 1, 3)])
    def test_against_loops_for_any_leading_dimensions(self, rng, leading):
        Q, K, V = (rng.standard_normal((*leading, n, d)) for n, d in ((5, 11), (7, 11), (7, 13)))
        for got, expected in zip(scaled_dot_product_attention(Q, K, V), attention_by_loops(Q, K, V), strict=True):
            np.testing.assert_allclose(got, expected, **TIGHT)

    def test_everything_at_once_against_loops(self, rng):
        Q = rng.standard_normal((2, 6, 5, 11))
        K, V = rng.standard_normal((2, 3, 7, 11)), rng.standard_normal((2, 3, 7, 13))
        options = {
            "mask": rng.random((2, 1, 5, 7)) < 0.7,
            "bias": rng.standard_normal((6, 1, 7)),
            "scale": 0.7,
            "softcap": 1.3,
            "sinks": rng.standard_normal(6),
        }
        expected = attention_by_loops(Q, K, V, **options)
        for got, judged in zip(scaled_dot_product_attention(Q, K, V, **options), expected, strict=True):
            np.testing.assert_allclose(got, judged, **TIGHT)

    def test_it_is_nothing_but_the_four_steps(self, qkv, rng):
        Q, K, V = qkv
        mask, bias, sinks = rng.random((5, 7)) < 0.6, rng.standard_normal((3, 5, 7)), rng.standard_normal(3)
        scores = mask_scores(attention_scores(Q, K, scale=0.3, softcap=2.0), mask, bias=bias)
        weights = attention_weights(scores, sinks=sinks)
        whole = scaled_dot_product_attention(Q, K, V, mask, scale=0.3, softcap=2.0, bias=bias, sinks=sinks)
        np.testing.assert_array_equal(whole[0], mix_values(weights, V))
        np.testing.assert_array_equal(whole[1], weights)

    @pytest.mark.parametrize("kind", ["none", "boolean", "additive", "causal", "grouped"])
    def test_torch_agrees(self, rng, kind):
        heads = 6 if kind == "grouped" else 3
        Q, K = rng.standard_normal((2, heads, 7, 11)), rng.standard_normal((2, 3, 7, 11))
        V = rng.standard_normal((2, 3, 7, 13))
        mask = {
            "boolean": np.triu(np.ones((7, 7), dtype=bool)),
            "additive": rng.standard_normal((2, 1, 7, 7)),
            "causal": create_causal_mask(7),
        }.get(kind)
        judged = torch_attention(
            *map(torch.from_numpy, (Q, K, V)),
            attn_mask=None if mask is None or kind == "causal" else torch.from_numpy(mask),
            is_causal=kind == "causal",
            enable_gqa=kind == "grouped",
        )
        np.testing.assert_allclose(scaled_dot_product_attention(Q, K, V, mask)[0], judged.numpy(), **TIGHT)

    def test_inputs_are_left_alone(self, qkv):
        for x in qkv:
            x.flags.writeable = False
        scaled_dot_product_attention(*qkv, create_causal_mask(5, 7), bias=np.zeros((5, 7)))

    @pytest.mark.usefixtures("unchecked")
    def test_lists_will_do(self):
        output, _ = scaled_dot_product_attention([[1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]], [[2.0], [4.0]])
        np.testing.assert_allclose(output, [[3.0]], **TIGHT)


class TestHeads:
    def test_query_head_i_uses_key_head_i_over_the_group(self, rng):
        Q, K, V = (rng.standard_normal((h, n, 11)) for h, n in ((6, 5), (2, 7), (2, 7)))
        output, weights = scaled_dot_product_attention(Q, K, V)
        for i in range(6):
            alone = scaled_dot_product_attention(Q[i], K[i // 3], V[i // 3])
            np.testing.assert_allclose(output[i], alone[0], **TIGHT)
            np.testing.assert_allclose(weights[i], alone[1], **TIGHT)

    def test_one_key_head_serves_all(self, rng):
        Q, K, V = (rng.standard_normal((2, h, n, 11)) for h, n in ((5, 3), (1, 7), (1, 7)))
        np.testing.assert_allclose(
            scaled_dot_product_attention(Q, K, V)[0],
            scaled_dot_product_attention(Q, np.repeat(K, 5, axis=1), np.repeat(V, 5, axis=1))[0],
            **TIGHT,
        )

    def test_leading_dimensions_that_are_missing_are_shared(self, rng):
        Q, K, V = rng.standard_normal((5, 11)), rng.standard_normal((2, 3, 7, 11)), rng.standard_normal((3, 7, 13))
        output, weights = scaled_dot_product_attention(Q, K, V)
        assert (output.shape, weights.shape) == ((2, 3, 5, 13), (2, 3, 5, 7))
        expected = scaled_dot_product_attention(Q, K[1, 2], V[2])
        np.testing.assert_allclose(output[1, 2], expected[0], **TIGHT)
        np.testing.assert_allclose(weights[1, 2], expected[1], **TIGHT)


class TestScale:
    def test_one_over_the_root_of_d(self, qkv):
        Q, K, _ = qkv
        np.testing.assert_allclose(attention_scores(Q, K), Q @ K.swapaxes(-1, -2) / np.sqrt(11), **TIGHT)

    def test_zero_means_zero(self, qkv):
        output, weights = scaled_dot_product_attention(*qkv, scale=0.0)
        np.testing.assert_allclose(weights, np.full((2, 3, 5, 7), 1 / 7), **TIGHT)
        np.testing.assert_allclose(output, np.broadcast_to(qkv[2].mean(axis=-2, keepdims=True), output.shape), **TIGHT)

    def test_no_width_at_all_is_a_plain_average(self):
        weights = scaled_dot_product_attention(np.zeros((5, 0)), np.zeros((7, 0)), np.ones((7, 3)))[1]
        np.testing.assert_allclose(weights, np.full((5, 7), 1 / 7), **TIGHT)

    def test_dividing_by_the_root_keeps_the_variance_at_1(self, rng):
        for d in (8, 128, 2048):
            Q, K = rng.standard_normal((211, d)), rng.standard_normal((223, d))
            assert attention_scores(Q, K).var() == pytest.approx(1, rel=0.1)
            assert attention_scores(Q, K, scale=1.0).var() == pytest.approx(d, rel=0.1)


class TestMasks:
    def test_true_may_attend(self, qkv):
        Q, K, V = qkv
        mask = np.zeros((5, 7), dtype=bool)
        mask[:, 3] = True
        output, weights = scaled_dot_product_attention(Q, K, V, mask)
        np.testing.assert_array_equal(output, np.broadcast_to(V[..., 3:4, :], output.shape))
        np.testing.assert_array_equal(weights[..., 3], np.ones((2, 3, 5)))

    def test_minus_inf_in_a_float_mask_is_the_same_as_false(self, qkv, rng):
        mask = rng.random((5, 7)) < 0.6
        for x, y in zip(
            scaled_dot_product_attention(*qkv, mask),
            scaled_dot_product_attention(*qkv, np.where(mask, 0.0, -np.inf)),
            strict=True,
        ):
            np.testing.assert_array_equal(x, y)

    @pytest.mark.parametrize("shape", [(7,), (1, 7), (5, 1), (5, 7), (3, 5, 7), (3, 1, 7), (2, 1, 5, 7), (2, 1, 1, 7)])
    def test_a_mask_broadcasts(self, qkv, rng, shape):
        mask = rng.random(shape) < 0.6
        whole = np.broadcast_to(mask, (2, 3, 5, 7))
        got, expected = (scaled_dot_product_attention(*qkv, m) for m in (mask, whole))
        np.testing.assert_array_equal(got[1], expected[1])
        assert (got[1] > 0)[~whole].sum() == 0

    def test_a_float_mask_is_added_like_a_bias(self, qkv, rng):
        bias = rng.standard_normal((3, 5, 7))
        for x, y in zip(
            scaled_dot_product_attention(*qkv, bias), scaled_dot_product_attention(*qkv, bias=bias), strict=True
        ):
            np.testing.assert_array_equal(x, y)
        scores = attention_scores(*qkv[:2])
        np.testing.assert_allclose(mask_scores(scores, bias, bias=2 * bias), scores + 3 * bias, **TIGHT)

    def test_the_padding_mask_reaches_every_head_and_query(self, rng):
        ids = np.array([[5, 2, 9, 0, 0], [3, 0, 0, 0, 0]])
        Q, K, V = (rng.standard_normal((2, 3, 5, 7)) for _ in range(3))
        output, weights = scaled_dot_product_attention(Q, K, V, create_padding_mask(ids))
        short = scaled_dot_product_attention(Q[0], K[0, :, :3], V[0, :, :3])
        np.testing.assert_allclose(output[0], short[0], **TIGHT)
        np.testing.assert_array_equal(weights[1, ..., 0], np.ones((3, 5)))

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_a_finite_bias_however_low_is_no_mask(self, rng, dtype):
        Q, K, V = (rng.standard_normal((n, 11)).astype(dtype) for n in (5, 7, 7))
        lowest = np.full((5, 7), np.finfo(dtype).min)
        average = np.broadcast_to(V.mean(axis=0), (5, 11))
        tolerance = {"rtol": 0, "atol": 4 * np.finfo(dtype).eps}
        for options in ({"mask": lowest}, {"bias": lowest}, {"mask": lowest, "bias": lowest}):
            np.testing.assert_allclose(scaled_dot_product_attention(Q, K, V, **options)[0], average, **tolerance)
        some = lowest.copy()
        some[:, 2] = -np.inf  # among the lowest, only −inf forbids
        weights = scaled_dot_product_attention(Q, K, V, some)[1]
        np.testing.assert_array_equal(weights[:, 2], np.zeros(5))
        np.testing.assert_allclose(weights[:, [0, 1, 3, 4, 5, 6]], np.full((5, 6), 1 / 6), **tolerance)

    def test_a_bias_too_far_out_for_the_scores_type_is_neither_mask_nor_nan(self, rng):
        Q, K, V = (rng.standard_normal((n, 11)).astype(np.float32) for n in (5, 7, 7))
        for bias in (-1e300, 1e300):
            weights = scaled_dot_product_attention(Q, K, V, bias=np.full((5, 7), bias))[1]
            np.testing.assert_allclose(weights, np.full((5, 7), 1 / 7), rtol=1e-6)


class TestNoKeyLeft:
    @pytest.mark.parametrize("kind", ["boolean", "additive"])
    def test_gets_zeros_and_leaves_the_others_alone(self, qkv, kind):
        mask = np.ones((5, 7), dtype=bool)
        mask[2] = False
        output, weights = scaled_dot_product_attention(
            *qkv, mask if kind == "boolean" else np.where(mask, 0.0, -np.inf)
        )
        np.testing.assert_array_equal(output[..., 2, :], np.zeros((2, 3, 13)))
        np.testing.assert_array_equal(weights[..., 2, :], np.zeros((2, 3, 7)))
        expected = scaled_dot_product_attention(*qkv)
        others = [0, 1, 3, 4]
        np.testing.assert_array_equal(output[..., others, :], expected[0][..., others, :])

    def test_even_if_the_query_or_all_keys_and_values_are_nan(self, qkv):
        Q, K, V = (np.full_like(x, np.nan) for x in qkv)
        output, weights = scaled_dot_product_attention(Q, K, V, np.zeros((5, 7), dtype=bool))
        assert not output.any()
        assert not weights.any()

    def test_no_keys_at_all(self):
        Q, K, V = np.ones((2, 3, 5, 11)), np.ones((2, 3, 0, 11)), np.ones((2, 3, 0, 13))
        for options in ({}, {"mask": np.ones((5, 0), dtype=bool)}, {"sinks": np.ones(3)}, {"softcap": 2.0}):
            output, weights = scaled_dot_product_attention(Q, K, V, **options)
            np.testing.assert_array_equal(output, np.zeros((2, 3, 5, 13)))
            assert weights.shape == (2, 3, 5, 0)

    def test_no_queries_at_all(self):
        output, weights = scaled_dot_product_attention(np.ones((3, 0, 11)), np.ones((3, 7, 11)), np.ones((3, 7, 13)))
        assert (output.shape, weights.shape) == ((3, 0, 13), (3, 0, 7))


STRANGE = [np.nan, np.inf, -np.inf, 1e308]


class TestMaskedValuesNeverReachTheOutput:
    @pytest.mark.parametrize("strange", STRANGE)
    @pytest.mark.parametrize("kind", ["boolean", "additive", "causal"])
    def test_in_keys_and_values(self, rng, strange, kind):
        Q, K, V = (rng.standard_normal((2, 3, 7, d)) for d in (11, 11, 13))
        mask = create_causal_mask(7) if kind == "causal" else np.arange(7) != 6
        mask = np.where(mask, 0.0, -np.inf) if kind == "additive" else mask
        expected = scaled_dot_product_attention(Q, K, V, mask)
        K[..., 6, :], V[..., 6, 4] = strange, strange
        seen_by = 6 if kind == "causal" else 7  # under the causal mask the last query does see the last key
        for x, y in zip(scaled_dot_product_attention(Q, K, V, mask), expected, strict=True):
            assert x[..., :seen_by, :].tobytes() == y[..., :seen_by, :].tobytes()

    @pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
    def test_but_what_may_be_attended_does_reach_it(self, qkv, strange):
        Q, K, V = qkv
        V[..., 4, 2] = strange
        output, _ = scaled_dot_product_attention(Q, K, V)
        np.testing.assert_array_equal(output[..., 2], np.full((2, 3, 5), strange))
        assert np.isfinite(np.delete(output, 2, axis=-1)).all()
        K[..., 4, :] = np.nan
        assert np.isnan(scaled_dot_product_attention(Q, K, V)[0]).all()

    def test_plus_and_minus_infinity_together_are_nan(self, qkv):
        Q, K, V = qkv
        V[..., 1, 0], V[..., 4, 0] = np.inf, -np.inf
        output, _ = scaled_dot_product_attention(Q, K, V)
        assert np.isnan(output[..., 0]).all()
        assert np.isfinite(output[..., 1:]).all()

    def test_a_weight_that_vanished_does_not_hide_nan(self):
        """The key may be attended: its weight is only too small to write down."""
        Q, K, V = np.array([[1.0]]), np.array([[0.0], [-1e4]]), np.array([[1.0], [np.nan]])
        output, weights = scaled_dot_product_attention(Q, K, V)
        np.testing.assert_array_equal(weights, [[1, 0]])
        assert np.isnan(output).all()

    def test_without_saying_who_is_allowed_weight_decides(self):
        weights, V = np.array([[0.5, 0.5, 0.0]]), np.array([[1.0], [3.0], [np.nan]])
        np.testing.assert_array_equal(mix_values(weights, V), [[2.0]])
        assert np.isnan(mix_values(weights, V, allowed=np.array([True, True, True]))).all()

    @pytest.mark.parametrize("strange", [np.nan, np.inf])
    def test_key_and_value_heads_are_kept_apart(self, rng, strange):
        Q, K, V = rng.standard_normal((6, 5, 11)), rng.standard_normal((2, 7, 11)), rng.standard_normal((2, 7, 13))
        expected = scaled_dot_product_attention(Q, K, V)[0]
        V[1, 3, 0] = strange
        output = scaled_dot_product_attention(Q, K, V)[0]
        np.testing.assert_array_equal(output[:3], expected[:3])
        np.testing.assert_array_equal(output[3:, :, 0], np.full((3, 5), strange))


class TestCausal:
    def test_queries_are_the_last_positions(self, rng):
        """Step by step with the earlier keys kept, as decoding does, gives the rows of the whole."""
        Q, K, V = (rng.standard_normal((3, 7, d)) for d in (11, 11, 13))
        whole = scaled_dot_product_attention(Q, K, V, create_causal_mask(7))[0]
        for start, stop in ((0, 1), (1, 4), (4, 7)):
            mask = create_causal_mask(stop - start, stop)
            step = scaled_dot_product_attention(Q[:, start:stop], K[:, :stop], V[:, :stop], mask)[0]
            np.testing.assert_allclose(step, whole[:, start:stop], **TIGHT)

    @pytest.mark.parametrize("strange", [0.0, 1e3, np.nan])
    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
    def test_a_later_token_changes_no_bit_of_an_earlier_output(self, rng, strange, dtype):
        X = rng.standard_normal((2, 7, 11)).astype(dtype)
        maps = [rng.standard_normal((11, d)).astype(dtype) for d in (5, 5, 13)]
        before = causal_self_attention(X, *maps)
        X[:, 4:] = strange
        for x, y in zip(causal_self_attention(X, *maps), before, strict=True):
            assert x[:, :4].tobytes() == y[:, :4].tobytes()

    def test_the_first_token_sees_only_itself(self, rng):
        X, W_V = rng.standard_normal((7, 11)), rng.standard_normal((11, 13))
        output, weights = causal_self_attention(X, rng.standard_normal((11, 5)), rng.standard_normal((11, 5)), W_V)
        np.testing.assert_allclose(output[0], X[0] @ W_V, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(weights, np.tril(weights))


class TestSelfAttention:
    def test_one_sequence_and_a_batch_with_the_same_call(self, rng):
        X = rng.standard_normal((2, 3, 7, 11))
        W_Q, W_K, W_V = (rng.standard_normal((11, d)) for d in (5, 5, 13))
        output, weights = self_attention(X, W_Q, W_K, W_V)
        alone = self_attention(X[1, 2], W_Q, W_K, W_V)
        np.testing.assert_allclose(output[1, 2], alone[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(weights[1, 2], alone[1], rtol=0, atol=1e-12)
        expected = attention_by_loops(X[1, 2] @ W_Q, X[1, 2] @ W_K, X[1, 2] @ W_V)
        np.testing.assert_allclose(alone[0], expected[0], rtol=0, atol=1e-12)

    def test_a_mask(self, rng):
        X, maps = rng.standard_normal((2, 7, 11)), [rng.standard_normal((11, 5)) for _ in range(3)]
        ids = np.array([[4, 4, 4, 4, 4, 0, 0], [4, 4, 0, 0, 0, 0, 0]])
        output, _ = self_attention(X, *maps, mask=create_padding_mask(ids)[:, 0])
        np.testing.assert_allclose(output[1, :2], self_attention(X[1, :2], *maps)[0], rtol=0, atol=1e-12)

    def test_without_position_order_does_not_matter(self, rng):
        X, maps = rng.standard_normal((7, 11)), [rng.standard_normal((11, 5)) for _ in range(3)]
        order = rng.permutation(7)
        output, weights = self_attention(X, *maps)
        moved = self_attention(X[order], *maps)
        np.testing.assert_allclose(moved[0], output[order], rtol=0, atol=1e-12)
        np.testing.assert_allclose(moved[1], weights[order][:, order], rtol=0, atol=1e-12)


class TestSoftcap:
    def test_scores_are_squeezed_before_bias_and_mask(self, qkv, rng):
        Q, K, _ = qkv
        raw = attention_scores(Q, K, scale=1.0)
        capped = attention_scores(Q, K, scale=1.0, softcap=4.5)
        np.testing.assert_allclose(capped, 4.5 * np.tanh(raw / 4.5), **TIGHT)
        assert abs(raw).max() > 4.5 > abs(capped).max()
        bias = rng.standard_normal((5, 7)) * 10
        output = scaled_dot_product_attention(*qkv, scale=1.0, softcap=4.5, bias=bias)[1]
        np.testing.assert_allclose(output, softmax(capped + bias), **TIGHT)

    def test_a_large_cap_changes_little(self, qkv):
        np.testing.assert_allclose(
            scaled_dot_product_attention(*qkv, softcap=1e6)[0], scaled_dot_product_attention(*qkv)[0], rtol=0, atol=1e-9
        )


class TestSinks:
    def test_a_sink_is_in_the_denominator_only(self, qkv):
        scores = attention_scores(*qkv[:2])
        sinks = np.array([0.5, -1.0, 3.0])
        output, weights = scaled_dot_product_attention(*qkv, sinks=sinks)
        exponentials = np.exp(scores)
        total = exponentials.sum(axis=-1, keepdims=True) + np.exp(sinks)[:, None, None]
        np.testing.assert_allclose(weights, exponentials / total, **TIGHT)
        np.testing.assert_allclose(output, (exponentials / total) @ qkv[2], **TIGHT)
        assert (weights.sum(axis=-1) < 1).all()

    def test_minus_inf_is_no_sink_and_a_huge_one_takes_everything(self, qkv):
        plain = scaled_dot_product_attention(*qkv)[1]
        weights = scaled_dot_product_attention(*qkv, sinks=np.array([-np.inf, 1e4, -np.inf]))[1]
        np.testing.assert_allclose(weights[:, [0, 2]], plain[:, [0, 2]], **TIGHT)
        np.testing.assert_array_equal(weights[:, 1], np.zeros((2, 5, 7)))

    def test_one_number_without_a_head_axis(self, qkv):
        Q, K, V = (x[0, 0] for x in qkv)
        expected = scaled_dot_product_attention(Q[None], K[None], V[None], sinks=np.array([0.5]))[1][0]
        for sinks in (0.5, np.array(0.5), np.array([0.5])):
            np.testing.assert_array_equal(scaled_dot_product_attention(Q, K, V, sinks=sinks)[1], expected)

    def test_a_query_with_no_key_left_still_gets_zeros(self, qkv):
        output, weights = scaled_dot_product_attention(*qkv, np.zeros((5, 7), dtype=bool), sinks=np.zeros(3))
        assert not output.any()
        assert not weights.any()


class TestPrecision:
    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
    def test_the_answer_has_the_type_of_the_queries(self, qkv, dtype):
        output, weights = scaled_dot_product_attention(*(x.astype(dtype) for x in qkv))
        assert output.dtype == weights.dtype == dtype

    @pytest.mark.parametrize(("dtype", "spacing"), [(np.float16, 2**-10), (ml_dtypes.bfloat16, 2**-7)])
    def test_half_precision_is_rounded_once(self, rng, dtype, spacing):
        """Over 4099 keys, sums kept in half precision would be off by far more than one rounding of the answer."""
        Q, K, V = (rng.standard_normal((n, 64)).astype(dtype) for n in (5, 4099, 4099))
        V = (V.astype(np.float32) + 1).astype(dtype)
        output, weights = scaled_dot_product_attention(Q, K, V)
        exact = scaled_dot_product_attention(*(x.astype(np.float64) for x in (Q, K, V)))
        np.testing.assert_allclose(output.astype(float), exact[0], rtol=0.51 * spacing, atol=1e-6)
        np.testing.assert_allclose(weights.astype(float), exact[1], rtol=0.51 * spacing, atol=2**-24)

    def test_float64_anywhere_means_float64_arithmetic(self, rng):
        Q, K, V = (rng.standard_normal((n, 11)) for n in (5, 7, 7))
        exact = scaled_dot_product_attention(Q.astype(np.float32).astype(float), K, V)[0]
        output = scaled_dot_product_attention(Q.astype(np.float32), K, V)[0]
        assert output.dtype == np.float32
        np.testing.assert_array_equal(output, exact.astype(np.float32))

    def test_steps_hand_on_float32_or_float64(self, qkv):
        for dtype, kind in ((np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64)):
            Q, K, V = (x.astype(dtype) for x in qkv)
            scores = attention_scores(Q, K)
            weights = attention_weights(scores)
            assert {scores.dtype, mask_scores(scores).dtype, weights.dtype, mix_values(weights, V).dtype} == {
                np.dtype(kind)
            }
            assert mix_values(weights.astype(np.float16), V.astype(np.float16)).dtype == np.float32
