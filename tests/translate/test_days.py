"""Days that do not exist are noticed in every way of writing them, and no day that does."""

from __future__ import annotations

import pytest

from clearhead.translate.dates import dates
from clearhead.translate.days import impossible


@pytest.mark.parametrize(
    ("text", "english", "korean"),
    [
        (
            "2월 30일",
            "there is no such day: 2월 30일; February has 29 days",
            "없는 날짜입니다: 2월 30일. 2월은 29일까지입니다",
        ),
        (
            "2023년 2월 29일",
            "there is no such day: 2023년 2월 29일; February 2023 has 28 days",
            "없는 날짜입니다: 2023년 2월 29일. 2023년 2월은 28일까지입니다",
        ),
        ("2024-04-31", "there is no such day: 2024-04-31; April 2024 has 30 days", None),
        ("2023. 2. 29.", "there is no such day: 2023. 2. 29; February 2023 has 28 days", None),
        ("20230229", "there is no such day: 20230229; February 2023 has 28 days", None),
        ("2/30", "there is no such day: 2/30; February has 29 days", None),
        ("February 29, 2023", "there is no such day: February 29, 2023; February 2023 has 28 days", None),
        ("31 Jun 2024", "there is no such day: 31 Jun 2024; June 2024 has 30 days", None),
        ("13월 1일", "there is no such month: 13월 1일", "없는 달입니다: 13월 1일. 달은 1월부터 12월까지입니다"),
        (
            "오후 25시",
            "there is no such time of day: 오후 25시; hours go up to 12, minutes to 59",
            "없는 시각입니다: 오후 25시. 시는 12까지, 분은 59까지입니다",
        ),
        ("25시 10분", "there is no such time of day: 25시 10분; hours go up to 24, minutes to 59", None),
        ("오전 9:75", "there is no such time of day: 오전 9:75; hours go up to 12, minutes to 59", None),
    ],
)
def test_what_there_is_not(text, english, korean):
    said = impossible(text)
    assert said is not None
    assert said.en == english
    assert korean is None or said.ko == korean


@pytest.mark.parametrize(
    "text", ["2024년 2월 29일", "24년 2월 29일", "2월 29일", "오후 12시 59분", "고양이가 쥐를 잡았다"]
)
def test_what_there_is(text):
    assert impossible(text) is None


def test_no_date_that_is_drawn_is_refused():
    assert [e.source for e in dates(1_009, 211).train if impossible(e.source) is not None] == []
