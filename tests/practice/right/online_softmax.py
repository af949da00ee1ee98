"""online_softmax, written otherwise."""

from __future__ import annotations

import numpy as np


def key_by_key(top, total, mixed, scores, values):
    for column, value in zip(scores.T, values, strict=True):
        higher = np.maximum(top, column)
        old = np.where(np.isneginf(top), 0, np.exp(top - higher))
        new = np.where(np.isneginf(column), 0, np.exp(column - higher))
        total, mixed = total * old + new, mixed * old[:, None] + np.outer(new, value)
        top = higher
    return top, total, mixed


def as_one_more_key(top, total, mixed, scores, values):
    everything = np.concatenate([top[:, None], scores], axis=1)
    highest = everything.max(1)
    powers = np.exp(everything - np.maximum(highest, -1e300)[:, None])
    old, new = powers[:, 0], powers[:, 1:]
    return (
        highest,
        np.einsum("i,i->i", old, total) + new.sum(1),
        mixed * old[:, None] + np.einsum("ij,jv->iv", new, values),
    )


RIGHT = {"online_softmax": (key_by_key, as_one_more_key)}
