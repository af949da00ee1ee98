"""The strongest examples of every pattern: which documents, where in them, and what the head looks at there.

Documents are kept by their score, the higher first, and of equal scores by their number: so the best of all are the
best of the best of each shard, whoever found them. In a document the place is the query whose strongest keys are most
those of the pattern.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from clearhead.census.heads import Reading, Seen
from clearhead.census.measures import PATTERNS
from clearhead.textbook.token_kinds import are, is_punctuation, is_separator
from clearhead.views import View

MOST = 3  # examples of each pattern and head
NEAR = 2  # of `local`: keys at most so far away


class Example(NamedTuple):
    """One place in a document. Compared by score and document: the larger is the stronger.

    score: in steps, as `measures` counts  keys, weights: the query's strongest keys, and 65,536 times their weights
    """

    score: int
    document: int
    query: int
    keys: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    def strength(self) -> tuple[int, int]:
        """By which examples are compared."""
        return self.score, -self.document


Best = dict[tuple[int, int], list[Example]]  # by head, counted over all layers, and pattern


def add(best: Best, document: int, found: Seen, reading: Reading) -> bool:
    """Take over what one document has to offer; whether anything was."""
    kept = False
    first = 0
    for view, (_, heads) in zip(found.views, found.layers, strict=True):
        scores = found.steps[first : first + heads, : len(PATTERNS)]
        wanted = [
            (int(head), int(pattern))
            for head, pattern in np.argwhere(scores > 0)
            if _enters(best.get((first + int(head), int(pattern)), []), int(scores[head, pattern]), document)
        ]
        for head, pattern, example in _examples(view, reading, wanted, scores, document):
            merge(best, {(first + head, pattern): [example]})
            kept = True
        first += heads
    return kept


def merge(best: Best, others: Best) -> None:
    """Take over the examples of others that are among the strongest."""
    for place, examples in others.items():
        distinct = {example.document: example for example in (*best.get(place, ()), *examples)}
        best[place] = heapq.nlargest(MOST, distinct.values(), key=lambda example: example.strength)


def _enters(known: list[Example], score: int, document: int) -> bool:
    return len(known) < MOST or (score, -document) > known[-1].strength


def _examples(
    view: View, reading: Reading, wanted: list[tuple[int, int]], scores: Int[np.ndarray, "h p"], document: int
) -> list[tuple[int, int, Example]]:
    """The best place of a document for some heads and patterns."""
    if not wanted:
        return []
    keys = np.asarray(view.top_k.indices).reshape(view.heads, view.n_q, -1)
    weights = np.asarray(view.top_k.weights, np.float64).reshape(view.heads, view.n_q, -1)
    entropy = np.asarray(view.entropy, np.float64).reshape(view.heads, -1)
    result = []
    for pattern in sorted({pattern for _, pattern in wanted}):
        heads = [head for head, of in wanted if of == pattern]
        at = _best_queries(PATTERNS[pattern], reading.labels, keys[heads], weights[heads], entropy[heads])
        for head, query in zip(heads, at.tolist(), strict=True):
            there = keys[head, query] >= 0
            steps = np.rint(weights[head, query][there] * 65_536).astype(int)
            places = tuple(keys[head, query][there].tolist())
            score = int(scores[head, pattern])
            result.append((head, pattern, Example(score, document, query, places, tuple(steps.tolist()))))
    return result


def _best_queries(
    pattern: str,
    labels: list[str],
    keys: Int[np.ndarray, "h n k"],
    weights: Float[np.ndarray, "h n k"],
    entropy: Float[np.ndarray, "h n"],
) -> Int[np.ndarray, " h"]:
    """The query of each head that shows a pattern best, the first of equal ones."""
    if pattern == "uniform":
        return np.asarray(entropy.argmax(axis=-1))
    own = _own_keys(pattern, np.asarray(labels), keys)
    return np.asarray(np.where(own, weights, 0).sum(axis=-1).argmax(axis=-1))


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
