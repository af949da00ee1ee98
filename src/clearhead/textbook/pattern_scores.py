"""How much a head looks like a pattern: how much of its attention is on the pattern's keys, times how evenly.

    score of a query = A · exp(H) / c        A   its weight on the c keys of the pattern, all together
                                             H   the entropy of how A is spread over them

exp(H) keys, all alike, would have that entropy, so exp(H) / c is the part of the keys that is in use. The score of a
head is the mean over its queries. It is 1 for the pattern itself and for nothing else, whatever the length, 0 where
none of its keys is looked at, and for a pattern of a single key it is the weight.

Tokens do not say which of their places matters, so the patterns of tokens count mass alone, above what an even head
would leave there by chance: (A − c/n) / (1 − c/n) with n keys in all, over the queries that have such a key.

A score supports a name where it is a fifth of the way from the c/n, on average, that an even head has under the same
mask to 1; one that supports uniform is at least a half. A head has the name of its best pattern, and none if the score
does not support that; a pattern of tokens must also be a fifth of the way ahead of those of positions, on its queries.

A and H are sums over keys, and sums can be taken while the weights stream by and are forgotten. That is how
`clearhead.look(…).patterns()` finds the same names and scores without the matrix; here they are read off the whole.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from clearhead.masks import Mask, Sizes, array
from clearhead.textbook.masks import AnyMask, create_causal_mask, mask_for_scores
from clearhead.textbook.relative import distances
from clearhead.textbook.token_kinds import are, is_padding, is_punctuation, is_separator, of_kind

NEAR_RADII = tuple(range(1, 33))  # of the windows that are tried; beyond 32 only a few,
WIDE_RADII = (64, 128, 256, 512)  # and what is further away is not local
DIGITS = 5  # scores that agree in so many are equal, so that rounding names no head
LEAST_SCORE = 0.2  # of what there is above chance must be there before a pattern names a head,
LEAST_UNIFORM = 0.5  # and as many of the keys in use before it is called uniform


def position_keys(
    n_q: int, n_k: int, padding: Bool[np.ndarray, "*lead n_k"] | None = None
) -> dict[str, Bool[np.ndarray, "... n_q n_k"]]:
    """The keys of each pattern that is told by position alone, by name; `window_keys` has those of local.

    → (n_q, n_k), or with padding, which may be at either end, (*lead, n_q, n_k)
    """
    distance, key = distances(n_q, n_k), np.arange(n_k)
    query = distance + key  # the position of each query among the keys
    first, last = (np.asarray(x)[..., None, None] for x in real_ends(padding, n_k))
    inside = (first <= query) & (query <= last)
    return {
        "self": distance == 0,
        "previous_token": (key == np.maximum(query - 1, first)) & inside,
        "next_token": (key == np.minimum(query + 1, last)) & inside,
        "first_token": np.broadcast_to(key == first, (*first.shape[:-2], n_q, n_k)),
        "uniform": np.ones((n_q, n_k), dtype=bool),
    }


def real_ends(
    padding: Bool[np.ndarray, "*lead n_k"] | None, n_k: int
) -> tuple[Int[np.ndarray, "*lead"], Int[np.ndarray, "*lead"]]:
    """The first and the last key that is no padding, or of all keys if all of them are."""
    if padding is None or n_k == 0:
        return np.array(0), np.array(n_k - 1)
    real = ~padding | padding.all(axis=-1, keepdims=True)
    return np.asarray(real.argmax(axis=-1)), np.asarray(n_k - 1 - real[..., ::-1].argmax(axis=-1))


def window_keys(n_q: int, n_k: int, radius: int | Int[np.ndarray, "*heads"]) -> Bool[np.ndarray, "... n_q n_k"]:
    """The keys at most `radius` away: one radius, or one for each head (…) → (…, n_q, n_k)"""
    keys: np.ndarray = np.abs(distances(n_q, n_k)) <= np.asarray(radius)[..., None, None]
    return keys


def token_keys(
    tokens: np.ndarray,
    shape: tuple[int, ...],
    separators: Collection[object] | None = None,
    punctuation: Collection[object] | None = None,
) -> dict[str, Bool[np.ndarray, "... n_q n_k"]]:
    """The keys of each pattern of tokens, by name.

    tokens (*batch, n_k) as `checked_tokens` gives them; `shape` is that of the weights
    → (*batch, 1, n_q, n_k), or (n_q, n_k) if there is no head axis
    """
    *leading, n_q, n_k = shape
    ids = tokens[..., None, :] if leading else tokens
    same = ids[..., n_k - n_q :, None] == ids[..., None, :]
    after_same = np.concatenate([np.zeros_like(same[..., :1]), same[..., :-1]], axis=-1)  # one key further on
    distance = distances(n_q, n_k)
    kinds = {name: x[..., None, :] for name, x in token_kinds(ids, separators, punctuation).items()}
    return {
        "duplicate_token": same & (distance != 0),
        "induction": after_same & (distance > 0),
        **{name: np.broadcast_to(x, same.shape) for name, x in kinds.items()},
    }


def token_kinds(
    tokens: np.ndarray, separators: Collection[object] | None = None, punctuation: Collection[object] | None = None
) -> dict[str, Bool[np.ndarray, "*tokens"]]:
    """Which tokens part texts and which punctuate: those that are named, by id or label, else what labels say."""
    found = {
        "separator": of_kind("separators", tokens, separators, is_separator),
        "punctuation": of_kind("punctuation", tokens, punctuation, is_punctuation),
    }
    return {name: x for name, x in found.items() if x is not None}


def padding_of(
    given: ArrayLike | bool | None, mask: AnyMask | None, tokens: np.ndarray | None, sizes: Sizes
) -> Bool[np.ndarray, "*batch n_k"] | None:
    """Which keys are padding, None if none is: → (*batch, n_k)

    Those that are `given`, or else those that a mask leaves out whose purpose it is: `masks.key_lengths`, and flags
    (…, 1, 1, n_k) with False, or floats with −inf, at either end. Besides, tokens labelled [PAD], <pad> and the like.
    """
    found: list[np.ndarray | None] = []
    if given is not None:
        found.append(_checked_padding(given, sizes))
    elif mask is not None:
        found.append(_as_mask(mask).padding(sizes))
    if tokens is not None and tokens.dtype.kind == "U":
        found.append(np.broadcast_to(are(is_padding, tokens), (*sizes.batch_shape, sizes.n_k)))
    there = [x for x in found if x is not None and x.any()]
    return np.logical_or.reduce(there) if there else None


def _as_mask(mask: AnyMask) -> Mask:
    """A mask, boolean or added to the scores, as one that says what is padding."""
    if isinstance(mask, Mask):
        return mask
    flags = np.asarray(mask)
    return array(flags if flags.dtype == np.bool_ else ~np.isneginf(flags))


def _checked_padding(padding: ArrayLike | bool, sizes: Sizes) -> Bool[np.ndarray, "*batch n_k"]:
    """Flags for the keys of each batch entry, of which the queries are the last."""
    flags = np.asarray(padding)
    if flags.dtype != np.bool_:
        raise TypeError(f"padding must be boolean (True = padding, as in ids == pad_id), got {flags.dtype.name}")
    if sizes.n_q > sizes.n_k and flags.any():
        raise ValueError(
            f"padding is of queries and keys alike, but {sizes.n_q} queries cannot be the last positions of "
            f"{sizes.n_k} keys"
        )
    return _for_each_key("padding needs a flag", flags, sizes.n_k, sizes.batch_shape)


def checked_tokens(token_ids: ArrayLike, n_q: int, n_k: int, batch_shape: tuple[int, ...]) -> np.ndarray:
    """One token for each key and batch entry, by its id or by its label: → (*batch, n_k), of integers or of text"""
    ids = np.asarray(token_ids)
    if ids.dtype.kind not in "iuU":
        raise TypeError(
            f"token_ids must be whole numbers, or labels as text, got {ids.dtype.name} of shape {ids.shape}"
        )
    if n_q > n_k:
        raise ValueError(
            f"token_ids name the tokens of queries and keys alike, but {n_q} queries cannot be the last positions of "
            f"{n_k} keys"
        )
    return _for_each_key("token_ids need one id", ids, n_k, batch_shape)


def _for_each_key(what: str, values: np.ndarray, n_k: int, batch_shape: tuple[int, ...]) -> np.ndarray:
    """One value for each key and batch entry. A batch of one, as tokenizers make it, is none: → (*batch, n_k)"""
    given = values.shape
    while values.ndim > len(batch_shape) + 1 and values.shape[0] == 1:
        values = values[0]
    try:
        return np.broadcast_to(values, (*batch_shape, n_k))
    except ValueError:
        raise ValueError(
            f"{what} for each of the {n_k} keys, shape {(*batch_shape, n_k)} or {(n_k,)}, got shape {given}"
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


def chance_of(
    keys: Bool[np.ndarray, "... n_q n_k"],
    allowed: Bool[np.ndarray, "... n_q n_k"],
    queries: Bool[np.ndarray, "... n_q"],
) -> Float[np.ndarray, "*heads"]:
    """The score of an even head under the same mask: c/n, the part of the keys that are those of the pattern."""
    return mean_over(queries, keys.sum(axis=-1) / np.maximum(allowed.sum(axis=-1), 1))


def least_scores(chances: dict[str, Float[np.ndarray, "*heads"]]) -> dict[str, Float[np.ndarray, "*heads"]]:
    """The scores that support a name, by the scores of an even head: a part of the way from there to 1.

    An even head is uniform, so for that another limit is set: half of the keys must be in use.
    """
    least = {name: np.asarray(chance + LEAST_SCORE * (1 - chance)) for name, chance in chances.items()}
    return least | {"uniform": np.full_like(chances["self"], LEAST_UNIFORM)}


def mean_over(
    queries: Bool[np.ndarray, "... n_q"], scores: Float[np.ndarray, "... n_q"]
) -> Float[np.ndarray, "*heads"]:
    """The mean over some of the queries, 0 if there are none: scores (…, n_q) → (…)"""
    total = np.where(queries, scores, 0).sum(axis=-1)
    return np.asarray(np.minimum(total / np.maximum(queries.sum(axis=-1), 1), 1))  # rounding may reach past 1


def is_tried(radius: int | Int[np.ndarray, " radii"], n: int | Int[np.ndarray, ...]) -> Bool[np.ndarray, ...]:
    """Whether a window is tried among n keys: it has less than all of them, and a wide one at most half."""
    radius = np.asarray(radius)
    least = np.where(radius <= max(NEAR_RADII), radius + 2, 2 * radius + 1)
    return np.asarray((radius == 1) | (least <= n))


def tried_radii(n_k: int) -> list[int]:
    """The radii of the windows that are tried."""
    return [radius for radius in NEAR_RADII + WIDE_RADII if is_tried(radius, n_k)]


def may_be_best(
    radius: int | Int[np.ndarray, " radii"],
    score: Float[np.ndarray, ...],
    uniform: Float[np.ndarray, ...],
    n: int | Int[np.ndarray, ...],
) -> Bool[np.ndarray, ...]:
    """Whether a window of n keys may be the best, by its score and that of uniform.

    One of more than half the sequence is nearly uniform, and noise alone would often prefer it to uniform. It counts
    only where it leaves at most half as much unexplained.
    """
    narrow = radius <= np.maximum((np.asarray(n) - 1) // 2, 1)
    return np.asarray(is_tried(radius, n) & (narrow | (1 - score <= (1 - uniform) / 2)))


def best_radius(
    weights: Float[np.ndarray, "... n_q n_k"],
    allowed: Bool[np.ndarray, "... n_q n_k"],
    queries: Bool[np.ndarray, "... n_q"],
    n: int | Int[np.ndarray, ...] | None = None,
) -> Int[np.ndarray, "*heads"]:
    """The radius of the window that fits each head best: → (…). n: how many keys are no padding, all unless given."""
    n_q, n_k = weights.shape[-2:]
    n = n_k if n is None else n
    uniform = mean_over(queries, even_mass_on(weights, allowed))
    best, best_radius = np.full(weights.shape[:-2], -1.0), np.ones(weights.shape[:-2], dtype=int)
    for radius in tried_radii(n_k):
        score = mean_over(queries, even_mass_on(weights, allowed & window_keys(n_q, n_k, radius)))
        better = may_be_best(radius, score, uniform, n) & (np.round(score, DIGITS) > best)
        best, best_radius = np.where(better, np.round(score, DIGITS), best), np.where(better, radius, best_radius)
    return best_radius
