"""Korean as the grammar needs it: particles that follow the sound before them, and endings that melt into their stem.

A syllable of Hangul is made of two or three letters, and Unicode numbers all of them in order, so letters are taken
out and put in by arithmetic. A word comes as its pieces, 잡 and 았다: cut where stem and ending meet, or, where they
have melted into one syllable as in 마셨다 (마시 and 었다), behind it. Those are the pieces a model reads.
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

# These two may also stay as they are.
UNMELTED = {"보": "아", "주": "어"}

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


def modifier(stem: Stem) -> Word:
    """An adjective before its noun: 큰, 작은, 맛있는."""
    return (stem.text, "는") if stem.text.endswith("있") else _cut(stem, closed(stem, "ㄴ"))


def conjugated(stem: Stem, tense: str, style: str, *, verb: bool = True, full: bool = False) -> tuple[Word, ...]:
    """A predicate as its words.

                 "past"        "present"   "future"
        "plain"   잡았다        잡는다       잡을 것이다
        "polite"  잡았어요      잡아요       잡을 거예요
        "formal"  잡았습니다    잡습니다     잡을 것입니다

    An adjective (verb=False) has no 는 in the plain present: 크다. With `full`, 보 and 주 do not melt in the past,
    which is as common: 보았다, 주었다.
    """
    if tense == "future":
        return _cut(stem, closed(stem, "ㄹ")), ({"plain": "것이다", "polite": "거예요", "formal": "것입니다"}[style],)
    if tense == "past":
        return (_cut(stem, _past(stem, {"plain": "다", "polite": "어요", "formal": "습니다"}[style], full)),)
    if style == "polite":
        head, ending = infinitive(stem)
        return (_cut(stem, (head, ending + "요")),)
    if style == "plain" and not verb:
        return (_cut(stem, (stem.text, "다")),)
    consonant, ending = ("ㄴ", "다") if style == "plain" else ("ㅂ", "니다")
    if letters(stem.text[-1]).final in ("", "ㄹ"):
        return (_cut(stem, (with_final(stem.text, consonant), ending)),)
    return ((stem.text, "는다" if style == "plain" else "습니다"),)


def _past(stem: Stem, ending: str, full: bool) -> Word:
    """아 or 어 closed by ㅆ, wherever they are left, and the ending."""
    head, joint = infinitive(stem)
    if full and stem.text[-1] in UNMELTED:
        head, joint = stem.text, UNMELTED[stem.text[-1]]
    return (head, with_final(joint, "ㅆ") + ending) if joint else (with_final(head, "ㅆ"), ending)


def negated(stem: Stem, tense: str, style: str, *, verb: bool = True) -> tuple[Word, ...]:
    """The same denied with -지 않다: 잡지 않았다."""
    return _cut(stem, (stem.text, "지")), *conjugated(Stem("않"), tense, style, verb=verb)


def _cut(stem: Stem, word: Word) -> Word:
    """공부하다 is a noun and 하다, so it is cut between them: 공부 · 했다, and 했다 is the same in all its kind."""
    noun = stem.text.removesuffix("하")
    return (noun, "".join(word)[len(noun) :]) if noun and noun != stem.text else word
