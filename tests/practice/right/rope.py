"""rope, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def as_complex_numbers(x, positions=None):
    n, d = x.shape[-2:]
    positions = np.arange(n) if positions is None else np.asarray(positions)
    hands = np.exp(1j * np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d)))
    points = (x[..., : d // 2] + 1j * x[..., d // 2 :]) * hands
    return np.concatenate([points.real, points.imag], axis=-1)


def by_rotating_halves(x, positions=None):
    half = x.shape[-1] // 2
    seats = np.arange(x.shape[-2]) if positions is None else positions
    angles = np.multiply.outer(seats, np.exp(-np.log(10000) * np.arange(half) / half))
    angles = np.tile(angles, 2)
    return x * np.cos(angles) + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * np.sin(angles)


def row_by_row(x, positions=None):
    n, d = x.shape[-2:]
    turned = np.array(x)
    for row in range(n):
        p = row if positions is None else positions[row]
        for i in range(d // 2):
            angle = p * 10000 ** (-2 * i / d)
            c, s = np.cos(angle), np.sin(angle)
            turned[..., row, [i, i + d // 2]] = x[..., row, [i, i + d // 2]] @ np.array([[c, s], [-s, c]])
    return turned


def by_the_textbook(x, positions=None):
    return ch.rope(x, positions)


RIGHT = {"rope": (by_the_textbook, as_complex_numbers, by_rotating_halves, row_by_row)}
