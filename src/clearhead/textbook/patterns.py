"""The pattern zoo: what attention heads are seen doing, as exact matrices, and the way back to a name.

In each pattern a query shares its weight evenly among a few keys, so a pattern is no more than the set of those keys:

    name              its keys                                                             as a matrix
    self              the query's own position                                             `diagonal`
    previous_token    the one before it; the first has none and looks at itself            `previous_token`
    next_token        the one after it; the last has none and looks at itself              `next_token`
    first_token       the first key, where heads rest that have nothing to do              `first_token`
    uniform           all keys it may attend to                                            `uniform`, `causal_uniform`
    local             those of them at most so far away, for the radius that fits best     `local`
    duplicate_token   other places of the query's own token
    induction         the keys right after earlier places of it
    separator         tokens that part texts, such as [SEP]
    punctuation       full stops, commas and the like

How much a head looks like a pattern is its score, which is defined in `pattern_scores`. What a mask forbids is no key
of a pattern: under a causal mask no head looks like next_token.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.masks import Sizes
from clearhead.textbook.masks import AnyMask, create_causal_mask
from clearhead.textbook.pattern_scores import (
    DIGITS,
    LEAST_SCORE,
    above_chance,
    allowed_keys,
    best_radius,
    chance_of,
    checked_tokens,
    even_mass_on,
    least_scores,
    mass_on,
    mean_over,
    padding_of,
    position_keys,
    real_ends,
    token_keys,
    window_keys,
)
from clearhead.textbook.validate import validate_attention

# In this order names win when patterns coincide: at n = 1 all of them do; at n = 2 the previous token is the first
# one and a window of radius 1 is everything. From n = 3 on every pattern is a matrix of its own.
NAMES = ("self", "previous_token", "next_token", "first_token", "uniform", "local")
LEAST_QUERIES = 0.1  # of the queries must have a key of a pattern of tokens before it names a head


def diagonal(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at itself, the pattern named self: weights (n, n)."""
    return _even(position_keys(checks.count("n", n), n)["self"])


def previous_token(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at the one before it, and the first, which has none, at itself: weights (n, n)."""
    return _even(position_keys(checks.count("n", n), n)["previous_token"])


def next_token(n: int) -> Float[np.ndarray, "n n"]:
    """Every token looks at the one after it, and the last, which has none, at itself: weights (n, n)."""
    return _even(position_keys(checks.count("n", n), n)["next_token"])


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

    `name` is the pattern with the best score if the score supports it, else "mixed", and "none" if no query has a key
    left; `score` is that best score. A score supports its name if it is at least a fifth of the way from what an even
    head would score under the same mask to 1, and uniform if it is at least a half; a pattern of tokens must be a fifth
    of the way from the best pattern of positions, too, on the queries it is about. `closest` has the two names with the
    best scores, (…, 2), supported or not: those that a mixed head is between. `scores` has all by name, and `shares`
    how much of the attention lies on each pattern's keys, evenly or not. `radius` belongs to the window that fits best.
    `tied` has every name that is as good as `name`, in the order in which names win.
    """

    name: np.ndarray | str
    score: np.ndarray | float
    radius: np.ndarray | int
    scores: dict[str, np.ndarray | float]
    shares: dict[str, np.ndarray | float]
    tied: np.ndarray | tuple[str, ...]
    closest: np.ndarray | tuple[str, ...]


def name_pattern(
    weights: Float[np.ndarray, "... n_q n_k"],
    mask: AnyMask | None = None,
    token_ids: ArrayLike | None = None,
    *,
    separators: Collection[object] | None = None,
    punctuation: Collection[object] | None = None,
    padding: ArrayLike | bool | None = None,
) -> PatternMatch:
    """The pattern that each head looks like most, and how much.

    weights (…, n_q, n_k)  mask (…, n_q, n_k), True = may attend  token_ids, padding (*batch, n_k) or (n_k)
    → names (…), scores (…)

    The mask is the one that the weights were made with, which says how many keys there are to spread over. Without it,
    a head in which no query looks ahead is taken for a causal one; `mask=True` says that nothing was masked. With
    token_ids, whole numbers or labels, heads that look for their own token, or for what followed it, are found too, and
    with labels those that look at separators or punctuation; `separators` and `punctuation` say which tokens those are
    where labels do not, or otherwise: `separators=tokenizer.all_special_ids`.

    Query i stands at key i + n_k − n_q, as under a causal mask. Queries with no key left do not count. Nor do those
    that are padding: tokens labelled [PAD], <pad> and the like, and what `padding` says (True = padding) or, without it
    and with as many queries as keys, what `masks.key_lengths` or a mask (…, 1, 1, n_k) leaves out at either end. Sinks
    are allowed and cost score: what they take is not where any pattern puts it.

    Raises:
        TypeError: weights are not floats, or token_ids neither whole numbers nor text.
        ValueError: they are not attention weights (see `validate_attention`), or not made with this mask.
    """
    validate_attention(weights, sinks=True)
    weights = np.asarray(weights).astype(np.float64)
    n_q, n_k = weights.shape[-2:]
    allowed = allowed_keys(weights, mask)
    tokens = None if token_ids is None else checked_tokens(token_ids, n_q, n_k, weights.shape[:-3])
    padded_queries, padded_keys = _padding(weights.shape, padding, mask, tokens)
    attending = np.asarray((weights > 0).any(axis=-1))  # (…, n_q): which queries have a key left
    if padded_queries is not None:
        attending = attending & ~padded_queries
    first, last = real_ends(padded_keys, n_k)
    radius = best_radius(weights, allowed, attending, last - first + 1)

    keys = {**position_keys(n_q, n_k, padded_keys), "local": window_keys(n_q, n_k, radius)}
    keys |= {} if tokens is None else token_keys(tokens, weights.shape, separators, punctuation)
    keys = {name: allowed & its_keys for name, its_keys in keys.items()}
    queries = {name: attending if name in NAMES else attending & keys[name].any(axis=-1) for name in keys}
    shares = {name: mean_over(queries[name], mass_on(weights, keys[name])) for name in keys}
    scores, (names, best, closest) = _named(weights, allowed, attending, keys, queries)
    names = np.where(attending.any(axis=-1), names, "none")
    return PatternMatch(
        by_head(names),
        by_head(best),
        by_head(radius),
        {name: by_head(score) for name, score in scores.items()},
        {name: by_head(share) for name, share in shares.items()},
        _tied(scores, names, best)[()],
        closest if closest.ndim > 1 else tuple(closest.tolist()),
    )


def _padding(
    shape: tuple[int, ...], padding: ArrayLike | bool | None, mask: AnyMask | None, tokens: np.ndarray | None
) -> tuple[Bool[np.ndarray, "... n_q"] | None, Bool[np.ndarray, "... n_k"] | None]:
    """Which queries and which keys are padding, for weights of a shape (…, n_q, n_k); None where nothing says so."""
    n_q, n_k = shape[-2:]
    sizes = Sizes(n_q, n_k, shape[:-3], shape[-3] if len(shape) > 2 else 1)
    keys = padding_of(padding, mask, tokens, sizes)
    queries = padding_of(padding, mask if n_q == n_k else None, tokens, sizes)
    if len(shape) > 2:
        queries, keys = (None if x is None else x[..., None, :] for x in (queries, keys))
    return None if queries is None else queries[..., n_k - n_q :], keys


def _named(
    weights: Float[np.ndarray, "... n_q n_k"],
    allowed: Bool[np.ndarray, "... n_q n_k"],
    attending: Bool[np.ndarray, "... n_q"],
    keys: dict[str, Bool[np.ndarray, "... n_q n_k"]],
    queries: dict[str, Bool[np.ndarray, "... n_q"]],
) -> tuple[dict[str, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The score of every pattern, by its keys and the queries it is about, and of them the `best_names`."""
    by_query = {name: even_mass_on(weights, keys[name]) for name in NAMES}
    scores = {
        name: mean_over(queries[name], by_query[name])
        if name in NAMES
        else above_chance(weights, keys[name], allowed, queries[name])
        for name in keys
    }
    least = least_scores({name: chance_of(keys[name], allowed, attending) for name in NAMES if name != "uniform"})
    fewest = LEAST_QUERIES * attending.sum(axis=-1)
    enough = {name: np.asarray(queries[name].sum(axis=-1) >= fewest) for name in keys}
    rivals = {
        name: {other: mean_over(queries[name], by_query[other]) for other in NAMES}
        for name in keys
        if name not in NAMES
    }
    return scores, best_names(scores, least, enough, rivals)


def _tied(scores: dict[str, np.ndarray], names: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Every name that is as good as the best, for each head: an array of tuples (…)"""
    tied = np.empty(best.shape, dtype=object)
    for head in np.ndindex(best.shape):
        as_good = [name for name in scores if scores[name][head].round(DIGITS) == best[head].round(DIGITS)]
        tied[head] = tuple(as_good) if names[head] in scores else ()
    return tied


def best_names(
    scores: dict[str, np.ndarray],
    least: dict[str, np.ndarray],
    enough: dict[str, np.ndarray],
    rivals: dict[str, dict[str, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From scores to the best name of each head, its score, and the two names that are closest: → (…), (…), (…, 2)

    least: of patterns of positions, the score that supports a name. It names a head if no other of them scores more,
    supported or not: a head that is nearer to another pattern is not called by this one. enough: whether a pattern has
    enough queries to name a head. rivals: of each pattern of tokens, the scores of those of positions on its own
    queries, on which they are compared: a head that copies where there is something to copy, and rests on the first
    token elsewhere, copies. Its score is above chance as it is, and supports the name if it is LEAST_SCORE of the way
    from the best rival to 1: on a few repeated words some pattern of tokens is always a little ahead.
    """
    scores = {name: np.where(enough[name], score, -1) for name, score in scores.items()}
    most = _best({name: scores[name] for name in NAMES})[1].round(DIGITS)
    named = {name: scores[name].round(DIGITS) >= np.maximum(np.round(least[name], DIGITS), most) for name in NAMES}
    names, best = _best({name: np.where(named[name], scores[name], -1) for name in NAMES})
    best_of_tokens = np.zeros_like(best)
    for name, others in rivals.items():
        score, rival = scores[name].round(DIGITS), _best(others)[1]
        ahead = score >= np.round(rival + LEAST_SCORE * (1 - rival), DIGITS)
        wins = ahead & (score > np.maximum(rival.round(DIGITS), best_of_tokens))
        names, best = np.where(wins, name, names), np.where(wins, scores[name], best)
        best_of_tokens = np.where(wins, score, best_of_tokens)
    table = np.stack(list(scores.values()), axis=-1)
    order = np.argsort(-table.round(DIGITS), axis=-1, kind="stable")[..., :2]  # of equal ones the first
    mixed = best < 0
    best = np.where(mixed, np.take_along_axis(table, order[..., :1], axis=-1)[..., 0], best)
    return np.where(mixed, "mixed", names), best, np.asarray(np.asarray(list(scores))[order])


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


def by_head(values: np.ndarray) -> Any:
    """One entry per head, or the entry itself if there is a single matrix and no head axis."""
    return values if values.ndim else values.item()
