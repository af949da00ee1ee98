"""Every refusal in clearhead.checks, met the way a user meets it: through a public function."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import clearhead
from clearhead import checks
from clearhead.textbook.attention import (
    attention_scores,
    attention_weights,
    causal_self_attention,
    mask_scores,
    mix_values,
    scaled_dot_product_attention,
    self_attention,
)
from clearhead.textbook.cost import attention_cost
from clearhead.textbook.image import cut_patches
from clearhead.textbook.masks import create_causal_mask, create_padding_mask
from clearhead.textbook.model_cost import model_cost
from clearhead.textbook.multi_head import MultiHeadAttention
from clearhead.textbook.softmax import softmax

pytestmark = pytest.mark.usefixtures("unchecked")


def attend(**change):
    """Attention over b = 2, h = 6, h_kv = 3, n_q = 5, n_k = 7, d = 11, d_v = 13, with something changed."""
    ones = np.ones
    arguments = {"Q": ones((2, 6, 5, 11)), "K": ones((2, 3, 7, 11)), "V": ones((2, 3, 7, 13))}
    return scaled_dot_product_attention(**arguments | change)


def self_attend(**change):
    arguments = {"X": np.ones((2, 5, 7)), "W_Q": np.ones((7, 11)), "W_K": np.ones((7, 11)), "W_V": np.ones((7, 13))}
    return self_attention(**arguments | change)


def test_nothing_is_wrong_with_what_is_changed_below():
    attend()
    self_attend()


NOT_FLOAT = "must be float16, bfloat16, float32 or float64, got"
SCORES = np.zeros((3, 5, 7))

REFUSALS = {
    # float_array
    "integers": (
        lambda: attend(Q=np.ones((2, 6, 5, 11), dtype=np.int32)),
        TypeError,
        f"Q {NOT_FLOAT} int32 (did you pass token ids? Q.astype(np.float32) makes it a float array)",
    ),
    "token ids": (
        lambda: self_attend(X=np.array([[4, 7, 1]])),
        TypeError,
        f"X {NOT_FLOAT} int64 (did you pass token ids? X.astype(np.float32) makes it a float array)",
    ),
    "booleans": (
        lambda: attend(V=np.ones((2, 3, 7, 13), dtype=bool)),
        TypeError,
        f"V {NOT_FLOAT} bool (convert it first: V.astype(np.float32) makes it a float array)",
    ),
    "complex": (lambda: attend(K=np.ones((2, 3, 7, 11), dtype=complex)), TypeError, f"K {NOT_FLOAT} complex128"),
    "objects": (lambda: attend(K=None), TypeError, f"K {NOT_FLOAT} object"),
    "integer weights": (lambda: self_attend(W_K=np.ones((7, 11), dtype=int)), TypeError, f"W_K {NOT_FLOAT} int64"),
    "integer scores": (lambda: attention_scores(np.ones((5, 7), int), np.ones((3, 7))), TypeError, f"Q {NOT_FLOAT}"),
    "integer scores to mask": (lambda: mask_scores(np.ones((5, 7), int)), TypeError, f"scores {NOT_FLOAT} int64"),
    "integer scores to weigh": (
        lambda: attention_weights(np.ones((5, 7), int)),
        TypeError,
        f"scores {NOT_FLOAT} int64",
    ),
    "integer weights to mix": (lambda: mix_values(np.eye(3, dtype=int), np.eye(3)), TypeError, f"weights {NOT_FLOAT}"),
    "integer values to mix": (lambda: mix_values(np.eye(3), np.eye(3, dtype=int)), TypeError, f"V {NOT_FLOAT} int64"),
    "integer bias": (lambda: attend(bias=np.ones((5, 7), dtype=int)), TypeError, f"bias {NOT_FLOAT} int64"),
    "integer sinks": (lambda: attend(sinks=np.arange(6)), TypeError, f"sinks {NOT_FLOAT} int64"),
    "words": (lambda: softmax(np.array(["a"])), TypeError, f"x {NOT_FLOAT} str"),
    "one dimension": (
        lambda: attend(Q=np.ones(11)),
        ValueError,
        "Q needs at least 2 dimensions, got shape (11,) (Q[None] adds one)",
    ),
    "one dimension of X": (
        lambda: causal_self_attention(np.ones(7), *[np.ones((7, 5))] * 3),
        ValueError,
        "X needs at least 2 dimensions, got shape (7,) (X[None] adds one)",
    ),
    # count
    "not a whole number": (
        lambda: create_causal_mask(2.0),
        TypeError,
        "n must be a whole number, got 2.0 of type float",
    ),
    "a boolean as a count": (
        lambda: create_causal_mask(np.True_),
        TypeError,
        "n must be a whole number, got",
    ),
    "a negative size": (lambda: create_causal_mask(-2), ValueError, "n must be at least 0, got -2"),
    "none at all": (lambda: attention_cost(5, 12, 0), ValueError, "num_heads must be at least 1, got 0"),
    "any whole number": (
        lambda: create_padding_mask([1, 2], pad_id=None),
        TypeError,
        "pad_id must be a whole number, got None of type NoneType",
    ),
    # number
    "a word as a number": (lambda: attend(scale="0.5"), TypeError, "scale must be a number, got '0.5' of type str"),
    "a boolean as a number": (lambda: attend(scale=True), TypeError, "scale must be a number, got True of type bool"),
    "an array as a number": (
        lambda: attend(scale=np.array([0.5])),
        TypeError,
        "scale must be a number, got array([0.5]) of type ndarray",
    ),
    "nan as a number": (lambda: attend(scale=np.nan), ValueError, "scale must be finite, got nan"),
    "infinity as a number": (lambda: attend(softcap=np.inf), ValueError, "softcap must be finite, got inf"),
    "zero as a cap": (lambda: attend(softcap=0.0), ValueError, "softcap must be greater than 0, got 0"),
    "a negative cap": (lambda: attend(softcap=-2.5), ValueError, "softcap must be greater than 0, got -2.5"),
    # choice
    "an unknown word": (
        lambda: model_cost("bert"),
        ValueError,
        "model must be one of 'bert-base', 'bert-large', 'gpt-3', 'vit-b/16', got 'bert'",
    ),
    # same_width, same_length
    "widths": (
        lambda: attend(K=np.ones((2, 3, 7, 13))),
        ValueError,
        "keys have 13 columns but queries have 11; both must be d wide (did you pass values as keys?)",
    ),
    "widths of scores": (
        lambda: attention_scores(np.ones((5, 11)), np.ones((7, 13))),
        ValueError,
        "keys have 13 columns but queries have 11; both must be d wide",
    ),
    "widths of projections": (
        lambda: self_attend(W_K=np.ones((7, 13))),
        ValueError,
        "keys have 13 columns but queries have 11; both must be d wide",
    ),
    "lengths": (
        lambda: attend(V=np.ones((2, 3, 5, 13))),
        ValueError,
        "there are 7 keys but 5 values; each key needs one value (the next to last axis of both is n_k)",
    ),
    "lengths in the mix": (
        lambda: mix_values(np.ones((5, 7)), np.ones((3, 13))),
        ValueError,
        "weights have 7 columns but there are 3 values; each key needs one value "
        "(weights are (…, n_q, n_k) and V is (…, n_k, d_v))",
    ),
    # head_groups, head_width, leading dimensions
    "head counts": (
        lambda: attend(Q=np.ones((2, 7, 5, 11))),
        ValueError,
        "the leading dimensions of Q (2, 7, 5, 11), K (2, 3, 7, 11), V (2, 3, 7, 13) do not fit together: "
        "7 query heads cannot share 3 key/value heads evenly; "
        "the number of query heads must be a multiple of the number of key/value heads",
    ),
    "more key heads than query heads": (
        lambda: attend(Q=np.ones((2, 1, 5, 11))),
        ValueError,
        "1 query heads cannot share 3 key/value heads evenly",
    ),
    "no key heads": (
        lambda: attend(K=np.ones((2, 0, 7, 11)), V=np.ones((2, 0, 7, 13))),
        ValueError,
        "6 query heads cannot share 0 key/value heads evenly",
    ),
    "head counts of scores": (
        lambda: attention_scores(np.ones((5, 3, 2)), np.ones((3, 7, 2))),
        ValueError,
        "the leading dimensions of Q (5, 3, 2), K (3, 7, 2) do not fit together: 5 query heads cannot share 3",
    ),
    "positions where heads are": (
        lambda: attend(Q=np.ones((2, 30, 4, 11)), K=np.ones((2, 20, 4, 11)), V=np.ones((2, 20, 4, 13))),
        ValueError,
        "the number of key/value heads (30 heads of 4 queries, 20 heads of 4 keys: the axes are (…, heads, positions, "
        "width); if the 30 and 20 are the positions, give q, k and v as x.swapaxes(-3, -2))",
    ),
    "d_model not divisible": (
        lambda: attention_cost(5, 512, 7),
        ValueError,
        "d_model = 512 cannot be divided among num_heads = 7 heads evenly; "
        "d_model must be a multiple of num_heads (d_model=518 is)",
    ),
    "batches of queries and keys": (
        lambda: attend(Q=np.ones((5, 6, 5, 11))),
        ValueError,
        "the leading dimensions of Q (5, 6, 5, 11), K (2, 3, 7, 11), V (2, 3, 7, 13) do not fit together",
    ),
    "batches of keys and values": (
        lambda: attend(Q=np.ones((6, 5, 11)), V=np.ones((5, 3, 7, 13))),
        ValueError,
        "the leading dimensions of Q (6, 5, 11), K (2, 3, 7, 11), V (5, 3, 7, 13) do not fit together",
    ),
    "batches of weights and values": (
        lambda: mix_values(np.ones((2, 3, 5, 7)), np.ones((5, 3, 7, 13))),
        ValueError,
        "the leading dimensions of weights (2, 3, 5, 7), V (5, 3, 7, 13) do not fit together",
    ),
    # mask_array, additive, allowed_array
    "an integer mask": (
        lambda: attend(mask=np.ones((5, 7), dtype=int)),
        TypeError,
        "mask must be boolean (True = may attend) or float (added to the scores), got int64 "
        "(mask.astype(bool) turns 0 and 1 into a boolean mask)",
    ),
    "a mask of objects": (
        lambda: attend(mask=object()),
        TypeError,
        "mask must be boolean (True = may attend) or float",
    ),
    "a transposed mask": (
        lambda: attend(mask=np.ones((7, 5), dtype=bool)),
        ValueError,
        "mask of shape (7, 5) does not broadcast to the scores' shape (2, 6, 5, 7); "
        "its last two axes are n_q and n_k, or 1",
    ),
    "a mask per batch where heads are": (
        lambda: attend(mask=np.ones((2, 5, 7), dtype=bool)),
        ValueError,
        "mask of shape (2, 5, 7) does not broadcast to the scores' shape (2, 6, 5, 7)",
    ),
    "a mask larger than the scores": (
        lambda: attend(mask=np.ones((3, 2, 6, 5, 7), dtype=bool)),
        ValueError,
        "mask of shape (3, 2, 6, 5, 7) does not broadcast to the scores' shape (2, 6, 5, 7); its last two axes",
    ),
    "a padding mask without heads": (
        lambda: self_attend(mask=create_padding_mask(np.ones((2, 5), dtype=int))),
        ValueError,
        "mask of shape (2, 1, 1, 5) does not broadcast to the scores' shape (2, 5, 5); "
        "it has a head axis and the scores have none: use mask[..., 0, :, :]",
    ),
    "nan in a mask": (
        lambda: attend(mask=np.full((5, 7), np.nan)),
        ValueError,
        "mask contains NaN; use -inf to forbid a key and 0 to leave it alone",
    ),
    "infinity in a mask": (
        lambda: attend(mask=np.full((5, 7), np.inf)),
        ValueError,
        "mask contains +inf; use -inf to forbid a key and 0 to leave it alone",
    ),
    "a bias of the wrong shape": (
        lambda: attend(bias=np.zeros((5, 3))),
        ValueError,
        "bias of shape (5, 3) does not broadcast to the scores' shape (2, 6, 5, 7)",
    ),
    "nan in a bias": (lambda: mask_scores(SCORES, bias=SCORES + np.nan), ValueError, "bias contains NaN; use -inf to"),
    "infinity in a bias": (
        lambda: mask_scores(SCORES, bias=SCORES + np.inf),
        ValueError,
        "bias contains +inf; use -inf",
    ),
    "allowed, but a number": (
        lambda: mix_values(np.ones((5, 7)), np.ones((7, 3)), allowed=np.ones((5, 7))),
        TypeError,
        "allowed must be boolean (True = may attend), got float64",
    ),
    "allowed of the wrong shape": (
        lambda: mix_values(np.ones((5, 7)), np.ones((7, 3)), allowed=np.ones((7, 5), dtype=bool)),
        ValueError,
        "allowed of shape (7, 5) does not broadcast to the weights' shape (5, 7)",
    ),
    # sinks
    "sinks for other heads": (
        lambda: attend(sinks=np.zeros(3)),
        ValueError,
        "sinks need one number per head, shape (6,), got shape (3,)",
    ),
    "sinks in two dimensions": (
        lambda: attend(sinks=np.zeros((6, 1))),
        ValueError,
        "sinks need one number per head, shape (6,), got shape (6, 1)",
    ),
    "nan in sinks": (
        lambda: attend(sinks=np.full(6, np.nan)),
        ValueError,
        "sinks must be numbers or -inf (no sink), got NaN or +inf",
    ),
    "infinity in sinks": (lambda: attend(sinks=np.full(6, np.inf)), ValueError, "got NaN or +inf"),
    # dropout
    "dropout without a seed": (lambda: attend(dropout=0.1), ValueError, "dropout=0.1 needs a seed"),
    "dropout of everything": (lambda: attend(dropout=1.0, seed=0), ValueError, "less than 1, got 1"),
    # projections
    "a projection for another width": (
        lambda: self_attend(W_V=np.ones((5, 13))),
        ValueError,
        "W_V must have shape (d_in, d_out) with d_in = 7, the width of its input, got (5, 13)",
    ),
}


@pytest.mark.parametrize(("call", "error", "said"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusal(call, error, said):
    with pytest.raises(error, match=re.escape(said)) as caught:
        call()
    assert type(caught.value) is error


def test_arithmetic_runs_in_float32_at_least():
    assert checks.compute_type(np.float16) == np.float32
    assert checks.compute_type(np.float16, np.float32) == np.float32
    assert checks.compute_type(np.float32, np.float64) == np.float64


def test_numbers_of_other_kinds_are_fine():
    attend(scale=np.float32(0.5), softcap=np.array(2))
    create_causal_mask(np.int64(3), offset=np.int8(-1))


def test_float64_of_another_byte_order_is_computed_in_float64(rng):
    Q, K, V = (rng.standard_normal((5, 3)) for _ in range(3))
    expected, _ = scaled_dot_product_attention(Q, K, V)
    output, _ = scaled_dot_product_attention(*(x.astype(">f8") for x in (Q, K, V)))
    np.testing.assert_array_equal(output, expected)


class TestTensors:
    """The textbook reads plain tensors, and says of others how to make them plain."""

    @pytest.mark.parametrize(
        ("tensor", "cure"),
        [
            (torch.zeros(5, 3, requires_grad=True), "pass Q.detach().numpy()"),
            (torch.zeros(5, 3, dtype=torch.bfloat16), "pass Q.float().numpy()"),
            (torch.zeros(5, 3, dtype=torch.bfloat16, requires_grad=True), "pass Q.detach().float().numpy()"),
            (torch.zeros(5, 3, device="meta"), "pass Q.cpu().numpy()"),
        ],
        ids=["gradients", "bfloat16", "both", "another device"],
    )
    def test_what_numpy_cannot_read_is_told_what_to_do(self, tensor, cure):
        with pytest.raises(
            TypeError, match=re.escape(cure) + r" \(clearhead.torch and clearhead.attention take tensors"
        ):
            scaled_dot_product_attention(tensor, tensor, tensor)

    def test_everywhere(self):
        x = torch.zeros(4, 4, requires_grad=True)
        eye = np.eye(4)
        heads = MultiHeadAttention(4, 2)
        calls = {
            "x": lambda: softmax(x),
            "X": lambda: self_attention(x, eye, eye, eye),
            "W_K": lambda: self_attention(eye, eye, x, eye),
            "mask": lambda: scaled_dot_product_attention(eye, eye, eye, x),
            "sinks": lambda: scaled_dot_product_attention(eye, eye, eye, sinks=x[0, :1]),
            "K": lambda: heads(eye, x),
            "W_Q": lambda: heads.load_parameters(heads.parameters() | {"W_Q": x}),
            "image": lambda: cut_patches(x[..., None], 2),
        }
        for name, call in calls.items():
            with pytest.raises(TypeError, match=f"^{name} is a torch tensor that NumPy cannot read as it is"):
                call()

    def test_plain_ones_are_read(self):
        x = np.random.default_rng(1).standard_normal((5, 3))
        for got, wanted in zip(
            scaled_dot_product_attention(*3 * (torch.from_numpy(x),)),
            scaled_dot_product_attention(x, x, x),
            strict=True,
        ):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    "mask", [clearhead.masks.causal, "causal", lambda i, j: i >= j], ids=["function", "text", "rule"]
)
def test_a_mask_without_its_parentheses_a_name_or_a_rule(mask, unchecked):
    x = np.ones((3, 2))
    for attend in (clearhead.attention, clearhead.look, scaled_dot_product_attention):
        with pytest.raises(
            TypeError, match=r"masks.causal\(\) with its parentheses is a mask, and masks.where makes one"
        ):
            attend(x, x, x, mask=mask)
