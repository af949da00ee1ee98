"""Search in Korean: a word is found with any particle (조사) behind it, and may be typed with one.

The index has each word as it stands and with one particle after the other gone: 쿼리에서는 is also 쿼리에서 and 쿼리.
What is typed is looked up without them. Whether a syllable is a particle depends on the sound before it, as in speech:
나이 is no 나 + 이, because 이 follows a consonant. Where it could be either, as in 고양이, the index has both.

The tables are here alone; the script in the browser, korean.js, is given them.
"""

from __future__ import annotations

import json
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.search import SearchLanguage
from sphinx.util.typing import ExtensionMetadata

AFTER_CONSONANT = ("을", "은", "이", "과", "으로", "이나", "이라는", "이라고", "이란", "이며", "이고")
AFTER_VOWEL = ("를", "는", "가", "와", "로", "라는", "라고", "란", "며", "고")
AFTER_ANY = (
    "의",
    "에",
    "에서",
    "에게",
    "도",
    "만",
    "까지",
    "부터",
    "마다",
    "보다",
    "처럼",
    "밖에",
    "입니다",
    "이다",
    "인",
)
# These end many nouns as well (결과, 가로, 주의), so in what is typed they go only if two syllables are left.
DOUBTFUL = ("이", "가", "과", "와", "로", "고", "며", "란", "의", "에", "도", "만", "인")
FIRST, FINALS, RIEUL = 0xAC00, 28, 8  # the first syllable of Unicode, how many endings one can have, and ㄹ's number
LAST = 0xD7A3


def ending(word: str) -> int | None:
    """The number of the consonant that a word ends with, 0 for none; None if its last letter is no Hangul."""
    code = ord(word[-1])
    return (code - FIRST) % FINALS if FIRST <= code <= LAST else None


def fits(particle: str, final: int | None) -> bool:
    """Whether a particle can follow a word with this ending; after Latin letters and numbers any can."""
    if final is None or particle in AFTER_ANY:
        return True
    if particle == "로" and final == RIEUL:
        return True
    return particle in (AFTER_CONSONANT if final else AFTER_VOWEL)


PARTICLES = sorted({*AFTER_CONSONANT, *AFTER_VOWEL, *AFTER_ANY}, key=lambda particle: (-len(particle), particle))


def forms(word: str) -> list[str]:
    """The word, and all that can be left of it as one particle after the other goes."""
    found = [word]
    for form in found:  # which grows while it is read
        rests = [form.removesuffix(particle) for particle in PARTICLES if form.endswith(particle) and form != particle]
        found += [rest for rest in rests if rest not in found and fits(form.removeprefix(rest), ending(rest))]
    return found


TABLES = {
    "particles": PARTICLES,
    "afterConsonant": AFTER_CONSONANT,
    "afterVowel": AFTER_VOWEL,
    "afterAny": AFTER_ANY,
    "doubtful": DOUBTFUL,
    "first": FIRST,
    "last": LAST,
    "finals": FINALS,
    "rieul": RIEUL,
}
SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


class SearchKorean(SearchLanguage):
    """Sphinx asks `split` for the words of a page, and the script in the browser for what to look up."""

    lang = "ko"
    language_name = "Korean"
    js_splitter_code = f"const korean = {json.dumps(TABLES, ensure_ascii=False)};\n{SCRIPT}"

    def split(self, input: str) -> list[str]:
        return [form for word in self._word_re.findall(input) for form in forms(word)]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_search_language(SearchKorean)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
