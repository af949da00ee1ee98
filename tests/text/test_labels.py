from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

from clearhead.text.labels import escaped, labels_from_offsets, labels_of, token_labels, visible
from clearhead.text.spans import token_spans
from clearhead.text.words import group_labels, word_groups

SENTENCES = [
    "고양이가 쥐를 잡았다.",
    "나는 어제 친구와 함께 학교에 갔다.",
    "The cat caught the mouse.",
    "학생이 책을 읽는다.",
]
ODD = " 고양이가\n\t뷁에서 the cat  caught 쥐를!"


def byte_level(trim_offsets: bool = False) -> PreTrainedTokenizerFast:
    """As GPT-2 has it, or with offsets trimmed as RoBERTa has them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=307, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|end|>")


def word_piece() -> PreTrainedTokenizerFast:
    """As BERT has it: lower case, and Hangul taken apart into letters."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer.train_from_iterator(
        SENTENCES, trainers.WordPieceTrainer(vocab_size=97, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def unigram() -> PreTrainedTokenizerFast:
    """As T5 has it: spaces as ▁, one of them put first."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=101, special_tokens=["<s>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES * 5, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def byte_fallback() -> PreTrainedTokenizerFast:
    """As Llama has it: bytes for what the vocabulary does not hold."""
    pieces = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"<unk>": 256, "▁": 257, "a": 258, "b": 259, "가": 260}
    tokenizer = Tokenizer(models.BPE(pieces, [], byte_fallback=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


KINDS = {
    "byte-level": byte_level,
    "trimmed": lambda: byte_level(trim_offsets=True),
    "WordPiece": word_piece,
    "Unigram": unigram,
    "byte fallback": byte_fallback,
}


# Tokenizers


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [*SENTENCES, ODD], ids=["cat", "school", "English", "book", "odd"])
def test_labels_say_the_text_with_and_without_it(kind, text):
    tokenizer = KINDS[kind]()
    ids = tokenizer(text)["input_ids"]
    given, read = token_labels(ids, tokenizer, text), token_labels(ids, tokenizer)
    assert len(given) == len(read) == len(ids)
    same = [a.casefold() for a in given] == [b.casefold() for b in read]  # WordPiece wrote the text in lower case
    assert same or kind == "trimmed"  # which gives spaces no place in the text
    assert not any(mojibake in label for label in given + read for mojibake in ("Ġ", "Ċ", "ì", "ê", "\ufffd"))
    if kind != "WordPiece" and "<unk>" not in given:
        spans = token_spans(ids, tokenizer)
        assert spans.text.lstrip() == text.lstrip()


@pytest.mark.parametrize("kind", KINDS)
def test_places_cover_every_sign_of_the_text_in_order(kind):
    tokenizer, text = KINDS[kind](), "나는 어제 고양이와 학교에 갔다."
    offsets = token_spans(tokenizer(text)["input_ids"], tokenizer, text).offsets
    covered = {i for start, stop in offsets for i in range(start, stop)}
    assert covered >= {i for i, c in enumerate(text) if c != " "}
    placed = [pair for pair in offsets if pair[0] < pair[1]]
    assert placed == sorted(placed)


def test_parts_of_a_syllable_show_it_with_marks():
    tokenizer = byte_level()
    assert token_labels(tokenizer("뷁")["input_ids"], tokenizer) == ["뷁›", "‹뷁›", "‹뷁"]
    tokenizer = byte_fallback()
    ids = tokenizer("a 뷁b가")["input_ids"]
    for text in ("a 뷁b가", None):
        assert token_labels(ids, tokenizer, text) == ["␣", "a", "␣", "뷁›", "‹뷁›", "‹뷁", "b", "가"]


def test_letters_of_a_syllable_show_it_too():
    tokenizer = word_piece()
    pieces = ["[CLS]", "ᄀ", "##ᅩ", "##ᄋ", "##ᅣ", "##ᆼ", "[UNK]", "t", "##h", "[SEP]"]
    ids = [tokenizer.convert_tokens_to_ids(piece) for piece in pieces]
    assert token_labels(ids, tokenizer) == ["[CLS]", "고›", "‹고", "##양›", "‹양›", "‹양", "[UNK]", "t", "##h", "[SEP]"]
    text = "뷁 The"
    labels = token_labels(tokenizer(text)["input_ids"], tokenizer, text)
    assert labels[:2] == ["[CLS]", "[UNK]"]
    assert "".join(label.removeprefix("##") for label in labels[2:-1]) == "The"


def test_bytes_that_are_no_text_show_as_bytes():
    tokenizer = byte_fallback()
    assert token_labels([0xEB, 0xB7, 258, 0xFF], tokenizer) == ["<0xEB>", "<0xB7>", "a", "<0xFF>"]


def test_spaces_breaks_and_special_tokens_can_be_seen():
    tokenizer = byte_level()
    text = "a \n\tb<|end|>"
    labels = token_labels(tokenizer(text)["input_ids"], tokenizer, text)
    assert "".join(labels) == "a␣⏎⇥b<|end|>"
    assert labels[-1] == "<|end|>"


def test_words_keep_their_space_when_offsets_leave_it_out():
    text = "The cat caught"
    full, trimmed = (byte_level(trim_offsets=trim) for trim in (False, True))
    ids = full(text)["input_ids"]
    assert token_labels(ids, full, text) == token_labels(ids, trimmed, text)
    assert any(label.startswith("␣") for label in token_labels(ids, full, text))


def test_ids_may_be_padded_cut_off_or_go_on():
    tokenizer = unigram()
    text = "고양이가 학교에 갔다"
    whole = tokenizer(text)["input_ids"]
    labels = token_labels(whole, tokenizer, text)
    assert token_labels([*whole, 2, 2], tokenizer, text) == [*labels, "<unk>", "<unk>"]
    assert token_labels(whole[:5], tokenizer, text) == labels[:5]
    assert token_labels([*whole[:5], whole[-1]], tokenizer, text) == [*labels[:5], "</s>"]
    more = tokenizer(" 학생이", add_special_tokens=False)["input_ids"]
    assert token_labels([*whole[1:-1], *more], tokenizer, text)[-1].endswith("이")
    spans = token_spans([*whole[1:-1], *more], tokenizer, text)
    assert spans.text == text + " 학생이"


def test_a_tokenizer_written_in_python_is_read_token_by_token():
    tokenizer = ByT5Tokenizer()
    ids = tokenizer("a뷁 b")["input_ids"]
    assert token_labels(ids, tokenizer) == ["a", "뷁›", "‹뷁›", "‹뷁", "␣", "b", "</s>"]
    assert token_labels(ids, tokenizer, "a뷁 b") == token_labels(ids, tokenizer)


def test_ids_come_as_lists_arrays_and_tensors():
    torch = pytest.importorskip("torch")
    tokenizer = byte_level()
    ids = tokenizer("The cat")["input_ids"]
    expected = token_labels(ids, tokenizer)
    for form in (np.array(ids), torch.tensor(ids), torch.tensor([ids]), tuple(ids)):
        assert token_labels(form, tokenizer) == expected
    assert token_labels([], tokenizer) == []


def test_special_tokens_are_words_of_their_own():
    tokenizer = word_piece()
    text = "The cat caught 고양이를."
    ids = tokenizer(text)["input_ids"]
    spans = token_spans(ids, tokenizer, text)
    groups = word_groups(spans.text, spans.offsets)
    words = group_labels(token_labels(ids, tokenizer, text), groups)
    assert words == ["[CLS]", "The", "cat", "caught", "고양이를", ".", "[SEP]"]


def test_word_pieces_of_a_tokenizer_written_in_python_keep_their_spaces(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "play", "##ing", "a"]))
    tokenizer = BertTokenizerLegacy(str(tmp_path / "vocab.txt"))
    spans = token_spans(tokenizer("playing a playing")["input_ids"], tokenizer)
    assert spans.text == "playing a playing"
    assert labels_of(spans) == ["[CLS]", "play", "##ing", "a", "play", "##ing", "[SEP]"]


def test_bytes_are_merged_into_words_without_marks():
    tokenizer = byte_level()
    text = "뷁에서 쥐를 caught"
    ids = tokenizer(text)["input_ids"]
    spans = token_spans(ids, tokenizer, text)
    assert len(ids) > 9
    assert group_labels(token_labels(ids, tokenizer), word_groups(spans.text, spans.offsets)) == text.split()


# Offsets


def test_labels_from_offsets():
    text = "나는 New York에\n갔다"
    offsets = [(0, 0), (0, 2), (2, 6), (6, 11), (11, 12), (12, 13), (13, 15)]
    assert labels_from_offsets(text, offsets) == ["∅", "나는", "␣New", "␣York", "에", "⏎", "갔다"]


def test_a_syllable_of_three_letters_is_never_cut():
    text = unicodedata.normalize("NFD", "한글")
    assert len(text) == 6
    assert labels_from_offsets(text, [(0, 3), (3, 6)]) == ["한", "글"]
    assert labels_from_offsets(text, [(0, 2), (2, 4), (4, 6)]) == ["한›", "‹한글›", "‹글"]


@given(st.text("aé \n한뷁\u0301🙂\u200d", max_size=12), st.integers(0, 5))
def test_every_cut_of_a_text_has_visible_labels(text, pieces):
    cuts = sorted({0, len(text), *(i * len(text) // (pieces + 1) for i in range(pieces + 1))})
    offsets = list(pairwise(cuts))
    for label in labels_from_offsets(text, offsets):
        assert label.strip()
        assert "\n" not in label


# Nothing invisible


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("", "∅"),
        (" a b ", "␣a b␣"),
        ("\r\n\t", "↵⏎⇥"),
        ("\x07", "U+0007"),
        ("\u00a0", "U+00A0"),
        ("\u202eabc", "U+202Eabc"),
        ("\u0301", "◌\u0301"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("\ufe0f", "U+FE0F"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\u200d", "U+200D"),
    ],
)
def test_nothing_is_invisible(text, label):
    assert visible(text) == label


def test_spaces_and_lines_of_running_text_stay():
    assert escaped("첫째 줄\n\x01 둘째") == "첫째 줄\nU+0001 둘째"


# Errors


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("ids", "error", "words"),
    [
        ([0.5, 1.5], TypeError, "ids must be integers, got float64"),
        ([[1, 2], [3, 4]], ValueError, r"ids must be one sequence, \(n\), got shape \(2, 2\) \(ids\[0\]"),
        (7, ValueError, r"ids must be one sequence, \(n\), got shape \(\)"),
    ],
    ids=["floats", "batch", "number"],
)
def test_ids_that_are_no_sequence(ids, error, words):
    with pytest.raises(error, match=words):
        token_labels(ids, byte_level())


@pytest.mark.usefixtures("unchecked")
def test_what_is_no_tokenizer():
    with pytest.raises(TypeError, match=r"with convert_ids_to_tokens, got Tokenizer .*tokenizer_object=…"):
        token_labels([1], Tokenizer(models.BPE()))


def test_ids_of_another_text():
    tokenizer = byte_level()
    with pytest.raises(ValueError, match=r"the \d+ ids are not what the tokenizer makes of the text, \d+ tokens from"):
        token_labels(tokenizer("The mouse")["input_ids"], tokenizer, "고양이가 쥐를")


def test_offsets_outside_the_text():
    with pytest.raises(ValueError, match=r"offsets of token 1 are \(2, 9\), outside a text of 5 characters"):
        labels_from_offsets("abcde", [(0, 2), (2, 9)])
