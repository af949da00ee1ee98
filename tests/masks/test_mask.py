"""Joining masks with &, | and ~, and with boolean arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead import masks
from clearhead.masks.mask import of_terms

from ..drawn import mask_texts
from .written import made


class TestJoining:
    @given(data=st.data())
    def test_joining_is_boolean_algebra(self, data):
        sizes = {"n_q": 5, "n_k": 7, "batch": (2,), "heads": 3}
        a, b = (made(data.draw(mask_texts(**sizes))) for _ in range(2))

        def written(mask):
            return mask.array(5, 7, batch_shape=(2,), heads=3)

        np.testing.assert_array_equal(written(a & b), written(a) & written(b))
        np.testing.assert_array_equal(written(a | b), written(a) | written(b))
        np.testing.assert_array_equal(written(~a), ~written(a))
        np.testing.assert_array_equal(written(~(a & b)), written(~a | ~b))
        np.testing.assert_array_equal(written(~~a), written(a))

    def test_twice_not_is_the_mask_itself(self):
        mask = masks.causal()
        assert ~~mask is mask

    def test_with_a_boolean_array_on_either_side(self, rng):
        allowed = rng.random((5, 7)) < 0.5
        causal = masks.causal().array(5, 7)
        np.testing.assert_array_equal((masks.causal() & allowed).array(5, 7), causal & allowed)
        np.testing.assert_array_equal((allowed & masks.causal()).array(5, 7), causal & allowed)
        np.testing.assert_array_equal((masks.causal() | allowed).array(5, 7), causal | allowed)
        np.testing.assert_array_equal((allowed | masks.causal()).array(5, 7), causal | allowed)

    def test_parts_are_what_is_joined_with_and(self):
        a, b, c = masks.causal(), masks.window(3) | masks.prefix(2), masks.dilated(2)
        assert masks.parts(a & b & c) == [a, b, c]
        assert masks.parts(a & (b & c)) == [a, b, c]
        assert masks.parts(~(a & b)) == [~(a & b)]

    @pytest.mark.parametrize(
        ("other", "got"), [(None, "NoneType"), (1, "int"), ([[True]], "list"), (np.ones((3, 3)), "ndarray of float64")]
    )
    def test_with_nothing_else(self, other, got, unchecked):
        sentence = rf"joined with a mask from clearhead.masks or a boolean NumPy array, got {got} \(masks.array\(x\)"
        for join in (lambda: masks.causal() & other, lambda: other | masks.causal()):
            with pytest.raises(TypeError, match=sentence):
                join()

    @pytest.mark.parametrize(
        "join",
        [
            pytest.param(lambda a, b: a + b, id="+"),
            pytest.param(lambda a, b: a.array(3) + b, id="array + mask"),
            pytest.param(lambda a, b: 1 - b, id="1 - mask"),
            pytest.param(lambda a, b: a - b, id="-"),
            pytest.param(lambda a, b: a * b, id="*"),
            pytest.param(lambda a, b: 2 * b, id="2 *"),
            pytest.param(lambda a, b: a ^ b, id="^"),
            pytest.param(lambda a, _: -a, id="negative"),
        ],
    )
    def test_arithmetic_is_answered_with_the_operators_there_are(self, join, unchecked):
        with pytest.raises(TypeError, match=r"a & b is what both allow, a \| b what either allows, ~a what a forbids"):
            join(masks.causal(), masks.window(3))

    def test_padding_is_that_of_the_masks_that_say_so(self):
        sizes = masks.Sizes(4, 4, (2,), 3)
        lengths, rows = masks.key_lengths([2, 4]), masks.array(np.array([False, True, True, True])[None, None])
        assert (masks.causal() & lengths & rows).padding(sizes).tolist() == [
            [True, False, True, True],
            [True] + [False] * 3,
        ]
        for other in (masks.causal(), masks.prefix(2), masks.causal() | lengths, ~lengths, masks.array(np.tri(4) > 0)):
            assert other.padding(sizes) is None

    def test_a_mask_is_neither_true_nor_false(self):
        a, b = masks.causal(), masks.window(3)
        for asked in (lambda: a and b, lambda: a or b, lambda: not a, lambda: bool(a), lambda: 1 if a else 2):
            with pytest.raises(TypeError, match=r"join masks with &, \| and ~ instead of and, or and not"):
                asked()


class TestShown:
    """A mask prints as the text that makes it, where that is short."""

    @pytest.mark.parametrize(
        "text",
        [
            "causal()",
            "causal(offset=-3)",
            "window(256)",
            "window(1, offset=4)",
            "window(3, 2)",
            "key_lengths([3, 5])",
            "prefix(10)",
            "documents(boundaries=[0, 30, 100])",
            "documents([0, 1, 0, 1])",
            "documents([[0, 0, 1], [1, 0, 0]])",
            "dilated(4)",
            "block_sparse([[True, False], [True, True]], 64)",
            "array([[True, False, True]])",
            "causal() & window(256)",
            "causal() & window(9) & prefix(1)",
            "causal() & (window(9) & prefix(1))",
            "(causal() | prefix(3)) & ~window(4)",
            "causal() & window(9) | prefix(3)",
            "prefix(3) | causal() & window(9)",
            "prefix(3) | (dilated(2) | dilated(3))",
            "~(causal() & window(9))",
            "~(causal() | window(9))",
        ],
    )
    def test_as_it_is_written(self, text):
        assert repr(eval(text, vars(masks).copy())) == text

    @given(data=st.data())
    def test_what_is_printed_makes_the_same_mask(self, data):
        mask = made(data.draw(mask_texts(n_q=3, n_k=4, batch=(2,), heads=1)))
        text = repr(mask)
        if "<" not in text and "where" not in text:
            again = eval(text, vars(masks).copy())
            written = [x.array(3, 4, batch_shape=(2,), heads=1) for x in (mask, again)]
            np.testing.assert_array_equal(*written)

    def test_what_is_long_says_what_it_is(self):
        assert repr(masks.documents(np.arange(90).reshape(2, 45))) == "documents(<int64 of shape (2, 45)>)"
        assert repr(masks.array(np.ones((5, 7), bool))) == "array(<bool of shape (5, 7)>)"

    def test_a_rule_by_its_name(self):
        def near(b, h, i, j):
            return abs(i - j) < 3

        assert repr(masks.where(near) & masks.causal()) == "where(near) & causal()"
        assert repr(masks.Once(masks.causal())) == "causal()"


@pytest.mark.parametrize(
    "mask", [masks.causal(), masks.array(np.ones((3, 4), bool)), masks.where(lambda b, h, i, j: j < 2)]
)
@pytest.mark.parametrize("lead", [{}, {"heads": 2}, {"batch_shape": (5,), "heads": 2}], ids=str)
def test_the_array_of_a_mask_is_the_callers_own(mask, lead):
    written = mask.array(3, 4, **lead)
    before = mask.array(3, 4, **lead)
    written[...] = ~written
    np.testing.assert_array_equal(mask.array(3, 4, **lead), before)


def test_one_length_for_all_is_not_printed_as_a_prefix():
    """What the first leaves out is padding, what the second does is not."""
    assert repr(masks.key_lengths(5)) == "key_lengths(5)"
    assert repr(masks.prefix(5)) == "prefix(5)"


MADE_OF_NUMBERS = [
    masks.causal(),
    masks.window(2, 3, offset=1),
    ~masks.dilated(2),
    masks.causal() & masks.window(3) | masks.dilated(4),
]


@pytest.mark.parametrize("mask", MADE_OF_NUMBERS, ids=repr)
def test_terms_make_the_mask_again(mask):
    assert of_terms(mask.terms()) == mask


@pytest.mark.parametrize(
    "mask", [masks.key_lengths([3]), masks.causal() & masks.prefix(3), ~masks.array(np.eye(2) > 0)], ids=repr
)
def test_a_mask_with_an_array_in_it_is_not_made_of_numbers(mask):
    assert mask.terms() is None


LASTING = [
    *MADE_OF_NUMBERS,
    masks.key_lengths([3, 4]),
    masks.documents(np.array([0, 0, 1])),
    masks.causal() & masks.prefix(2),
]


@pytest.mark.parametrize("mask", LASTING, ids=repr)
def test_nobody_can_change_what_a_lasting_mask_says(mask):
    assert mask.lasting()


def test_lengths_and_documents_are_copies():
    lengths, ids = np.array([3, 4]), np.array([0, 0, 1])
    made = masks.key_lengths(lengths), masks.documents(ids)
    lengths[:], ids[:] = 1, 7
    assert made[0].array(1, 4, batch_shape=(2,)).sum() == 7
    assert not made[1].array(3).all()


@pytest.mark.parametrize(
    "mask",
    [masks.array(np.eye(2) > 0), ~masks.array(np.eye(2) > 0), masks.where(lambda b, h, i, j: i > j)],
    ids=["array", "not an array", "rule"],
)
def test_what_others_may_change_does_not_last(mask):
    assert not mask.lasting()
    assert not (mask & masks.causal()).lasting()
    assert not (masks.causal() | mask).lasting()
