from __future__ import annotations

from clearhead.figures.maps import pooling_note


def test_the_note_says_how_many_and_nothing_if_there_is_nothing_to_say():
    assert pooling_note(5, 7, (1, 1), reduce="mean") == ""
    said = pooling_note(2000, 5000, (4, 8), reduce="max")
    assert "largest of 4 × 8 weights (queries × keys)" in said
    assert "2,000 × 5,000" in said
