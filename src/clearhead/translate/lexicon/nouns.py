"""People, animals and things.

Nouns have kinds, "person" or "food", by which verbs and adjectives say what they go with, so that nobody eats a school.
"""

from __future__ import annotations

import functools

from clearhead.translate.lexicon.adjuncts import PLACES
from clearhead.translate.lexicon.entries import Noun

PRONOUNS = (
    Noun("나", "I", "person", article="", oblique="me", possessive="my"),
    Noun("저", "I", "person humble", article="", oblique="me", possessive="my"),
    Noun("우리", "we", "person several", article="", oblique="us", possessive="our"),
    Noun("저희", "we", "person several humble", article="", oblique="us", possessive="our"),
    Noun("너", "you", "person", article="", oblique="you", possessive="your"),
    Noun("당신", "you", "person", article="", oblique="you", possessive="your"),
    Noun("그", "he", "person", article="", oblique="him", possessive="his"),
    Noun("그녀", "she", "person", article="", oblique="her", possessive="her"),
    Noun("그들", "they", "person several", article="", oblique="them", possessive="their"),
    Noun("이것", "this", "pointed", article="", oblique="this"),
    Noun("그것", "that", "pointed", article="", oblique="that"),
    Noun("저것", "that", "pointed", article="", oblique="that"),
)

PEOPLE = (
    Noun("사람", "person", "person grown", "명", plural="people"),
    Noun("학생", "student", "person role", "명"),
    Noun("대학생", "college student", "person role", "명"),
    Noun("선생님", "teacher", "person grown role", "분", honoured=True),
    Noun("친구", "friend", "person role", "명", article="a"),
    Noun("아이", "child", "person young", "명", plural="children"),
    Noun("소녀", "girl", "person young", "명"),
    Noun("소년", "boy", "person young", "명"),
    Noun("의사", "doctor", "person grown role", "명"),
    Noun("간호사", "nurse", "person grown role", "명"),
    Noun("경찰", "police officer", "person grown role", "명"),
    Noun("요리사", "chef", "person grown role", "명"),
    Noun("회사원", "office worker", "person grown role", "명"),
    Noun("사장님", "boss", "person grown role", "분", honoured=True),
    Noun("여자", "woman", "person grown", "명", plural="women"),
    Noun("남자", "man", "person grown", "명", plural="men"),
    Noun("가수", "singer", "person grown role", "명"),
    Noun("농부", "farmer", "person grown role", "명"),
    Noun("화가", "painter", "person grown role", "명"),
    Noun("기자", "reporter", "person grown role", "명"),
    Noun("왕", "king", "person grown role", "명"),
    Noun("손님", "guest", "person grown", "명"),
    Noun("이웃", "neighbor", "person grown", "명"),
    Noun("아기", "baby", "baby", "명"),
)

FAMILY = (
    Noun("엄마", "Mom", "person grown kin", article=""),
    Noun("아빠", "Dad", "person grown kin", article=""),
    Noun("어머니", "mother", "person grown kin", article="my", honoured=True),
    Noun("아버지", "father", "person grown kin", article="my", honoured=True),
    Noun("할머니", "grandmother", "person grown kin", article="my", honoured=True),
    Noun("할아버지", "grandfather", "person grown kin", article="my", honoured=True),
    Noun("부모님", "parents", "person grown kin several", article="my", honoured=True),
    Noun("형", "older brother", "person kin", "명", article="my"),
    Noun("오빠", "older brother", "person kin", "명", article="my"),
    Noun("누나", "older sister", "person kin", "명", article="my"),
    Noun("언니", "older sister", "person kin", "명", article="my"),
    Noun("동생", "younger sibling", "person kin", "명", article="my"),
    Noun("여동생", "younger sister", "person kin", "명", article="my"),
    Noun("남동생", "younger brother", "person kin", "명", article="my"),
    Noun("남편", "husband", "person grown kin", article="my"),
    Noun("아내", "wife", "person grown kin", article="my"),
    Noun("아들", "son", "person kin", "명", article="my"),
    Noun("딸", "daughter", "person kin", "명", article="my"),
    Noun("가족", "family", "person kin", article="my"),
    Noun("민수", "Minsu", "person name", article=""),
    Noun("철수", "Cheolsu", "person name", article=""),
    Noun("영희", "Younghee", "person name", article=""),
    Noun("수진", "Sujin", "person name", article=""),
)

ANIMALS = (
    Noun("고양이", "cat", "animal pet hunter", "마리"),
    Noun("개", "dog", "animal pet hunter", "마리"),
    Noun("강아지", "puppy", "animal pet", "마리"),
    Noun("호랑이", "tiger", "animal hunter wild", "마리"),
    Noun("사자", "lion", "animal hunter wild", "마리"),
    Noun("곰", "bear", "animal hunter wild", "마리"),
    Noun("여우", "fox", "animal hunter wild", "마리"),
    Noun("코끼리", "elephant", "animal wild", "마리"),
    Noun("원숭이", "monkey", "animal wild", "마리"),
    Noun("쥐", "mouse", "animal prey", "마리", plural="mice"),
    Noun("토끼", "rabbit", "animal pet prey", "마리"),
    Noun("새", "bird", "animal prey", "마리"),
    Noun("닭", "chicken", "animal farm prey", "마리"),
    Noun("말", "horse", "animal farm", "마리"),
    Noun("소", "cow", "animal farm", "마리"),
    Noun("돼지", "pig", "animal farm", "마리"),
    Noun("동물", "animal", "animal", "마리"),
    Noun("물고기", "fish", "prey", "마리", plural="fish"),
    Noun("나비", "butterfly", "prey", "마리"),
)

EATEN = (
    Noun("사과", "apple", "food fruit", "개"),
    Noun("바나나", "banana", "food fruit", "개"),
    Noun("수박", "watermelon", "food fruit", "개"),
    Noun("딸기", "strawberry", "food fruit", "개"),
    Noun("과일", "fruit", "food", article="mass"),
    Noun("당근", "carrot", "food raw", "개"),
    Noun("감자", "potato", "food raw", "개"),
    Noun("달걀", "egg", "food raw", "개"),
    Noun("고기", "meat", "food raw", article="mass"),
    Noun("생선", "fish", "food raw", article="mass"),
    Noun("채소", "vegetables", "food raw several", article="mass"),
    Noun("케이크", "cake", "food baked", "개"),
    Noun("피자", "pizza", "food baked", article="mass"),
    Noun("빵", "bread", "food baked", article="mass"),
    Noun("밥", "rice", "food", article="mass"),
    Noun("국", "soup", "food", article="mass"),
    Noun("라면", "ramen", "food", article="mass"),
    Noun("김치", "kimchi", "food", article="mass"),
    Noun("음식", "food", "food", article="mass"),
    Noun("아이스크림", "ice cream", "food", article="mass"),
    Noun("초콜릿", "chocolate", "food", article="mass"),
    Noun("설탕", "sugar", "food", article="mass"),
    Noun("소금", "salt", "food", article="mass"),
    Noun("아침", "breakfast", "meal", article=""),
    Noun("점심", "lunch", "meal", article=""),
    Noun("저녁", "dinner", "meal", article=""),
    Noun("물", "water", "drink", "잔", measure="glass", article="mass"),
    Noun("우유", "milk", "drink", "잔", measure="glass", article="mass"),
    Noun("주스", "juice", "drink", "잔", measure="glass", article="mass"),
    Noun("맥주", "beer", "drink", "잔", measure="glass", article="mass"),
    Noun("커피", "coffee", "drink", "잔", measure="cup", article="mass"),
    Noun("녹차", "green tea", "drink", "잔", measure="cup", article="mass"),
    Noun("차", "tea", "tea", "잔", measure="cup", article="mass"),
)

READ_AND_HEARD = (
    Noun("책", "book", "text goods", "권"),
    Noun("소설", "novel", "text goods", "권"),
    Noun("잡지", "magazine", "text goods", "권"),
    Noun("신문", "newspaper", "text"),
    Noun("편지", "letter", "text sent", "통", article="a"),
    Noun("이메일", "email", "text sent", "통", article="a"),
    Noun("시", "poem", "text", "편"),
    Noun("이야기", "story", "text"),
    Noun("영화", "movie", "art", "편"),
    Noun("드라마", "drama", "art", "편"),
    Noun("그림", "picture", "art goods", "장"),
    Noun("사진", "photo", "art", "장", plural="photos"),
    Noun("노래", "song", "sound", "곡"),
    Noun("음악", "music", "sound", article=""),
    Noun("피아노", "piano", "instrument"),
    Noun("기타", "guitar", "instrument"),
    Noun("질문", "question", "thought", "개"),
    Noun("답", "answer", "thought"),
    Noun("문제", "problem", "thought", "개"),
    Noun("이름", "name", "thought", article="my"),
    Noun("수학", "math", "study", article=""),
    Noun("과학", "science", "study", article=""),
    Noun("역사", "history", "study", article=""),
    Noun("영어", "English", "study", article=""),
    Noun("한국어", "Korean", "study", article=""),
    Noun("일본어", "Japanese", "study", article=""),
    Noun("숙제", "homework", "task", article="mass"),
    Noun("일", "work", "task", article="mass"),
    Noun("수업", "class", "event"),
    Noun("시험", "exam", "event", "개"),
    Noun("회의", "meeting", "event"),
    Noun("여행", "trip", "event"),
    Noun("파티", "party", "event"),
    Noun("약속", "appointment", "event"),
    Noun("수영", "swimming", "hobby", article=""),
    Noun("요리", "cooking", "hobby", article=""),
    Noun("운동", "exercise", "hobby", article=""),
    Noun("쇼핑", "shopping", "hobby", article=""),
    Noun("축구", "soccer", "game", article=""),
    Noun("야구", "baseball", "game", article=""),
    Noun("농구", "basketball", "game", article=""),
    Noun("게임", "games", "game several", article=""),
    Noun("시간", "time", "need", article="mass"),
    Noun("돈", "money", "need", article="mass"),
)

THINGS = (
    Noun("공", "ball", "goods small", "개"),
    Noun("가방", "bag", "goods", "개"),
    Noun("모자", "hat", "goods small worn", "개"),
    Noun("안경", "glasses", "small worn several", article="the"),
    Noun("우산", "umbrella", "goods small", "개"),
    Noun("시계", "watch", "goods small", "개"),
    Noun("인형", "doll", "goods small", "개"),
    Noun("연필", "pencil", "goods small", "자루"),
    Noun("지갑", "wallet", "goods small", "개"),
    Noun("열쇠", "key", "small", "개"),
    Noun("선물", "gift", "goods", "개", article="a"),
    Noun("표", "ticket", "goods", "장"),
    Noun("약", "medicine", "need", article="mass"),
    Noun("컵", "cup", "goods dish", "개"),
    Noun("접시", "plate", "goods dish", "개"),
    Noun("의자", "chair", "goods furniture", "개"),
    Noun("책상", "desk", "goods furniture surface", "개"),
    Noun("침대", "bed", "goods furniture surface", "개"),
    Noun("상자", "box", "goods furniture", "개"),
    Noun("자전거", "bicycle", "goods machine", "대"),
    Noun("자동차", "car", "goods machine motor", "대"),
    Noun("차", "car", "goods machine motor", "대"),
    Noun("버스", "bus", "ride", "대"),
    Noun("기차", "train", "ride", "대"),
    Noun("지하철", "subway", "ride"),
    Noun("택시", "taxi", "ride motor", "대"),
    Noun("비행기", "airplane", "ride", "대"),
    Noun("컴퓨터", "computer", "goods machine electric", "대"),
    Noun("휴대폰", "cell phone", "goods machine electric", "대"),
    Noun("카메라", "camera", "goods machine", "대"),
    Noun("텔레비전", "television", "goods machine electric", "대"),
    Noun("냉장고", "refrigerator", "goods machine", "대"),
    Noun("옷", "clothes", "goods clothes several"),
    Noun("바지", "pants", "goods clothes several"),
    Noun("셔츠", "shirt", "goods clothes", "벌"),
    Noun("치마", "skirt", "goods clothes", "벌"),
    Noun("코트", "coat", "goods clothes", "벌"),
    Noun("신발", "shoes", "goods footwear several"),
    Noun("양말", "socks", "goods footwear several"),
    Noun("종이", "paper", "sheet", "장", measure="sheet", article="mass"),
)

NATURE = (
    Noun("꽃", "flower", "plant", "송이"),
    Noun("장미", "rose", "plant", "송이"),
    Noun("나무", "tree", "plant", "그루"),
    Noun("돌", "stone", "stone", "개"),
    Noun("비", "rain", "weather", article="mass"),
    Noun("눈", "snow", "weather", article="mass"),
    Noun("바람", "wind", "air"),
    Noun("날씨", "weather", "climate"),
    Noun("봄", "spring", "season", article=""),
    Noun("여름", "summer", "season", article=""),
    Noun("가을", "fall", "season", article=""),
    Noun("겨울", "winter", "season", article=""),
    Noun("월요일", "Monday", "day", article=""),
    Noun("화요일", "Tuesday", "day", article=""),
    Noun("수요일", "Wednesday", "day", article=""),
    Noun("목요일", "Thursday", "day", article=""),
    Noun("금요일", "Friday", "day", article=""),
    Noun("토요일", "Saturday", "day", article=""),
    Noun("일요일", "Sunday", "day", article=""),
    Noun("어제", "yesterday", "dated", article=""),
    Noun("오늘", "today", "dated", article=""),
    Noun("내일", "tomorrow", "dated", article=""),
    Noun("하늘", "sky", "sky"),
    Noun("달", "moon", "sky"),
    Noun("별", "star", "sky", "개"),
    Noun("구름", "cloud", "sky", "개"),
    Noun("산", "mountain", "land", "개"),
    Noun("강", "river", "land", "개"),
    Noun("바다", "sea", "land"),
    Noun("길", "road", "land"),
    Noun("문", "door", "opening", "개"),
    Noun("창문", "window", "opening", "개"),
    Noun("집", "house", "room", "채"),
    Noun("방", "room", "room", "개"),
    Noun("교실", "classroom", "room"),
    Noun("부엌", "kitchen", "room"),
    Noun("도시", "city", "town", "곳"),
    Noun("식당", "restaurant", "town shop", "곳"),
    Noun("가게", "store", "town shop", "곳"),
)

# Places are nouns too: the bank is big, but I went to the bank.
SITES = tuple(
    Noun(
        place.korean, place.english, "region" if place.at == "in" else "site", article="" if place.at == "in" else "the"
    )
    for place in PLACES
    if place.at and place.korean not in {noun.korean for noun in (*THINGS, *NATURE)}
)

NOUNS = (*PRONOUNS, *PEOPLE, *FAMILY, *ANIMALS, *EATEN, *READ_AND_HEARD, *THINGS, *NATURE, *SITES)


@functools.cache
def nouns(description: str) -> tuple[Noun, ...]:
    """The nouns that are one of these kinds, or named here: "pet 새 -개" are all pets but the dog, and the bird."""
    wanted = {word for word in description.split() if not word.startswith("-")}
    unwanted = {word[1:] for word in description.split() if word.startswith("-")}
    known = {noun.korean for noun in NOUNS}.union(*(noun.kinds.split() for noun in NOUNS))
    if not wanted | unwanted <= known:
        raise ValueError(f"no noun is, or is a kind of, {', '.join(sorted((wanted | unwanted) - known))}")
    named = [(noun, {noun.korean, *noun.kinds.split()}) for noun in NOUNS]
    return tuple(noun for noun, names in named if wanted & names and not unwanted & names)
