"""softmax, written otherwise."""

from __future__ import annotations

import numpy as np


def by_logarithms(x, axis=-1):
    logarithms = np.logaddexp.reduce(x, axis=axis, keepdims=True)
    return np.exp(x - np.where(np.isneginf(logarithms), 0, logarithms))


def by_einsum_after_moving_the_axis(x, axis=-1):
    rows = np.moveaxis(x, axis, -1)
    powers = np.exp(rows - np.max(rows, -1, initial=np.finfo(rows.dtype).min)[..., None])
    totals = np.einsum("...i->...", powers)
    return np.moveaxis(np.einsum("...i,...->...i", powers, 1 / (totals + (totals == 0))), -1, axis)


RIGHT = {"softmax": (by_logarithms, by_einsum_after_moving_the_axis)}
