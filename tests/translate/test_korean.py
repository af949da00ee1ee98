"""Particles and endings against a table written by hand."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from clearhead.translate.korean import (
    Manner,
    Stem,
    being,
    commanded,
    conjugated,
    joined,
    letters,
    modifier,
    necessary,
    not_being,
    obliging,
    particle,
    past,
    possible,
    relative,
    since,
    suggested,
    syllable,
    with_final,
)

# stem, what changes; past, present and future, each plain, polite and formal
VERBS = [
    ("잡", "", "잡았다, 잡았어요, 잡았습니다", "잡는다, 잡아요, 잡습니다", "잡을 것이다, 잡을 거예요, 잡을 것입니다"),
    ("먹", "", "먹었다, 먹었어요, 먹었습니다", "먹는다, 먹어요, 먹습니다", "먹을 것이다, 먹을 거예요, 먹을 것입니다"),
    ("읽", "", "읽었다, 읽었어요, 읽었습니다", "읽는다, 읽어요, 읽습니다", "읽을 것이다, 읽을 거예요, 읽을 것입니다"),
    ("닫", "", "닫았다, 닫았어요, 닫았습니다", "닫는다, 닫아요, 닫습니다", "닫을 것이다, 닫을 거예요, 닫을 것입니다"),
    ("입", "", "입었다, 입었어요, 입었습니다", "입는다, 입어요, 입습니다", "입을 것이다, 입을 거예요, 입을 것입니다"),
    ("씻", "", "씻었다, 씻었어요, 씻었습니다", "씻는다, 씻어요, 씻습니다", "씻을 것이다, 씻을 거예요, 씻을 것입니다"),
    ("가", "", "갔다, 갔어요, 갔습니다", "간다, 가요, 갑니다", "갈 것이다, 갈 거예요, 갈 것입니다"),
    ("오", "", "왔다, 왔어요, 왔습니다", "온다, 와요, 옵니다", "올 것이다, 올 거예요, 올 것입니다"),
    ("보", "", "봤다, 봤어요, 봤습니다", "본다, 봐요, 봅니다", "볼 것이다, 볼 거예요, 볼 것입니다"),
    ("주", "", "줬다, 줬어요, 줬습니다", "준다, 줘요, 줍니다", "줄 것이다, 줄 거예요, 줄 것입니다"),
    ("마시", "", "마셨다, 마셨어요, 마셨습니다", "마신다, 마셔요, 마십니다", "마실 것이다, 마실 거예요, 마실 것입니다"),
    (
        "가르치",
        "",
        "가르쳤다, 가르쳤어요, 가르쳤습니다",
        "가르친다, 가르쳐요, 가르칩니다",
        "가르칠 것이다, 가르칠 거예요, 가르칠 것입니다",
    ),
    ("배우", "", "배웠다, 배웠어요, 배웠습니다", "배운다, 배워요, 배웁니다", "배울 것이다, 배울 거예요, 배울 것입니다"),
    ("보내", "", "보냈다, 보냈어요, 보냈습니다", "보낸다, 보내요, 보냅니다", "보낼 것이다, 보낼 거예요, 보낼 것입니다"),
    ("켜", "", "켰다, 켰어요, 켰습니다", "켠다, 켜요, 켭니다", "켤 것이다, 켤 거예요, 켤 것입니다"),
    ("쉬", "", "쉬었다, 쉬었어요, 쉬었습니다", "쉰다, 쉬어요, 쉽니다", "쉴 것이다, 쉴 거예요, 쉴 것입니다"),
    ("쓰", "", "썼다, 썼어요, 썼습니다", "쓴다, 써요, 씁니다", "쓸 것이다, 쓸 거예요, 쓸 것입니다"),
    ("끄", "", "껐다, 껐어요, 껐습니다", "끈다, 꺼요, 끕니다", "끌 것이다, 끌 거예요, 끌 것입니다"),
    ("팔", "", "팔았다, 팔았어요, 팔았습니다", "판다, 팔아요, 팝니다", "팔 것이다, 팔 거예요, 팔 것입니다"),
    (
        "만들",
        "",
        "만들었다, 만들었어요, 만들었습니다",
        "만든다, 만들어요, 만듭니다",
        "만들 것이다, 만들 거예요, 만들 것입니다",
    ),
    ("울", "", "울었다, 울었어요, 울었습니다", "운다, 울어요, 웁니다", "울 것이다, 울 거예요, 울 것입니다"),
    ("하", "", "했다, 했어요, 했습니다", "한다, 해요, 합니다", "할 것이다, 할 거예요, 할 것입니다"),
    (
        "공부하",
        "",
        "공부했다, 공부했어요, 공부했습니다",
        "공부한다, 공부해요, 공부합니다",
        "공부할 것이다, 공부할 거예요, 공부할 것입니다",
    ),
    ("돕", "ㅂ", "도왔다, 도왔어요, 도왔습니다", "돕는다, 도와요, 돕습니다", "도울 것이다, 도울 거예요, 도울 것입니다"),
    ("굽", "ㅂ", "구웠다, 구웠어요, 구웠습니다", "굽는다, 구워요, 굽습니다", "구울 것이다, 구울 거예요, 구울 것입니다"),
    ("듣", "ㄷ", "들었다, 들었어요, 들었습니다", "듣는다, 들어요, 듣습니다", "들을 것이다, 들을 거예요, 들을 것입니다"),
    ("걷", "ㄷ", "걸었다, 걸었어요, 걸었습니다", "걷는다, 걸어요, 걷습니다", "걸을 것이다, 걸을 거예요, 걸을 것입니다"),
    ("짓", "ㅅ", "지었다, 지었어요, 지었습니다", "짓는다, 지어요, 짓습니다", "지을 것이다, 지을 거예요, 지을 것입니다"),
    (
        "부르",
        "르",
        "불렀다, 불렀어요, 불렀습니다",
        "부른다, 불러요, 부릅니다",
        "부를 것이다, 부를 거예요, 부를 것입니다",
    ),
    (
        "고르",
        "르",
        "골랐다, 골랐어요, 골랐습니다",
        "고른다, 골라요, 고릅니다",
        "고를 것이다, 고를 거예요, 고를 것입니다",
    ),
    ("되", "", "됐다, 됐어요, 됐습니다", "된다, 돼요, 됩니다", "될 것이다, 될 거예요, 될 것입니다"),
]

# stem, what changes, before a noun; present in three styles, past in two, future in one
ADJECTIVES = [
    ("크", "", "큰", "크다, 커요, 큽니다", "컸다, 컸어요", "클 것이다"),
    ("작", "", "작은", "작다, 작아요, 작습니다", "작았다, 작았어요", "작을 것이다"),
    ("예쁘", "", "예쁜", "예쁘다, 예뻐요, 예쁩니다", "예뻤다, 예뻤어요", "예쁠 것이다"),
    ("배고프", "", "배고픈", "배고프다, 배고파요, 배고픕니다", "배고팠다, 배고팠어요", "배고플 것이다"),
    ("슬프", "", "슬픈", "슬프다, 슬퍼요, 슬픕니다", "슬펐다, 슬펐어요", "슬플 것이다"),
    ("비싸", "", "비싼", "비싸다, 비싸요, 비쌉니다", "비쌌다, 비쌌어요", "비쌀 것이다"),
    ("길", "", "긴", "길다, 길어요, 깁니다", "길었다, 길었어요", "길 것이다"),
    ("젊", "", "젊은", "젊다, 젊어요, 젊습니다", "젊었다, 젊었어요", "젊을 것이다"),
    ("맛있", "", "맛있는", "맛있다, 맛있어요, 맛있습니다", "맛있었다, 맛있었어요", "맛있을 것이다"),
    ("친절하", "", "친절한", "친절하다, 친절해요, 친절합니다", "친절했다, 친절했어요", "친절할 것이다"),
    ("귀엽", "ㅂ", "귀여운", "귀엽다, 귀여워요, 귀엽습니다", "귀여웠다, 귀여웠어요", "귀여울 것이다"),
    ("차갑", "ㅂ", "차가운", "차갑다, 차가워요, 차갑습니다", "차가웠다, 차가웠어요", "차가울 것이다"),
    ("빨갛", "ㅎ", "빨간", "빨갛다, 빨개요, 빨갛습니다", "빨갰다, 빨갰어요", "빨갈 것이다"),
    ("하얗", "ㅎ", "하얀", "하얗다, 하얘요, 하얗습니다", "하얬다, 하얬어요", "하얄 것이다"),
]


STYLES = ("plain", "polite", "formal")


def text(words):
    return " ".join("".join(word) for word in words)


def first(row):
    return row[0]


@pytest.mark.parametrize("row", VERBS, ids=first)
def test_verbs(row):
    stem = Stem(*row[:2])
    for tense, forms in zip(("past", "present", "future"), row[2:], strict=True):
        long = tense == "future"  # 것이다 and not 거다
        made = (text(conjugated(stem, Manner(tense, style, full=long))) for style in STYLES)
        assert ", ".join(made) == forms


@pytest.mark.parametrize("row", ADJECTIVES, ids=first)
def test_adjectives(row):
    stem = Stem(*row[:2])
    assert "".join(modifier(stem)) == row[2]
    for tense, forms in zip(("present", "past", "future"), row[3:], strict=True):
        got = [text(conjugated(stem, Manner(tense, style, verb=False, full=True))) for style in STYLES]
        assert ", ".join(got[: forms.count(",") + 1]) == forms


@pytest.mark.parametrize(
    ("stem", "style", "expected"),
    [
        ("보", "plain", "보았다"),
        ("주", "polite", "주었어요"),
        ("보여주", "formal", "보여주었습니다"),
        ("되", "plain", "되었다"),
        ("오", "plain", "왔다"),
        ("배우", "plain", "배웠다"),
    ],
)
def test_some_stems_may_stay_long(stem, style, expected):
    assert text(conjugated(Stem(stem), Manner("past", style, full=True))) == expected


# Casual; -겠-; questions, plain and formal, in the present and in the past.
MORE = [
    (Stem("잡"), "잡아, 잡았어, 잡을 거야, 잡겠다, 잡겠습니다, 잡니, 잡았니, 잡습니까, 잡겠습니까"),
    (Stem("마시"), "마셔, 마셨어, 마실 거야, 마시겠다, 마시겠습니다, 마시니, 마셨니, 마십니까, 마시겠습니까"),
    (Stem("만들"), "만들어, 만들었어, 만들 거야, 만들겠다, 만들겠습니다, 만드니, 만들었니, 만듭니까, 만들겠습니까"),
    (Stem("듣", "ㄷ"), "들어, 들었어, 들을 거야, 듣겠다, 듣겠습니다, 듣니, 들었니, 듣습니까, 듣겠습니까"),
    (Stem("모르", "르"), "몰라, 몰랐어, 모를 거야, 모르겠다, 모르겠습니다, 모르니, 몰랐니, 모릅니까, 모르겠습니까"),
]


@pytest.mark.parametrize(("stem", "forms"), MORE, ids=[stem.text for stem, _ in MORE])
def test_casual_and_will_and_questions(stem, forms):
    manners = [Manner(tense, "casual") for tense in ("present", "past", "future")]
    manners += [Manner("will", style) for style in ("plain", "formal")]
    manners += [Manner(tense, "plain", "question") for tense in ("present", "past")]
    manners += [Manner(tense, "formal", "question") for tense in ("present", "will")]
    assert ", ".join(text(conjugated(stem, manner)) for manner in manners) == forms


# -시- in the plain and polite present, in the formal past, and in the future.
HONOURED = [
    (Stem("가"), True, "가신다, 가세요, 가셨습니다, 가실 거예요"),
    (Stem("읽"), True, "읽으신다, 읽으세요, 읽으셨습니다, 읽으실 거예요"),
    (Stem("돕", "ㅂ"), True, "도우신다, 도우세요, 도우셨습니다, 도우실 거예요"),
    (Stem("듣", "ㄷ"), True, "들으신다, 들으세요, 들으셨습니다, 들으실 거예요"),
    (Stem("만들"), True, "만드신다, 만드세요, 만드셨습니다, 만드실 거예요"),
    (Stem("일하"), True, "일하신다, 일하세요, 일하셨습니다, 일하실 거예요"),
    (Stem("바쁘"), False, "바쁘시다, 바쁘세요, 바쁘셨습니다, 바쁘실 거예요"),
]


@pytest.mark.parametrize(("stem", "verb", "forms"), HONOURED, ids=[stem.text for stem, *_ in HONOURED])
def test_honoured(stem, verb, forms):
    ways = [("present", "plain"), ("present", "polite"), ("past", "formal"), ("future", "polite")]
    made = (text(conjugated(stem, Manner(tense, style, honoured=True, verb=verb))) for tense, style in ways)
    assert ", ".join(made) == forms


# Commands, asked for as a favour, suggestions, -아야 and -ㄹ, -지 and -고.
TOLD = [
    (Stem("잡"), "잡아라 잡으세요 잡으십시오 잡아 잡자 잡읍시다 잡아야 잡을 잡지"),
    (Stem("가"), "가라 가세요 가십시오 가 가자 갑시다 가야 갈 가지"),
    (Stem("만들"), "만들어라 만드세요 만드십시오 만들어 만들자 만듭시다 만들어야 만들 만들지"),
    (Stem("돕", "ㅂ"), "도와라 도우세요 도우십시오 도와 돕자 도웁시다 도와야 도울 돕지"),
    (Stem("듣", "ㄷ"), "들어라 들으세요 들으십시오 들어 듣자 들읍시다 들어야 들을 듣지"),
    (Stem("짓", "ㅅ"), "지어라 지으세요 지으십시오 지어 짓자 지읍시다 지어야 지을 짓지"),
    (Stem("부르", "르"), "불러라 부르세요 부르십시오 불러 부르자 부릅시다 불러야 부를 부르지"),
    (Stem("청소하"), "청소해라 청소하세요 청소하십시오 청소해 청소하자 청소합시다 청소해야 청소할 청소하지"),
]


@pytest.mark.parametrize(("stem", "forms"), TOLD, ids=[stem.text for stem, _ in TOLD])
def test_told_and_joined(stem, forms):
    words = [commanded(stem, style) for style in ("plain", "polite", "formal")] + [obliging(stem)]
    words += [suggested(stem, style) for style in ("plain", "formal")]
    words += [necessary(stem), possible(stem), joined(stem, "지")]
    assert text(words) == forms


BEFORE_OTHERS = [
    (Stem("잡"), "잡아서 잡은 잡는 잡을"),
    (Stem("마시"), "마셔서 마신 마시는 마실"),
    (Stem("공부하"), "공부해서 공부한 공부하는 공부할"),
    (Stem("만들"), "만들어서 만든 만드는 만들"),
    (Stem("돕", "ㅂ"), "도와서 도운 돕는 도울"),
    (Stem("듣", "ㄷ"), "들어서 들은 듣는 들을"),
    (Stem("부르", "르"), "불러서 부른 부르는 부를"),
    (Stem("짓", "ㅅ"), "지어서 지은 짓는 지을"),
]


@pytest.mark.parametrize(("stem", "forms"), BEFORE_OTHERS, ids=[stem.text for stem, _ in BEFORE_OTHERS])
def test_before_another_clause_and_before_a_noun(stem, forms):
    assert text([since(stem), *(relative(stem, tense) for tense in ("past", "present", "future"))]) == forms


def test_a_noun_as_predicate():
    ways = [("present", style) for style in ("plain", "casual", "polite", "formal")] + [("past", "plain")]
    for noun, forms in (("학생", "이다 이야 이에요 입니다 이었다"), ("의사", "다 야 예요 입니다 였다")):
        assert text(being(noun, Manner(*way)) for way in ways) == forms
    assert text(text(not_being(Manner(*way))) for way in ways) == "아니다 아니야 아니에요 아닙니다 아니었다"
    assert being("의사", Manner("present", full=True)) == ("이다",)
    assert being("학생", Manner("present", "formal", "question")) == ("입니까",)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (conjugated(Stem("잡"), Manner("past"))[0], ("잡", "았", "다")),
        (conjugated(Stem("잡"), Manner("present"))[0], ("잡", "는다")),
        (conjugated(Stem("잡"), Manner("will"))[0], ("잡", "겠", "다")),
        (conjugated(Stem("잡"), Manner("past", honoured=True))[0], ("잡", "으셨", "다")),
        (conjugated(Stem("마시"), Manner("past"))[0], ("마셨", "다")),
        (conjugated(Stem("마시"), Manner("past", "polite"))[0], ("마셨", "어요")),
        (conjugated(Stem("돕", "ㅂ"), Manner("past"))[0], ("도", "왔", "다")),
        (conjugated(Stem("부르", "르"), Manner("past"))[0], ("불", "렀", "다")),
        (conjugated(Stem("공부하"), Manner("past"))[0], ("공부", "했", "다")),
        (conjugated(Stem("공부하"), Manner("future"))[0], ("공부", "할")),
        (past(Stem("공부하")), ("공부", "했")),
        (joined(Stem("공부하"), "지"), ("공부", "하", "지")),
        (modifier(Stem("친절하")), ("친절", "한")),
        (modifier(Stem("맛있")), ("맛있", "는")),
        (modifier(Stem("재미없")), ("재미없", "는")),
    ],
    ids=lambda word: "·".join(word),
)
def test_words_are_cut_where_stem_and_ending_meet(word, expected):
    assert word == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("고양이", "가 는 를 와 로"),
        ("개", "가 는 를 와 로"),
        ("학생", "이 은 을 과 으로"),
        ("선생님", "이 은 을 과 으로"),
        ("연필", "이 은 을 과 로"),
        ("지하철", "이 은 을 과 로"),
        ("버스", "가 는 를 와 로"),
        ("마리", "가 는 를 와 로"),
        ("권", "이 은 을 과 으로"),
        ("닭", "이 은 을 과 으로"),
    ],
)
def test_particles_follow_the_last_sound(word, expected):
    assert [particle(word, role) for role in ("subject", "topic", "object", "and", "by")] == expected.split()


@given(st.characters(min_codepoint=ord("가"), max_codepoint=ord("힣")))
def test_unicode_takes_syllables_apart_in_the_same_way(one):
    parts = letters(one)
    assert syllable(*parts) == one
    assert len(unicodedata.normalize("NFD", one)) == 2 + bool(parts.final)
    assert unicodedata.normalize("NFC", unicodedata.normalize("NFD", with_final(one, "")) + "ᆫ") == with_final(one, "ㄴ")


@pytest.mark.parametrize("other", ["a", "ㄱ", "ㅏ", "漢", "ᄀ"])
def test_what_is_no_syllable_of_hangul(other):
    with pytest.raises(ValueError, match=f"'{other}' is not a syllable of Hangul, 가 to 힣"):
        letters(other)
