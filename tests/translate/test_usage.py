"""Words that the lexicon does not put together are noticed, and hardly any others."""

from __future__ import annotations

import pytest

from clearhead.translate.command import HANDWRITTEN
from clearhead.translate.days import taught
from clearhead.translate.score import read_list
from clearhead.translate.usage import unusual, without_particles

from .lists import PLAIN


@pytest.mark.parametrize(
    "text",
    [
        *("컴퓨터를 썼다", "돈을 썼다", "우산을 썼다", "시계를 찼다", "커피를 탔다", "시험을 쳤다", "밥을 짓는다"),
        *("파티를 열었다", "전화를 걸었다", "나는 어제 커피 두 잔을 탔다", "커피를 안 타요"),
    ],
)
def test_an_object_that_its_verb_does_not_go_with(text):
    said = unusual(text)
    assert said is not None
    assert said.ko.startswith("이 번역은 확실하지 않습니다. 함께 쓰는 말로 배우지 않았습니다: ")
    assert text.split()[-1] in said.en


@pytest.mark.parametrize(
    "text",
    [
        *(
            "편지를 썼다",
            "모자를 썼다",
            "공을 찼다",
            "공을 차",
            "말을 탔다",
            "버스를 탔다",
            "집을 짓는다",
            "문을 열었다",
        ),
        *("쥐가 고양이를 잡았다", "공원을 걸었다", "커피 두 잔을 마셨다", "공부를 했다", "숙제를 하고 있다"),
        *("채소를 요리하고 있다", "채소를 요리 안 했다", "그 상자를 열 수 없었다", "피아노를 잘 친다", "방에 들어갔다"),
        *("나는 학생이다", "나는 학생이 아니다", "비가 온다", "책이 있다", "가방을 좋은 친구에게 주었다"),
    ],
)
def test_what_goes_together(text):
    assert unusual(text) is None


@pytest.mark.parametrize("text", ["고양이가", "엄마", "어제 학교에서", "새 책을", "책 두 권"])
def test_a_text_without_a_predicate(text):
    said = unusual(text)
    assert said is not None
    assert "서술어" in said.ko


@pytest.mark.parametrize(
    "text", ["아주 울었다", "집이 많이 크다", "공원에 사람이 열심히 있다", "아이가 매우 울었다", "너무 놀고 싶다"]
)
def test_an_adverb_that_its_predicate_does_not_go_with(text):
    said = unusual(text)
    assert said is not None
    assert "함께 쓰는 말로 배우지 않았습니다" in said.ko


@pytest.mark.parametrize(
    "text",
    [
        *("아주 크다", "정말 좋아한다", "비가 많이 온다", "너무 빨리 걷는다", "나는 돈이 많이 있다", "같이 가자"),
        *("아주 좋아한다", "할머니가 많이 아프다", "공원에 사람이 많이 있다", "아이가 조금 울었다", "우유를 다 마셨다"),
    ],
)
def test_an_adverb_where_it_belongs(text):
    assert unusual(text) is None


def test_a_thing_that_is_spoken_of_and_neither_does_it_nor_has_it_done():
    said = unusual("컴퓨터는 아홉 시에 썼어요")
    assert said is not None
    assert said.en.endswith("go together: 컴퓨터는 썼어요")
    for text in (
        "가게는 열었어요",
        "백화점은 아홉 시에 열어요",
        "숙제는 했어요",
        "기차는 도착했다",
        "빵은 동생이 먹었다",
        "하늘은 파랗다",
    ):
        assert unusual(text) is None


def test_from_where_one_goes_is_not_asked():
    said = unusual("어디에서 갔어요?")
    assert said is not None
    assert said.en.endswith("go together: 어디에서 갔어요")
    for text in ("어디에서 먹었어요?", "어디에 왔어요?", "서울에서 왔어요", "어디에서 왔어요?"):
        assert unusual(text) is None


def test_particles():
    assert without_particles("고양이들에게도") == "고양이"
    assert without_particles("고양이") == "고양이"
    assert without_particles("잡았다") is None


def test_hardly_any_plain_sentence_that_people_write_is_unusual():
    sources = [line.source for line in read_list(HANDWRITTEN)[:PLAIN] if not taught(line.source)]
    assert sum(unusual(source) is not None for source in sources) <= 0.02 * len(sources)


@pytest.mark.parametrize("text", ["먹고", "비가 와서", "학교에 갔지만.", "책을 읽었고", "시간이 없어서"])
def test_a_sentence_that_stops_before_its_second_clause(text):
    said = unusual(text)
    assert said is not None
    assert said.ko.endswith(f"문장이 끝나지 않았습니다. 뒤에 절이 이어져야 합니다: {text.split()[-1].rstrip('.')}")
    assert said.en.startswith("it is not sure of this: the sentence stops where another clause should follow: ")


def test_two_who_do_one_thing():
    said = unusual("고양이가 쥐가 잡았다")
    assert said is not None
    assert said.ko == "이 번역은 확실하지 않습니다. 주어가 둘입니다: 고양이가 쥐가"
    assert said.en == "it is not sure of this: two words say who does it: 고양이가 쥐가"
    for text in (
        "내가 시간이 필요하다",
        "비가 와서 내가 집에 있었다",
        "내가 산 책이 재미있다",
        "형이 자고 누나가 읽는다",
    ):
        assert unusual(text) is None or "주어가 둘" not in unusual(text).ko
