"""What a sentence leaves out, and English cannot, is noticed; what it says in any form is not missed."""

from __future__ import annotations

import random

import pytest

from clearhead.translate.grammar import said
from clearhead.translate.joining import drawn
from clearhead.translate.missing import left_out
from clearhead.translate.senses import other_meaning
from clearhead.translate.usage import unusual


@pytest.mark.parametrize(
    "text",
    [
        "저도 읽어요",
        "나만 샀다",
        "네가 샀어?",
        "동생은 안 마셔요",
        "너무 많이 마셨다",
        "집에서 읽었고 잤다",
        "민수도 불렀다",
        "민수도 알아요",
    ],
)
def test_an_object_that_is_not_there_or_may_as_well_do_it(text):
    found = left_out(text)
    assert found is not None
    assert found.ko.startswith("이 번역은 확실하지 않습니다. 목적어(누구를, 무엇을)가 나와 있지 않습니다: ")
    assert found.en.startswith("it is not sure of this: nothing says whom or what: ")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "그 노래를 안다",
            "그 노래도 안다",
            "나만 그를 몰랐다",
            "영화 봤어?",
            "뭐 했어?",
            "뭘 먹었어요?",
            "누구를 만났니",
        ),
        *("빵은 동생이 먹었다", "문은 내가 닫았어", "커피 두 잔 마셨어요", "사랑해 너를", "차 안에 가방이 있다"),
        *("수영을 배워야 해요", "노래를 불러 주세요", "채소를 요리 안 했다", "공부 안 했어요", "학교에 가고 싶어 한다"),
        *("사장님은 왜 잡니까", "사과는 부모님께서 파십니다", "나는 학생이 아니지만 바쁘다"),
        *("저도 알아요", "나만 몰랐다", "네가 알아?", "커피는 안 마셔요", "너무 많이 먹었다", "잘 모르겠어요"),
        *("어제 산 옷이 작다", "엄마가 만든 케이크는 맛있다", "친구에게 책을 빌려 줬다"),
        *(
            "뭐를 은행 옆에 있는 카페에서 만들었니?",
            "그는 형도 알고 누나도 안다",
            "소년만 무서워하지 마",
            "저것만 들었니?",
        ),
        *("집에 갔다", "어제 잤다", "비가 와요", "나는 바쁘다", "학생이다", "시간이 없다", "친구에게 책을 주었다"),
    ],
)
def test_what_is_said_is_not_missed(text):
    assert left_out(text) is None


@pytest.mark.parametrize(
    "text", ["같이 갔어요", "같이 가요?", "내일 함께 공부했어요", "나는 같이 갔다", "나는 같이 가요"]
)
def test_together_with_nobody(text):
    found = left_out(text)
    assert found is not None
    assert "누구와 누구인지 나와 있지 않습니다: " in found.ko
    assert "nothing says who they are: " in found.en


@pytest.mark.parametrize(
    "text",
    [
        "우리는 같이 갔다",
        "친구와 함께 갔어요",
        "아이들이 같이 논다",
        "같이 가자",
        "같이 가요",
        "우리 같이 점심 먹어요",
        "우리 함께 오늘 가게에서는 쉬어요",
        "함께 갑시다",
        "학생 두 명이 같이 왔다",
    ],
)
def test_together_with_others(text):
    assert left_out(text) is None


@pytest.mark.parametrize("text", ["같이 갔어요 !", "? 같이 .", "...", "읽어요 ?"])
def test_signs_that_stand_alone_are_no_words(text):
    assert unusual(text) or left_out(text) or other_meaning(text, "I go") or text == "..."


def test_the_grammar_leaves_nothing_out():
    generator = random.Random(29)
    found = []
    for _ in range(1_500):
        source = said(drawn(generator)).source
        if left_out(source) is not None:
            found.append(source)
    assert len(found) <= 15, found
