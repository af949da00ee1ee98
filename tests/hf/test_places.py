"""Groups of positions as masks."""

from __future__ import annotations

import numpy as np

from clearhead import masks
from clearhead.hf.places import Place, SameGroup

N = 9


def test_groups_join_other_masks():
    groups = np.array([[0, 0, 0, 1, 1, -1, -1, 2, 2]])
    mask = masks.causal() & SameGroup(groups, groups)
    expected = np.tril((groups[0][:, None] == groups[0]) & (groups[0] >= 0))
    np.testing.assert_array_equal(mask.array(N, batch_shape=(1,))[0], expected)
    assert mask.lasting()
    assert "3 groups" in repr(mask)


def test_groups_that_no_key_has():
    mask = SameGroup(np.array([[5, 0, -1]]), np.array([[0, 0, 3, 3]]))
    expected = np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]], bool)
    runs = mask.ranges(masks.Sizes(3, 4, (1,), 1))
    np.testing.assert_array_equal(mask.array(3, 4, batch_shape=(1,))[0], expected)
    np.testing.assert_array_equal((runs.high - runs.low).ravel(), [0, 2, 0])
    nothing = SameGroup(np.array([[0, 1]]), np.array([[-1, -1]]))
    assert not nothing.array(2, batch_shape=(1,)).any()
    assert not (nothing.ranges(masks.Sizes(2, 2, (1,), 1)).high).any()


def test_where_a_call_lies():
    place = Place(2, 5, first_query=7, first_key=4)
    assert place.queries.tolist() == [7, 8]
    assert place.keys.tolist() == [4, 5, 6, 7, 8]
    assert place.offset is None
    assert Place(2, 6, first_query=7, first_key=4).offset == 3


def test_groups_of_a_part_of_a_sequence_are_its_piece_of_the_whole():
    ids = np.array([[0, 0, 1, 1, 1, 2, 2], [0, 1, 1, 2, 2, 2, 3]])
    mask = SameGroup(ids, ids)
    whole = mask.array(7, batch_shape=(2,), heads=1)
    low, high = mask.ranges(masks.Sizes(3, 5, (2,), 1, 3, 1, 0))
    keys = np.arange(5)
    found = ((low[..., None] <= keys) & (keys < high[..., None])).any(axis=-3)
    np.testing.assert_array_equal(found, whole[:, :, 3:6, 1:6])
