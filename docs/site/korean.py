"""Search in Korean: a word is found with any particle (조사) behind it, and may be typed with one.

The index has each word as it stands and with one particle after the other gone: 쿼리에서는 is also 쿼리에서 and 쿼리.
What is typed is looked up without them. Whether a syllable is a particle depends on the sound before it, as in speech:
나이 is no 나 + 이, because 이 follows a consonant. Where it could be either, as in 고양이, the index has both.

The rules are said once, in Python; the script in the browser is given the same tables.
"""

from __future__ import annotations

import json

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


class SearchKorean(SearchLanguage):
    """Sphinx asks `split` for the words of a page, and the script asks `splitQuery` for what to look up."""

    lang = "ko"
    language_name = "Korean"
    js_splitter_code = ""  # filled in below

    def split(self, input: str) -> list[str]:
        return [form for word in self._word_re.findall(input) for form in forms(word)]


SearchKorean.js_splitter_code = f"""
const particles = {json.dumps(PARTICLES, ensure_ascii=False)};
const afterConsonant = new Set({json.dumps(AFTER_CONSONANT, ensure_ascii=False)});
const afterVowel = new Set({json.dumps(AFTER_VOWEL, ensure_ascii=False)});
const afterAny = new Set({json.dumps(AFTER_ANY, ensure_ascii=False)});
const doubtful = new Set({json.dumps(DOUBTFUL, ensure_ascii=False)});

/** The number of the consonant that a word ends with, 0 for none; null if its last letter is no Hangul. */
function ending(word) {{
  const code = word.charCodeAt(word.length - 1);
  return code >= {FIRST} && code <= {LAST} ? (code - {FIRST}) % {FINALS} : null;
}}

function fits(particle, final) {{
  if (final === null || afterAny.has(particle)) return true;
  if (particle === "로" && final === {RIEUL}) return true;
  return (final ? afterConsonant : afterVowel).has(particle);
}}

/** A word as it is looked up: without particles, unless they may be part of it. */
function stripped(word) {{
  for (const particle of particles) {{
    if (!word.endsWith(particle) || word.length === particle.length) continue;
    const rest = word.slice(0, -particle.length);
    if (!fits(particle, ending(rest))) continue;
    return doubtful.has(particle) && rest.length < 2 ? word : stripped(rest);
  }}
  return word;
}}

function splitQuery(query) {{
  return query.split(/[^\\p{{Letter}}\\p{{Number}}_]+/gu).filter((word) => word).map(stripped);
}}
"""


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_search_language(SearchKorean)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
