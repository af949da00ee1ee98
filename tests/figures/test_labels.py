from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from clearhead.figures.fonts import drawable_characters
from clearhead.figures.labels import drawable, token_label
from clearhead.text.clusters import display_width


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
