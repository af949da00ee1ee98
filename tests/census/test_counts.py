"""Counts add up to the same in any order, and to what plain sums say."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.census.counts import Counts
from clearhead.census.heads import Seen
from clearhead.census.measures import BINS, DISTANCES, LABELS, MEASURES, bins_of

HEADS = 3


def drawn(rng) -> Seen:
    steps = rng.integers(-1, 65_537, (HEADS, len(MEASURES)))
    entropies, distances = rng.integers(0, 9, (HEADS, BINS)), rng.integers(0, 9, (HEADS, DISTANCES))
    return Seen([("x", HEADS)], steps, rng.integers(0, len(LABELS), HEADS), entropies, distances, [])


@pytest.fixture
def documents(rng):
    return [drawn(rng) for _ in range(11)]


def test_counts_are_sums(documents):
    counts = Counts.nothing(HEADS)
    for document in documents:
        counts.add(document)
    steps = np.stack([document.steps for document in documents]).astype(object)
    for head, measure in np.ndindex(HEADS, len(MEASURES)):
        there = [int(x) for x in steps[:, head, measure] if x >= 0]
        found = (counts.n, counts.total, counts.squares, counts.least, counts.most)
        expected = [len(there), sum(there), sum(x * x for x in there), min(there), max(there)]
        assert [x[head, measure] for x in found] == expected
        bins = np.bincount(
            [bins_of(d.steps)[head, measure] for d in documents if d.steps[head, measure] >= 0], minlength=BINS
        )
        assert np.array_equal(counts.bins[head, measure], bins)
    assert counts.names.sum() == HEADS * len(documents)
    assert np.array_equal(counts.entropies, sum(document.entropies for document in documents))


def test_merging_is_free_of_order(documents, rng):
    whole = Counts.nothing(HEADS)
    for document in documents:
        whole.add(document)
    for _ in range(5):
        parts = [Counts.nothing(HEADS) for _ in range(4)]
        for document in rng.permutation(np.arange(len(documents))):
            parts[rng.integers(4)].add(documents[document])
        merged = Counts.nothing(HEADS)
        for part in parts:
            merged.merge(part)
        for name, array in vars(whole).items():
            assert np.array_equal(getattr(merged, name), array), name
