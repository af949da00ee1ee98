"""Texts as people may write them and no grammar does, to see whether a translator notices that they are not for it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from clearhead.translate.examples import Example
from clearhead.translate.vocabulary import Vocabulary

# The form of a particle that follows other sounds.
OTHER_FORM = dict(zip("이가은는을를과와", "가이는은를을와과", strict=True))


class Odd(NamedTuple):
    """A text that nobody taught, and its translation; None if no answer to it is right."""

    text: str
    target: str | None


def odd_texts(examples: Sequence[Example], vocabulary: Vocabulary, count: int, seed: int = 0) -> list[Odd]:
    """At most `count` texts as people may write them and no grammar does, in words that are known, of every kind alike:
    without a particle, with the wrong form of one, without a space, with the verb not at the end, or in no order.
    """
    generator = random.Random(seed)
    several = [example for example in examples if len(example.source.split()) > 2]
    known = {example.source for example in examples}
    found = []
    for number in range(count if len(several) > 1 else 0):
        one, other = generator.sample(several, 2)
        change = CHANGES[number % len(CHANGES)]
        odd = _dealt(one, other) if change is None else Odd(change(generator, one.source, vocabulary), one.target)
        if odd.text not in known and not vocabulary.unknown(odd.text):
            found.append(odd)
    return found


def _dealt(one: Example, other: Example) -> Odd:
    """The words of two texts, alternately."""
    words = zip(one.source.split(), other.source.split(), strict=False)
    return Odd(" ".join(word for pair in words for word in pair), None)


def _without_a_particle(generator: random.Random, text: str, vocabulary: Vocabulary) -> str:
    """고양이 쥐를 잡았다: of a word before the last one, its last piece is left off."""
    words = text.split()
    cut = [vocabulary.encode(word).spans for word in words[:-1]]
    places = [place for place, spans in enumerate(cut) if len(spans) > 1]
    if places:
        place = generator.choice(places)
        words[place] = words[place][: cut[place][-1][0]]
    return " ".join(words)


def _with_the_wrong_particle(generator: random.Random, text: str, vocabulary: Vocabulary) -> str:
    """고양이이 쥐를 잡았다: the form of a particle that follows other sounds."""
    words = text.split()
    places = [place for place, word in enumerate(words[:-1]) if len(word) > 1 and word[-1] in OTHER_FORM]
    if places:
        place = generator.choice(places)
        words[place] = words[place][:-1] + OTHER_FORM[words[place][-1]]
    return " ".join(words)


def _without_a_space(generator: random.Random, text: str, vocabulary: Vocabulary) -> str:
    """고양이가 쥐를잡았다"""
    words = text.split()
    place = generator.randrange(len(words) - 1)
    return " ".join([*words[:place], words[place] + words[place + 1], *words[place + 2 :]])


def _verb_first(generator: random.Random, text: str, vocabulary: Vocabulary) -> str:
    """잡았다 고양이가 쥐를: the last word anywhere else"""
    *words, last = text.split()
    words.insert(generator.randrange(len(words)), last)
    return " ".join(words)


CHANGES = (None, _without_a_particle, _with_the_wrong_particle, _without_a_space, _verb_first)
