from __future__ import annotations

import pytest

from clearhead.figures.measure import text_size, text_style, wrap
from clearhead.figures.sheet import Sheet


@pytest.mark.parametrize("text", ["attention", "어텐션", "gj", "a", "mixed 한글 Å"])
def test_measured_is_what_is_drawn(text):
    sheet = Sheet(5.0, 2.0)
    box = sheet.write(text, 1.0, 1.0, 9.0).get_window_extent()
    width, height = text_size(text, 9.0)
    assert box.width / sheet.dpi == pytest.approx(width, abs=0.02)
    assert box.height / sheet.dpi == pytest.approx(height, abs=0.02)


def test_lines_are_broken_at_spaces_and_long_words_anywhere():
    assert wrap("one two", 10.0, 5.0) == ["one two"]
    assert wrap("one two", 10.0, text_size("one t", 10.0)[0]) == ["one", "two"]
    assert wrap("one\ntwo", 10.0, 5.0) == ["one", "two"]
    lines = wrap("어텐션" * 30, 10.0, 2.0)
    assert "".join(lines) == "어텐션" * 30
    assert all(text_size(line, 10.0)[0] <= 2.0 for line in lines)
    assert 5 <= len(lines) <= 8  # by the font this machine has


def test_a_style_is_complete():
    assert set(text_style(9.0)) == {"fontfamily", "fontsize", "fontstyle", "fontweight", "parse_math", "usetex"}
