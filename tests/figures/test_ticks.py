from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from clearhead.figures.lettering import text_size
from clearhead.figures.ticks import SLANT, key_ticks, query_ticks

token = st.text(st.sampled_from("aglW가힣 .ㅋ漢"), max_size=24)
tokens_or_none = st.none() | st.lists(token, min_size=1, max_size=9)


def repeated(tokens, n):
    return None if tokens is None else [tokens[i % len(tokens)] for i in range(n)]


@settings(max_examples=40)
@given(tokens_or_none, st.integers(1, 400), st.floats(0.3, 7.0))
def test_labels_beside_rows_never_touch(tokens, n, length):
    ticks = query_ticks(repeated(tokens, n), n, length)
    pitch = length / n
    sizes = [text_size(label, ticks.size) for label in ticks.labels]
    for i, (near, far) in enumerate(zip(ticks.positions, ticks.positions[1:], strict=False)):
        assert (sizes[i][1] + sizes[i + 1][1]) / 2 <= (far - near) * pitch
    assert max(width for width, _ in sizes) <= ticks.reach


@settings(max_examples=40)
@given(tokens_or_none, st.integers(1, 400), st.floats(0.3, 7.0), st.booleans())
def test_labels_below_columns_never_touch(tokens, n, length, slanted):
    ticks = key_ticks(repeated(tokens, n), n, length, slanted=slanted)
    pitch = length / n
    along = {0: 0, 45: 1, 90: 1}[ticks.rotation]  # across the pitch lies the width of a level label, else the height
    sizes = [text_size(label, ticks.size) for label in ticks.labels]
    room = SLANT if ticks.rotation == 45 else 1
    for i, (near, far) in enumerate(zip(ticks.positions, ticks.positions[1:], strict=False)):
        assert (sizes[i][along] + sizes[i + 1][along]) / 2 <= (far - near) * pitch * room


def test_every_label_is_shown_while_there_is_room_and_every_nth_after_that():
    many = [f"t{i}" for i in range(1000)]
    assert query_ticks(many[:50], 50, 7.0).labels == many[:50]
    ticks = query_ticks(many, 1000, 7.0)
    assert ticks.thinned
    assert ticks.positions == list(range(0, 1000, 50))
    assert ticks.labels[3] == "150: t150"


def test_labels_shrink_before_they_are_thinned():
    sizes = [query_ticks(None, n, 7.0).size for n in (20, 45, 55, 62)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) >= 3


@pytest.mark.parametrize("n", [1, 2, 3])
def test_hardly_any_room_leaves_a_label(n):
    assert query_ticks(None, n, 0.02).labels == ["0"]
    assert key_ticks(["가나다"] * n, n, 0.02, slanted=False).labels[0].endswith("가나다")
