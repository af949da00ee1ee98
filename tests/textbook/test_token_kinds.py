"""What a token is for, told by labels as tokenizers and `token_labels` write them."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.textbook.token_kinds import are, is_padding, is_punctuation, is_separator, of_kind

SEPARATORS = ["[CLS]", "[SEP]", "<s>", "</s>", "<|endoftext|>", "<|im_start|>", "<bos>", "<end>", "<|eot_id|>"]
PUNCTUATION = [
    "[",
    ".",
    ",",
    "!",
    "...",
    "▁,",
    "Ġ(",
    "␣–",
    "##'",
    "。",
    "、",
    "「",
    "?!",
    "\n",
    "⏎",
    "Ċ",
    "#",
    "##-",
    "‹",
    "›",
    "▁‹",
]
PADDING = ["[PAD]", "<pad>", "<|pad|>", "<|padding|>", "<|finetune_right_pad_id|>", "<PAD>"]
NEITHER = ["word", "▁the", "##ing", "[MASK]", "<unk>", "[UNK]", "[unused7]", "<0x0A>", "3.14", "a.", "$", "", "␣",
           "pad", "나는", "<", "<extra_id_0>", "<extra_id_99>", "<br>", "<br/>", "</p>", "<H1>"]  # fmt: skip


@pytest.mark.parametrize("label", SEPARATORS + PUNCTUATION + PADDING + NEITHER)
def test_each_label_is_of_one_kind(label):
    assert is_separator(label) == (label in SEPARATORS)
    assert is_padding(label) == (label in PADDING)
    assert is_punctuation(label) == (label in PUNCTUATION)


def test_each_label_is_asked_once():
    asked = []
    tokens = np.array([["a", ".", "a"], [".", "b", "a"]])
    found = are(lambda label: bool(asked.append(label)) or label == ".", tokens)
    assert found.tolist() == [[False, True, False], [True, False, False]]
    assert asked == [".", "a", "b"]


class TestOfKind:
    def test_labels_say_it_unless_it_is_said(self):
        tokens = np.array(["[CLS]", "a", "."])
        assert of_kind("separators", tokens, None, is_separator).tolist() == [True, False, False]
        assert of_kind("separators", tokens, [".", "a"], is_separator).tolist() == [False, True, True]
        assert of_kind("separators", tokens, [], is_separator).tolist() == [False, False, False]

    def test_ids_do_not_say_it(self):
        ids = np.array([101, 7, 102])
        assert of_kind("separators", ids, None, is_separator) is None
        assert of_kind("separators", ids, {101, 102}, is_separator).tolist() == [True, False, True]

    def test_labels_of_ids_and_ids_of_labels(self):
        with pytest.raises(TypeError, match=r"separators must be ids, as the tokens are, got labels: \['\[SEP\]'\]"):
            of_kind("separators", np.array([1, 2]), ["[SEP]"], is_separator)
        with pytest.raises(TypeError, match=r"punctuation must be labels, as the tokens are, got ids: \[7\]"):
            of_kind("punctuation", np.array(["a"]), [7], is_punctuation)
