"""Sentences written by hand in both languages, as people who speak them would write them."""

from __future__ import annotations

import pytest

from clearhead.translate.grammar import said
from clearhead.translate.lexicon import ADJECTIVES, ADVERBS, MEANS, NOUNS, PLACES, TIMES, VERBS
from clearhead.translate.meaning import (
    ROLES,
    Asked,
    Being,
    Clause,
    Existing,
    NounPhrase,
    Position,
    Relative,
    Sentence,
    Site,
)
from clearhead.translate.parts import spelled
from clearhead.translate.to_english import in_english
from clearhead.translate.to_korean import in_korean

N = {noun.korean: noun for noun in reversed(NOUNS)}
A = {adjective.stem.text: adjective for adjective in ADJECTIVES}
V = {verb.english: verb for verb in reversed(VERBS)}
P, T, M, B = ({entry.korean: entry for entry in reversed(table)} for table in (PLACES, TIMES, MEANS, ADVERBS))
SNOW = next(verb for verb in VERBS if verb.english == "snow" and verb.stem.text == "오")
RAIN = next(verb for verb in VERBS if verb.english == "rain" and verb.stem.text == "오")
PLAY = next(verb for verb in VERBS if verb.stem.text == "놀")
GUITAR = next(verb for verb in VERBS if verb.stem.text == "치")
NEED = next(verb for verb in VERBS if verb.english == "need")
HAVE = next(verb for verb in VERBS if verb.english == "have" and not verb.negative)
HAVE_NOT = next(verb for verb in VERBS if verb.english == "have" and verb.negative)
OPENS = next(verb for verb in VERBS if verb.english == "open" and not verb.takes[0][1])
NOT_KNOW = next(verb for verb in VERBS if verb.negative and verb.english == "know")


def some(*names, **rest):
    """A noun phrase, an adjective first if there are two names."""
    return NounPhrase(N[names[-1]], A[names[0]] if len(names) > 1 else None, **rest)


def clause(who, predicate, *what, **rest):
    who = who if isinstance(who, list) else [who] if who else []
    predicate = V.get(predicate, A.get(predicate)) if isinstance(predicate, str) else predicate
    subjects = tuple(some(one) if isinstance(one, str) else one for one in who)
    objects = tuple(some(one) if isinstance(one, str) else one for one in what)
    if "first" in rest:
        first = rest.pop("first").split()
        rest["order"] = (*first, *(role for role in ROLES if role not in first))
    return Clause(predicate, subjects, objects, **rest)


PRESENT = {"tense": "present"}
POLITE = {"style": "polite"}
ASKED = {"mood": "question"}
ORDER = [
    (clause("고양이", "catch", "쥐"), "고양이가 쥐를 잡았다", "The cat caught the mouse"),
    (clause("고양이", "catch", "쥐", first="object"), "쥐를 고양이가 잡았다", "The cat caught the mouse"),
    (clause("아이", "eat", "빵", first="object"), "빵을 아이가 먹었다", "The child ate bread"),
    (
        clause("나", "give", "책", recipient=some("그"), first="recipient", topic="subject", full=True),
        "그에게 나는 책을 주었다",
        "I gave the book to him",
    ),
    (
        clause("학생", "read", "책", place=P["도서관"], time=T["어제"], first="place object time"),
        "도서관에서 책을 어제 학생이 읽었다",
        "The student read the book in the library yesterday",
    ),
    (
        clause("의사", "go", place=P["집"], means=M["지하철"], time=T["밤"], tense="future", full=True),
        "밤에 의사가 지하철로 집에 갈 것이다",
        "The doctor will go home by subway at night",
    ),
    (clause("나", "come", origin=P["부산"], topic="subject"), "나는 부산에서 왔다", "I came from Busan"),
    (
        clause("나", "meet", "선생님", companion=some("친구"), topic="subject", first="subject companion"),
        "나는 친구와 함께 선생님을 만났다",
        "I met the teacher with a friend",
    ),
]
TOPICS = [
    (clause(some("책", pointer="그"), "비싸", **PRESENT, topic="subject"), "그 책은 비싸다", "That book is expensive"),
    (clause("아이", "eat", "빵", topic="object", first="object"), "빵은 아이가 먹었다", "The child ate bread"),
    (
        clause("나", "go", place=P["학교"], time=T["어제"], topic="time"),
        "어제는 내가 학교에 갔다",
        "I went to school yesterday",
    ),
    (clause("", "meet", "친구", time=T["어제"], **POLITE), "어제 친구를 만났어요", "I met a friend yesterday"),
    (
        clause("나", "drink", "커피", time=T["매일 아침"], **PRESENT, topic="subject", first="subject"),
        "나는 매일 아침 커피를 마신다",
        "I drink coffee every morning",
    ),
    (clause("", "meet", "친구", **POLITE, **ASKED), "친구를 만났어요", "Did you meet a friend?"),
    (clause("", "비싸", **POLITE, **PRESENT), "비싸요", "It is expensive"),
    (clause("", "바쁘", **POLITE, **PRESENT), "바빠요", "I am busy"),
    (clause(some("나", focus="도"), "sleep"), "나도 잤다", "I slept too"),
    (clause(some("나", focus="도"), "sleep", denial="안"), "나도 안 잤다", "I did not sleep either"),
    (clause("나", "eat", some("빵", focus="만"), topic="subject"), "나는 빵만 먹었다", "I ate only bread"),
]
TENSES = [
    (clause("비", RAIN, **PRESENT), "비가 온다", "It is raining"),
    (clause("비", RAIN, **PRESENT, adverb=B["자주"], **POLITE), "비가 자주 와요", "It often rains"),
    (clause("비", RAIN, tense="will", style="formal"), "비가 오겠습니다", "It will rain"),
    (clause("나", "read", "책", time=T["지금"], **PRESENT), "지금 내가 책을 읽는다", "I am reading the book now"),
    (clause("아이", PLAY, modal="doing", **PRESENT, **POLITE), "아이가 놀고 있어요", "The child is playing"),
    (
        clause("저", "go", place=P["집"], modal="want", **PRESENT, **POLITE),
        "제가 집에 가고 싶어요",
        "I want to go home",
    ),
    (clause("나", "swim", modal="can", **PRESENT), "내가 수영할 수 있다", "I can swim"),
    (clause("나", "swim", modal="can", **PRESENT, denial="않다"), "내가 수영할 수 없다", "I cannot swim"),
    (clause("그", "work", modal="must"), "그가 일해야 했다", "He had to work"),
    (
        clause("", "go", place=P["학교"], time=T["내일"], **PRESENT, **POLITE),
        "내일 학교에 가요",
        "I will go to school tomorrow",
    ),
]
DENIED = [
    (clause("나", "eat", "김치", denial="안", **PRESENT), "내가 김치를 안 먹는다", "I do not eat kimchi"),
    (clause("나", "eat", "김치", denial="않다"), "내가 김치를 먹지 않았다", "I did not eat kimchi"),
    (clause("나", "go", denial="못", **POLITE), "내가 못 갔어요", "I could not go"),
    (clause("나", "go", denial="못하다", **PRESENT), "내가 가지 못한다", "I cannot go"),
    (clause("나", "study", denial="안", **PRESENT), "내가 공부 안 한다", "I do not study"),
    (clause("나", NOT_KNOW, "답", **PRESENT), "내가 답을 모른다", "I do not know the answer"),
    (clause("쥐", "작", denial="않다"), "쥐가 작지 않았다", "The mouse was not small"),
]
MOODS = [
    (clause("", "eat", "밥", **ASKED, style="formal"), "밥을 먹었습니까", "Did you eat rice?"),
    (clause("", "eat", asked=Asked("object", ("무엇", "을")), **ASKED), "무엇을 먹었니", "What did you eat?"),
    (
        clause("", "eat", "빵", asked=Asked("subject", ("누가",)), **ASKED, first="asked"),
        "누가 빵을 먹었니",
        "Who ate bread?",
    ),
    (
        clause("", "live", asked=Asked("place", ("어디", "에")), **ASKED, **PRESENT, **POLITE),
        "어디에 살아요",
        "Where do you live?",
    ),
    (
        clause("", "come", asked=Asked("why", ("왜",)), denial="안", **ASKED, **POLITE),
        "왜 안 왔어요",
        "Why did you not come?",
    ),
    (
        clause("너", "go", asked=Asked("time", ("언제",)), **ASKED, tense="will"),
        "네가 언제 가겠니",
        "When will you go?",
    ),
    (clause("", "open", "문", mood="command"), "문을 열어라", "Open the door"),
    (clause("", "open", "문", mood="command", **POLITE), "문을 여세요", "Please open the door"),
    (clause("", "open", "문", mood="command", **POLITE, full=True), "문을 열어 주세요", "Please open the door"),
    (
        clause("", "open", "문", mood="command", denial="않다", **POLITE),
        "문을 열지 마세요",
        "Please do not open the door",
    ),
    (clause("", "go", place=P["집"], mood="suggestion"), "집에 가자", "Let's go home"),
    (
        clause("", "call", recipient=some("어머니"), mood="command", **POLITE)._replace(
            predicate=next(v for v in VERBS if v.shape == "address")
        ),
        "어머니한테 전화하세요",
        "Please call your mother",
    ),
]
PHRASES = [
    (clause(some("크", "고양이", number="세"), "run"), "큰 고양이 세 마리가 뛰었다", "Three big cats ran"),
    (clause("나", "buy", some("사과", number="두", floating=True)), "내가 사과를 두 개 샀다", "I bought two apples"),
    (clause("나", "buy", some("사과", number="12")), "내가 사과 12개를 샀다", "I bought 12 apples"),
    (clause(some("학생", number="두", counted_first=True), "come"), "두 명의 학생이 왔다", "Two students came"),
    (
        clause("", "drink", some("차갑", "커피", number="두"), bare=True, **POLITE),
        "차가운 커피 두 잔 마셨어요",
        "I drank two cups of cold coffee",
    ),
    (clause(some("친구", owner=N["나"]), "sleep"), "내 친구가 잤다", "My friend slept"),
    (clause(some("가방", owner=N["선생님"]), "크", **PRESENT), "선생님의 가방이 크다", "The teacher's bag is big"),
    (clause(some("엄마", owner=N["우리"]), "바쁘", **PRESENT), "우리 엄마가 바쁘다", "My mom is busy"),
    (clause(some("아이", many=True, pointer="저"), "laugh"), "저 아이들이 웃었다", "Those children laughed"),
    (clause("나", "buy", some("새", "모자")), "내가 새 모자를 샀다", "I bought the new hat"),
    (clause(["고양이", "개"], "sleep"), "고양이와 개가 잤다", "The cat and the dog slept"),
    (clause("나", NEED, "시간", topic="subject", **PRESENT), "나는 시간이 필요하다", "I need time"),
    (
        clause("나", HAVE, some("형", number="두", floating=True), topic="subject", **PRESENT),
        "나는 형이 두 명 있다",
        "I have two older brothers",
    ),
    (clause("", HAVE_NOT, "돈", **PRESENT, **POLITE), "돈이 없어요", "I do not have money"),
]
BEING = [
    (
        clause("저", Being(some("학생")), topic="subject", style="formal", **PRESENT),
        "저는 학생입니다",
        "I am a student",
    ),
    (
        clause("그", Being(some("의사")), topic="subject", denial="않다", **PRESENT),
        "그는 의사가 아니다",
        "He is not a doctor",
    ),
    (clause("그들", Being(some("친구")), topic="subject"), "그들은 친구였다", "They were friends"),
    (clause("이것", Being(None, "뭐"), topic="subject", **ASKED, **PRESENT, **POLITE), "이건 뭐예요", "What is this?"),
    (clause("이름", Being(None, "뭐"), **ASKED, **PRESENT, **POLITE), "이름이 뭐예요", "What is your name?"),
    (
        clause("고양이", Existing(), place=P["방"], first="place", **PRESENT),
        "방에 고양이가 있다",
        "There is a cat in the room",
    ),
    (
        clause("고양이", Existing(), place=P["방"], topic="subject", **PRESENT),
        "고양이는 방에 있다",
        "The cat is in the room",
    ),
    (
        clause("책", Existing(absent=True), place=Position(N["책상"], "위"), first="place", **PRESENT),
        "책상 위에 책이 없다",
        "There is no book on the desk",
    ),
    (
        clause(
            "화장실", Existing(), asked=Asked("place", ("어디", "에")), topic="subject", **ASKED, **PRESENT, **POLITE
        ),
        "화장실은 어디에 있어요",
        "Where is the bathroom?",
    ),
]
HONOURED = [
    (
        clause("선생님", "come", honoured=True, full=True, **POLITE),
        "선생님께서 오셨어요",
        "The teacher came",
    ),
    (
        clause("할머니", "바쁘", honoured=True, **POLITE, **PRESENT, topic="subject"),
        "할머니는 바쁘세요",
        "My grandmother is busy",
    ),
    (
        clause("", "go", asked=Asked("place", ("어디", "에")), honoured=True, **ASKED, **PRESENT, **POLITE),
        "어디에 가세요",
        "Where do you go?",
    ),
]
PLACES_IN_WORDS = [
    (clause("새", "fly", place=P["하늘"], along=True, **PRESENT), "새가 하늘을 난다", "The bird flies in the sky"),
    (
        clause("", "walk", place=Site(P["거리"], A["조용하"]), along=True, adverb=B["혼자"]),
        "조용한 거리를 혼자 걸었다",
        "I walked on the quiet street alone",
    ),
    (clause("", "live", place=Site(P["집"], pointer="저"), **PRESENT), "저 집에 산다", "I live in that house"),
    (
        clause("", "go", place=Site(P["학교"], owner=N["우리"]), adverb=B["일찍"], degree=B["아주"]),
        "우리 학교에 아주 일찍 갔다",
        "I went to our school very early",
    ),
    (
        clause("", "sleep", place=P["도서관"], adverb=B["잘"], time=T["어제"], also=True),
        "어제도 도서관에서 잘 잤다",
        "I slept well in the library yesterday too",
    ),
    (
        clause("우유", Existing(absent=True), place=P["냉장고"], first="place", **PRESENT),
        "냉장고에 우유가 없다",
        "There is no milk in the refrigerator",
    ),
    (clause("", "sit", place=P["의자"], mood="command", **POLITE), "의자에 앉으세요", "Please sit on the chair"),
]
TOLD = [
    (clause("", "go", adverb=B["빨리"], mood="command", style="casual"), "빨리 가", "Go quickly"),
    (clause("", "open", "문", mood="command", style="casual", full=True), "문을 열어 줘", "Please open the door"),
    (clause("", "open", "문", mood="command", style="casual", denial="않다"), "문을 열지 마", "Do not open the door"),
    (
        clause("우리", "run", adverb=B["같이"], mood="suggestion", first="subject adverb"),
        "우리 같이 뛰자",
        "Let's run together",
    ),
    (
        clause("", "give", "물", recipient=some("저"), mood="command", style="formal"),
        "저에게 물을 주십시오",
        "Please give water to me",
    ),
]
OTHERS = [
    (
        clause("그녀", "become", "가수", modal="want", topic="subject", **PRESENT),
        "그녀는 가수가 되고 싶어 한다",
        "She wants to become a singer",
    ),
    (
        clause("나", "know", some("이름", owner=N["사람"], owner_pointer="그"), topic="subject", **PRESENT),
        "나는 그 사람의 이름을 안다",
        "I know that person's name",
    ),
    (
        clause(some("노래", pointer="이"), Being(some("오래되", "노래")), topic="subject", **PRESENT),
        "이 노래는 오래된 노래다",
        "This song is an old song",
    ),
    (clause("여름", "덥", topic="subject", **PRESENT), "여름은 덥다", "Summer is hot"),
    (
        clause("저", "speak", "한국어", modal="can", topic="subject", **PRESENT, **POLITE),
        "저는 한국어를 말할 수 있어요",
        "I can speak Korean",
    ),
]
WORK, COME, DO_IT, SIMPLY_EAT = (
    next(verb for verb in VERBS if verb.english == english and (not verb.takes[0][1]) and verb.takes[0][0] in subjects)
    for english, subjects in (("work", "person"), ("come", "season"), ("do it", "person"), ("eat", "person"))
)
MUCH, ALL = (next(a for a in ADVERBS if a.english == english) for english in ("a lot", "all"))
TEN = some("사람", number="열", nameless=True)
THERE = [
    (clause("손님", Existing(absent=True), **PRESENT), "손님이 없다", "There is no guest"),
    (
        clause(some("나쁘", "사람"), Existing(absent=True), topic="subject", **PRESENT),
        "나쁜 사람은 없다",
        "There is no bad person",
    ),
    (
        clause("바람", Existing(absent=True), time=T["오늘"], topic="time", **PRESENT),
        "오늘은 바람이 없다",
        "There is no wind today",
    ),
    (
        clause("사람", Existing(plenty="많이"), place=P["공원"], first="place", **PRESENT),
        "공원에 사람이 많이 있다",
        "There are many people in the park",
    ),
    (
        clause("눈", Existing(plenty="많"), place=P["산"], first="place", topic="place", **PRESENT),
        "산에는 눈이 많다",
        "There is a lot of snow on the mountain",
    ),
    (
        clause("", Existing(), asked=Asked("place", ("어디",)), **ASKED, **PRESENT, **POLITE),
        "어디 있어요",
        "Where are you?",
    ),
    (clause(TEN, "come"), "열 명이 왔다", "Ten people came"),
    (clause("오늘", Being(some("월요일")), topic="subject", **PRESENT), "오늘은 월요일이다", "Today is Monday"),
    (
        clause("", Being(None, hour="세"), time=T["지금"], topic="time", **PRESENT),
        "지금은 세 시다",
        "It is three o'clock now",
    ),
    (
        clause("", Being(None, "몇 시"), time=T["지금"], **ASKED, **PRESENT, **POLITE),
        "지금 몇 시예요",
        "What time is it now?",
    ),
    (
        clause(
            some("가족", owner=N["우리"]), Being(TEN._replace(number="다섯")), topic="subject", **PRESENT, full=True
        ),
        "우리 가족은 다섯 명이다",
        "My family has five people",
    ),
]
EVERYDAY = [
    (clause("", "go", adverb=B["같이"], mood="suggestion", **POLITE, **PRESENT), "같이 가요", "Let's go together"),
    (clause("", NOT_KNOW, tense="will", adverb=B["잘"], **POLITE), "잘 모르겠어요", "I do not know well"),
    (clause(some("저", focus="도"), "know", **PRESENT, **POLITE), "저도 알아요", "I know too"),
    (clause("저", DO_IT, tense="will", style="formal"), "제가 하겠습니다", "I will do it"),
    (
        clause("", "come", asked=Asked("origin", ("어디", "에서")), **ASKED, **POLITE),
        "어디에서 왔어요",
        "Where did you come from?",
    ),
    (
        clause("", "eat", "라면", place=P["버스"], time=T["점심"], tense="past"),
        "점심에 버스에서 라면을 먹었다",
        "I ate ramen on the bus at lunch",
    ),
    (
        clause(
            "할아버지", "get up", time=T["아침"], adverb=B["일찍"], attached=True, **PRESENT, topic="subject"
        )._replace(order=("subject", "time", "adverb")),
        "할아버지는 아침 일찍 일어난다",
        "My grandfather gets up early in the morning",
    ),
    (clause("아기", "drink", "우유", adverb=ALL), "아기가 우유를 다 마셨다", "The baby drank all the milk"),
    (clause(some("학생", many=True), "come", adverb=ALL), "학생들이 다 왔다", "All the students came"),
    (clause("", SIMPLY_EAT, adverb=MUCH, degree=B["너무"]), "너무 많이 먹었다", "I ate too much"),
    (
        clause("", "take", "비행기", modal="try", **ASKED, **POLITE)._replace(
            predicate=next(verb for verb in VERBS if verb.stem.text == "타" and verb.english == "take")
        ),
        "비행기를 타 봤어요",
        "Have you tried taking an airplane?",
    ),
    (
        clause("", "read", "책", modal="try", mood="command", **POLITE),
        "책을 읽어 보세요",
        "Please try reading the book",
    ),
    (clause("봄", COME), "봄이 왔다", "Spring came"),
    (
        clause("", "lend", "책", recipient=some("친구"), full=True),
        "친구에게 책을 빌려 주었다",
        "I lent the book to a friend",
    ),
    (
        clause("", "be afraid of", "개", mood="command", denial="않다", style="casual"),
        "개를 무서워하지 마",
        "Do not be afraid of the dog",
    ),
    (
        clause(some("책", pointer="그"), "재미있", bare=True, **PRESENT, **POLITE),
        "그 책 재미있어요",
        "That book is interesting",
    ),
    (
        clause(
            "", "write", some("책", pointer="이"), asked=Asked("subject", ("누가",)), topic="object", **ASKED, **POLITE
        )._replace(order=("object", "asked")),
        "이 책은 누가 썼어요",
        "Who wrote this book?",
    ),
]
BESIDE_NOUNS = [
    (
        clause(
            some("민수", title=N["친구"], owner=N["저"]), "be good at", "농구", topic="subject", **PRESENT, **POLITE
        ),
        "제 친구 민수는 농구를 잘해요",
        "My friend Minsu is good at basketball",
    ),
    (
        clause(some("옷", owner=N["가게"], owner_pointer="그", close=True), "싸", topic="subject", **PRESENT),
        "그 가게 옷은 싸다",
        "That store's clothes are cheap",
    ),
    (
        clause("", "raise", some("개", number="한"), some("고양이", number="두"), **PRESENT),
        "개 한 마리와 고양이 두 마리를 키운다",
        "I raise one dog and two cats",
    ),
    (clause("", "like", some("한국", "음식"), **PRESENT), "한국 음식을 좋아한다", "I like Korean food"),
    (clause(some("많", "사람"), "come"), "많은 사람이 왔다", "Many people came"),
    (
        clause("", "go", place=Site(P["약국"], beside=Position(N["은행"], "옆"))),
        "은행 옆에 있는 약국에 갔다",
        "I went to the pharmacy next to the bank",
    ),
    (
        clause("", "draw", some("소녀", relative=Relative(clause("", "read", "책", **PRESENT), "subject"))),
        "책을 읽는 소녀를 그렸다",
        "I drew the girl who reads the book",
    ),
    (
        clause(
            some("옷", relative=Relative(clause("", "buy", time=T["어제"]), "object")), "작", **PRESENT, topic="subject"
        ),
        "어제 산 옷은 작다",
        "The clothes that I bought yesterday are small",
    ),
    (
        clause("", "meet", some("친구", relative=Relative(clause("", "come", origin=P["한국"]), "subject"))),
        "한국에서 온 친구를 만났다",
        "I met a friend who came from Korea",
    ),
    (
        clause(
            "", "read", some("책", relative=Relative(clause("", Existing(), place=P["책상"], **PRESENT), "subject"))
        ),
        "책상에 있는 책을 읽었다",
        "I read the book on the desk",
    ),
    (
        clause("그", Being(some("의사", relative=Relative(clause("", "write", "시", **PRESENT), "subject"))))._replace(
            topic="subject", tense="present"
        ),
        "그는 시를 쓰는 의사다",
        "He is a doctor who writes the poem",
    ),
    (
        clause(some("소년", relative=Relative(clause("", "wear", "모자"), "subject")), "laugh")._replace(
            topic="subject"
        ),
        "모자를 쓴 소년은 웃었다",
        "The boy who wears the hat laughed",
    ),
]
FIRST_TRIED = [
    (
        clause(
            "은행", V["open"], asked=Asked("hour", ("몇", "시", "에")), topic="subject", **ASKED, **PRESENT, **POLITE
        )._replace(predicate=OPENS),
        "은행은 몇 시에 열어요",
        "What time does the bank open?",
    ),
    (clause(some("아이", number="한", uncountered=True), "cry"), "한 아이가 울었다", "One child cried"),
    (
        clause(some("사람", number="두", uncountered=True, pointer="그"), "laugh"),
        "그 두 사람이 웃었다",
        "Those two people laughed",
    ),
    (
        clause(some("개", owner=N["우리"], housed=True), "똑똑하", topic="subject", **PRESENT),
        "우리 집 개는 똑똑하다",
        "Our dog is smart",
    ),
    (
        clause([some("사람", pointer="저", many=True)], Being(some("중국", "사람")), topic="subject", **PRESENT),
        "저 사람들은 중국 사람이다",
        "Those people are Chinese",
    ),
    (
        clause(some("이름", owner=N["저"]), Being(some("수진")), topic="subject", tense="present", style="formal"),
        "제 이름은 수진입니다",
        "My name is Sujin",
    ),
    (
        clause("할머니", Existing(), place=P["집"], topic="subject", honoured=True, **PRESENT, **POLITE),
        "할머니는 집에 계세요",
        "My grandmother is at home",
    ),
    (
        clause("선생님", Existing(absent=True), place=P["교실"], honoured=True, **POLITE),
        "선생님이 교실에 안 계셨어요",
        "There was no teacher in the classroom",
    ),
    (
        clause("", "live", companion=some("고양이", number="두"), together="같이", **PRESENT),
        "고양이 두 마리와 같이 산다",
        "I live with two cats",
    ),
    (
        clause("우리", "watch", "영화", time=T["내일"], mood="suggestion", first="subject time", **PRESENT),
        "우리 내일 영화를 보자",
        "Let's watch the movie tomorrow",
    ),
    (
        clause(
            some("지갑", owner=N["나"]),
            Existing(),
            asked=Asked("place", ("어디",)),
            bare=True,
            style="casual",
            **ASKED,
            **PRESENT,
        ),
        "내 지갑 어디 있어",
        "Where is my wallet?",
    ),
]
CASES = [
    *THERE,
    *EVERYDAY,
    *BESIDE_NOUNS,
    *PLACES_IN_WORDS,
    *TOLD,
    *OTHERS,
    *ORDER,
    *TOPICS,
    *TENSES,
    *DENIED,
    *MOODS,
    *PHRASES,
    *BEING,
    *HONOURED,
    *FIRST_TRIED,
]


@pytest.mark.parametrize(("meaning", "korean", "english"), CASES, ids=[case[1] for case in CASES])
def test_by_hand(meaning, korean, english):
    example = said(Sentence((meaning,)))
    assert example.source == korean
    assert example.target == english


JOINED = [
    (
        (clause("나", "eat", "빵", topic="subject"), clause("", "drink", "커피")),
        "고",
        "나는 빵을 먹고 커피를 마셨다",
        "I ate bread and drank coffee",
    ),
    (
        (clause("나", "eat", "빵", topic="subject", tense="future"), clause("", "sleep", tense="future")),
        "고",
        "나는 빵을 먹고 잘 거다",
        "I will eat bread and sleep",
    ),
    (
        (clause("책", "비싸", topic="subject", **PRESENT), clause("", "재미있", **PRESENT)),
        "지만",
        "책은 비싸지만 재미있다",
        "The book is expensive but interesting",
    ),
    (
        (clause("고양이", "sleep", topic="subject"), clause("개", "run", topic="subject")),
        "지만",
        "고양이는 잤지만 개는 뛰었다",
        "The cat slept but the dog ran",
    ),
    (
        (clause("", HAVE, "시간", topic="object", **PRESENT), clause("", HAVE_NOT, "돈", **PRESENT)),
        "지만",
        "시간은 있지만 돈이 없다",
        "I have time but do not have money",
    ),
    (
        (clause("", "wash", "컵", mood="command", **PRESENT), clause("", "drink", "커피", mood="command", **PRESENT)),
        "고",
        "컵을 씻고 커피를 마셔라",
        "Wash the cup and drink coffee",
    ),
    (
        (clause("비", RAIN), clause("", "go", denial="안")),
        "서",
        "비가 와서 안 갔다",
        "I did not go because it rained",
    ),
    (
        (clause("눈", SNOW, **PRESENT), clause("길", "하얗", **PRESENT)),
        "서",
        "눈이 와서 길이 하얗다",
        "The road is white because it snowed",
    ),
    (
        (clause("형", "아프", topic="subject"), clause("", "go", place=P["학교"], denial="못")),
        "서",
        "형은 아파서 학교에 못 갔다",
        "My older brother could not go to school because he was sick",
    ),
    (
        (clause("", "go", place=P["도서관"]), clause("", "read", "책")),
        "서",
        "도서관에 가서 책을 읽었다",
        "I went to the library and read the book",
    ),
    (
        (
            clause("저", Being(some("학생")), topic="subject"),
            clause("", "busy")._replace(predicate=A["바쁘"], tense="present"),
        ),
        "서",
        "저는 학생이라서 바쁘다",
        "I am busy because I am a student",
    ),
    (
        (clause("", "go", modal="want", **PRESENT), clause("", "바쁘", **PRESENT)),
        "지만",
        "가고 싶지만 바쁘다",
        "I want to go but am busy",
    ),
    (
        (
            clause("동생", GUITAR, some("피아노", focus="도"), topic="subject", **PRESENT),
            clause("", GUITAR, some("기타", focus="도"), **PRESENT),
        ),
        "고",
        "동생은 피아노도 치고 기타도 친다",
        "My younger sibling plays the piano and plays the guitar too",
    ),
    (
        (
            clause(some("물", focus="도"), Existing(absent=True), **PRESENT),
            clause(some("빵", focus="도"), Existing(absent=True), **PRESENT),
        ),
        "고",
        "물도 없고 빵도 없다",
        "There is no water and there is no bread either",
    ),
    (
        (
            clause("꽃", "bloom", time=T["봄"], topic="time", **PRESENT),
            clause("눈", SNOW, time=T["겨울"], topic="time", **PRESENT),
        ),
        "고",
        "봄에는 꽃이 피고 겨울에는 눈이 온다",
        "The flower blooms in spring and it snows in winter",
    ),
]


@pytest.mark.parametrize(("clauses", "joint", "korean", "english"), JOINED, ids=[case[2] for case in JOINED])
def test_two_clauses(clauses, joint, korean, english):
    example = said(Sentence(clauses, joint, "."))
    assert example.source == korean + "."
    assert example.target == english + "."


def test_whom_one_speaks_to():
    where = clause("", Existing(), asked=Asked("place", ("어디",)), **ASKED, **PRESENT, **POLITE)
    example = said(Sentence((where,), end="?", called=("아빠",)))
    assert example[:2] == ("아빠, 어디 있어요?", "Dad, where are you?")
    assert (slice(0, 2), slice(0, 3)) in [(slice(*link.source), slice(*link.target)) for link in example.links]
    told = clause("", "go", mood="command", style="casual")
    assert said(Sentence((told,), called=("민수", "야")))[:2] == ("민수야, 가", "Minsu, go")
    assert said(Sentence((clause("저", "know", **PRESENT, **POLITE),), called=("네",))).target == "Yes, I know"


def test_the_mark_at_the_end():
    asked = clause("", "sleep", **ASKED, **POLITE)
    assert said(Sentence((asked,), end="?"))[:2] == ("잤어요?", "Did you sleep?")
    assert said(Sentence((clause("", "sleep", mood="command"),), end="!"))[:2] == ("자라!", "Sleep!")


def links(meaning):
    example = said(Sentence((meaning,)))
    return [(example.source[slice(*link.source)], example.target[slice(*link.target)]) for link in example.links]


def test_content_words_are_linked_and_grammar_is_not():
    meaning = clause(
        some("크", "고양이", number="세"),
        "wait for",
        some("쥐", many=True),
        place=P["공원"],
        time=T["아침"],
        denial="안",
    )
    assert said(Sentence((meaning,))).source == "아침에 큰 고양이 세 마리가 공원에서 쥐들을 안 기다렸다"
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
    meaning = clause("의사", "drink", some("물", number="두"), tense="future", time=T["다음 주"], denial="않다")
    assert links(meaning) == [
        ("의사", "doctor"),
        ("마시지", "drink"),
        ("두", "two"),
        ("잔", "glasses"),
        ("물", "water"),
        ("다음 주", "next week"),
    ]


def test_a_clause_before_a_noun_is_linked_too():
    meaning = clause("", "draw", some("소녀", relative=Relative(clause("", "read", "책", **PRESENT), "subject")))
    assert links(meaning) == [("그렸다", "drew"), ("소녀", "girl"), ("읽는", "reads"), ("책", "book")]


def test_who_is_sick_is_linked_once():
    sentence = Sentence((clause("형", "아프", topic="subject"), clause("", "go", denial="못")), "서")
    example = said(sentence)
    pairs = [(example.source[slice(*link.source)], example.target[slice(*link.target)]) for link in example.links]
    assert pairs == [("형", "older brother"), ("갔다", "go"), ("아파서", "sick")]


def test_rain_is_linked_with_rain():
    assert links(clause("비", RAIN)) == [("비", "rained")]


def test_pieces_are_stems_endings_and_particles():
    meaning = Sentence((clause(some("귀엽", "고양이"), "catch", some("쥐", number="두")),), end=".")
    assert " ".join(spelled(in_korean(meaning))) == "귀여 ##운 고양이 ##가 쥐 두 마리 ##를 잡 ##았 ##다 ##."
    assert " ".join(spelled(in_english(meaning))) == "The cute cat caught two mice ##."
