from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead import checks, masks
from clearhead.textbook.attention import mask_scores, scaled_dot_product_attention, self_attention
from clearhead.textbook.decoder import DecoderBlock, DecoderBlockCache
from clearhead.textbook.encoder import EncoderBlock
from clearhead.textbook.flash import flash_attention
from clearhead.textbook.masks import create_causal_mask, create_padding_mask, mask_for_scores
from clearhead.textbook.memory_efficient import memory_efficient_attention
from clearhead.textbook.module import float_type
from clearhead.textbook.multi_head import KeyValueCache, MultiHeadAttention
from clearhead.textbook.relative import relative_attention
from clearhead.textbook.transformer import Transformer

B, H, N_Q, N_K, D = 2, 3, 5, 7, 12
MASKS = {
    "causal": masks.causal(offset=1),
    "window or prefix": masks.window(2, 1) | masks.prefix(1),
    "lengths": masks.key_lengths([3, 6]) & masks.causal(),
    "not a window": ~masks.window(2),
    "per head": masks.where(lambda b, h, i, j: (b + 2 * h + i + j) % 3 != 0),
    "nothing": masks.prefix(0),
}


def test_causal_written_out():
    np.testing.assert_array_equal(create_causal_mask(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    assert create_causal_mask(3).dtype == bool


def test_the_queries_are_the_last_positions():
    np.testing.assert_array_equal(create_causal_mask(2, 5), [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
    np.testing.assert_array_equal(create_causal_mask(2, 5), create_causal_mask(5)[-2:])


def test_more_queries_than_keys_leaves_the_first_with_none():
    np.testing.assert_array_equal(create_causal_mask(4, 2), [[0, 0], [0, 0], [1, 0], [1, 1]])


@given(st.integers(0, 7), st.integers(0, 7), st.none() | st.integers(-9, 9))
def test_query_i_sees_key_j_up_to_i_plus_offset(n, n_k, offset):
    mask = create_causal_mask(n, n_k, offset=offset)
    assert mask.shape == (n, n_k)
    for i in range(n):
        for j in range(n_k):
            assert mask[i, j] == (j <= i + (n_k - n if offset is None else offset))


def test_padding_is_not_attended():
    mask = create_padding_mask(np.array([[5, 3, 0, 0], [7, 0, 2, 0]]))
    assert mask.shape == (2, 1, 1, 4)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask[:, 0, 0], [[1, 1, 0, 0], [1, 0, 1, 0]])


def test_any_leading_dimensions_and_any_padding():
    ids = np.arange(2 * 3 * 5).reshape(2, 3, 5)
    mask = create_padding_mask(ids, pad_id=17)
    assert mask.shape == (2, 3, 1, 1, 5)
    assert np.argwhere(~mask).tolist() == [[1, 0, 0, 0, 2]]
    np.testing.assert_array_equal(create_padding_mask([4, -100, 4], pad_id=-100), [[[True, False, True]]])


def draw(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def attend(function):
    return lambda mask: function(draw(B, H, N_Q, D), draw(B, H, N_K, D), draw(B, H, N_K, D), mask=mask)


def decode(mask):
    """Two calls of a block that share a cache."""
    block, cache = DecoderBlock(D, H, 11), DecoderBlockCache.empty()
    x, memory = draw(B, N_K, D), draw(B, 4, D)
    first = block(x[:, : N_K - N_Q], memory, cache=cache)
    return [*first, *block(x[:, N_K - N_Q :], memory, mask, cache=cache)]


def continued(mask):
    layer, cache, x = MultiHeadAttention(D, H), KeyValueCache(), draw(B, N_K, D)
    return [*layer(x[:, : N_K - N_Q], cache=cache), *layer(x[:, N_K - N_Q :], mask=mask, cache=cache)]


def across(mask):
    model = Transformer(13, 17, d_model=D, num_heads=H, num_layers=2, d_ff=11)
    decoded = model.decode(np.arange(1, 1 + B * N_Q).reshape(B, N_Q), draw(B, N_K, D), mask)
    return [decoded.logits, *decoded.self_weights, *decoded.cross_weights]


TAKES_A_MASK = {
    "mask_scores": lambda mask: mask_scores(draw(B, H, N_Q, N_K), mask),
    "scaled_dot_product_attention": attend(scaled_dot_product_attention),
    "memory_efficient_attention": attend(lambda *x, mask: memory_efficient_attention(*x, 2, mask)),
    "flash_attention": attend(lambda *x, mask: flash_attention(*x, mask, block_size=3)),
    "relative_attention": attend(lambda *x, mask: relative_attention(*x, draw(3, D), mask=mask)),
    "MultiHeadAttention": lambda mask: MultiHeadAttention(D, H)(draw(B, N_Q, D), draw(B, N_K, D), mask=mask),
    "MultiHeadAttention with a cache": continued,
    "DecoderBlock": decode,
    "DecoderBlock's memory": lambda mask: DecoderBlock(D, H, 11)(draw(B, N_Q, D), draw(B, N_K, D), memory_mask=mask),
    "Transformer": across,
}


def bits(answer):
    return [x.tobytes() for x in (answer if isinstance(answer, (tuple, list)) else [answer])]


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("ask", TAKES_A_MASK.values(), ids=TAKES_A_MASK)
def test_a_mask_that_composes_is_the_array_it_stands_for(ask, mask):
    assert bits(ask(mask)) == bits(ask(mask.array(N_Q, N_K, batch_shape=(B,), heads=H)))
    assert bits(ask(mask)) != bits(ask(None))


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_an_encoder_takes_it_too(mask):
    block, x = EncoderBlock(D, H, 11), draw(B, N_K, D)
    assert bits(block(x, mask)) == bits(block(x, mask.array(N_K, batch_shape=(B,), heads=H)))


@pytest.mark.parametrize("mask", [masks.key_lengths([3, 6]), masks.causal() & masks.window(2)], ids=["batch", "band"])
def test_where_there_are_no_heads_all_leading_dimensions_are_a_batch(mask):
    X, W = draw(B, N_K, D), draw(D, D)
    assert bits(self_attention(X, W, W, W, mask)) == bits(self_attention(X, W, W, W, mask.array(N_K, batch_shape=(B,))))


def test_without_leading_dimensions_a_mask_is_n_q_by_n_k():
    for mask in (masks.causal(), masks.array(np.eye(N_Q, N_K, dtype=bool))):
        written = mask_for_scores(mask, (N_Q, N_K))
        assert written.shape == (N_Q, N_K)
        np.testing.assert_array_equal(written, mask.array(N_Q, N_K))


def test_arrays_are_taken_as_they_are():
    for mask in (create_causal_mask(N_Q, N_K), draw(H, 1, N_K), [[True] * N_K]):
        np.testing.assert_array_equal(mask_for_scores(mask, (B, H, N_Q, N_K)), mask)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (masks.key_lengths([3, 6, 1]), r"lengths of shape \(3,\) do not broadcast to the batch axes \(2,\)"),
        (masks.documents(np.zeros(5, int)), "documents: there are 7 keys but ids for 5"),
        (masks.array(np.ones((2, 5, 7), bool)), r"a mask with leading axes \(2,\) does not broadcast .* 3 heads"),
        (masks.array(np.ones((5, 5), bool)), r"mask of shape \(5, 5\) does not broadcast to n_k = 7"),
    ],
    ids=["batch", "keys", "heads", "length"],
)
@pytest.mark.parametrize("ask", TAKES_A_MASK.values(), ids=TAKES_A_MASK)
def test_a_mask_that_does_not_fit_says_why(ask, mask, said):
    with pytest.raises(ValueError, match=said):
        ask(mask)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: create_causal_mask(-1), ValueError, "n must be at least 0, got -1"),
        (lambda: create_causal_mask(3.0), TypeError, "n must be a whole number, got 3.0 of type float"),
        (lambda: create_causal_mask(True), TypeError, "n must be a whole number, got the boolean True"),
        (lambda: create_causal_mask(3, -2), ValueError, "n_k must be at least 0, got -2"),
        (lambda: create_causal_mask(3, offset=0.5), TypeError, "offset must be a whole number, got 0.5"),
        (
            lambda: create_padding_mask(np.array([[1.0, 2.0]])),
            TypeError,
            r"token_ids must be integers, got float64 \(the mask is made from the ids before they are embedded\)",
        ),
        (lambda: create_padding_mask(7), ValueError, r"token_ids needs at least 1 dimension, \(…, n_k\), got a single"),
        (lambda: create_padding_mask([1, 2], pad_id="<pad>"), TypeError, "pad_id must be a whole number, got '<pad>'"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_makes_no_mask_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()


X = np.random.default_rng(3).standard_normal((5, D))
SQUARE = np.eye(D)
TAKES_A_MASK = {
    "attention": lambda mask: scaled_dot_product_attention(X, X, X, mask),
    "scores": lambda mask: mask_scores(X @ X.T, mask),
    "self-attention": lambda mask: self_attention(X, SQUARE, SQUARE, SQUARE, mask),
    "flash": lambda mask: flash_attention(X, X, X, mask, block_size=2),
    "in chunks": lambda mask: memory_efficient_attention(X, X, X, chunk_size=2, mask=mask),
    "relative": lambda mask: relative_attention(X, X, X, np.zeros((3, D)), mask=mask),
    "heads": lambda mask: MultiHeadAttention(D, H)(X, mask=mask),
    "encoder": lambda mask: EncoderBlock(D, H, 8)(X, mask),
    "decoder": lambda mask: DecoderBlock(D, H, 8)(X, X, mask),
    "memory": lambda mask: DecoderBlock(D, H, 8)(X, X, memory_mask=mask),
}


class TestFloatsThatAreZerosAndOnes:
    """np.tril(np.ones((n, n))) is added to the scores and hides nothing: whoever writes it means a boolean mask."""

    @pytest.mark.parametrize("name", TAKES_A_MASK)
    def test_they_are_named_with_the_cure(self, name):
        with pytest.warns(
            checks.MaskWarning, match=r"mask holds floats that are all 0 or 1.*mask\.astype\(bool\)"
        ) as told:
            TAKES_A_MASK[name](np.tril(np.ones((5, 5))))
        assert len(told) == 1

    def test_they_are_named_where_they_were_given(self, unchecked):
        with pytest.warns(checks.MaskWarning) as told:
            TAKES_A_MASK["in chunks"](np.tril(np.ones((5, 5))))
        assert told[0].filename == __file__

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
    def test_in_every_type(self, dtype):
        with pytest.warns(checks.MaskWarning):
            mask_scores(np.zeros((3, 5, 7)), np.eye(5, 7).astype(float_type(dtype)))

    @pytest.mark.parametrize(
        "mask",
        [
            np.zeros((5, 7)),
            np.ones((5, 7)),
            np.eye(5, 7) - 1,
            np.where(np.eye(5, 7), 1, -np.inf),
            np.eye(5, 7) / 2,
            np.eye(5, 7) + np.eye(5, 7, 1) / 2,
            np.eye(5, 7, dtype=bool),
            np.zeros((5, 0)),
        ],
        ids=["zeros", "ones", "minus one", "one and -inf", "halves", "a half beside", "boolean", "empty"],
    )
    def test_other_masks_are_taken_without_a_word(self, mask):
        mask_scores(np.zeros((3, *mask.shape)), mask)

    def test_a_bias_is_meant_to_be_added(self):
        scores = np.random.default_rng(1).standard_normal((3, 5, 7))
        np.testing.assert_array_equal(mask_scores(scores, bias=np.eye(5, 7)), scores + np.eye(5, 7))

    @pytest.mark.parametrize("name", ["flash", "in chunks"])
    def test_a_piece_of_another_mask_is_not_taken_for_one(self, name):
        TAKES_A_MASK[name](np.where(np.arange(5) < 4, np.tril(np.ones((5, 5))), -0.5))
