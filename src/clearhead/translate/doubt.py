"""When a translator is sure of what it says, and when it had better not be.

Two things speak against an answer. One of its pieces was improbable: the least probable one tells more than the mean,
in which nine easy words hide a hard one. Or a word of the source is lost: wherever training links a stem with what it
means, 커피 with coffee, an answer without any of its meanings has left it out. How improbable is too improbable is
found on texts that were held out, and on odd ones to which no answer is right.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clearhead.text.spans import Span
from clearhead.translate.examples import Example
from clearhead.translate.vocabulary import Vocabulary

RIGHT = 0.98  # of the answers that are called sure, so many are to be right
NOTICED = 0.8  # and of those that are wrong, so many are not to be called sure
LINKED = 0.98  # a piece has a meaning if it is linked this often
OFTEN = 20  # and is there so often in training that this can be told
UNCALIBRATED = 0.5


class Doubt(NamedTuple):
    """The least probability that a sure answer's pieces have, and the target pieces that each source piece may mean."""

    threshold: float = UNCALIBRATED
    meanings: Mapping[int, frozenset[int]] = {}

    def lost(self, source: Sequence[int], target: Sequence[int]) -> list[int]:
        """The places of source pieces whose meaning does not occur in the target."""
        written = set(target)
        return [place for place, piece in enumerate(source) if not self.meanings.get(piece, written) & written]

    def sure(self, confidence: float, source: Sequence[int], target: Sequence[int]) -> bool:
        """Whether nothing speaks against an answer whose least probable piece has this probability."""
        return confidence >= self.threshold and not self.lost(source, target)

    def to_json(self) -> dict[str, Any]:
        meanings = {str(piece): sorted(found) for piece, found in sorted(self.meanings.items())}
        return {"threshold": self.threshold, "meanings": meanings}

    @classmethod
    def from_json(cls, written: Mapping[str, Any] | None) -> Doubt:
        """What `to_json` wrote, back. A file from before there was doubt has none; its own is not calibrated."""
        if written is None:
            return cls()
        meanings = {int(piece): frozenset(found) for piece, found in written["meanings"].items()}
        return cls(float(written["threshold"]), meanings)


def meanings(examples: Iterable[Example], vocabulary: Vocabulary) -> dict[int, frozenset[int]]:
    """Which target pieces each source piece is linked with, of the pieces that are hardly ever without a link."""
    seen: Counter[int] = Counter()
    linked: Counter[int] = Counter()
    found: defaultdict[int, set[int]] = defaultdict(set)
    for example in examples:
        source, target = vocabulary.encode(example.source), vocabulary.encode(example.target)
        seen.update(source.ids)
        for link in example.links:
            for piece in _within(source.ids, source.spans, link.source)[:1]:  # the stem, and not its endings
                linked[piece] += 1
                found[piece].update(_within(target.ids, target.spans, link.target))
    sure = [piece for piece, count in seen.items() if count >= OFTEN and linked[piece] >= LINKED * count]
    return {piece: frozenset(found[piece]) for piece in sorted(sure)}


def _within(ids: Sequence[int], spans: Sequence[Span], whole: Span) -> list[int]:
    """The pieces that share a character with a span."""
    return [piece for piece, (start, stop) in zip(ids, spans, strict=True) if start < whole[1] and whole[0] < stop]


def odd_texts(sources: Sequence[str], count: int, seed: int = 0) -> list[str]:
    """Texts of known words to which no answer is right: the words of two texts, dealt alternately."""
    generator = random.Random(seed)
    several = [source for source in sources if len(source.split()) > 2]
    if len(several) < 2:
        return []
    texts = []
    for _ in range(count):
        one, other = (text.split() for text in generator.sample(several, 2))
        texts.append(" ".join(word for pair in zip(one, other, strict=False) for word in pair))
    return texts


class Answer(NamedTuple):
    """How confident an answer was, whether a word of its source is lost in it, and whether it is right."""

    confidence: float
    lost: bool
    right: bool


def threshold(answers: Sequence[Answer]) -> float:
    """The least confidence from which on RIGHT of the sure answers are right, and below which NOTICED of the wrong lie.

    A lost word makes an answer unsure at any confidence.
    """
    wrong = sum(not answer.right for answer in answers)
    candidates = sorted((answer for answer in answers if not answer.lost), key=lambda answer: -answer.confidence)
    best, right = 1.0, 0
    for total, answer in enumerate(candidates, start=1):
        right += answer.right
        following = candidates[total].confidence if total < len(candidates) else 0.0
        if answer.confidence == following:
            continue
        unnoticed = total - right
        if right >= RIGHT * total and wrong - unnoticed >= NOTICED * wrong:
            best = answer.confidence
    return best
