"""Which known words a misspelled one may stand for, judged by its letters.

Compared are the letters of Hangul and not its syllables, so 고냥이 is close to 고양이. Letters that sound alike, as ㅐ
and ㅔ or ㅅ and ㅆ, are half as far apart as others. A word is taken without its particle or ending, wherever it may
have one, since 비가 is 비 and a particle, and no misspelled 비싸.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

FARTHEST = 0.2  # of the letters of the longer word that may differ: one in five
MOST = 3
LONGEST = 30  # characters of a word that are compared
ALIKE = ("ㄱㄲㅋ", "ㄷㄸㅌ", "ㅂㅃㅍ", "ㅅㅆ", "ㅈㅉㅊ", "ㅐㅔ", "ㅒㅖ", "ㅚㅙㅞ")


def near(word: str, known: Iterable[str], endings: Iterable[str], farthest: float = FARTHEST) -> list[str]:
    """Up to three of the known words, the nearest first; none if none is truly near.

    endings: what a word may end in, as particles do; several may follow each other
    farthest: of the letters of the longer word, the share that may differ
    """
    word = word[:LONGEST]
    stems = [(letters(stem), stem) for stem in stems_of(word, frozenset(endings))]
    found: dict[str, float] = {}
    for other in known:
        spelled = letters(other)
        for mine, stem in stems:
            if min(len(stem), len(other)) < 2 and stem != other:
                continue  # of one syllable, any other is another word
            longer = max(len(mine), len(spelled))
            if abs(len(mine) - len(spelled)) <= farthest * longer:
                apart = distance(mine, spelled) / longer
                if apart <= farthest:
                    found[other] = min(apart, found.get(other, apart))
    return sorted(found, key=lambda other: (found[other], other))[:MOST]


def stems_of(word: str, endings: frozenset[str]) -> list[str]:
    """What may be left of a word without its endings, and the word itself if that may have none."""
    ends = {len(word)}  # where a part begins, from which on there are nothing but endings
    for start in range(len(word) - 1, 0, -1):
        if any(word[start:stop] in endings for stop in ends):
            ends.add(start)
    return [word[:end] for end in sorted(ends)]


def letters(word: str) -> str:
    """A word in letters that stand by themselves: ㄱㅗㅇㅑㅇㅇㅣ for 고양이."""
    return "".join(_alone(letter) for letter in unicodedata.normalize("NFD", word))


def _alone(letter: str) -> str:
    """A letter of Hangul as it is written alone, whether it begins or ends a syllable: ᄀ and ᆨ are ㄱ."""
    name = unicodedata.name(letter, "")
    for place in ("CHOSEONG", "JUNGSEONG", "JONGSEONG"):
        if name.startswith(f"HANGUL {place} "):
            return unicodedata.lookup(f"HANGUL LETTER {name.removeprefix(f'HANGUL {place} ')}")
    return letter


def distance(one: str, other: str) -> float:
    """How many letters have to be changed, put in or left out to make one of the other."""
    row = [float(j) for j in range(len(other) + 1)]
    for i, letter in enumerate(one, start=1):
        above, row = row, [float(i)]
        for j, opposite in enumerate(other, start=1):
            changed = above[j - 1] + apart(letter, opposite)
            row.append(min(changed, above[j] + 1, row[j - 1] + 1))
    return row[-1]


def apart(letter: str, other: str) -> float:
    if letter == other:
        return 0.0
    return 0.5 if any(letter in group and other in group for group in ALIKE) else 1.0
