"""How much a head looks like a pattern: how much of its attention is on the pattern's keys, times how evenly.

    score of a query = A · exp(H) / c        A   its weight on the c keys of the pattern, all together
                                             H   the entropy of how A is spread over them

exp(H) keys, all alike, would have that entropy, so exp(H) / c is the part of the keys that is in use. The score of a
head is the mean over its queries. It is 1 for the pattern itself and for nothing else, whatever the length, 0 where
none of its keys is looked at, and for a pattern of a single key it is the weight.

Tokens do not say which of their places matters, so the patterns of tokens count mass alone, above what an even head
would leave there by chance: (A − c/n) / (1 − c/n) with n keys in all, over the queries that have such a key.

A and H are sums over keys, and sums can be taken while the weights stream by and are forgotten. That is how
`clearhead.look(…).patterns()` finds the same names and scores without the matrix; here they are read off the whole.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from clearhead.textbook.masks import AnyMask, create_causal_mask, mask_for_scores
from clearhead.textbook.relative import distances

NEAR_RADII = tuple(range(1, 33))  # of the windows that are tried; beyond 32 only a few,
WIDE_RADII = (64, 128, 256, 512)  # and what is further away is not local
DIGITS = 5  # scores that agree in so many are equal, so that rounding names no head


def position_keys(n_q: int, n_k: int) -> dict[str, Bool[np.ndarray, "n_q n_k"]]:
    """The keys of each pattern that is told by position alone, by name; `window_keys` has those of local."""
    distance, key = distances(n_q, n_k), np.arange(n_k)
    query = distance + key  # the position of each query among the keys
    return {
        "self": distance == 0,
        "previous_token": (key == np.maximum(query - 1, 0)) & (query >= 0),
        "first_token": np.broadcast_to(key == 0, (n_q, n_k)),
        "uniform": np.ones((n_q, n_k), dtype=bool),
    }


def window_keys(n_q: int, n_k: int, radius: int | Int[np.ndarray, "*heads"]) -> Bool[np.ndarray, "... n_q n_k"]:
    """The keys at most `radius` away: one radius, or one for each head (…) → (…, n_q, n_k)"""
    keys: np.ndarray = np.abs(distances(n_q, n_k)) <= np.asarray(radius)[..., None, None]
    return keys


def token_keys(token_ids: ArrayLike, shape: tuple[int, ...]) -> dict[str, Bool[np.ndarray, "... n_q n_k"]]:
    """The keys of each pattern of tokens, by name.

    token_ids (*batch, n_k) or (n_k), the queries being the last of them; `shape` is that of the weights
    → (*batch, 1, n_q, n_k), or (n_q, n_k) if there is no head axis
    """
    *leading, n_q, n_k = shape
    ids = checked_token_ids(token_ids, n_q, n_k, tuple(leading[:-1]))
    ids = ids[..., None, :] if leading else ids
    same = ids[..., n_k - n_q :, None] == ids[..., None, :]
    after_same = np.concatenate([np.zeros_like(same[..., :1]), same[..., :-1]], axis=-1)  # one key further on
    distance = distances(n_q, n_k)
    return {"duplicate_token": same & (distance != 0), "induction": after_same & (distance > 0)}


def checked_token_ids(
    token_ids: ArrayLike, n_q: int, n_k: int, batch_shape: tuple[int, ...]
) -> Int[np.ndarray, "*batch n_k"]:
    """One token id for each key and batch entry: → (*batch, n_k)"""
    ids = np.asarray(token_ids)
    if ids.dtype.kind not in "iu":
        raise TypeError(f"token_ids must be whole numbers, got {ids.dtype.name} of shape {ids.shape}")
    if n_q > n_k:
        raise ValueError(
            f"token_ids name the tokens of queries and keys alike, but {n_q} queries cannot be the last positions of "
            f"{n_k} keys"
        )
    try:
        return np.broadcast_to(ids, (*batch_shape, n_k))
    except ValueError:
        raise ValueError(
            f"token_ids need one id for each of the {n_k} keys, shape {(*batch_shape, n_k)} or {(n_k,)}, "
            f"got shape {ids.shape}"
        ) from None


def allowed_keys(weights: Float[np.ndarray, "... n_q n_k"], mask: AnyMask | None) -> Bool[np.ndarray, "... n_q n_k"]:
    """Which keys each query may attend to, by the mask that the weights were made with.

    Without a mask, a head in which no query looks ahead is taken for a causal one, and any other may look everywhere.
    """
    if mask is None:
        past = create_causal_mask(*weights.shape[-2:])
        looks_ahead = ((weights > 0) & ~past).any(axis=(-2, -1))
        return past | looks_ahead[..., None, None]
    mask = mask_for_scores(mask, weights.shape)
    allowed = np.broadcast_to(mask if mask.dtype == np.bool_ else ~np.isneginf(mask), weights.shape)
    forbidden = np.argwhere((weights > 0) & ~allowed)
    if len(forbidden):
        place = tuple(map(int, forbidden[0]))
        raise ValueError(
            f"weights[{', '.join(map(str, place))}] is {weights[place]:.3g}, but the mask forbids that query this key; "
            "pass the mask that the weights were made with"
        )
    return allowed


def mass_on(
    weights: Float[np.ndarray, "... n_q n_k"], keys: Bool[np.ndarray, "... n_q n_k"]
) -> Float[np.ndarray, "... n_q"]:
    """A: how much of its attention each query gives to its keys of a pattern."""
    return np.asarray(np.where(keys, weights, 0).sum(axis=-1))


def even_mass_on(
    weights: Float[np.ndarray, "... n_q n_k"], keys: Bool[np.ndarray, "... n_q n_k"]
) -> Float[np.ndarray, "... n_q"]:
    """A · exp(H) / c: the same, times how evenly it is spread over those keys."""
    mass, count = mass_on(weights, keys), keys.sum(axis=-1)
    shares = np.where(keys, weights, 0) / np.where(mass == 0, 1, mass)[..., None]
    entropy = -(shares * np.log(shares, out=np.zeros_like(shares), where=shares > 0)).sum(axis=-1)
    return np.asarray(mass * np.exp(entropy) / np.maximum(count, 1))


def above_chance(
    weights: Float[np.ndarray, "... n_q n_k"],
    keys: Bool[np.ndarray, "... n_q n_k"],
    allowed: Bool[np.ndarray, "... n_q n_k"],
    queries: Bool[np.ndarray, "... n_q"],
) -> Float[np.ndarray, "*heads"]:
    """Σ (A − chance) / Σ (1 − chance) over some queries, where chance is what an even head would leave on the keys."""
    chance = keys.sum(axis=-1) / np.maximum(allowed.sum(axis=-1), 1)
    above = np.where(queries, mass_on(weights, keys) - chance * weights.sum(axis=-1), 0).sum(axis=-1)
    possible = np.where(queries, 1 - chance, 0).sum(axis=-1)
    return np.asarray(np.clip(above / np.where(possible == 0, 1, possible), 0, 1))


def mean_over(
    queries: Bool[np.ndarray, "... n_q"], scores: Float[np.ndarray, "... n_q"]
) -> Float[np.ndarray, "*heads"]:
    """The mean over some of the queries, 0 if there are none: scores (…, n_q) → (…)"""
    total = np.where(queries, scores, 0).sum(axis=-1)
    return np.asarray(np.minimum(total / np.maximum(queries.sum(axis=-1), 1), 1))  # rounding may reach past 1


def tried_radii(n_k: int) -> list[int]:
    """The radii of the windows that are tried: less than all keys, and the wide ones at most half of them."""
    near = [radius for radius in NEAR_RADII if radius == 1 or radius < n_k - 1]
    return near + [radius for radius in WIDE_RADII if radius <= (n_k - 1) // 2]


def best_radius(
    weights: Float[np.ndarray, "... n_q n_k"],
    allowed: Bool[np.ndarray, "... n_q n_k"],
    queries: Bool[np.ndarray, "... n_q"],
) -> Int[np.ndarray, "*heads"]:
    """The radius of the window that fits each head best: → (…)

    A window of more than half the sequence is nearly uniform, and noise alone would often prefer one to uniform. It
    counts only where it leaves at most half as much unexplained.
    """
    n_q, n_k = weights.shape[-2:]
    unexplained = 1 - mean_over(queries, even_mass_on(weights, allowed))
    best, best_radius = np.full(weights.shape[:-2], -1.0), np.ones(weights.shape[:-2], dtype=int)
    for radius in tried_radii(n_k):
        score = mean_over(queries, even_mass_on(weights, allowed & window_keys(n_q, n_k, radius)))
        fits = (radius <= max((n_k - 1) // 2, 1)) | (1 - score <= unexplained / 2)
        better = fits & (np.round(score, DIGITS) > best)
        best, best_radius = np.where(better, np.round(score, DIGITS), best), np.where(better, radius, best_radius)
    return best_radius
