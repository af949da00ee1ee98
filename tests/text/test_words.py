from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead.text.labels import labels_from_offsets
from clearhead.text.words import between_spaces, group_labels, word_groups, word_spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("고양이가 쥐를 잡았다.", ["고양이가", "쥐를", "잡았다", "."]),
        ("2028년12월7일(목)", ["2028년", "12월", "7일", "(", "목", ")"]),
        ("Thu, 12/7/28", ["Thu", ",", "12", "/", "7", "/", "28"]),
        ("2028-12-07", ["2028", "-", "12", "-", "07"]),
        ("I didn't see the 2nd one", ["I", "didn't", "see", "the", "2nd", "one"]),
        ("state-of-the-art GPT-2 h2o 제3회", ["state-of-the-art", "GPT-2", "h2o", "제3회"]),
        ("'quoted' - l’été", ["'", "quoted", "'", "-", "l’été"]),
        ("我去 학교", ["我", "去", "학교"]),
        (unicodedata.normalize("NFD", "각 é"), [unicodedata.normalize("NFD", "각"), "e\u0301"]),
        ("a_b", ["a", "_", "b"]),
        ("  ", []),
    ],
    ids=str,
)
def test_words(text, expected):
    assert [text[start:stop] for start, stop in word_spans(text)] == expected


@given(st.text())
def test_words_hold_every_sign_in_order(text):
    spans = word_spans(text)
    assert [i for start, stop in spans for i in range(start, stop)] == [
        i for i, c in enumerate(text) if not c.isspace()
    ]


def numbers(text: str, offsets: list[tuple[int, int]], by: str = "word") -> list[int]:
    return word_groups(text, offsets, by).tolist()


def test_subwords_of_a_word_share_its_number():
    text = "The cats aren't state-of-the-art."
    pieces = ["The", " ca", "ts", " are", "n't", " state", "-", "of-the", "-art", "."]
    cuts = np.cumsum([0, *map(len, pieces)])
    offsets = list(pairwise(cuts.tolist()))
    assert numbers(text, offsets) == [0, 1, 1, 2, 2, 3, 3, 3, 3, 4]
    labels = labels_from_offsets(text, offsets)
    assert group_labels(labels, word_groups(text, offsets)) == ["The", "cats", "aren't", "state-of-the-art", "."]


def test_a_token_in_no_group_has_no_part_in_a_label():
    assert group_labels(["[CLS]", "play", "##ing", "[SEP]"], [-1, 0, 0, -1]) == ["playing"]
    assert group_labels(["[CLS]", "[SEP]"], [-1, -1]) == []


def test_words_of_other_scripts():
    assert numbers("我去学校", [(i, i + 1) for i in range(4)]) == [0, 1, 2, 3]
    assert numbers("हिन्दी भाषा", [(i, i + 1) for i in range(11)]) == [0] * 6 + [1] * 5
    assert numbers("학교에서, 갔다", [(0, 2), (2, 4), (4, 5), (5, 6), (6, 8)]) == [0, 0, 1, 2, 2]


def test_sentences():
    text = 'He is 3.5 m tall. "Really?" she said… 갔다.\n끝'
    words = [(m, m + 1) for m, c in enumerate(text) if c != " "]
    groups = numbers(text, words, by="sentence")
    firsts = [text[words[groups.index(n)][0]] for n in range(max(groups) + 1)]
    assert firsts == ["H", '"', "s", "갔", "끝"]


@given(st.text(st.sampled_from("각ㄱ\u1100\u1161\u11a8 e\u0301\u0323\u3000"), max_size=12))
def test_runs_between_spaces_are_those_of_the_normal_form(text):
    runs = list(between_spaces(text))
    assert [run.letters for run in runs] == unicodedata.normalize("NFC", text).split()
    for run in runs:
        assert len(run.starts) == len(run.stops) == len(run.letters)
        for letter, start, stop in zip(run.letters, run.starts, run.stops, strict=True):
            assert letter in unicodedata.normalize("NFC", text[start:stop])


def test_an_unknown_grouping():
    with pytest.raises(ValueError, match="by must be one of 'word', 'sentence', got 'page'"):
        word_groups("a", [(0, 1)], by="page")
