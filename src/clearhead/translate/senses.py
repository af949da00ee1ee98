"""Whether a translation took each word in a meaning that goes with the words beside it.

Some words have several meanings, and what stands beside them tells which: 모자를 쓰다 is to wear, 편지를 쓰다 to write;
what one drinks is tea, and what one drives a car, though both are 차. The lexicon says what goes with what. So an
answer is doubted if it says another meaning than the one that goes, or if more than one does and nothing tells which.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Sequence

from clearhead.languages import Said
from clearhead.translate import english, korean, lexicon, words
from clearhead.translate.korean import Stem
from clearhead.translate.lexicon import Adjective, Noun, Verb
from clearhead.translate.usage import (
    FOCUS,
    OBJECT,
    THERE,
    TOPIC,
    adjectives_of,
    is_place,
    object_of,
    objects_of,
    predicates,
    verbs_of,
    without_particles,
    words_of,
)

# Tea is a drink; the grammar only draws it by its own name, since nothing but its counter tells it from a car.
TEA, DRINKS = set(lexicon.nouns("tea")), set(lexicon.nouns("drink"))
SUBJECT = korean.PARTICLES["subject"]
BE = {"is", "are", "was", "were", "be", "am"}
MANY = Stem("많")
BEFORE_HELPERS = ("고", "수")  # 먹고 있다, 먹을 수 있다: not there, but under way, and able


def other_meaning(text: str, answer: str) -> Said | None:
    """What speaks against an answer by the meanings it gives to words that have several; None if nothing does."""
    said = words_of(text)
    written = set(re.findall(r"[a-z]+", answer.lower()))
    stems = predicates(said)
    for place, word in enumerate(said):
        its = next((later for later in range(place + 1, len(said)) if stems[later]), None)
        if its is None:
            continue
        noun = object_of(said[: place + 1])
        if noun and not _right_verb(noun, verbs_of(stems[its]), written):
            return words.OTHER_MEANING.filled(word=word, predicate=said[its])
        before_noun = said[its] in ("있는", "없는")
        if stems[its] & THERE and not before_noun and _simply_there(said, place, its) and not written & BE:
            return words.OTHER_MEANING.filled(word=word, predicate=said[its])
        if MANY in stems[its] and any(map(is_place, said[:its])) and "there" not in written:  # 방에 책이 많다
            return words.OTHER_MEANING.filled(word=word, predicate=said[its])
        fitting = _fitting(said, place, its, verbs_of(stems[its]), adjectives_of(stems[its]))
        if len(fitting) > 1:
            meanings = ", ".join(one.english for one in fitting)
            return words.SEVERAL_MEANINGS.filled(word=word, meanings=meanings, predicate=said[its])
        if fitting and not _says_noun(fitting[0], written):
            return words.OTHER_MEANING.filled(word=word, predicate=said[its])
    return None


def _right_verb(noun: str, verbs: Sequence[Verb], written: set[str]) -> bool:
    """Whether an answer has a verb that goes with an object; where the object does not tell, any verb is right."""
    verbs = [verb for verb in verbs if verb.shape not in ("double", "weather")]
    going = [verb for verb in verbs if noun in {one.korean for one in objects_of(verb)}]
    if not going or len({verb.english for verb in verbs}) == 1:
        return True
    return any(_says_verb(verb, written) for verb in going)


def _says_verb(verb: Verb, written: set[str]) -> bool:
    """Whether a verb is there in any of its forms: wait, waits, waited or waiting, and for."""
    first, *others = verb.english.split()
    past = (verb.past.split()[0],) if verb.past else english.with_ed(first)
    forms = {"".join(form) for form in (past, english.with_s(first), english.with_ing(first))}
    return bool(written & {first, *forms}) and set(others) <= written


def _says_noun(noun: Noun, written: set[str]) -> bool:
    *_, last = noun.english.lower().split()
    return bool(written & {last, "".join(english.with_s(last)), noun.plural})


@functools.cache
def _had() -> frozenset[str]:
    """Everything that one may have, as 시간이 있다 says."""
    return frozenset(noun.korean for verb in verbs_of(frozenset(THERE)) for noun in objects_of(verb))


def _simply_there(said: Sequence[str], place: int, its: int) -> bool:
    """Whether what is there is nothing that one has, and nobody is named who does: 손님이 없다."""
    marks = (*SUBJECT, *TOPIC, *FOCUS)
    noun = _marked(said[place], marks)
    known = {one.korean for one in lexicon.NOUNS if "dated" not in one.kinds.split()}  # 오늘 has nothing
    owners = known | set(lexicon.COUNTERS)
    others = any(_marked(word, marks) in owners for word in (*said[:place], *said[place + 1 : its]))
    helping = its - 1 > place and said[its - 1].endswith(BEFORE_HELPERS)
    return noun in known and not others and not helping and noun not in _had()


def _marked(word: str, particles: Iterable[str]) -> str | None:
    """The noun that a word is, with one of these particles."""
    return without_particles(word[:-1]) if len(word) > 1 and word.endswith(tuple(particles)) else None


def _fitting(
    said: Sequence[str], place: int, its: int, verbs: Sequence[Verb], adjectives: Sequence[Adjective]
) -> list[Noun]:
    """The meanings of a noun that go with its predicate, its adjective and its counter; none of a noun that has one."""
    word = said[place]
    noun = object_of(said[: place + 1]) or _marked(word, (*TOPIC, *SUBJECT, *FOCUS))
    meanings = [one for one in lexicon.NOUNS if one.korean == noun]
    if len({one.english for one in meanings}) < 2:
        return []
    done = _marked(word, SUBJECT) is None
    going = {one for verb in verbs if done or verb.shape == "double" for one in objects_of(verb)}
    if _marked(word, OBJECT) is None:
        going |= {one for verb in verbs for subjects, _ in verb.takes for one in lexicon.nouns(subjects)}
        going |= {one for adjective in adjectives for one in lexicon.nouns(adjective.nouns)}
    going |= TEA if going >= DRINKS else set()
    before = [adjective for adjective in lexicon.ADJECTIVES if place and said[place - 1] == _before_noun(adjective)]
    counted = [one for one in meanings if any(_counts(one, pair) for pair in itertools.pairwise(said))]
    suited = [one for one in meanings if any(one in lexicon.nouns(adjective.nouns) for adjective in before)]
    if counted or len(suited) == 1:
        return counted or suited
    return [one for one in meanings if one in going]


@functools.cache
def _before_noun(adjective: Adjective) -> str:
    return adjective.stem.text if adjective.whole else "".join(korean.modifier(adjective.stem))


def _counts(noun: Noun, pair: tuple[str, str]) -> bool:
    """Whether two words are a number and the counter of a noun, with a particle or without: 두 잔을."""
    number, counter = pair
    numbered = number.isdecimal() or number in lexicon.HOURS
    return numbered and bool(noun.counter) and counter.startswith(noun.counter)
