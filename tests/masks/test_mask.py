"""Joining masks with &, | and ~, and with boolean arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead import masks

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

    @pytest.mark.parametrize("other", [None, 1, [[True]], np.ones((3, 3))])
    def test_with_nothing_else(self, other, unchecked):
        for join in (lambda: masks.causal() & other, lambda: other | masks.causal()):
            with pytest.raises(TypeError, match=r"unsupported operand|does not support"):
                join()

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
        with pytest.raises(TypeError, match=r"no truth value; join masks with &, \| and ~"):
            masks.causal() and masks.window(3)
