"""Pairs of sentences as ids, and the batches they are dealt into."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from clearhead.translate.examples import Example
from clearhead.translate.model import padded
from clearhead.translate.vocabulary import BEGIN, END, Vocabulary

POOL = 8  # batches that are sorted by length together


class Corpus(NamedTuple):
    """Pairs as ids: a source ends with END; a target is what stands between BEGIN and END."""

    sources: list[list[int]]
    targets: list[list[int]]

    @classmethod
    def encoded(cls, examples: Iterable[Example], vocabulary: Vocabulary) -> Corpus:
        """The examples' texts in pieces of the vocabulary."""
        pairs = [
            (source_ids(example.source, vocabulary), vocabulary.encode(example.target).ids) for example in examples
        ]
        return cls([source for source, _ in pairs], [list(target) for _, target in pairs])

    def __len__(self) -> int:  # of pairs, not of fields
        return len(self.sources)

    def select(self, indices: Iterable[int]) -> Corpus:
        chosen = list(indices)
        return Corpus([self.sources[i] for i in chosen], [self.targets[i] for i in chosen])

    @property
    def longest(self) -> tuple[int, int]:
        """Pieces of the longest source, its END counted, and of the longest target."""
        return max(map(len, self.sources)), max(map(len, self.targets))

    def fingerprint(self) -> str:
        """The same for the same ids in the same order, and for nothing else."""
        return hashlib.sha256(repr((self.sources, self.targets)).encode()).hexdigest()


def source_ids(text: str, vocabulary: Vocabulary) -> list[int]:
    """What the encoder reads: the pieces and END, where a word that comes from nothing can look."""
    return [*vocabulary.encode(text).ids, END]


class Batch(NamedTuple):
    """source (b, n_s), what the decoder is given (b, n_t), and what it should write at each position (b, n_t)."""

    source: Int[np.ndarray, "b n_s"]
    given: Int[np.ndarray, "b n_t"]
    wanted: Int[np.ndarray, "b n_t"]


def batch(corpus: Corpus, rows: Sequence[int]) -> Batch:
    """These rows of the corpus, padded."""
    chosen = corpus.select(rows)
    return Batch(
        padded(chosen.sources),
        padded([[BEGIN, *target] for target in chosen.targets]),
        padded([[*target, END] for target in chosen.targets]),
    )


def batches(corpus: Corpus, size: int, rng: np.random.Generator) -> list[list[int]]:
    """Every row of the corpus once, `size` of them in a batch, those of similar lengths together.

    The generator deals the rows into pools of a few batches. Only within a pool are they sorted by length, so a batch
    has little padding and is still a mixture: sorted all in all, sentences of one form would always meet.
    """
    lengths = [len(source) + len(target) for source, target in zip(corpus.sources, corpus.targets, strict=True)]
    order = rng.permutation(len(corpus)).tolist()
    pools = [order[start : start + POOL * size] for start in range(0, len(order), POOL * size)]
    ranked = [sorted(pool, key=lengths.__getitem__) for pool in pools]
    found = [pool[start : start + size] for pool in ranked for start in range(0, len(pool), size)]
    return [found[i] for i in rng.permutation(len(found))]
