"""Attention near the query: a band of weights on either side of it, and how much it looks like an even window.

Within the band every radius costs no more than a running sum, so all of them are tried at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from clearhead.textbook.pattern_scores import NEAR_RADII
from clearhead.views import windows
from clearhead.views.allowed import allowed, every_head

if TYPE_CHECKING:
    from clearhead.views.view import View


BAND = max(NEAR_RADII)  # keys on either side


class Bands(NamedTuple):
    """Windows of several radii: their mean scores over each of several sets of queries, and that of an even head."""

    scores: list[Float[np.ndarray, "*lead radii"]]
    chance: Float[np.ndarray, "*lead radii"]  # over the first set


def band_scores(
    view: View, radii: list[int], sets: list[Bool[np.ndarray, "*lead n_q"]], counts: Int[np.ndarray, "*lead n_q"]
) -> Bands:
    """The mean score of a window of each radius, over sets of queries that may attend to `counts` keys each."""
    sums = [np.zeros((*view.call.lead, len(radii))) for _ in (*sets, "chance")]
    flat = [at.reshape(*view.call.lead, view.n_q) for at in (*sets, sets[0])]
    every = np.maximum(counts, 1).reshape(*view.call.lead, view.n_q)
    position = np.arange(view.n_q) + view.n_k - view.n_q
    keys = position[:, None] + np.arange(-BAND, BAND + 1)
    for rows, bands in windows.near(view, keys):
        for batch, head in every_head(view.call):
            here, tried = (*batch, head), np.asarray(radii) - 1
            there = _outwards(_attended(view, batch, head, rows, keys[rows]).astype(np.int64))
            scores, chance = _windows(bands[here], there), there / every[here][rows, None]
            for total, at, x in zip(sums, flat, (*(scores for _ in sets), chance), strict=True):
                total[here] += x[at[here][rows]][:, tried].sum(axis=0, dtype=np.float64)
    *means, chances = (
        view.shaped(np.minimum(total / np.maximum(at.sum(axis=-1), 1)[..., None], 1))
        for total, at in zip(sums, flat, strict=True)
    )
    return Bands(means, chances)


def _attended(
    view: View, batch: tuple[int, ...], head: int, rows: slice, keys: Int[np.ndarray, "rows band"]
) -> Bool[np.ndarray, "rows band"]:
    """Which keys of a band there are, and may be attended."""
    there = (keys >= 0) & (keys < view.n_k)
    query = np.arange(rows.start, rows.stop)[:, None]
    return there & allowed(view.call, batch, head, query, np.where(there, keys, 0))


def _windows(
    band: Float[np.ndarray, "rows band"], there: Int[np.ndarray, "rows radii"]
) -> Float[np.ndarray, "rows radii"]:
    """How much each query looks like an even window of radius 1, 2, … BAND, with so many keys: → (rows, BAND)"""
    surprise = -band * np.log(band, out=np.zeros_like(band), where=band > 0)
    return even(_outwards(band), _outwards(surprise), there)


def _outwards(x: np.ndarray) -> np.ndarray:
    """Sums over the keys at most 1, 2, … BAND away: x (rows, 2 · BAND + 1) → (rows, BAND)"""
    sides = x[:, BAND + 1 :] + x[:, BAND - 1 :: -1]
    return np.cumsum(sides, axis=1) + x[:, BAND, None]


def even(mass: np.ndarray, surprise: np.ndarray, count: np.ndarray) -> np.ndarray:
    """A · exp(H) / c: how much of a query's attention is on c keys, times how evenly it is spread over them.

    mass A = Σ w and surprise = −Σ w log w over these keys, so that H = surprise / A + log A
    """
    there = (mass != 0) & (count > 0)
    safe, keys = np.where(there, mass, 1), np.maximum(count, 1)
    entropy = np.minimum(surprise / safe + np.log(safe), np.log(keys))  # rounding may reach past an even one
    return np.where(there, safe * np.exp(entropy) / keys, 0)
