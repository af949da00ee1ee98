"""Misspelled words and what they may stand for."""

from __future__ import annotations

import pytest

from clearhead.translate.nearness import apart, distance, letters, near, stems_of

KNOWN = ["고양이", "비", "비싸", "학교", "친구", "커피", "어제", "나무", "요리", "December"]
ENDINGS = ["가", "이", "를", "을", "에", "다", "에서", "도"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("고냥이가", ["고양이"]),
        ("고냥이", ["고양이"]),
        ("비가", ["비"]),
        ("비사다", ["비싸"]),
        ("학겨에서도", ["학교"]),
        ("친고를", ["친구"]),
        ("커비", ["커피"]),
        ("어재", ["어제"]),
        ("Decembr", ["December"]),
        ("비행기를", []),
        ("값이", []),
        ("피가", []),
        ("zebra", []),
        ("", []),
    ],
)
def test_only_what_is_truly_near_is_named(word, expected):
    assert near(word, KNOWN, ENDINGS) == expected


def test_a_particle_is_no_part_of_a_word():
    """Compared as they stand, 비가 and 비싸 differ in one letter of four."""
    assert near("비가", ["비싸"], ENDINGS) == []


def test_the_nearest_comes_first_and_three_are_enough():
    assert near("가나다라", ["가나다로", "가나다라", "가나타라", "바나다라", "가나다리"], []) == [
        "가나다라",
        "가나타라",
        "가나다로",
    ]


def test_stems_are_what_endings_leave():
    assert stems_of("학교에서도", frozenset(ENDINGS)) == ["학교", "학교에서", "학교에서도"]
    assert stems_of("가", frozenset(ENDINGS)) == ["가"]


def test_letters_and_how_far_they_are_apart():
    assert letters("닭을") == "ㄷㅏㄺㅇㅡㄹ"
    assert letters("Cat 가") == "Cat ㄱㅏ"
    assert (apart("ㅐ", "ㅐ"), apart("ㅐ", "ㅔ"), apart("ㅐ", "ㅏ")) == (0, 0.5, 1)
    assert distance("kitten", "sitting") == 3
    assert distance("", "abc") == 3
    assert distance("ㅅㅏ", "ㅆㅏㄴ") == 1.5
