"""English as the grammar needs it: plurals, the third person, the past. A word comes as its pieces: catch and es."""

from __future__ import annotations

Word = tuple[str, ...]

VOWELS = "aeiou"
HISSING = ("s", "x", "z", "ch", "sh", "o")  # another s after these would not be heard, or looks wrong: potatoes


def with_s(word: str) -> Word:
    """A noun in the plural or a verb in the third person: cat · s, box · es, and whole where its spelling changes."""
    if word.endswith("y") and word[-2] not in VOWELS:
        return (word[:-1] + "ies",)
    return (word, "es" if word.endswith(HISSING) else "s")


def with_ed(word: str) -> Word:
    """The past of a regular verb: open · ed, bake · d, and whole where its spelling changes."""
    if word.endswith("y") and word[-2] not in VOWELS:
        return (word[:-1] + "ied",)
    return (word, "d" if word.endswith("e") else "ed")
