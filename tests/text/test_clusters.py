from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from clearhead.text.clusters import clusters, display_width, shorten


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("한글", 4),
        (unicodedata.normalize("NFD", "한글"), 4),
        ("漢字", 4),
        ("Ａ", 2),
        ("e\u0301", 1),
        ("🙂", 2),
        ("👍🏽", 2),
        ("👨\u200d👩\u200d👧", 2),
        ("🇰🇷🇫🇷", 4),
        ("❤\ufe0f", 2),
        ("❤", 1),
        ("می\u200cخواهم", 7),
        ("", 0),
    ],
)
def test_display_width(text, columns):
    assert display_width(text) == columns


def test_clusters_are_what_a_reader_counts():
    text = "ae\u0301" + unicodedata.normalize("NFD", "한") + "👨\u200d👩🇰🇷🇫🇷x"
    assert [unicodedata.normalize("NFC", part) for part in clusters(text)] == [
        "a",
        "é",
        "한",
        "👨\u200d👩",
        "🇰🇷",
        "🇫🇷",
        "x",
    ]


@given(st.text(st.characters(codec=None), max_size=30), st.integers(1, 20))
def test_what_is_shortened_fits_and_is_cut_between_characters(text, width):
    short = shorten(text, width)
    assert display_width(short) <= width
    if short != text:
        head, _, tail = short.partition("…")
        whole = "".join(clusters(text))
        assert "…" in text or (whole.startswith(head) and whole.endswith(tail))


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghijk", 10, "abcdef…ijk"),
        ("가나다라마바", 12, "가나다라마바"),
        ("가나다라마바사", 12, "가나다라…사"),
        ("ae\u0301e\u0301e\u0301z", 4, "ae\u0301…z"),
        ("abc", 1, "…"),
        ("👨\u200d👩\u200d👧 가족 사진입니다", 9, "👨\u200d👩\u200d👧 가…다"),
    ],
)
def test_what_is_too_long_loses_its_middle(text, width, short):
    assert shorten(text, width) == short


def test_marks_of_indic_letters_belong_to_them_and_a_space_belongs_to_nobody():
    assert list(clusters("हिन्दी \u0301")) == ["हि", "न्", "दी", " ", "\u0301"]


@given(st.text())
def test_clusters_join_to_the_normal_form_of_the_text(text):
    assert "".join(unicodedata.normalize("NFC", part) for part in clusters(text)) == unicodedata.normalize("NFC", text)


@given(st.text(st.sampled_from("각ㄱ\u1100\u1161\u11a8 e\u0301\u0323\u3000\u09c7\u09be"), max_size=12))
def test_clusters_of_letters_that_compose(text):
    assert "".join(unicodedata.normalize("NFC", part) for part in clusters(text)) == unicodedata.normalize("NFC", text)
