"""Days that do not exist are noticed in every way of writing them, as are ways that nobody taught, and no others."""

from __future__ import annotations

import pytest

from clearhead.translate.dates import dates
from clearhead.translate.days import impossible, untaught
from clearhead.translate.words import DATES


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
        ("30 février 2026", "there is no such day: 30 février 2026; February 2026 has 28 days", None),
        ("31 avril 2026", "there is no such day: 31 avril 2026; April 2026 has 30 days", None),
        ("2/30/2026", "there is no such day: 2/30/2026; February 2026 has 28 days", None),
        ("230229", "there is no such day: 230229; February 23 has 28 days", None),
        ("23. 2. 29.", "there is no such day: 23. 2. 29.; February 23 has 28 days", None),
        ("2.30", "there is no such day: 2.30; February has 29 days", None),
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


@pytest.mark.parametrize(
    "text",
    [
        *(
            "12월",
            "1월",
            "7",
            "7일",
            "12-07-2028",
            "12.07.2028",
            "07-12-2028",
            "03-05-2026",
            "25/12/2026",
            "30/02/2026",
        ),
        *("0년 1월 1일", "1년", "3000년 1월 1일", "0999-01-01", "December 2028", "2028-12", "14:30"),
        *("March", "Thursday", "avril 2028", "2028년 12월 7일 14시"),
    ],
)
def test_a_date_in_a_form_that_nobody_taught(text):
    said = untaught(text)
    assert said is not None
    assert text in said.en
    assert "2028년 12월 7일 목요일" in said.en
    assert said.ko.startswith(
        f"그런 형식의 날짜는 배우지 않았거나, 날짜에 빠진 것이 있습니다: {text}. 아는 형식: 2028년"
    )


@pytest.mark.parametrize("text", ["책 3권을 읽었다", "시 일", "고양이가 쥐를 잡았다", "목요일에 갔다", *DATES])
def test_what_is_no_date_or_a_taught_one(text):
    assert untaught(text) is None


def test_no_date_that_is_drawn_is_refused():
    drawn = [example.source for example in dates(1_009, 211).train]
    assert [text for text in drawn if impossible(text) is not None or untaught(text) is not None] == []
