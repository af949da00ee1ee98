"""Parts of a sequence: masks speak of the whole, and a part gets its piece of the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from clearhead import masks

from ..drawn import mask_texts
from .written import from_mask, from_ranges, from_resolved, made

N = 23
CUTS = [(0, 9), (9, 10), (10, 10), (10, 23)]

WHOLE = [
    "causal()",
    "causal(offset=-3)",
    "causal(offset=4)",
    "window(5)",
    "window(3, 2)",
    "window(3, 2, offset=1)",
    "key_lengths([19, 4])",
    "prefix(8)",
    "documents(np.arange(23) // 6)",
    "documents(np.stack([np.arange(23) // 6, 9 - np.arange(23) // 4]))",
    "documents(np.arange(23) % 3)",
    "documents(boundaries=[0, 4, 4, 15, 23])",
    "dilated(3)",
    "dilated(30)",
    "block_sparse(flags(.5, 6, 6), 4)",
    "block_sparse(flags(.5, 3, 3, 3), 11)",
    "array(flags(.5, 23, 23))",
    "array(flags(.5, 2, 1, 1, 23))",
    "array(flags(.5, 23, 1))",
    "where(lambda b, h, i, j: (i + 2 * j + h) % 5 < 2 + b)",
    "causal() & documents(np.arange(23) // 6) & key_lengths([19, 4])",
    "window(5) & dilated(2)",
    "causal() & dilated(2) & dilated(3) & array(flags(.5, 23, 23))",
    "(causal() & array(flags(.5, 23, 23))) | prefix(4)",
    "~documents(np.arange(23) // 6) & ~window(3)",
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_part_is_a_piece_of_the_whole_matrix(text):
    mask = made(text)
    whole = mask.array(N, batch_shape=(2,), heads=3)
    for first_query, last_query in CUTS:
        for first_key, last_key in CUTS:
            part = whole[..., first_query:last_query, first_key:last_key]
            sizes = masks.Sizes(*part.shape[-2:], (2,), 3, first_query, first_key)
            named = sizes._asdict()
            np.testing.assert_array_equal(mask.array(named.pop("n_q"), named.pop("n_k"), **named), part)
            np.testing.assert_array_equal(from_resolved(masks.resolve(mask, sizes), sizes), part)
            if (ranges := mask.ranges(sizes)) is not None:
                np.testing.assert_array_equal(from_ranges(ranges, sizes), part)


@settings(max_examples=300)
@given(data=st.data())
def test_any_piece_of_any_matrix(data):
    """Also where the whole has fewer queries than keys, or more: then the offset is that of the whole."""
    n_q, n_k = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 13))
    batch, heads = tuple(data.draw(st.lists(st.integers(1, 3), max_size=2))), data.draw(st.integers(1, 3))
    mask = made(data.draw(mask_texts(n_q, n_k, batch, heads)))
    rows, columns = (slice(*sorted(data.draw(st.integers(0, n)) for _ in range(2))) for n in (n_q, n_k))
    part = from_mask(mask, masks.Sizes(n_q, n_k, batch, heads))[..., rows, columns]
    sizes = masks.Sizes(*part.shape[-2:], batch, heads, rows.start, columns.start, n_k - n_q)
    np.testing.assert_array_equal(from_mask(mask, sizes), part)
    np.testing.assert_array_equal(from_resolved(masks.resolve(mask, sizes), sizes), part)
    if (ranges := mask.ranges(sizes)) is not None:
        np.testing.assert_array_equal(from_ranges(ranges, sizes), part)


def test_a_strip_of_queries_has_the_same_numbers_as_in_the_call():
    sizes = masks.Sizes(7, 11, (2,), 3, 20, 30)
    at = masks.places(sizes, slice(2, 5))
    assert at.query.ravel().tolist() == at.position.ravel().tolist() == [22, 23, 24]
    assert at.key.tolist() == list(range(30, 41))


def test_places_inside_a_call_are_numbered_in_the_whole():
    sizes = masks.Sizes(7, 11, (), 1, 20, 30)
    at = masks.Where.inside(sizes, np.zeros(1), np.zeros(1), np.array([3]), np.array([4, 0]))
    assert (at.query.tolist(), at.key.tolist()) == ([23], [34, 30])


@pytest.mark.parametrize(
    ("sizes", "positions"),
    [
        (masks.Sizes(2, 5), [3, 4]),
        (masks.Sizes(2, 5, offset=1), [1, 2]),
        (masks.Sizes(2, 5, first_query=0), [0, 1]),
        (masks.Sizes(2, 5, first_query=0, first_key=0), [0, 1]),
        (masks.Sizes(2, 5, first_query=40, first_key=30), [40, 41]),
        (masks.Sizes(2, 5, first_query=1, first_key=30, offset=39), [40, 41]),
        (masks.Sizes(2, 5, first_key=30, offset=39), [39, 40]),
    ],
)
def test_where_queries_stand(sizes, positions):
    assert masks.places(sizes).position.ravel().tolist() == positions
    assert sizes.whole == (sizes.first_query is None and sizes.first_key is None)


def test_keys_alone_do_not_say_where_the_queries_stand():
    for mask in (masks.causal(), masks.window(3), masks.documents(np.zeros(9, int)), masks.dilated(2)):
        for use in (lambda m: m.array(2, 3, first_key=3), lambda m: masks.resolve(m, masks.Sizes(2, 3, first_key=3))):
            with pytest.raises(ValueError, match="say with first_query where the queries stand"):
                use(mask)
    for mask in (masks.causal(offset=2), masks.prefix(5), masks.array(np.arange(9) % 2 == 0)):
        np.testing.assert_array_equal(mask.array(2, 3, first_key=3), mask.array(2, 9)[:, 3:6])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("documents([0, 0, 1, 1])", "documents: the keys are positions 2 … 6 of the sequence, but there are ids for 4"),
        ("documents(np.zeros(8, int))", "documents: the queries are positions 7 … 9 of the sequence, but .* ids for 8"),
        ("array(flags(.5, 8, 9))", r"mask of shape \(8, 9\) does not reach queries 7 … 9 of the whole"),
        ("array(flags(.5, 1, 6))", r"mask of shape \(1, 6\) does not reach keys 2 … 6 of the whole"),
        ("block_sparse(flags(.5, 2, 2), 4)", r"10 queries and 7 keys in blocks of 4 need a layout of \(3, 2\) or more"),
    ],
)
def test_what_does_not_reach(text, message):
    for use in (lambda m, s: from_mask(m, s), masks.resolve):
        with pytest.raises(ValueError, match=message):
            use(made(text), masks.Sizes(3, 5, first_query=7, first_key=2))
