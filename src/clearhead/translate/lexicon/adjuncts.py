"""Where, when, how and with what something is done, and how many things there are."""

from __future__ import annotations

import functools

from clearhead.translate.lexicon.entries import Adverb, Means, Place, Time

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
HOURS = NUMBERS | {"열한": "eleven", "열두": "twelve"}

# What Korean counts with, and what is counted so.
COUNTERS = {
    "명": "people",
    "분": "people (with respect)",
    "마리": "animals",
    "개": "things",
    "권": "books",
    "통": "letters",
    "편": "movies, poems",
    "장": "pictures, tickets, sheets",
    "곡": "songs",
    "자루": "pencils",
    "대": "machines, vehicles",
    "벌": "clothes",
    "송이": "flowers",
    "그루": "trees",
    "채": "houses",
    "곳": "stores, restaurants, cities",
    "잔": "cups, glasses",
    "시": "o'clock",
}

PLACES = (
    Place("학교", "school", "at", "to", "any inside"),
    Place("집", "home", "at", "", "any inside home"),
    Place("회사", "office", "at the", "to the", "any inside"),
    Place("공원", "park", "in the", "to the", "any outside"),
    Place("도서관", "library", "in the", "to the", "any inside"),
    Place("교실", "classroom", "in the", "to the", "any inside"),
    Place("방", "room", "in the", "to the", "any inside home"),
    Place("부엌", "kitchen", "in the", "to the", "any inside home"),
    Place("화장실", "bathroom", "in the", "to the", "any inside home"),
    Place("정원", "garden", "in the", "to the", "any outside"),
    Place("거리", "street", "on the", "to the", "any outside"),
    Place("마을", "village", "in the", "to the", "any outside city"),
    Place("도시", "city", "in the", "to the", "any city"),
    Place("시골", "countryside", "in the", "to the", "any outside"),
    Place("시장", "market", "at the", "to the", "any shop"),
    Place("백화점", "department store", "at the", "to the", "any inside shop"),
    Place("가게", "store", "at the", "to the", "any inside shop"),
    Place("편의점", "convenience store", "at the", "to the", "any inside shop"),
    Place("식당", "restaurant", "at the", "to the", "any inside shop"),
    Place("카페", "cafe", "at the", "to the", "any inside shop"),
    Place("병원", "hospital", "at the", "to the", "any inside"),
    Place("약국", "pharmacy", "at the", "to the", "any inside shop"),
    Place("은행", "bank", "at the", "to the", "any inside"),
    Place("우체국", "post office", "at the", "to the", "any inside"),
    Place("극장", "theater", "at the", "to the", "any inside"),
    Place("호텔", "hotel", "at the", "to the", "any inside"),
    Place("공항", "airport", "at the", "to the", "any"),
    Place("역", "station", "at the", "to the", "any"),
    Place("교회", "church", "at", "to", "any inside"),
    Place("산", "mountain", "on the", "to the", "any outside"),
    Place("강", "river", "in the", "to the", "any water"),
    Place("바다", "sea", "in the", "to the", "any water"),
    Place("수영장", "swimming pool", "in the", "to the", "any water"),
    Place("서울", "Seoul", "in", "to", "any city"),
    Place("부산", "Busan", "in", "to", "any city"),
    Place("한국", "Korea", "in", "to", "any city"),
    Place("미국", "America", "in", "to", "any city"),
    Place("일본", "Japan", "in", "to", "any city"),
    Place("중국", "China", "in", "to", "any city"),
    Place("길", "road", "on the", "to the", "outside"),
    Place("하늘", "sky", "in the", "to the", "sky"),
    Place("냉장고", "refrigerator", "in the", "to the", "container"),
    Place("가방", "bag", "in the", "to the", "container"),
    Place("상자", "box", "in the", "to the", "container"),
    Place("책상", "desk", "on the", "to the", "container"),
    Place("침대", "bed", "on the", "to the", "container seat"),
    Place("의자", "chair", "on the", "to the", "container seat"),
    Place("나무", "tree", "in the", "to the", "perch"),
    Place("버스", "bus", "on the", "to the", "riding"),
    Place("기차", "train", "on the", "to the", "riding"),
    Place("지하철", "subway", "on the", "to the", "riding"),
    Place("비행기", "airplane", "on the", "to the", "riding"),
    Place("택시", "taxi", "in the", "to the", "riding"),
    Place("여기", "here", "", "", "any here"),
    Place("거기", "there", "", "", "any here"),
    Place("저기", "over there", "", "", "any here"),
)

# Beside what: 책상 위에 is on the desk.
POSITIONS = {
    "위": "on",
    "아래": "under",
    "밑": "under",
    "옆": "next to",
    "앞": "in front of",
    "뒤": "behind",
    "안": "in",
}

ALWAYS = "past present future"
TIMES = (
    Time("어제", "", "yesterday", "", "past"),
    Time("오늘", "", "today", "", "past present future"),
    Time("내일", "", "tomorrow", "", "future"),
    Time("지금", "", "now", "", "present"),
    Time("어젯밤", "에", "last night", "", "past"),
    Time("어제 아침", "에", "yesterday morning", "", "past"),
    Time("어제 오후", "에", "yesterday afternoon", "", "past"),
    Time("어제 저녁", "에", "yesterday evening", "", "past"),
    Time("오늘 아침", "에", "this morning", "", "past"),
    Time("오늘 오후", "에", "this afternoon", "", "past future"),
    Time("오늘 저녁", "에", "this evening", "", "future"),
    Time("오늘 밤", "에", "tonight", "", "future"),
    Time("내일 아침", "에", "tomorrow morning", "", "future"),
    Time("내일 오후", "에", "tomorrow afternoon", "", "future"),
    Time("내일 저녁", "에", "tomorrow evening", "", "future"),
    Time("지난주", "에", "last week", "", "past"),
    Time("이번 주", "에", "this week", "", "past future"),
    Time("다음 주", "에", "next week", "", "future"),
    Time("지난 주말", "에", "last weekend", "", "past"),
    Time("이번 주말", "에", "this weekend", "", "future"),
    Time("지난달", "에", "last month", "", "past"),
    Time("다음 달", "에", "next month", "", "future"),
    Time("작년", "에", "last year", "", "past"),
    Time("올해", "", "this year", "", "past future"),
    Time("내년", "에", "next year", "", "future"),
    Time("매일", "", "every day", "", "past present", True),
    Time("매일 아침", "", "every morning", "", "past present", True),
    Time("매일 저녁", "", "every evening", "", "past present", True),
    Time("매일 밤", "", "every night", "", "past present", True),
    Time("매주", "", "every week", "", "past present", True),
    Time("아침", "에", "morning", "in the", ALWAYS),
    Time("오전", "에", "morning", "in the", ALWAYS),
    Time("점심", "에", "lunch", "at", ALWAYS),
    Time("수업 시간", "에", "class", "during", ALWAYS),
    Time("오후", "에", "afternoon", "in the", ALWAYS),
    Time("저녁", "에", "evening", "in the", ALWAYS),
    Time("밤", "에", "night", "at", ALWAYS),
    Time("주말", "에", "weekend", "on the", ALWAYS),
    Time("월요일", "에", "Monday", "on", ALWAYS),
    Time("화요일", "에", "Tuesday", "on", ALWAYS),
    Time("수요일", "에", "Wednesday", "on", ALWAYS),
    Time("목요일", "에", "Thursday", "on", ALWAYS),
    Time("금요일", "에", "Friday", "on", ALWAYS),
    Time("토요일", "에", "Saturday", "on", ALWAYS),
    Time("일요일", "에", "Sunday", "on", ALWAYS),
    Time("봄", "에", "spring", "in", ALWAYS),
    Time("여름", "에", "summer", "in", ALWAYS),
    Time("가을", "에", "fall", "in", ALWAYS),
    Time("겨울", "에", "winter", "in", ALWAYS),
)

# A day and a part of it: 월요일 아침 is Monday morning.
PARTS_OF_DAYS = {"아침": "morning", "오후": "afternoon", "저녁": "evening", "밤": "night"}

# A week or a year and what of it: 다음 주 월요일 is next Monday, 작년 겨울 last winter.
DAYS = {"월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"}
SEASONS = {"봄", "여름", "가을", "겨울"}
WEEKS = {"지난주": ("last", "past"), "이번 주": ("this", "future"), "다음 주": ("next", "future")}
YEARS = {"작년": ("last", "past"), "지난": ("last", "past"), "올해": ("this", "past"), "내년": ("next", "future")}

ADVERBS = (
    Adverb("항상", "always", "middle", "verb adjective", True),
    Adverb("자주", "often", "middle", "verb", True),
    Adverb("보통", "usually", "middle", "verb", True),
    Adverb("가끔", "sometimes", "middle", "verb", True),
    Adverb("정말", "really", "middle", "verb adjective"),
    Adverb("아주", "very", "middle", "adjective"),
    Adverb("매우", "very", "middle", "adjective"),
    Adverb("너무", "too", "middle", "adjective"),
    Adverb("조금", "a little", "middle", "adjective"),
    Adverb("조금", "a little", "close"),
    Adverb("아주", "very much", "close", "liking"),
    Adverb("많이", "a lot", "close"),
    Adverb("많이", "very", "middle", "feeling"),
    Adverb("잘", "well", "close"),
    Adverb("빨리", "quickly", "close"),
    Adverb("천천히", "slowly", "close"),
    Adverb("열심히", "hard", "close"),
    Adverb("일찍", "early", "end"),
    Adverb("늦게", "late", "end"),
    Adverb("다시", "again", "end"),
    Adverb("혼자", "alone", "end"),
    Adverb("다", "all", "all", "all"),
    Adverb("모두", "all", "all", "all"),
    Adverb("같이", "together", "end"),
    Adverb("함께", "together", "end"),
)

MEANS = (
    Means("버스", "bus", "by"),
    Means("기차", "train", "by"),
    Means("지하철", "subway", "by"),
    Means("택시", "taxi", "by"),
    Means("비행기", "airplane", "by"),
    Means("자전거", "bicycle", "by"),
    Means("자동차", "car", "by"),
    Means("연필", "pencil", "with a"),
    Means("펜", "pen", "with a"),
    Means("칼", "knife", "with a"),
)


# Whom a sentence begins with, as its pieces, and yes and no.
CALLS = {
    ("엄마",): "Mom",
    ("아빠",): "Dad",
    ("선생님",): "teacher",
    ("민수", "야"): "Minsu",
    ("철수", "야"): "Cheolsu",
    ("영희", "야"): "Younghee",
    ("수진", "아"): "Sujin",
    ("네",): "yes",
    ("아니요",): "no",
}


@functools.cache
def places(description: str) -> tuple[Place, ...]:
    """The places that are one of these kinds, or named here."""
    wanted = set(description.split())
    known = {place.korean for place in PLACES}.union(*(place.kinds.split() for place in PLACES))
    if not wanted <= known:
        raise ValueError(f"no place is, or is a kind of, {', '.join(sorted(wanted - known))}")
    return tuple(place for place in PLACES if wanted & {place.korean, *place.kinds.split()})
