"""The pattern zoo: what attention heads are seen doing, as exact matrices, and the way back to a name.

In each pattern a query shares its weight evenly among a few keys, so a pattern is no more than the set of those keys:

    name              its keys                                                             as a matrix
    self              the query's own position                                             `diagonal`
    previous_token    the one before it; the first has none and looks at itself            `previous_token`
    first_token       the first key, where heads rest that have nothing to do              `first_token`
    uniform           all keys it may attend to                                            `uniform`, `causal_uniform`
    local             those of them at most so far away, for the radius that fits best     `local`
    duplicate_token   other places of the query's own token
    induction         the keys right after earlier places of it

How much a head looks like a pattern is its score, which is defined in `pattern_scores`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.textbook.masks import AnyMask, create_causal_mask
from clearhead.textbook.pattern_scores import (
    DIGITS,
    above_chance,
    allowed_keys,
    best_radius,
    even_mass_on,
    mass_on,
    mean_over,
    position_keys,
    token_keys,
    window_keys,
)
from clearhead.textbook.validate import validate_attention

# In this order names win when patterns coincide: at n = 1 all of them do; at n = 2 the previous token is the first
# one and a window of radius 1 is everything. From n = 3 on every pattern is a matrix of its own.
NAMES = ("self", "previous_token", "first_token", "uniform", "local")
LEAST_SCORE = 0.2  # below, a head is called mixed: no pattern says much about it
LEAST_QUERIES = 0.1  # of the queries must have a key of a pattern of tokens before it names a head


def diagonal(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at itself, the pattern named self: weights (n, n)."""
    return _even(position_keys(checks.count("n", n), n)["self"])


def previous_token(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at the one before it, and the first, which has none, at itself: weights (n, n)."""
    return _even(position_keys(checks.count("n", n), n)["previous_token"])


def first_token(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at the first one, where heads rest that have nothing to do: weights (n, n)."""
    return _even(position_keys(checks.count("n", n), n)["first_token"])


def uniform(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at all tokens alike: weights (n, n)."""
    return _even(position_keys(checks.count("n", n), n)["uniform"])


def causal_uniform(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks alike at itself and all tokens before it, uniform under a causal mask: weights (n, n)."""
    return _even(create_causal_mask(checks.count("n", n)))


def local(n: int, radius: int = 1) -> Float[np.ndarray, "n n"]:
    """Every token looks alike at all tokens at most `radius` away, itself included: weights (n, n).

    A radius of 0 is the diagonal and one of n − 1 or more is uniform.
    """
    return _even(window_keys(checks.count("n", n), n, checks.count("radius", radius, least=0)))


@dataclass(frozen=True)
class PatternMatch:
    """What a head looks like. Arrays with one entry per head (…), or plain values for a single matrix.

    `name` is the pattern with the best score, "mixed" if none reaches 0.2 and "none" if no query has a key left, and
    `score` is that best score. `scores` has them all by name, and `shares` how much of the attention lies on each
    pattern's keys, evenly or not. `radius` belongs to the window that fits best. `tied` has every name that is as good
    as `name`, in the order in which names win.
    """

    name: np.ndarray | str
    score: np.ndarray | float
    radius: np.ndarray | int
    scores: dict[str, np.ndarray | float]
    shares: dict[str, np.ndarray | float]
    tied: np.ndarray | tuple[str, ...]


def name_pattern(
    weights: Float[np.ndarray, "... n_q n_k"], mask: AnyMask | None = None, token_ids: ArrayLike | None = None
) -> PatternMatch:
    """The pattern that each head looks like most, and how much.

    weights (…, n_q, n_k)  mask (…, n_q, n_k), True = may attend  token_ids (*batch, n_k) or (n_k)
    → names (…), scores (…)

    The mask is the one that the weights were made with, which says how many keys there are to spread over. Without it,
    a head in which no query looks ahead is taken for a causal one; `mask=True` says that nothing was masked. With
    token_ids, heads that look for their own token, or for what followed it, are found too.

    Query i stands at key i + n_k − n_q, as under a causal mask. Queries with no key left do not count. Sinks are
    allowed and cost score: what they take is not where any pattern puts it.

    Raises:
        TypeError: weights are not floats, or token_ids not whole numbers.
        ValueError: they are not attention weights (see `validate_attention`), or not made with this mask.
    """
    validate_attention(weights, sinks=True)
    weights = np.asarray(weights).astype(np.float64)
    n_q, n_k = weights.shape[-2:]
    allowed = allowed_keys(weights, mask)
    attending = np.asarray((weights > 0).any(axis=-1))  # (…, n_q): which queries have a key left
    radius = best_radius(weights, allowed, attending)

    keys = {**position_keys(n_q, n_k), "local": window_keys(n_q, n_k, radius)}
    keys |= {} if token_ids is None else token_keys(token_ids, weights.shape)
    keys = {name: allowed & its_keys for name, its_keys in keys.items()}
    queries = {name: attending if name in NAMES else attending & keys[name].any(axis=-1) for name in keys}
    by_query = {name: even_mass_on(weights, keys[name]) for name in NAMES}
    scores = {
        name: mean_over(queries[name], by_query[name])
        if name in NAMES
        else above_chance(weights, keys[name], allowed, queries[name])
        for name in keys
    }
    shares = {name: mean_over(queries[name], mass_on(weights, keys[name])) for name in keys}
    names, best = _best_names(scores, by_query, queries)
    names = np.where(attending.any(axis=-1), np.where(best < LEAST_SCORE, "mixed", names), "none")

    tied = np.empty(best.shape, dtype=object)
    for head in np.ndindex(best.shape):
        as_good = [name for name in scores if scores[name][head].round(DIGITS) == best[head].round(DIGITS)]
        tied[head] = tuple(as_good) if names[head] in scores else ()
    return PatternMatch(
        _plain(names),
        _plain(best),
        _plain(radius),
        {name: _plain(score) for name, score in scores.items()},
        {name: _plain(share) for name, share in shares.items()},
        tied[()],
    )


def _best_names(
    scores: dict[str, np.ndarray], by_query: dict[str, np.ndarray], queries: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The name of the best pattern of each head, and its score: → (…), (…)

    A pattern of tokens is compared with the others on its own queries: a head that copies where there is something to
    copy, and rests on the first token elsewhere, copies.
    """
    names, best = _best({name: scores[name] for name in NAMES})
    best_of_tokens = np.zeros_like(best)
    for name in [name for name in scores if name not in NAMES]:
        score = scores[name].round(DIGITS)
        _, rival = _best({other: mean_over(queries[name], by_query[other]) for other in NAMES})
        enough = queries[name].sum(axis=-1) >= LEAST_QUERIES * queries["self"].sum(axis=-1)
        wins = enough & (score > np.maximum(rival.round(DIGITS), best_of_tokens))
        names, best = np.where(wins, name, names), np.where(wins, scores[name], best)
        best_of_tokens = np.where(wins, score, best_of_tokens)
    return names, best


def _best(scores: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The first of the names whose score is highest, for each head, and that score: → (…), (…)"""
    table = np.stack(list(scores.values()), axis=-1)
    place = np.asarray(table.round(DIGITS).argmax(axis=-1))
    names = np.asarray(np.asarray(list(scores))[place])
    return names, np.take_along_axis(table, place[..., None], axis=-1)[..., 0]


def _even(keys: Bool[np.ndarray, "n_q n_k"]) -> Float[np.ndarray, "n_q n_k"]:
    """The same weight for each of a query's keys, 1 together."""
    even: np.ndarray = keys / np.maximum(keys.sum(axis=-1, keepdims=True), 1)
    return even


def _plain(values: np.ndarray) -> Any:
    """One entry per head, or the entry itself if there is a single matrix and no head axis."""
    return values if values.ndim else values.item()
