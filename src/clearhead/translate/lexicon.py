"""The words of the grammar in both languages, and which of them go together, so that nobody eats a school.

Nouns have kinds ("person", "food"). A verb says whom it takes as subject and what as object, an adjective which nouns
it suits: in kinds, or in single nouns where a kind would be too wide. All are common words that a beginner knows.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from clearhead.translate.korean import Stem


class Noun(NamedTuple):
    """A noun in both languages.

    `counter` is what Korean counts it with, empty where it is not counted; `measure` is what English counts it with,
    cups of coffee, empty where it counts the thing itself. `plural` is only given where a rule would get it wrong.
    `article` is empty where English has none: math. A pronoun has an `oblique` form for all but the subject: me.
    """

    korean: str
    english: str
    kinds: str
    counter: str = ""
    plural: str = ""
    measure: str = ""
    article: str = "the"
    oblique: str = ""


class Verb(NamedTuple):
    """A verb, and what it goes with.

    `takes` has pairs of subjects and objects, empty where it has no object. `shape` says what else belongs to it:
    "to" a place one goes to, "give" someone who gets the object, "in" a place that has to be there. `past` is only
    given where a rule would get it wrong. `lasting` ones happen at no particular time, and 안 does not stand before
    those that are a noun with 하다 (`nominal`).
    """

    stem: Stem
    english: str
    past: str
    takes: tuple[tuple[str, str], ...]
    places: str = ""
    means: str = ""
    shape: str = ""
    lasting: bool = False
    nominal: bool = False


class Adjective(NamedTuple):
    """An adjective, the nouns it suits, and whether it can be said of them in a sentence of its own."""

    stem: Stem
    english: str
    nouns: str
    predicate: bool = True


class Place(NamedTuple):
    """Where something happens, with the English words before it: in the park, to the park."""

    korean: str
    english: str
    at: str
    to: str


class Time(NamedTuple):
    """When something happens: the noun, its particle, the English words before it, and the tenses it goes with."""

    korean: str
    particle: str
    english: str
    before: str
    tenses: str


class Means(NamedTuple):
    """What something is done with: by bus, with a pencil."""

    korean: str
    english: str
    before: str


NUMBERS = {
    "한": "one",
    "두": "two",
    "세": "three",
    "네": "four",
    "다섯": "five",
    "여섯": "six",
    "일곱": "seven",
    "여덟": "eight",
    "아홉": "nine",
    "열": "ten",
}

NOUNS = (
    Noun("학생", "student", "person", "명"),
    Noun("선생님", "teacher", "person grown", "분"),
    Noun("친구", "friend", "person", "명"),
    Noun("아이", "child", "person young", "명", plural="children"),
    Noun("소녀", "girl", "person young", "명"),
    Noun("소년", "boy", "person young", "명"),
    Noun("의사", "doctor", "person grown", "명"),
    Noun("여자", "woman", "person grown", "명", plural="women"),
    Noun("남자", "man", "person grown", "명", plural="men"),
    Noun("가수", "singer", "person grown", "명"),
    Noun("농부", "farmer", "person grown", "명"),
    Noun("화가", "painter", "person grown", "명"),
    Noun("기자", "reporter", "person grown", "명"),
    Noun("왕", "king", "person grown", "명"),
    Noun("나", "I", "person", article="", oblique="me"),
    Noun("우리", "we", "person several", article="", oblique="us"),
    Noun("그", "he", "person", article="", oblique="him"),
    Noun("그녀", "she", "person", article="", oblique="her"),
    Noun("그들", "they", "person several", article="", oblique="them"),
    Noun("아기", "baby", "baby", "명"),
    Noun("고양이", "cat", "animal pet hunter", "마리"),
    Noun("개", "dog", "animal pet hunter", "마리"),
    Noun("강아지", "puppy", "animal pet", "마리"),
    Noun("호랑이", "tiger", "animal hunter", "마리"),
    Noun("곰", "bear", "animal hunter", "마리"),
    Noun("원숭이", "monkey", "animal", "마리"),
    Noun("쥐", "mouse", "animal prey", "마리", plural="mice"),
    Noun("토끼", "rabbit", "animal pet prey", "마리"),
    Noun("새", "bird", "animal prey", "마리"),
    Noun("닭", "chicken", "animal farm prey", "마리"),
    Noun("말", "horse", "animal farm", "마리"),
    Noun("소", "cow", "animal farm", "마리"),
    Noun("돼지", "pig", "animal farm", "마리"),
    Noun("물고기", "fish", "prey", "마리", plural="fish"),
    Noun("나비", "butterfly", "prey", "마리"),
    Noun("사과", "apple", "food fruit", "개"),
    Noun("바나나", "banana", "food fruit", "개"),
    Noun("수박", "watermelon", "food fruit", "개"),
    Noun("당근", "carrot", "food raw", "개"),
    Noun("감자", "potato", "food raw", "개"),
    Noun("달걀", "egg", "food raw", "개"),
    Noun("고기", "meat", "food raw"),
    Noun("생선", "fish", "food raw"),
    Noun("케이크", "cake", "food baked", "개"),
    Noun("빵", "bread", "food baked"),
    Noun("밥", "rice", "food"),
    Noun("김치", "kimchi", "food"),
    Noun("물", "water", "drink", "잔", measure="glass"),
    Noun("우유", "milk", "drink", "잔", measure="glass"),
    Noun("주스", "juice", "drink", "잔", measure="glass"),
    Noun("커피", "coffee", "drink", "잔", measure="cup"),
    Noun("녹차", "green tea", "drink", "잔", measure="cup"),
    Noun("책", "book", "text goods", "권"),
    Noun("소설", "novel", "text goods", "권"),
    Noun("신문", "newspaper", "text"),
    Noun("편지", "letter", "text", "통"),
    Noun("시", "poem", "text", "편"),
    Noun("이야기", "story", "text"),
    Noun("영화", "movie", "art", "편"),
    Noun("그림", "picture", "art goods", "장"),
    Noun("사진", "photo", "art", "장", plural="photos"),
    Noun("노래", "song", "sound", "곡"),
    Noun("음악", "music", "sound", article=""),
    Noun("공", "ball", "goods small", "개"),
    Noun("가방", "bag", "goods", "개"),
    Noun("모자", "hat", "goods small", "개"),
    Noun("우산", "umbrella", "goods small", "개"),
    Noun("시계", "watch", "goods small", "개"),
    Noun("인형", "doll", "goods small", "개"),
    Noun("연필", "pencil", "goods small", "자루"),
    Noun("컵", "cup", "goods dish", "개"),
    Noun("접시", "plate", "goods dish", "개"),
    Noun("의자", "chair", "goods furniture", "개"),
    Noun("상자", "box", "goods furniture", "개"),
    Noun("자전거", "bicycle", "goods machine", "대"),
    Noun("자동차", "car", "goods machine", "대"),
    Noun("컴퓨터", "computer", "goods machine electric", "대"),
    Noun("카메라", "camera", "goods machine", "대"),
    Noun("텔레비전", "television", "goods machine electric", "대"),
    Noun("셔츠", "shirt", "goods clothes", "벌"),
    Noun("치마", "skirt", "goods clothes", "벌"),
    Noun("코트", "coat", "goods clothes", "벌"),
    Noun("종이", "paper", "sheet", "장", measure="sheet"),
    Noun("꽃", "flower", "plant", "송이"),
    Noun("나무", "tree", "plant", "그루"),
    Noun("돌", "stone", "stone", "개"),
    Noun("문", "door", "opening", "개"),
    Noun("창문", "window", "opening", "개"),
    Noun("집", "house", "room", "채"),
    Noun("방", "room", "room", "개"),
    Noun("교실", "classroom", "room"),
    Noun("부엌", "kitchen", "room"),
    Noun("수학", "math", "study", article=""),
    Noun("과학", "science", "study", article=""),
    Noun("역사", "history", "study", article=""),
    Noun("영어", "English", "study", article=""),
    Noun("한국어", "Korean", "study", article=""),
)

PLACES = (
    Place("학교", "school", "at", "to"),
    Place("집", "home", "at", ""),
    Place("공원", "park", "in the", "to the"),
    Place("도서관", "library", "in the", "to the"),
    Place("교실", "classroom", "in the", "to the"),
    Place("부엌", "kitchen", "in the", "to the"),
    Place("정원", "garden", "in the", "to the"),
    Place("마을", "village", "in the", "to the"),
    Place("시장", "market", "at the", "to the"),
    Place("병원", "hospital", "at the", "to the"),
    Place("식당", "restaurant", "at the", "to the"),
    Place("카페", "cafe", "at the", "to the"),
    Place("가게", "store", "at the", "to the"),
    Place("산", "mountain", "on the", "to the"),
    Place("강", "river", "in the", "to the"),
    Place("바다", "sea", "in the", "to the"),
    Place("서울", "Seoul", "in", "to"),
    Place("한국", "Korea", "in", "to"),
)

TIMES = (
    Time("어제", "", "yesterday", "", "past"),
    Time("지난주", "에", "last week", "", "past"),
    Time("작년", "에", "last year", "", "past"),
    Time("오늘", "", "today", "", "past future"),
    Time("내일", "", "tomorrow", "", "future"),
    Time("다음 주", "에", "next week", "", "future"),
    Time("매일", "", "every day", "", "past present"),
    Time("아침", "에", "morning", "in the", "past present future"),
    Time("저녁", "에", "evening", "in the", "past present future"),
    Time("밤", "에", "night", "at", "past present future"),
)

MEANS = (
    Means("버스", "bus", "by"),
    Means("기차", "train", "by"),
    Means("지하철", "subway", "by"),
    Means("자전거", "bicycle", "by"),
    Means("트럭", "truck", "by"),
    Means("연필", "pencil", "with a"),
    Means("펜", "pen", "with a"),
    Means("칼", "knife", "with a"),
)

RIDES = "버스 기차 지하철 자전거 트럭"
OUTSIDE = "공원 정원 마을"
LIVING = "person baby animal"

VERBS = (
    Verb(Stem("잡"), "catch", "caught", (("hunter", "prey"), ("person", "prey")), OUTSIDE),
    Verb(Stem("쫓"), "chase", "", (("hunter", "쥐 새 닭 토끼 나비"), ("young", "pet 새 닭 나비")), OUTSIDE),
    Verb(
        Stem("먹"),
        "eat",
        "ate",
        (("person", "food"), ("animal", "fruit 당근 감자 고기 생선")),
        "집 공원 정원",
    ),
    Verb(Stem("마시"), "drink", "drank", (("person", "drink"), ("baby pet", "물 우유")), "집 공원 정원"),
    Verb(Stem("읽"), "read", "read", (("person", "text"),), "집 도서관 학교 교실 카페 공원"),
    Verb(Stem("쓰"), "write", "wrote", (("person", "책 소설 편지 시 이야기"),), "집 도서관 학교 교실 카페", "연필 펜"),
    Verb(Stem("그리"), "draw", "drew", (("person", "그림 animal plant 집"),), "집 학교 교실 공원 정원", "연필 펜"),
    Verb(Stem("보"), "see", "saw", ((LIVING, "person animal prey"), ("person", "art plant")), OUTSIDE),
    Verb(Stem("만나"), "meet", "met", (("person", "person"),), "학교 공원 도서관 시장 병원 식당 카페 서울"),
    Verb(Stem("기다리"), "wait for", "", (("person", "person"),), "집 학교 공원 도서관 병원 식당 카페"),
    Verb(Stem("돕", "ㅂ"), "help", "", (("person", "person"),), "집 학교 시장 병원 가게"),
    Verb(Stem("좋아하"), "like", "", (("person", "person animal food drink text sound"),), lasting=True),
    Verb(Stem("사랑하"), "love", "", (("person", "person baby pet sound"),), lasting=True, nominal=True),
    Verb(Stem("키우"), "raise", "", (("person", "pet farm"),), "집 마을", lasting=True),
    Verb(Stem("사"), "buy", "bought", (("person", "goods food drink 신문 꽃"),), "시장 가게 서울 한국"),
    Verb(Stem("팔"), "sell", "sold", (("grown", "goods food drink 신문 꽃"),), "시장 가게 서울 한국"),
    Verb(Stem("고르", "르"), "choose", "chose", (("person", "goods fruit 케이크 꽃"),), "시장 가게"),
    Verb(Stem("빌리"), "borrow", "", (("person", "책 소설 우산 자전거 자동차 카메라 컴퓨터 의자"),)),
    Verb(Stem("잃어버리"), "lose", "lost", (("person", "small 가방 카메라 사진 편지"),), "학교 공원 도서관 시장"),
    Verb(Stem("줍", "ㅂ"), "pick up", "", (("person", "small 돌 종이 사진"),), "학교 교실 공원 정원"),
    Verb(Stem("버리"), "throw away", "threw away", (("person", "small 종이 신문 상자 편지 셔츠"),), "집 학교"),
    Verb(Stem("던지"), "throw", "threw", (("person", "공 돌 모자 인형"),), OUTSIDE),
    Verb(Stem("차"), "kick", "", (("person", "공 돌 문"),), OUTSIDE),
    Verb(Stem("만들"), "make", "made", (("person", "baked 김치 주스 커피 인형 의자 상자 가방 영화"),), "집 학교"),
    Verb(Stem("굽", "ㅂ"), "bake", "", (("person", "baked 감자"),), "집 부엌 식당"),
    Verb(Stem("요리하"), "cook", "", (("person", "raw"),), "집 부엌 식당", nominal=True),
    Verb(Stem("자르", "르"), "cut", "cut", (("person", "baked raw 수박 사과 종이"),), "집 부엌 식당", "칼"),
    Verb(Stem("씻"), "wash", "", (("person", "dish fruit 당근 감자"),), "집 부엌 식당"),
    Verb(Stem("청소하"), "clean", "", (("person", "room"),), nominal=True),
    Verb(Stem("짓", "ㅅ"), "build", "built", (("grown", "집"),), "마을 산 서울"),
    Verb(Stem("열"), "open", "", (("person", "opening 가방 상자"),)),
    Verb(Stem("닫"), "close", "", (("person", "opening 가방 상자"),)),
    Verb(Stem("켜"), "turn on", "", (("person", "electric"),), "집 교실"),
    Verb(Stem("끄"), "turn off", "", (("person", "electric"),), "집 교실"),
    Verb(Stem("옮기"), "move", "", (("person", "furniture electric 나무 돌"),)),
    Verb(Stem("입"), "wear", "wore", (("person", "clothes"),), "집 학교"),
    Verb(Stem("타"), "ride", "rode", (("person", "자전거 말"),), OUTSIDE),
    Verb(Stem("듣", "ㄷ"), "listen to", "", (("person", "sound 이야기"),), "집 학교 카페 공원"),
    Verb(Stem("부르", "르"), "sing", "sang", (("person", "노래"),), "집 학교 교실 공원"),
    Verb(Stem("공부하"), "study", "", (("person", "study"),), "집 학교 도서관 교실 카페", nominal=True),
    Verb(Stem("배우"), "learn", "", (("person", "study 노래"),), "집 학교 교실 한국"),
    Verb(Stem("가르치"), "teach", "taught", (("grown", "study"),), "학교 교실 서울 한국"),
    Verb(Stem("주"), "give", "gave", (("person", "goods food drink 꽃 편지"),), shape="give"),
    Verb(Stem("보내"), "send", "sent", (("person", "goods 편지 사진 꽃"),), shape="give"),
    Verb(Stem("보여주"), "show", "", (("person", "art goods 편지 시"),), shape="give"),
    Verb(Stem("자"), "sleep", "slept", ((LIVING, ""),), "집 공원 정원"),
    Verb(Stem("쉬"), "rest", "", ((LIVING, ""),), "집 공원 정원"),
    Verb(Stem("웃"), "laugh", "", (("person baby", ""),), "집 학교 교실 공원"),
    Verb(Stem("울"), "cry", "", (("person baby", ""),), "집 학교 교실 공원 병원"),
    Verb(Stem("뛰"), "run", "ran", (("person animal", ""),), "공원 정원 마을 산"),
    Verb(Stem("걷", "ㄷ"), "walk", "", (("person animal", ""),), "공원 정원 마을 산"),
    Verb(Stem("놀"), "play", "", (("young pet baby 학생 친구", ""),), "집 공원 정원"),
    Verb(Stem("일하"), "work", "", (("grown", ""),), "집 시장 병원 식당 가게 서울 한국", nominal=True),
    Verb(Stem("춤추"), "dance", "", (("person", ""),), "집 학교 공원"),
    Verb(Stem("수영하"), "swim", "swam", (("person 개 곰", ""),), "강 바다", nominal=True),
    Verb(Stem("살"), "live", "", (("person animal", ""),), "마을 산", shape="in", lasting=True),
    Verb(
        Stem("가"),
        "go",
        "went",
        (("person", ""),),
        "학교 집 공원 도서관 시장 병원 식당 카페 가게 산 강 바다 마을 서울 한국",
        RIDES,
        "to",
    ),
    Verb(
        Stem("오"),
        "come",
        "came",
        (("person", ""),),
        "학교 집 공원 도서관 시장 병원 식당 카페 가게 마을 서울 한국",
        RIDES,
        "to",
    ),
    Verb(Stem("돌아오"), "come back", "came back", (("person", ""),), "학교 집 마을 서울 한국", RIDES, "to"),
)

COLOURED = "small clothes 가방 의자 상자 컵 접시 자전거 자동차 꽃 문"

ADJECTIVES = (
    Adjective(Stem("크"), "big", "animal prey goods plant room opening 돌 fruit 감자 케이크"),
    Adjective(Stem("작"), "small", "animal prey goods plant room opening 돌 fruit 감자 케이크"),
    Adjective(Stem("예쁘"), "pretty", "clothes small 꽃 새 나비 소녀 여자 그림 컵 접시"),
    Adjective(Stem("귀엽", "ㅂ"), "cute", "pet baby young 새 원숭이 돼지 인형"),
    Adjective(Stem("친절하"), "kind", "person"),
    Adjective(Stem("똑똑하"), "smart", "person 개 강아지 원숭이 말"),
    Adjective(Stem("젊"), "young", "grown"),
    Adjective(Stem("늙"), "old", "animal 농부 왕 의사 화가 가수", predicate=False),
    Adjective(Stem("오래되"), "old", "machine furniture 책 소설 시계 가방 우산 코트 집 노래 영화", predicate=False),
    Adjective(Stem("배고프"), "hungry", "person animal baby"),
    Adjective(Stem("행복하"), "happy", "person baby"),
    Adjective(Stem("슬프"), "sad", "person 노래 영화 이야기 소설 시"),
    Adjective(Stem("재미있"), "interesting", "책 소설 영화 이야기 신문 시"),
    Adjective(Stem("길"), "long", "편지 소설 시 이야기 영화 노래 치마 코트"),
    Adjective(Stem("차갑", "ㅂ"), "cold", "drink"),
    Adjective(Stem("뜨겁", "ㅂ"), "hot", "물 우유 커피 녹차 감자"),
    Adjective(Stem("맛있"), "delicious", "food drink"),
    Adjective(Stem("무겁", "ㅂ"), "heavy", "furniture electric 책 가방 돌 코트 자전거"),
    Adjective(Stem("가볍", "ㅂ"), "light", "furniture 책 가방 컵 접시 우산 자전거 카메라 컴퓨터"),
    Adjective(Stem("비싸"), "expensive", "goods 고기 생선 커피 수박"),
    Adjective(Stem("싸"), "cheap", "goods fruit 감자 당근 빵 우유"),
    Adjective(Stem("빨갛", "ㅎ"), "red", COLOURED),
    Adjective(Stem("하얗", "ㅎ"), "white", f"{COLOURED} pet 말 닭 새 쥐"),
    Adjective(Stem("까맣", "ㅎ"), "black", f"{COLOURED} pet 말 닭 새 쥐 곰"),
)


@functools.cache
def nouns(description: str) -> tuple[Noun, ...]:
    """The nouns that are one of these kinds, or named here: "pet 새" are all pets and the bird."""
    wanted = set(description.split())
    known = {noun.korean for noun in NOUNS}.union(*(noun.kinds.split() for noun in NOUNS))
    if not wanted <= known:
        raise ValueError(f"no noun is, or is a kind of, {', '.join(sorted(wanted - known))}")
    return tuple(noun for noun in NOUNS if wanted & {noun.korean, *noun.kinds.split()})
