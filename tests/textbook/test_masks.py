from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead.textbook.masks import create_causal_mask, create_padding_mask


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
