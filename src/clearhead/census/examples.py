"""The strongest examples of every pattern: which documents, where in them, and what the head looks at there.

Documents are kept by their score, the higher first. Many heads reach the same score in thousands of them, and the first
ones would say little of the rest: so of equal scores a number decides that is drawn from the tokens. Documents with the
same tokens draw the same number and show the same thing, so only the first of them is kept. All of that is known of a
document alone: so the best of all are the best of the best of each shard, whoever found them.

In a document the place is the query whose strongest keys are most those of the pattern, to a step of 1 / 65,536. One
that has but one key to look at shows no choice and is passed over; of equal ones the place is the middle one, which
has text on both sides.
"""

from __future__ import annotations

import hashlib
import heapq
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from clearhead.census.heads import Reading, Seen, key_counts
from clearhead.census.measures import PATTERNS
from clearhead.textbook.token_kinds import are, is_punctuation, is_separator
from clearhead.views import View

MOST = 3  # examples of each pattern and head
NEAR = 2  # of `local`: keys at most so far away


class Example(NamedTuple):
    """One place in a document.

    score: in steps, as `measures` counts  draw: of its tokens, as `drawn` makes it
    keys, weights: the query's strongest keys, and 65,536 times their weights
    """

    score: int
    draw: int
    document: int
    query: int
    keys: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    def strength(self) -> tuple[int, int, int]:
        """By which examples are compared: the larger is the stronger."""
        return self.score, self.draw, -self.document


Best = dict[tuple[int, int], list[Example]]  # by head, counted over all layers, and pattern


def add(best: Best, document: int, found: Seen, reading: Reading) -> bool:
    """Take over what one document has to offer; whether anything was."""
    kept = False
    first, draw = 0, drawn(reading.ids)
    for view, (_, heads) in zip(found.views, found.layers, strict=True):
        scores = found.steps[first : first + heads, : len(PATTERNS)]
        wanted = [
            (int(head), int(pattern))
            for head, pattern in np.argwhere(scores > 0)
            if _enters(best.get((first + int(head), int(pattern)), []), (int(scores[head, pattern]), draw, -document))
        ]
        for head, pattern, query, keys, weights in _places(view, reading, wanted):
            example = Example(int(scores[head, pattern]), draw, document, query, keys, weights)
            merge(best, {(first + head, pattern): [example]})
            kept = True
        first += heads
    return kept


def merge(best: Best, others: Best) -> None:
    """Take over the examples of others that are among the strongest."""
    for place, examples in others.items():
        distinct: dict[int, Example] = {}
        for example in (*best.get(place, ()), *examples):
            known = distinct.setdefault(example.draw, example)
            distinct[example.draw] = max(known, example, key=_strength)
        best[place] = heapq.nlargest(MOST, distinct.values(), key=_strength)


def drawn(ids: list[int]) -> int:
    """A number that is as good as drawn, and the same for the same tokens."""
    return int.from_bytes(hashlib.blake2b(np.array(ids, "<i8").tobytes(), digest_size=8).digest()) >> 1


def _strength(example: Example) -> tuple[int, int, int]:
    return example.strength


def _enters(known: list[Example], strength: tuple[int, int, int]) -> bool:
    """Whether an example would be kept among those that are known, the strongest first."""
    same = [example for example in known if example.draw == strength[1]]
    return (len(known) < MOST and not same) or strength > (same or known)[-1].strength


def _places(
    view: View, reading: Reading, wanted: list[tuple[int, int]]
) -> list[tuple[int, int, int, tuple[int, ...], tuple[int, ...]]]:
    """The best place of a document for some heads and patterns: head, pattern, query, its keys and their weights."""
    if not wanted:
        return []
    keys = np.asarray(view.top_k.indices).reshape(view.heads, view.n_q, -1)
    weights = np.asarray(view.top_k.weights, np.float64).reshape(view.heads, view.n_q, -1)
    entropy = np.asarray(view.entropy, np.float64).reshape(view.heads, -1)
    decides = key_counts(view) > 1
    result = []
    for pattern in sorted({pattern for _, pattern in wanted}):
        heads = [head for head, of in wanted if of == pattern]
        shown = entropy[heads]
        if PATTERNS[pattern] != "uniform":
            own = _own_keys(PATTERNS[pattern], np.asarray(reading.labels), keys[heads])
            shown = np.where(own, weights[heads], 0).sum(axis=-1)
        for head, query in zip(heads, best_queries(shown, decides[heads]), strict=True):
            there = keys[head, query] >= 0
            steps = np.rint(weights[head, query][there] * 65_536).astype(int)
            result.append((head, pattern, query, tuple(keys[head, query][there].tolist()), tuple(steps.tolist())))
    return result


def best_queries(shown: Float[np.ndarray, "h n"], decides: Bool[np.ndarray, "h n"]) -> list[int]:
    """The query of each head that shows most of a pattern, of those that have a choice; the middle one of equals."""
    steps = np.where(decides, np.rint(shown * 65_536), -1)
    equals = [np.flatnonzero(row == row.max()) for row in steps]
    return [int(queries[len(queries) // 2]) for queries in equals]


def _own_keys(pattern: str, labels: np.ndarray, keys: Int[np.ndarray, "h n k"]) -> Bool[np.ndarray, "h n k"]:
    """Which of the queries' strongest keys are keys of a pattern."""
    query, there = np.arange(len(labels))[:, None], keys >= 0
    if pattern in ("separator", "punctuation"):
        kind = are(is_separator if pattern == "separator" else is_punctuation, labels)
        return np.asarray(there & kind[keys])
    if pattern == "duplicate_token":
        return np.asarray(there & (labels[keys] == labels[query]) & (keys != query))
    if pattern == "induction":
        return np.asarray((keys > 0) & (labels[keys - 1] == labels[query]) & (keys <= query))
    if pattern == "local":
        return np.asarray(there & (abs(keys - query) <= NEAR))
    step = {"self": 0, "previous_token": -1, "next_token": 1}
    return np.asarray(there & (keys == (0 if pattern == "first_token" else query + step[pattern])))
