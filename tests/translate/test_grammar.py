"""Sentences written by hand in both languages, as people who speak them would write them."""

from __future__ import annotations

import pytest

from clearhead.translate.grammar import NounPhrase, Sentence, in_english, in_korean, said, spelled
from clearhead.translate.lexicon import ADJECTIVES, MEANS, NOUNS, PLACES, TIMES, VERBS

N = {noun.korean: noun for noun in NOUNS}
V = {entry.stem.text: entry for entry in (*VERBS, *ADJECTIVES)}
P, T, M = ({entry.korean: entry for entry in table} for table in (PLACES, TIMES, MEANS))


def some(*names, **rest):
    """A noun phrase, an adjective first if there are two names."""
    return NounPhrase(N[names[-1]], V[names[0]] if len(names) > 1 else None, **rest)


def sentence(subject, predicate, *objects, **rest):
    subjects = subject if isinstance(subject, list) else [subject]
    return Sentence(tuple(subjects), V[predicate], objects, **rest)


CASES = [
    (sentence(some("고양이"), "잡", some("쥐")), "고양이가 쥐를 잡았다", "The cat caught the mouse"),
    (
        sentence(some("크", "고양이", number="세"), "잡", some("쥐"), tense="present"),
        "큰 고양이 세 마리가 쥐를 잡는다",
        "Three big cats catch the mouse",
    ),
    (
        sentence(some("학생"), "읽", some("책", number="두"), place=P["도서관"], time=T["어제"]),
        "어제 학생이 도서관에서 책 두 권을 읽었다",
        "The student read two books in the library yesterday",
    ),
    (
        sentence(some("학생"), "읽", some("책", number="한"), style="polite", time=T["아침"], time_first=False),
        "학생이 아침에 책 한 권을 읽었어요",
        "The student read one book in the morning",
    ),
    (
        sentence([some("고양이"), some("개")], "쫓", some("새"), tense="present", topic=True),
        "고양이와 개는 새를 쫓는다",
        "The cat and the dog chase the bird",
    ),
    (
        sentence(some("선생님"), "마시", some("차갑", "커피", number="두"), tense="future", style="formal"),
        "선생님이 차가운 커피 두 잔을 마실 것입니다",
        "The teacher will drink two cups of cold coffee",
    ),
    (
        sentence(some("선생님"), "마시", some("녹차", number="한"), ended=True),
        "선생님이 녹차 한 잔을 마셨다.",
        "The teacher drank one cup of green tea.",
    ),
    (
        sentence(some("아이", many=True), "먹", some("빵"), some("사과"), denial="안"),
        "아이들이 빵과 사과를 안 먹었다",
        "The children did not eat the bread and the apple",
    ),
    (
        sentence(some("아이"), "먹", some("감자", number="네"), denial="않다", tense="present", style="polite"),
        "아이가 감자 네 개를 먹지 않아요",
        "The child does not eat four potatoes",
    ),
    (
        sentence(some("친구", many=True), "공부하", some("수학"), denial="않다", tense="present"),
        "친구들이 수학을 공부하지 않는다",
        "The friends do not study math",
    ),
    (
        sentence(some("의사"), "가", place=P["집"], means=M["지하철"], time=T["밤"], tense="future"),
        "밤에 의사가 지하철로 집에 갈 것이다",
        "The doctor will go home by subway at night",
    ),
    (
        sentence(some("의사"), "돌아오", place=P["학교"], means=M["트럭"]),
        "의사가 트럭으로 학교에 돌아왔다",
        "The doctor came back to school by truck",
    ),
    (
        sentence(some("화가"), "그리", some("말"), place=P["공원"], means=M["연필"], tense="present"),
        "화가가 공원에서 연필로 말을 그린다",
        "The painter draws the horse in the park with a pencil",
    ),
    (
        sentence(some("왕"), "주", some("꽃", number="다섯"), recipient=some("예쁘", "여자"), full=True),
        "왕이 예쁜 여자에게 꽃 다섯 송이를 주었다",
        "The king gave five flowers to the pretty woman",
    ),
    (
        sentence(some("소녀"), "기다리", some("소년"), tense="present", time=T["매일"]),
        "매일 소녀가 소년을 기다린다",
        "The girl waits for the boy every day",
    ),
    (
        sentence(some("소녀"), "끄", some("텔레비전"), denial="안", tense="future", time=T["다음 주"]),
        "다음 주에 소녀가 텔레비전을 안 끌 것이다",
        "The girl will not turn off the television next week",
    ),
    (sentence(some("물"), "차갑", tense="present"), "물이 차갑다", "The water is cold"),
    (sentence(some("쥐", many=True), "작", denial="않다"), "쥐들이 작지 않았다", "The mice were not small"),
    (sentence(some("가방", number="여섯"), "무겁"), "가방 여섯 개가 무거웠다", "Six bags were heavy"),
    (
        sentence(some("고양이"), "배고프", denial="않다", tense="future", style="polite", topic=True),
        "고양이는 배고프지 않을 거예요",
        "The cat will not be hungry",
    ),
    (sentence(some("말"), "자", tense="present"), "말이 잔다", "The horse sleeps"),
    (sentence(some("나"), "읽", some("책"), topic=True), "나는 책을 읽었다", "I read the book"),
    (sentence(some("나"), "만나", some("그녀"), tense="present"), "내가 그녀를 만난다", "I meet her"),
    (sentence(some("나"), "행복하", tense="present", topic=True), "나는 행복하다", "I am happy"),
    (sentence(some("나"), "자", tense="present", denial="안"), "내가 안 잔다", "I do not sleep"),
    (sentence(some("그"), "돕", some("우리"), tense="present", topic=True), "그는 우리를 돕는다", "He helps us"),
    (sentence(some("그녀"), "배고프", denial="않다"), "그녀가 배고프지 않았다", "She was not hungry"),
    (
        sentence(some("그들"), "보내", some("편지"), recipient=some("나"), style="polite", topic=True),
        "그들은 나에게 편지를 보냈어요",
        "They sent the letter to me",
    ),
    (sentence(some("우리"), "젊", topic=True), "우리는 젊었다", "We were young"),
]


@pytest.mark.parametrize(("meaning", "korean", "english"), CASES, ids=[case[2] for case in CASES])
def test_by_hand(meaning, korean, english):
    example = said(meaning)
    assert example.source == korean
    assert example.target == english


BACK = [
    (
        sentence(
            some("고양이"), "잡", some("쥐"), style="formal", denial="안", topic=True, time=T["어제"], time_first=False
        ),
        "The cat did not catch the mouse yesterday",
        "어제 고양이가 쥐를 잡지 않았다",
    ),
    (
        sentence(some("나"), "주", some("책"), recipient=some("그"), full=True),
        "I gave the book to him",
        "나는 그에게 책을 줬다",
    ),
    (sentence(some("나"), "읽", some("책"), tense="present", time=T["밤"]), "I read the book", "나는 책을 읽었다"),
    (
        sentence(some("나"), "읽", some("책"), tense="present", denial="안"),
        "I do not read the book",
        "나는 책을 읽지 않는다",
    ),
    (sentence(some("아이"), "읽", some("책"), tense="present"), "The child reads the book", "아이가 책을 읽는다"),
    (sentence(some("물고기", many=True), "작", tense="present"), "The fish is small", "물고기가 작다"),
]


@pytest.mark.parametrize(("meaning", "english", "korean"), BACK, ids=[case[1] for case in BACK])
def test_back_by_hand(meaning, english, korean):
    example = said(meaning, "en-ko")
    assert example.source == english
    assert example.target == korean


def test_a_direction_that_is_not_spoken():
    with pytest.raises(ValueError, match="direction must be one of 'ko-en', 'en-ko', got 'ko-fr'"):
        said(CASES[0][0], "ko-fr")


def test_links_lead_back():
    meaning = sentence(some("고양이"), "잡", some("쥐"))
    there, back = said(meaning), said(meaning, "en-ko")
    assert sorted((target, source) for source, target in there.links) == sorted(back.links)
    assert [back.target[slice(*link.target)] for link in back.links] == ["고양이", "쥐", "잡았다"]


def links(meaning):
    example = said(meaning)
    return [(example.source[slice(*link.source)], example.target[slice(*link.target)]) for link in example.links]


def test_content_words_are_linked_and_grammar_is_not():
    meaning = sentence(
        some("크", "고양이", number="세"), "기다리", some("쥐", many=True), place=P["공원"], time=T["아침"], denial="안"
    )
    assert said(meaning).source == "아침에 큰 고양이 세 마리가 공원에서 쥐들을 안 기다렸다"
    assert links(meaning) == [
        ("세", "Three"),
        ("큰", "big"),
        ("고양이", "cats"),
        ("기다렸다", "wait for"),
        ("쥐", "mice"),
        ("공원", "park"),
        ("아침", "morning"),
    ]


def test_a_counter_is_linked_where_english_has_one():
    meaning = sentence(some("의사"), "마시", some("물", number="두"), tense="future", time=T["다음 주"], denial="않다")
    assert links(meaning) == [
        ("의사", "doctor"),
        ("마시지", "drink"),
        ("두", "two"),
        ("잔", "glasses"),
        ("물", "water"),
        ("다음 주", "next week"),
    ]


def test_pieces_are_stems_endings_and_particles():
    meaning = sentence(some("귀엽", "고양이"), "잡", some("쥐", number="두"), tense="present", ended=True)
    assert " ".join(spelled(in_korean(meaning))) == "귀여 ##운 고양이 ##가 쥐 두 마리 ##를 잡 ##는다 ##."
    assert " ".join(spelled(in_english(meaning))) == "The cute cat catch ##es two mice ##."
