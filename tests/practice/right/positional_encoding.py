"""positional_encoding, written otherwise."""

from __future__ import annotations

import numpy as np

import clearhead as ch


def column_by_column(seq_len, d_model):
    encoding = np.zeros((seq_len, d_model))
    position = np.arange(seq_len)
    for start in range(0, d_model, 2):
        angle = position * np.exp(-np.log(10000.0) * start / d_model)
        encoding[:, start] = np.sin(angle)
        if start + 1 < d_model:
            encoding[:, start + 1] = np.cos(angle)
    return encoding


def as_one_complex_wave(seq_len, d_model):
    frequencies = 10000.0 ** -(np.arange(0, d_model, 2) / d_model)
    hands = np.exp(1j * np.outer(np.arange(seq_len), frequencies))
    return np.stack([hands.imag, hands.real], axis=-1).reshape(seq_len, -1)[:, :d_model]


def by_the_textbook(seq_len, d_model):
    return ch.positional_encoding(seq_len, d_model)


RIGHT = {"positional_encoding": (by_the_textbook, column_by_column, as_one_complex_wave)}
