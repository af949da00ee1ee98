"""An answer that takes a word in a meaning that does not go with the others is noticed, and a word left open is."""

from __future__ import annotations

import random

import pytest

from clearhead.translate.grammar import said
from clearhead.translate.joining import drawn
from clearhead.translate.senses import other_meaning


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("모자를 쓰고 편지를 썼다", "I wore the hat and wrote a letter", "I wore the hat and wore a letter"),
        ("말을 탔어요", "I rode the horse", "I took the horse"),
        ("버스를 타고 있다", "I am taking the bus", "I am riding the bus"),
        ("약을 먹는다", "He takes medicine", "He eats medicine"),
        ("차를 좋아하세요?", "Do you like tea?", "Do you like the car?"),
        ("우리는 차를 주문했다", "We ordered tea", "We ordered the car"),
        ("형은 차를 운전한다", "My older brother drives the car", "My older brother drives tea"),
        ("따뜻한 차를 샀다", "I bought warm tea", "I bought the warm car"),
        ("차 두 대를 팔았다", "I sold two cars", "I sold two teas"),
        ("차를 세 잔 주세요", "Please give three cups of tea", "Please give three cars"),
        ("맛있는 차가 있어요?", "Is there delicious tea?", "Do you have a delicious car?"),
        ("차가 뜨겁다", "The tea is hot", "The car is hot"),
        ("손님이 없다", "There is no guest", "I do not have a guest"),
        ("나쁜 학생은 없어요", "There is no bad student", "I do not have a bad student"),
        ("오늘은 손님이 없다", "There is no guest today", "The guest does not have a guest today"),
        ("나무가 한 그루 있었다", "There was one tree", "I had one tree"),
        ("방에 책이 많다", "There are many books in the room", "I have many books in the room"),
    ],
)
def test_a_meaning_that_does_not_go_with_the_words_beside_it(text, right, wrong):
    assert other_meaning(text, right) is None
    found = other_meaning(text, wrong)
    assert found is not None
    assert found.ko.startswith("이 번역은 확실하지 않습니다. 곁에 있는 말과 어울리지 않는 뜻으로 옮겼습니다: ")
    assert found.en.startswith("it is not sure of this: it took a word in a meaning that does not go with")


@pytest.mark.parametrize(
    "text", ["차를 샀다", "차를 팔고 잤다", "친구에게 차를 주었어요", "나는 차가 필요하다", "그 차는 안 샀어요"]
)
def test_more_than_one_meaning_makes_sense(text):
    for answer in ("the car", "tea"):
        found = other_meaning(text, answer)
        assert found is not None
        assert "(tea, car)" in found.ko
        assert "several meanings" in found.en


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("시간이 없다", "I do not have time"),  # or there is none
        ("그 여자는 아이가 두 명 있다", "That woman has two children"),
        ("그녀는 친구 두 명이 있었다", "She had two friends"),
        ("저희는 침대를 보여줍니다", "We show the bed"),
        ("아이가 먹고 있다", "The child eats"),
        ("아이가 먹을 수 있다", "The child can eat"),
        ("무엇을 썼어요?", "What did you write?"),
        ("그것을 쓰고 싶다", "I want to write that"),
    ],
)
def test_what_tells_nothing_is_not_doubted(text, answer):
    assert other_meaning(text, answer) is None


def test_hardly_anything_that_the_grammar_says_is_doubted():
    """What is, is mostly a car that may be tea."""
    generator = random.Random(23)
    found = []
    for _ in range(1_500):
        source, target, _links = said(drawn(generator))
        if (doubted := other_meaning(source, target)) is not None and "(tea, car)" not in doubted.en:
            found.append((source, target, doubted.en))
    assert len(found) <= 15, found
