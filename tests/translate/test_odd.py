"""Odd texts are of known words, and each is odd in one way."""

from __future__ import annotations

from clearhead.translate.examples import Example
from clearhead.translate.odd import odd_texts
from clearhead.translate.vocabulary import Vocabulary

from . import toys


def test_odd_texts_are_of_known_words_and_always_the_same():
    examples = toys.task().test[:50]
    odd = odd_texts(examples, toys.vocabulary(), 30)
    assert odd == odd_texts(examples, toys.vocabulary(), 30)
    assert {word for one in odd for word in one.text.split()} <= set(toys.WORDS)
    assert not {one.text for one in odd} & {example.source for example in examples}
    assert any(one.target is None for one in odd)
    assert odd_texts([Example("ba ce", "일 이")] * 2, toys.vocabulary(), 5) == []


def test_odd_texts_of_every_kind():
    """Each is what someone may write: a particle less, the wrong form of one, no space, the verb too early."""
    vocabulary = Vocabulary(
        ["고양이", "##이", "##가", "쥐", "##쥐", "##를", "##을", "잡았다", "##잡았다", "나", "##는", "##나"]
    )
    examples = [Example("고양이가 쥐를 잡았다", "cat"), Example("나는 쥐를 잡았다", "I")]
    found = {one.text: one.target for one in odd_texts(examples, vocabulary, 200)}
    expected = {
        "고양이 쥐를 잡았다",
        "고양이이 쥐를 잡았다",
        "고양이가 쥐를잡았다",
        "고양이가 잡았다 쥐를",
        "잡았다 고양이가 쥐를",
    }
    assert expected <= set(found)
    assert {found[text] for text in expected} == {"cat"}
    assert found["고양이가 나는 쥐를 쥐를 잡았다 잡았다"] is None
