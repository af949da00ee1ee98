"""layer_norm, written otherwise."""

from __future__ import annotations

import numpy as np

from clearhead.textbook import norms


def by_numpy(x, gamma, beta, *, eps=1e-5):
    return (x - np.mean(x, -1)[..., None]) * (np.var(x, axis=-1)[..., None] + eps) ** -0.5 * gamma + beta


def with_the_axis_in_front(x, gamma, beta, *, eps=1e-5):
    columns = np.moveaxis(x, -1, 0)
    columns = columns - columns.sum(0) / len(columns)
    scale = np.sqrt(np.einsum("i...,i...->...", columns, columns) / len(columns) + eps)
    return np.moveaxis(columns / scale, 0, -1) * gamma + beta


def by_the_textbook(x, gamma, beta, *, eps=1e-5):
    return norms.layer_norm(x, gamma, beta, eps=eps)


RIGHT = {"layer_norm": (by_numpy, with_the_axis_in_front, by_the_textbook)}
