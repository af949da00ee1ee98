"""read_alignment, written otherwise."""

from __future__ import annotations

import numpy as np

from clearhead.matrices import between_groups


def word_by_word(weights, source_words, target_words):
    pieces = np.mean(weights, axis=0)
    found = []
    for v in np.unique(target_words):
        row = pieces[:-1][target_words == v].mean(axis=0)
        found.append(int(np.argmax([row[:-1][source_words == w].sum() for w in np.unique(source_words)])))
    return np.array(found)


def by_running_sums(weights, source_words, target_words):
    table = np.zeros((target_words[-1] + 1, source_words[-1] + 1))
    np.add.at(table, (target_words[:, None], source_words[None]), weights.sum(0)[:-1, :-1])
    return np.argmax(table, axis=1)


def by_the_library(weights, source_words, target_words):
    return between_groups(weights[:, :-1, :-1], target_words, source_words).mean(axis=0).argmax(axis=-1)


RIGHT = {"read_alignment": (word_by_word, by_running_sums, by_the_library)}
