"""Every token is of one kind."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.census.heads import read
from clearhead.census.kinds import KINDS
from clearhead.traces.command import loaded


@pytest.fixture(scope="module")
def tokenizer(model):
    return loaded(str(model), with_tokenizer=True)[1]


def test_kinds(tokenizer):
    text = "the cats sat , 42 <s> mating 고양이가 !"
    reading = read(tokenizer(text)["input_ids"], tokenizer, text)
    found = [(label, KINDS[kind]) for label, kind in zip(reading.labels, reading.kinds, strict=True)]
    assert found == [
        ("the", "word"), ("cat", "word"), ("##s", "piece"), ("sat", "word"), (",", "punctuation"), ("42", "digit"),
        ("<s>", "special"), ("mat", "word"), ("##ing", "piece"), ("<unk>", "special"), ("!", "punctuation"),
    ]  # fmt: skip
    assert reading.placed
    assert [text[slice(*place)] for place in reading.spans.offsets][:2] == ["the", "cat"]


def test_ids_that_are_not_those_of_the_text_are_read_by_themselves(tokenizer):
    reading = read(tokenizer("the dog ran")["input_ids"], tokenizer, "another text altogether")
    assert reading.labels == ["the", "dog", "ran"]
    assert not reading.placed
    assert np.array_equal(reading.kinds, [KINDS.index("word")] * 3)
