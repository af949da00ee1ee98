"""padding_mask, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def by_reshape(token_ids, pad_id=0):
    *leading, n = token_ids.shape
    return np.logical_not(np.equal(token_ids, pad_id)).reshape(*leading, 1, 1, n)


def word_by_word(token_ids, pad_id=0):
    if token_ids.ndim > 1:
        return np.stack([word_by_word(sentence, pad_id) for sentence in token_ids])
    return np.array([[[token != pad_id for token in token_ids]]])


def by_the_textbook(token_ids, pad_id=0):
    return ch.create_padding_mask(token_ids, pad_id)


RIGHT = {"padding_mask": (by_the_textbook, by_reshape, word_by_word)}
