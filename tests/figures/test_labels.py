from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from clearhead.figures.fonts import drawable_characters
from clearhead.figures.labels import display_width, drawable, shorten, token_label


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("word", "word"),
        (" word", "␣word"),
        ("word  ", "word␣␣"),
        ("New York", "New York"),
        ("   ", "␣␣␣"),
        ("\n", "⏎"),
        (" \n ", "␣⏎␣"),
        ("a\r\n\tb", "a↵⏎⇥b"),
        ("", "∅"),
        ("Ġthe", "Ġthe"),
        ("▁한국", "▁한국"),
        ("\u1112\u1161\u11ab", "한"),  # three letters that are one syllable
        ("\x00", "U+0000"),
        ("a\u200bb", "aU+200Bb"),
        ("\u00a0", "U+00A0"),
        ("\u202eabc", "U+202Eabc"),  # would turn the rest around
        ("\udced", "U+DCED"),  # a byte that is no text
        ("\U0001f9ff", "U+1F9FF"),
        ("\u0301", "◌\u0301"),
        ("❤\ufe0f", "❤"),
        ("\ufe0f", "U+FE0F"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        (7, "7"),
        (b"\xed", "b'\\xed'"),
    ],
)
def test_a_token_can_be_seen(token, label):
    assert token_label(token) == label


@given(st.text(st.characters(codec=None), max_size=40), st.integers(1, 30))
def test_any_token_can_be_drawn_and_fits(token, columns):
    label = token_label(token, columns=columns)
    assert label
    assert display_width(label) <= columns
    assert {ord(c) for c in label} <= drawable_characters()
    label.encode()  # no half of a surrogate pair is left


def test_line_breaks_of_a_title_stay():
    assert drawable("첫째 줄\n\x01 둘째") == "첫째 줄\nU+0001 둘째"


@pytest.mark.parametrize(
    ("text", "columns", "short"),
    [
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghijk", 10, "abcdef…ijk"),
        ("가나다라마바", 12, "가나다라마바"),
        ("가나다라마바사", 12, "가나다라…사"),
        ("ae\u0301e\u0301e\u0301z", 4, "ae\u0301…z"),
        ("abc", 1, "…"),
    ],
)
def test_what_is_too_long_loses_its_middle(text, columns, short):
    assert shorten(text, columns) == short


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("한글", 4), ("e\u0301", 1), ("Ａ", 2), ("", 0)])
def test_wide_characters_count_twice_and_marks_not_at_all(text, columns):
    assert display_width(text) == columns
