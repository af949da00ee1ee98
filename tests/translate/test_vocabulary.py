"""What is written can be read back, what cannot be spelled is refused, and the tokenizers library agrees."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from clearhead.translate.vocabulary import BEGIN, END, PAD, Unknown, Vocabulary, learn

PIECES = ["고양이", "##가", "쥐", "##를", "잡", "##았다", "cat", "##s", "s", "##.", "잡았"]
TEXTS = [
    "The cat caught the mouse.",
    "고양이가 쥐를 잡았다.",
    "The cats do not catch mice, they sleep.",
    "고양이 세 마리가 공원에서 잤다",
    "Où est le café ? — Là-bas, à côté de l’école.",
    "猫が鼠を捕まえた。",
]


def test_numbers_follow_the_pieces_and_begin_after_the_special_ones():
    vocabulary = Vocabulary(PIECES)
    assert (PAD, BEGIN, END) == (0, 1, 2)
    assert len(vocabulary) == 3 + len(PIECES)
    assert vocabulary.encode("고양이가 cats").ids == [3, 4, 9, 10]
    assert vocabulary.labels([1, 3, 4, 2, 0]) == ["<begin>", "고양이", "##가", "<end>", "<pad>"]


def test_the_longest_piece_wins_and_first_pieces_are_not_continuations():
    vocabulary = Vocabulary([*PIECES, "##다"])
    assert vocabulary.labels(vocabulary.encode("잡았다 s cats").ids) == ["잡았", "##다", "s", "cat", "##s"]


def test_a_longest_piece_that_leads_nowhere_is_not_taken_back():
    assert Vocabulary(PIECES).unknown("잡았다") == [Unknown("잡았다", (0, 3), "다")]


def test_spans_point_into_the_text_as_it_was_given():
    text = "  고양이가\n\t쥐를  cats. "
    encoding = Vocabulary(PIECES).encode(text)
    assert [text[start:stop] for start, stop in encoding.spans] == ["고양이", "가", "쥐", "를", "cat", "s", "."]


def test_korean_in_single_letters_is_the_same_text():
    vocabulary, text = Vocabulary(PIECES), unicodedata.normalize("NFD", "고양이가 쥐를")
    encoding = vocabulary.encode(text)
    assert encoding.ids == vocabulary.encode("고양이가 쥐를").ids
    assert [unicodedata.normalize("NFC", text[a:b]) for a, b in encoding.spans] == ["고양이", "가", "쥐", "를"]


def test_decoding_leaves_out_what_is_not_text():
    vocabulary = Vocabulary(PIECES)
    assert vocabulary.decode([BEGIN, *vocabulary.encode("cats 고양이가").ids, END, PAD, PAD]) == "cats 고양이가"
    assert vocabulary.decode([]) == "" == vocabulary.decode([PAD])
    assert vocabulary.encode(" \n ") == ([], [])


def test_unknown_words_are_named_with_their_place():
    vocabulary = Vocabulary(PIECES)
    assert vocabulary.unknown("cats 개가 고양이도") == [
        Unknown("개가", (5, 7), "개가"),
        Unknown("고양이도", (8, 12), "도"),
    ]
    assert vocabulary.unknown("고양이가 cats.") == []
    with pytest.raises(
        ValueError,
        match=r"the word '고양이도', characters 6 to 9, is not in the vocabulary: no piece fits from '도' on; "
        "close to it: 고양이",
    ):
        vocabulary.encode("cats 고양이도 개가")


def test_a_misspelled_word_is_answered_with_those_it_looks_like():
    vocabulary = Vocabulary([*PIECES, "호랑이", "catch"])
    assert vocabulary.near("고냥이가") == ["고양이"]
    assert vocabulary.near("catc") == ["catch"]
    assert vocabulary.near("zebra") == []
    with pytest.raises(ValueError, match=r"no piece fits from '고냥이가' on; close to it: 고양이$") as refused:
        vocabulary.encode("고냥이가 cats")
    assert refused.value.said("ko").endswith("비슷한 단어: 고양이")
    with pytest.raises(ValueError, match=r"nothing close to it is known, `clearhead translate --words` lists what is"):
        vocabulary.encode("zebra")


def test_a_very_long_word_is_not_repeated_in_full():
    with pytest.raises(
        ValueError, match=r"the word 'x{29}…', characters 6 to 10005, is not in .* from 'x{29}…' on"
    ) as error:
        Vocabulary(PIECES).encode("cats " + "x" * 10_000)
    assert len(str(error.value)) < 250


def test_json_keeps_everything():
    vocabulary = Vocabulary(PIECES)
    again = Vocabulary.from_json(vocabulary.to_json())
    assert again == vocabulary
    assert hash(again) == hash(vocabulary)
    assert again.pieces == tuple(PIECES)
    assert again != Vocabulary(PIECES[1:])
    assert repr(again) == "Vocabulary of 14"


@pytest.mark.parametrize("text", ["", "[]", "{}", "3", "고양이"], ids=["empty", "list", "bare", "number", "word"])
def test_json_of_something_else(text):
    with pytest.raises(ValueError, match=r'a vocabulary is written as \{"pieces": \[…\]\}, got'):
        Vocabulary.from_json(text)


@pytest.mark.parametrize("text", ['{"pieces": "abc"}', '{"pieces": [1]}'], ids=["string", "numbers"])
def test_json_whose_pieces_are_no_strings(text):
    with pytest.raises(ValueError, match="the pieces of a vocabulary must be a list of strings"):
        Vocabulary.from_json(text)


@pytest.mark.parametrize("piece", ["", "##", "a b", "##\n"], ids=["empty", "bare", "space", "break"])
def test_pieces_have_letters_and_no_spaces(piece):
    with pytest.raises(ValueError, match=r"a piece is one or more characters without spaces, got .* as piece 4"):
        Vocabulary(["a", piece])


def test_pieces_are_there_once():
    with pytest.raises(ValueError, match="the piece '##a' is there twice, as 4 and as 5; keep one"):
        Vocabulary(["a", "##a", "##a"])


def test_pieces_are_in_normal_form():
    with pytest.raises(
        ValueError, match="pieces must be in normal form C, as texts are when they are read, but piece 3"
    ):
        Vocabulary([unicodedata.normalize("NFD", "각")])


@pytest.mark.parametrize("number", [-1, 14])
def test_numbers_outside_the_vocabulary(number):
    with pytest.raises(ValueError, match=rf"ids must be in \[0, 13\] for a vocabulary of 14, got {number}"):
        Vocabulary(PIECES).decode([3, number])
    with pytest.raises(ValueError, match=rf"ids must be in \[0, 13\] for a vocabulary of 14, got {number}"):
        Vocabulary(PIECES).labels([number])


@pytest.fixture(scope="module")
def learned():
    return learn(TEXTS, 190)


def test_learned_pieces_spell_their_texts_and_some_are_longer_than_a_letter(learned):
    assert len(learned) <= 190
    for text in TEXTS:
        assert learned.decode(learned.encode(text).ids) == text
    assert len(learned.encode("The cat").ids) <= 4


@given(st.lists(st.text(st.sampled_from("Thecatsouvé고양이가마리다.,"), min_size=1, max_size=9), max_size=5))
def test_tokenizers_reads_the_same_pieces(learned, drawn):
    theirs = Tokenizer(
        models.WordPiece(
            {piece: number for number, piece in enumerate(["<unk>", *learned.pieces])},
            unk_token="<unk>",
            max_input_chars_per_word=1_000,
        )
    )
    theirs.normalizer = normalizers.NFC()
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    for text in (*TEXTS, " ".join(drawn)):
        expected = theirs.encode(text)
        if "<unk>" in expected.tokens:
            assert len(learned.unknown(text)) == expected.tokens.count("<unk>")
        else:
            ours = learned.encode(text)
            assert learned.labels(ours.ids) == expected.tokens
            assert ours.spans == expected.offsets
            assert learned.decode(ours.ids) == text


def test_learning_is_the_same_in_every_process(learned):
    script = f"from clearhead.translate.vocabulary import learn; print(ascii(learn({TEXTS!r}, 190).pieces))"
    for _ in range(3):
        printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
        assert printed.strip() == ascii(learned.pieces)


def test_learning_needs_room_for_every_character():
    with pytest.raises(ValueError, match=r"size must be at least 8 to hold every character of these texts, .*, got 7"):
        learn(["ab ba c"], 7)


def test_learning_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(
        ModuleNotFoundError, match=r"tokenizers, which is not installed: .* -m pip install .*\[translate\]'"
    ):
        learn(TEXTS, 200)
