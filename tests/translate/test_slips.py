"""An answer that is no English, or says twice what its source says once, is noticed; what the grammar writes is not."""

from __future__ import annotations

import random

import pytest

from clearhead.translate.grammar import said
from clearhead.translate.joining import drawn
from clearhead.translate.slips import slip


@pytest.mark.parametrize(
    ("text", "right", "wrong", "named"),
    [
        (
            "비행기를 타 봤어요?",
            "Have you tried taking an airplane?",
            "Have you tried taking a airplane?",
            "a airplane",
        ),
        ("그는 가수다", "He is a singer", "He is an singer", "an singer"),
        (
            "한국에는 산이 많이 있다",
            "There are many mountains in Korea",
            "There are many mountain in Korea",
            "many mountain",
        ),
    ],
)
def test_what_is_no_english(text, right, wrong, named):
    assert slip(text, right) is None
    found = slip(text, wrong)
    assert found is not None
    assert found.en == f"it is not sure of this: people do not say so in English: {named}"
    assert found.ko == f"이 번역은 확실하지 않습니다. 영어로는 이렇게 쓰지 않습니다: {named}"


@pytest.mark.parametrize(
    ("text", "right", "wrong", "named"),
    [
        ("나는 고양이 두 마리와 같이 산다", "I live with two cats", "I buy two cats with two cats", "cats"),
        ("오늘은 덥지 않다", "It is not hot today", "Today is not hot but today", "today"),
        ("은행은 열 시에 열어요", "The bank opens at ten o'clock", "The bank opens at the bank", "bank"),
    ],
)
def test_what_is_said_twice(text, right, wrong, named):
    wrong = wrong.replace("Today", "today")
    assert slip(text, right) is None
    found = slip(text, wrong)
    assert found is not None
    assert found.en == f"it is not sure of this: the translation says more often than the sentence: {named}"
    assert found.ko == f"이 번역은 확실하지 않습니다. 원문에 나온 것보다 더 자주 옮긴 말이 있습니다: {named}"


def test_what_may_be_said_twice():
    assert slip("사람이 사람을 도왔다", "The person helped the person") is None
    assert slip("저기에 연필도 있다", "There is a pencil over there too") is None
    assert slip("열 명이 사람들을 만났다", "Ten people met people") is None


def test_the_grammar_makes_no_slips():
    generator = random.Random(3)
    examples = [said(drawn(generator)) for _ in range(1500)]
    assert [example.source for example in examples if slip(example.source, example.target) is not None] == []
