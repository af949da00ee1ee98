"""Korean as the grammar needs it: particles that follow the sound before them, and endings that melt into their stem.

A syllable of Hangul is made of two or three letters, and Unicode numbers all of them in order, so letters are taken
out and put in by arithmetic. A word comes as its pieces, 잡, 았 and 다: cut where stem, tense and ending meet, or,
where two have melted into one syllable as in 마셨다 (마시, 었 and 다), behind it. Those are the pieces a model reads.
"""

from __future__ import annotations

from typing import NamedTuple

LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")

# After a consonant, and after a vowel.
PARTICLES = {
    "subject": ("이", "가"),
    "topic": ("은", "는"),
    "object": ("을", "를"),
    "and": ("과", "와"),
    "or so": ("이랑", "랑"),
    "by": ("으로", "로"),
}

# A stem that ends in a vowel melts with 아 or 어. ㅟ does not: 쉬어요.
MELTED = {
    "ㅏ": "ㅏ",
    "ㅓ": "ㅓ",
    "ㅐ": "ㅐ",
    "ㅔ": "ㅔ",
    "ㅕ": "ㅕ",
    "ㅗ": "ㅘ",
    "ㅜ": "ㅝ",
    "ㅣ": "ㅕ",
    "ㅚ": "ㅙ",
}

# These may also stay as they are.
UNMELTED = {"보": "아", "주": "어", "되": "어", "피": "어"}

Word = tuple[str, ...]


class Letters(NamedTuple):
    """What a syllable is made of: 잡 is ㅈ, ㅏ and ㅂ."""

    lead: str
    vowel: str
    final: str


def letters(syllable: str) -> Letters:
    """The letters of one syllable; `final` is empty where it ends in a vowel."""
    number = ord(syllable) - ord("가")
    if not 0 <= number < len(LEADS) * len(VOWELS) * len(FINALS):
        raise ValueError(f"{syllable!r} is not a syllable of Hangul, 가 to 힣")
    rest, final = divmod(number, len(FINALS))
    lead, vowel = divmod(rest, len(VOWELS))
    return Letters(LEADS[lead], VOWELS[vowel], FINALS[final])


def syllable(lead: str, vowel: str, final: str = "") -> str:
    """One syllable from its letters."""
    number = (LEADS.index(lead) * len(VOWELS) + VOWELS.index(vowel)) * len(FINALS) + FINALS.index(final)
    return chr(ord("가") + number)


def with_final(word: str, final: str) -> str:
    """`word` with another last consonant, or with none."""
    lead, vowel, _ = letters(word[-1])
    return word[:-1] + syllable(lead, vowel, final)


def particle(word: str, role: str) -> str:
    """The form of a particle that follows `word`: 고양이가 but 학생이; before 로 ㄹ counts as a vowel, 연필로."""
    final = letters(word[-1]).final
    after_consonant, after_vowel = PARTICLES[role]
    return after_vowel if not final or (role == "by" and final == "ㄹ") else after_consonant


class Stem(NamedTuple):
    """A verb or an adjective without its 다.

    `irregular` is what changes before a vowel: ㅂ in 돕다, ㄷ in 듣다, ㅅ in 짓다, ㅎ in 빨갛다, 르 in 부르다. For all
    others it is empty. Stems in ㄹ, in ㅡ and in 하 need no mark, as all of them do the same.
    """

    text: str
    irregular: str = ""


def infinitive(stem: Stem) -> tuple[str, str]:
    """The stem joined with 아 or 어: what is left of the stem, and what is left of the ending.

    잡아 is 잡 and 아, 도와 is 도 and 와; in 마셔 and 해 nothing is left of the ending.
    """
    text, irregular = stem
    lead, vowel, final = letters(text[-1])
    if text[-1] == "하":
        return text[:-1] + "해", ""
    if irregular == "르":
        return with_final(text[:-1], "ㄹ"), "라" if _bright(text[-2]) else "러"
    if irregular == "ㅂ":
        return with_final(text, ""), "와" if text in ("돕", "곱") else "워"
    if irregular == "ㅎ":
        return text[:-1] + syllable(lead, "ㅒ" if vowel == "ㅑ" else "ㅐ"), ""
    if final:
        return _softened(stem), "아" if _bright(text[-1]) else "어"
    if vowel == "ㅡ":
        bright = len(text) > 1 and _bright(text[-2])
        return text[:-1] + syllable(lead, "ㅏ" if bright else "ㅓ"), ""
    if vowel in MELTED:
        return text[:-1] + syllable(lead, MELTED[vowel]), ""
    return text, "어"


def closed(stem: Stem, final: str) -> Word:
    """The stem with ㄴ or ㄹ after it: 큰, 작은, 귀여운, 잡을, 들을, 도울."""
    text, irregular = stem
    last = letters(text[-1]).final
    if irregular == "ㅂ":
        return with_final(text, ""), syllable("ㅇ", "ㅜ", final)
    if irregular == "ㅎ" or last in ("", "ㄹ"):
        return (with_final(text, final),)
    return _softened(stem), syllable("ㅇ", "ㅡ", final)


def _softened(stem: Stem) -> str:
    """Before a vowel ㄷ turns into ㄹ and ㅅ is dropped, in stems that are so marked."""
    change = {"ㄷ": "ㄹ", "ㅅ": ""}
    return with_final(stem.text, change[stem.irregular]) if stem.irregular in change else stem.text


def _bright(text: str) -> bool:
    """ㅏ and ㅗ are followed by 아, all others by 어."""
    return letters(text).vowel in "ㅏㅗ"


def with_eu(stem: Stem, ending: str) -> Word:
    """The stem with an ending that wants 으 after a consonant: 가 · 세요, 잡 · 으세요, 도 · 우세요, 만드 · 세요."""
    text, irregular = stem
    last = letters(text[-1]).final
    if irregular == "ㅂ":
        return with_final(text, ""), "우" + ending
    if irregular == "ㅎ" or last in ("", "ㄹ"):
        return with_final(text, ""), ending
    return _softened(stem), "으" + ending


def modifier(stem: Stem) -> Word:
    """An adjective before its noun: 큰, 작은, 맛있는."""
    if noun := _nominal(stem):
        return noun, *modifier(HA)
    return (stem.text, "는") if stem.text.endswith(("있", "없")) else closed(stem, "ㄴ")


# What follows 았 and 겠, and what ends the present of all stems alike.
AFTER_TENSE = {
    "statement": {"plain": "다", "casual": "어", "polite": "어요", "formal": "습니다"},
    "question": {"plain": "니", "casual": "어", "polite": "어요", "formal": "습니까"},
}
# The word behind -ㄹ: 잡을 것이다, and as it is said, 잡을 거다.
THING = {
    "statement": {"plain": "것이다", "casual": "거야", "polite": "거예요", "formal": "것입니다"},
    "question": {"plain": "거니", "casual": "거야", "polite": "거예요", "formal": "것입니까"},
}
SHORT_THING = {"것이다": "거다", "것입니다": "겁니다", "것입니까": "겁니까"}


class Manner(NamedTuple):
    """How a predicate is said.

    `tense` is "past", "present", "future" (잡을 것이다) or "will" (잡겠다); `style` is "plain", "casual", "polite" or
    "formal"; `mood` is "statement" or "question". `honoured` puts in -시-. `verb` is False for adjectives and for all
    that is conjugated like them, which have no 는 in the plain present: 크다. With `full`, 보 and 주 do not melt in the
    past, which is as common, 보았다 and 주었다, and 거다 is 것이다.
    """

    tense: str = "past"
    style: str = "plain"
    mood: str = "statement"
    honoured: bool = False
    verb: bool = True
    full: bool = False


def conjugated(stem: Stem, manner: Manner) -> tuple[Word, ...]:
    """A predicate as its words.

             "past"        "present"   "future"        "will"
    "plain"   잡았다        잡는다       잡을 것이다       잡겠다
    "casual"  잡았어        잡아        잡을 거야        잡겠어
    "polite"  잡았어요      잡아요       잡을 거예요       잡겠어요
    "formal"  잡았습니다    잡습니다     잡을 것입니다     잡겠습니다
    """
    tense, style, mood = manner.tense, manner.style, manner.mood
    if manner.honoured:
        head, honour = honoured(stem)
        if tense == "present" and style == "polite":
            return ((*head, honour[:-1] + "세요"),)
        first, *rest = conjugated(Stem(honour), manner._replace(honoured=False))
        return ((*head, *first), *rest)
    if stem == STAY and tense == "present" and style == "polite":
        return (("계", "세요"),)
    if noun := _nominal(stem):
        first, *rest = conjugated(HA, manner)
        return ((noun, *first), *rest)
    if tense == "future":
        thing = THING[mood][style]
        return closed(stem, "ㄹ"), (thing if manner.full else SHORT_THING.get(thing, thing),)
    if tense == "past":
        return ((*past(stem, manner.full), AFTER_TENSE[mood][style]),)
    if tense == "will":
        return ((stem.text, "겠", AFTER_TENSE[mood][style]),)
    return (_present(stem, style, mood, manner.verb),)


def _present(stem: Stem, style: str, mood: str, verb: bool) -> Word:
    """잡는다, 마신다; 크다; 잡니, 만드니; 잡아, 잡아요; 잡습니다, 마십니다"""
    text, open_end = stem.text, letters(stem.text[-1]).final in ("", "ㄹ")
    if style in ("casual", "polite"):
        head, joint = infinitive(stem)
        return tuple(piece for piece in (head, joint + ("요" if style == "polite" else "")) if piece)
    if style == "formal":
        ending = "니다" if mood == "statement" else "니까"
        return (with_final(text, "ㅂ"), ending) if open_end else (text, "습" + ending)
    if mood == "question":
        return (with_final(text, ""), "니") if open_end else (text, "니")
    if not verb:
        return text, "다"
    return (with_final(text, "ㄴ"), "다") if open_end else (text, "는다")


def past(stem: Stem, full: bool = False) -> Word:
    """아 or 어 closed by ㅆ, wherever they are left: 잡 · 았, 마셨."""
    if noun := _nominal(stem):
        return noun, *past(HA)
    head, joint = infinitive(stem)
    if full and stem.text[-1] in UNMELTED:
        head, joint = stem.text, UNMELTED[stem.text[-1]]
    return (head, with_final(joint, "ㅆ")) if joint else (with_final(head, "ㅆ"),)


def honoured(stem: Stem) -> tuple[Word, str]:
    """What stands before -시-, and 시 as it is there: 가 and 시, 잡 and 으시, 도 and 우시."""
    if noun := _nominal(stem):
        return (noun, "하"), "시"
    head, honour = with_eu(stem, "시")
    return (head,), honour


def joined(stem: Stem, ending: str) -> Word:
    """The stem as it is with an ending that changes nothing: 잡지, 잡고, 공부하지만."""
    noun = _nominal(stem)
    return (noun, "하", ending) if noun else (stem.text, ending)


def necessary(stem: Stem) -> Word:
    """What stands before 하다 to say that one has to: 잡아야, 가야, 공부해야."""
    if noun := _nominal(stem):
        return noun, *necessary(HA)
    head, joint = infinitive(stem)
    return (head, joint + "야")


def since(stem: Stem) -> Word:
    """Joined to what comes of it, or after it: 잡아서, 가서, 공부해서."""
    if noun := _nominal(stem):
        return noun, *since(HA)
    head, joint = infinitive(stem)
    return (head, joint + "서")


def relative(stem: Stem, tense: str) -> Word:
    """A verb before its noun: 잡는, 만드는; 잡은, 만든; 잡을, 만들."""
    if noun := _nominal(stem):
        return noun, *relative(HA, tense)
    if tense != "present":
        return closed(stem, "ㄴ" if tense == "past" else "ㄹ")
    text = stem.text
    return (with_final(text, "") if letters(text[-1]).final == "ㄹ" else text, "는")


def obliging(stem: Stem) -> Word:
    """What stands before 주다 to ask a favour: 열어, 읽어, 청소해."""
    if noun := _nominal(stem):
        return noun, *obliging(HA)
    return tuple(piece for piece in infinitive(stem) if piece)


def possible(stem: Stem) -> Word:
    """What stands before 수 있다 to say that one can: 잡을, 갈, 공부할."""
    noun = _nominal(stem)
    return (noun, *closed(HA, "ㄹ")) if noun else closed(stem, "ㄹ")


def commanded(stem: Stem, style: str) -> Word:
    """잡아라, 잡아, 잡으세요, 잡으십시오"""
    if noun := _nominal(stem):
        return noun, *commanded(HA, style)
    if style == "casual":
        return obliging(stem)
    if style == "plain":
        head, joint = infinitive(stem)
        return (head, joint + "라")
    return with_eu(stem, "세요" if style == "polite" else "십시오")


def suggested(stem: Stem, style: str) -> Word:
    """가자 and 잡자; 갑시다 and 잡읍시다"""
    if noun := _nominal(stem):
        return noun, *suggested(HA, style)
    if style == "plain":
        return stem.text, "자"
    final = letters(stem.text[-1]).final
    if final in ("", "ㄹ"):
        return with_final(stem.text, "ㅂ"), "시다"
    if stem.irregular == "ㅂ":
        return with_final(stem.text, ""), "웁시다"
    return _softened(stem), "읍시다"


def being(noun: str, manner: Manner) -> Word:
    """What makes a noun a predicate, 이다 and its forms: 학생이다, 의사예요, 학생이었다; in the future only 일."""
    vowel = not letters(noun[-1]).final
    tense, style, mood = manner.tense, manner.style, manner.mood
    if tense == "past":
        return ("였" if vowel else "이었"), AFTER_TENSE[mood][style]
    if tense == "future":
        return ("일",)
    question = mood == "question"
    return {
        "plain": ("이니",) if question else ("다",) if vowel and not manner.full else ("이다",),
        "casual": ("야",) if vowel else ("이야",),
        "polite": ("예요",) if vowel else ("이에요",),
        "formal": ("입니까",) if question else ("입니다",),
    }[style]


def not_being(manner: Manner) -> tuple[Word, ...]:
    """아니다, which takes its noun with 이/가: 학생이 아니다."""
    if manner.tense == "present" and manner.style in ("casual", "polite"):
        return (("아니", "야" if manner.style == "casual" else "에요"),)
    if manner.tense == "past":
        return (("아니", "었", AFTER_TENSE[manner.mood][manner.style]),)
    return conjugated(Stem("아니"), manner._replace(verb=False))


HA = Stem("하")
STAY = Stem("계시")  # what 있다 is of those whom one honours


def _nominal(stem: Stem) -> str:
    """공부하다 is a noun and 하다, so it is cut between them: 공부 · 했 · 다, and 했 is the same in all its kind."""
    return stem.text[:-1] if stem.text.endswith("하") else ""
