"""When a translator is sure of what it says, and when it had better not be.

Three things speak against an answer. One of its pieces was improbable: the least probable one tells more than the mean,
in which nine easy words hide a hard one. Or a word of the source is lost: wherever training links a stem with what it
means, 커피 with coffee, an answer without any of its meanings has left it out. Or a word of the source is strange: put
together from pieces of others, 물개 from 물 and a counter, as no word of training is.

How improbable is too improbable is found on texts that were held out, and on odd ones of a kind that training lacks.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clearhead.text.spans import CONTINUES, Span
from clearhead.translate.examples import Example
from clearhead.translate.vocabulary import END, SPECIAL, Vocabulary

RIGHT = 0.98  # of the answers that are called sure, so many are to be right
NOTICED = 0.8  # and of those that are wrong, so many are not to be called sure
LINKED = 0.98  # a piece has a meaning if it is linked this often
OFTEN = 20  # and is there so often in training that this can be told
UNCALIBRATED = 0.5


class Doubt(NamedTuple):
    """The probability that each piece of a sure answer exceeds, and the target pieces that each source piece may mean.

    With a threshold of 1 it is never sure. `forms` has the pieces that may follow each one within a word of a source,
    END among them where the word may be over; it is empty where that is not known.
    """

    threshold: float = UNCALIBRATED
    meanings: Mapping[int, frozenset[int]] = {}
    forms: Mapping[int, frozenset[int]] = {}

    def lost(self, source: Sequence[int], target: Sequence[int]) -> list[int]:
        """The places of source pieces whose meanings occur in the target less often than they themselves so far."""
        written, read = Counter(target), Counter[int]()
        places = []
        for place, piece in enumerate(source):
            read[piece] += 1
            if piece in self.meanings and sum(written[meaning] for meaning in self.meanings[piece]) < read[piece]:
                places.append(place)
        return places

    def never_read(self, source: Sequence[int]) -> list[int]:
        """The places of pieces that no source of training has, as "eat", which is only ever written."""
        return [place for place, piece in enumerate(source) if self.forms and piece not in self.forms]

    def strange(self, source: Sequence[int], vocabulary: Vocabulary) -> list[int]:
        """The places of pieces that are followed by something that never followed them in training."""
        pairs = zip(source, followers(source, vocabulary), strict=True)
        return [place for place, (piece, after) in enumerate(pairs) if after not in (self.forms.get(piece) or {after})]

    def sure(self, confidence: float, source: Sequence[int], target: Sequence[int]) -> bool:
        """Whether nothing speaks against an answer whose least probable piece has this probability."""
        return confidence > self.threshold and not self.lost(source, target)

    def to_json(self) -> dict[str, Any]:
        meanings = {str(piece): sorted(found) for piece, found in sorted(self.meanings.items())}
        forms = {str(piece): sorted(after) for piece, after in sorted(self.forms.items())}
        return {"threshold": self.threshold, "meanings": meanings, "forms": forms}

    @classmethod
    def from_json(cls, written: Mapping[str, Any] | None) -> Doubt:
        """What `to_json` wrote, back. A file from before there was doubt has none; its own is not calibrated."""
        if written is None:
            return cls()
        meanings, forms = (
            {int(piece): frozenset(found) for piece, found in written.get(name, {}).items()}
            for name in ("meanings", "forms")
        )
        return cls(float(written["threshold"]), meanings, forms)


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


def forms(sources: Iterable[Sequence[int]], vocabulary: Vocabulary) -> dict[int, frozenset[int]]:
    """What followed each piece within a word of these sources. Nothing is listed for a number: all may follow it."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for source in sources:
        pieces = [piece for piece in source if piece >= len(SPECIAL)]
        for piece, after in zip(pieces, followers(pieces, vocabulary), strict=True):
            found[piece].add(after)
    letters = {
        piece: any(map(str.isalpha, label)) for piece, label in zip(found, vocabulary.labels(list(found)), strict=True)
    }
    return {piece: frozenset(found[piece]) if letters[piece] else frozenset() for piece in sorted(found)}


def followers(source: Sequence[int], vocabulary: Vocabulary) -> list[int]:
    """The piece that follows each one within its word, or END where the word is over, or only a sign follows."""
    labels = [*vocabulary.labels(source), ""]
    within = [label.startswith(CONTINUES) and any(map(str.isalnum, label)) for label in labels[1:]]
    return [piece if inside else END for piece, inside in zip([*source[1:], END], within, strict=True)]


class Answer(NamedTuple):
    """How confident an answer was, whether a word of its source is lost in it, and whether it is right."""

    confidence: float
    lost: bool
    right: bool


def threshold(answers: Sequence[Answer]) -> float:
    """The least confidence above which RIGHT of the sure answers are right, and up to which NOTICED of the wrong lie.

    A lost word makes an answer unsure at any confidence. Where no confidence will do it is 1, which none exceeds.
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
            best = math.nextafter(answer.confidence, 0.0)  # which this one just exceeds
    return best
