"""find_the_bug, repaired otherwise."""

from __future__ import annotations

import numpy as np


def attend_by_einsum(Q, K, V):
    scores = np.einsum("...id,...jd->...ij", Q, K) * Q.shape[-1] ** -0.5
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)) @ V


def attend_key_by_key(Q, K, V):
    powers = [
        np.exp((Q * K[..., j : j + 1, :]).sum(-1, keepdims=True) / np.sqrt(K.shape[-1])) for j in range(K.shape[-2])
    ]
    return sum(p * V[..., j : j + 1, :] for j, p in enumerate(powers)) / sum(powers)


def causally_by_adding(Q, K, V):
    scores = Q @ np.moveaxis(K, -1, -2) / K.shape[-1] ** 0.5
    scores = scores + np.triu(np.full(scores.shape[-2:], -np.inf), 1)
    powers = np.exp(scores - scores.max(-1)[..., None])
    return powers @ V / powers.sum(-1)[..., None]


def causally_divided_again(Q, K, V):
    """Masked after the softmax, and divided by what is left: that is right too, with the maximum of what is allowed."""
    scores = Q @ np.moveaxis(K, -1, -2) / K.shape[-1] ** 0.5
    past = np.tri(Q.shape[-2])
    highest = np.max(scores, axis=-1, keepdims=True, where=past > 0, initial=-1e300)
    powers = np.exp(np.minimum(scores - highest, 0)) * past
    return powers / powers.sum(-1, keepdims=True) @ V


def joined_by_concatenation(x):
    return np.concatenate(list(np.moveaxis(x, -3, 0)), axis=-1)


def joined_by_einsum(x):
    return np.einsum("...hnd->...nhd", x).reshape(*x.shape[:-3], x.shape[-2], -1)


def allowed_by_tri(n, n_k):
    return np.tri(n, n_k, n_k - n, dtype=bool)


def allowed_by_cutting(n, n_k):
    return np.tril(np.ones((n_k, n_k), bool))[n_k - n :]


def hidden_by_adding(scores, ids):
    return scores + np.where(ids == 0, -np.inf, 0.0)[:, None]


def hidden_text_by_text(scores, ids):
    hidden = scores.copy()
    for text, its_ids in zip(hidden, ids, strict=True):
        text[:, its_ids == 0] = -np.inf
    return hidden


def code_by_pairs(n, d):
    code = np.empty((n, d))
    angle = np.outer(np.arange(n), 10000.0 ** -(np.arange(0, d, 2) / d))
    code[:, 0::2], code[:, 1::2] = np.sin(angle), np.cos(angle[:, : d // 2])
    return code


def code_by_a_quarter_turn(n, d):
    column = np.arange(d)
    return np.sin(np.arange(n)[:, None] / 10000 ** ((column - column % 2) / d) + column % 2 * np.pi / 2)


def normalised_by_moments(x):
    mean, square = x.mean(-1), (x * x).mean(-1)
    return (x - mean[..., None]) / np.sqrt(square - mean**2 + 1e-5)[..., None]


def normalised_with_the_axis_in_front(x):
    columns = np.moveaxis(x, -1, 0)
    return np.moveaxis((columns - columns.mean(0)) / (columns.var(0) + 1e-5) ** 0.5, 0, -1)


def forced_by_rolling(ids, start):
    given = np.roll(ids, 1, axis=1)
    given[:, 0] = start
    return given, ids.copy()


def forced_by_padding(ids, start):
    return np.pad(ids, ((0, 0), (1, 0)), constant_values=start)[:, : ids.shape[1]], ids


RIGHT = {
    "attend": (attend_by_einsum, attend_key_by_key),
    "attend_causally": (causally_by_adding, causally_divided_again),
    "join_heads": (joined_by_concatenation, joined_by_einsum),
    "allowed_keys": (allowed_by_tri, allowed_by_cutting),
    "hide_padding": (hidden_by_adding, hidden_text_by_text),
    "place_code": (code_by_pairs, code_by_a_quarter_turn),
    "normalise": (normalised_by_moments, normalised_with_the_axis_in_front),
    "teacher_forcing": (forced_by_rolling, forced_by_padding),
}
