"""Every text gets its own answer."""

from __future__ import annotations

import pytest

from clearhead.languages import RefusedError
from clearhead.translate import answers as module
from clearhead.translate.answers import answers

from . import toys

TEXTS = ["ba ce", "zu", "di gu", "", "ba " * 5, "fo ha", "ce ba"]


@pytest.mark.parametrize("together", [1, 2, 32])
def test_texts_are_answered_in_order_whatever_is_beside_them(monkeypatch, together):
    monkeypatch.setattr(module, "TOGETHER", together)
    found = list(answers(toys.translator(), TEXTS))
    assert [answer.text for answer in found] == TEXTS
    said = [str(f) if isinstance(f, RefusedError) else f.text for _, f in found]
    assert [said[i] for i in (0, 2, 5, 6)] == ["이 일", "오 삼", "육 사", "일 이"]
    for i, beginning in ((1, "the word 'zu'"), (3, "there is nothing to translate"), (4, "a text of 5 pieces")):
        assert said[i].startswith(beginning)


def test_answers_come_before_all_texts_are_read(monkeypatch):
    monkeypatch.setattr(module, "TOGETHER", 2)
    texts = iter(["ba ce", "ce di", "di fo"])
    assert next(answers(toys.translator(), texts)).found.text == "이 일"
    assert list(texts) == ["di fo"]


def test_a_refusal_is_there_in_both_languages():
    (answer,) = answers(toys.translator(), [" "])
    assert answer.found.said("ko").startswith("번역할 것이 없습니다")
    assert list(answers(toys.translator(), [])) == []
