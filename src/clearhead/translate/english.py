"""English as the grammar needs it: plurals, third person, past, -ing. A word comes as its pieces: catch and es."""

from __future__ import annotations

import re

Word = tuple[str, ...]

VOWELS = "aeiou"
HISSING = ("s", "x", "z", "ch", "sh", "o")  # another s after these would not be heard, or looks wrong: potatoes
SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")  # run, cut: one vowel between consonants, the last of them doubled


def with_s(word: str) -> Word:
    """A noun in the plural or a verb in the third person: cat · s, box · es, and whole where its spelling changes."""
    if word == "have":
        return ("has",)
    if word.endswith("y") and word[-2] not in VOWELS:
        return (word[:-1] + "ies",)
    return (word, "es" if word.endswith(HISSING) else "s")


def with_ed(word: str) -> Word:
    """The past of a regular verb: open · ed, bake · d, and whole where its spelling changes."""
    if word.endswith("y") and word[-2] not in VOWELS:
        return (word[:-1] + "ied",)
    return (word, "d" if word.endswith("e") else "ed")


def with_ing(word: str) -> Word:
    """What is under way: catch · ing, and whole where its spelling changes: making, running, dying."""
    if word.endswith("ie"):
        return (word[:-2] + "ying",)
    if word.endswith("e") and not word.endswith("ee") and word != "be":
        return (word[:-1] + "ing",)
    if SHORT.fullmatch(word) or word in ("forget", "begin"):
        return (word + word[-1] + "ing",)
    return (word, "ing")


def indefinite(word: str) -> str:
    """a or an, by the sound that follows, as far as it can be seen: a book, an apple."""
    return "an" if word[0].lower() in VOWELS else "a"
