"""Whether a Korean sentence leaves out what English has to say, and what the grammar never leaves out.

Korean need not say what one has read, nor who goes along: 저도 읽었어요, 같이 갔어요. A model that has only learned
sentences in which it is said finds something all the same, I read me too. So a sentence is doubted if its verb always
has an object and there is none, or one that may as well do it; and if it is done together, and not by many. What one
knows need not be said, and 같이 가요 says that it is us.

As in `usage`, words are told apart by the lexicon's lists alone.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from clearhead.languages import Said
from clearhead.translate import korean, lexicon, words
from clearhead.translate.dictionary import QUESTIONS
from clearhead.translate.korean import Stem
from clearhead.translate.phrases import LIVING, POINTED
from clearhead.translate.to_korean import DO_NOT as DO_NOT_BY_STYLE
from clearhead.translate.usage import (
    AFTER_STEMS,
    FOCUS,
    NOT,
    OBJECT,
    TOPIC,
    adjectives_of,
    predicates,
    verbs_of,
    without_particles,
    words_of,
)

DOING = (*korean.PARTICLES["subject"], *TOPIC, "께서")
WITH = (*korean.PARTICLES["and"], *korean.PARTICLES["or so"], "하고")
TOGETHER = {adverb.korean for adverb in lexicon.ADVERBS if adverb.english == "together"}
LET_US = ("자", "시다", "말자", "맙시다")
DO_NOT = tuple(DO_NOT_BY_STYLE.values())
BEFORE_NOUNS = ("있는", "없는")
ASKED_FOR = ("뭘", *(word for word, english in QUESTIONS.items() if english in ("who", "what")))
SEVERAL = {noun.korean for noun in lexicon.NOUNS if "several" in noun.kinds.split()}
SHORT = ("내", "제", "네")  # 내가
PRONOUNS = {noun.korean for noun in lexicon.PRONOUNS}
NOUNS = {noun.korean: noun for noun in lexicon.NOUNS}


def left_out(text: str) -> Said | None:
    """What a sentence does not say and should; None if it says all."""
    said = words_of(text)
    stems = predicates(said)
    beginning = 0
    for place, word in enumerate(said):
        if not stems[place] or (word in NOUNS and place < len(said) - 1):  # 차 안에, and not 차 for kicking it
            continue
        needing = _always_done_to_something(stems[place]) and not _helping(said, stems, place)
        needing = needing and not _before_its_object(said, place) and not _knows(said[beginning:place], stems[place])
        behind = [] if any(stems[place + 1 :]) else said[place + 1 :]  # 사랑해 너를
        told = said[-1] in DO_NOT  # 소년만 무서워하지 마, which is said to nobody else
        if needing and not _has_object([*said[beginning:place], *behind], said[:beginning], told=told):
            return words.NO_OBJECT.filled(verb=word)
        if (
            word not in _relatives() and word not in BEFORE_NOUNS
        ):  # what stands before 편의점 옆에 있는 may be of the rest
            beginning = place + 1
    alone = None if _proposed(said, text) else _alone(said)
    return words.NOBODY_ELSE.filled(word=alone) if alone else None


def _before_its_object(said: Sequence[str], place: int) -> bool:
    """Whether a verb stands before the noun to which it is done: 어제 산 옷."""
    following = said[place + 1] if place + 1 < len(said) else ""
    return said[place] in _relatives() and bool(following) and not AFTER_STEMS.fullmatch(following)


@functools.cache
def _relatives() -> frozenset[str]:
    tenses = ("past", "present", "future")
    return frozenset("".join(korean.relative(verb.stem, tense)) for verb in lexicon.VERBS for tense in tenses)


def _knows(before: Sequence[str], stems: frozenset[Stem]) -> bool:
    """Whether it says who knows, and not what, which it need not; 민수도 알아요 may as well say whom."""
    if not all(verb.english == "know" for verb in verbs_of(stems)):
        return False
    focused = [without_particles(word) for word in before if word.endswith(FOCUS)]
    return all(noun in SHORT or noun in PRONOUNS for noun in focused if noun is not None)


def _proposed(said: Sequence[str], text: str) -> bool:
    """Whether 같이 is said with -아요, by which Korean proposes something; 같이 갔어요 does not, nor does 같이 가요?"""
    last = said[-1] if said else ""
    if not last.endswith("요") or last.endswith(("예요", "에요", "세요")) or text.rstrip().endswith("?"):
        return False
    past = last.endswith("어요") and len(last) > 2 and korean.letters(last[-3]).final == "ㅆ"
    return not past and not any(word.endswith(DOING) and _is_someone_or_something(word) for word in said)


def _always_done_to_something(stems: frozenset[Stem]) -> bool:
    """Whether all that a word may be is a verb with an object."""
    verbs = verbs_of(stems)
    objects = [taken for verb in verbs for _, taken in verb.takes]
    return bool(verbs) and all(objects) and {verb.shape for verb in verbs} <= {"", "give"} and not adjectives_of(stems)


def _helping(said: Sequence[str], stems: Sequence[frozenset[Stem]], place: int) -> bool:
    """Whether it follows another predicate, whose verb it only helps: 배워야 하다, 불러 주다, 공부 안 하다."""
    before = [number for number in range(place) if said[number] not in NOT]
    return bool(before) and (bool(stems[before[-1]]) or said[before[-1]] == "싶어")


def _has_object(before: Sequence[str], earlier: Sequence[str], *, told: bool) -> bool:
    """Whether one of the words before a verb is its object, as its particle says, or as it has none.

    earlier: the clauses before; of 그는 형도 알고 누나도 안다 the second says the same as the first
    """
    again = [word for word in earlier if word.endswith(FOCUS) and _is_someone_or_something(word)]
    every = [*earlier, *before] if again else before
    doing = [word for word in every if word.endswith(DOING) and _is_someone_or_something(word)]
    for word in before:
        noun = without_particles(word)
        if word.startswith(ASKED_FOR) or (word.endswith(OBJECT) and noun is not None):
            return True
        if noun == word and noun in NOUNS:  # 영화 봤어
            return True
        if word.endswith(FOCUS) and noun in NOUNS and (doing or told or not _may_do_it(noun)):
            return True
        if word.endswith(TOPIC) and noun in NOUNS and noun != word and not _may_do_it(noun):  # 커피는 안 마셔요
            return True
    return len(doing) > 1  # 빵은 동생이 먹었다


def _is_someone_or_something(word: str) -> bool:
    """Whether a word is a noun with a particle, 내가 among them."""
    noun = without_particles(word)
    return noun != word and (noun in SHORT or noun in NOUNS)


def _may_do_it(noun: str) -> bool:
    return NOUNS[noun] in LIVING or (bool(NOUNS[noun].oblique) and NOUNS[noun] not in POINTED)


def _alone(said: Sequence[str]) -> str | None:
    """The word that says together, where nobody is named with whom, nor many, nor does the ending say that it is us."""
    place = next((place for place, word in enumerate(said) if word in TOGETHER), None)
    if place is None or said[-1].endswith(LET_US):
        return None
    many = any(_are_many(word) for word in said)
    numbered = any(word in lexicon.HOURS or word[0].isdecimal() for word in said)
    ours = said[:place] == ["우리"]  # 우리 같이 가요
    return None if many or numbered or ours else said[place]


def _are_many(word: str) -> bool:
    """우리는, 아이들이, 친구와: but 우리 may be whose it is."""
    noun = without_particles(word)
    marked = noun is not None and word != noun
    return marked and (noun in SEVERAL or word.endswith(WITH) or word[len(noun or "") :].startswith("들"))
