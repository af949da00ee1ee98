"""What each head does: how much of its attention follows a pattern that is known by name, at any length.

What the patterns are is told in `clearhead.textbook.patterns`, and what a score means in `textbook.pattern_scores`,
which is the judge of what is found here. All of it is streamed: entropies from the kernels, single keys and bands
computed again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from clearhead import masks
from clearhead.tensors import is_tensor, to_numpy
from clearhead.textbook.pattern_scores import (
    DIGITS,
    checked_tokens,
    least_scores,
    may_be_best,
    mean_over,
    padding_of,
    real_ends,
    token_kinds,
    tried_radii,
)
from clearhead.textbook.patterns import LEAST_QUERIES, best_names, by_head
from clearhead.views import engines, passes, repeats, windows
from clearhead.views.allowed import allowed_at, counts as counts_of
from clearhead.views.bands import BAND, band_scores, even
from clearhead.views.padding import labels as labels_of, same_tokens

if TYPE_CHECKING:
    from clearhead.views.view import View

MOST_LINES = 64


class NoPatternError(KeyError, ValueError):
    """A name that is none of a pattern."""

    __str__ = Exception.__str__  # KeyError's own puts a message in quotes


@dataclass(frozen=True)
class Patterns(Mapping[str, Any]):
    """What heads look like: arrays with one entry for each head (…, h), plain values if there is no head axis.

    Read as a mapping, it has the scores of every pattern by name.

    `labels` has the name of the pattern with the best score if the score supports it, else "mixed", and "none" if no
    query has a key left; `score` has that best score. A score supports its name if it is at least a fifth of the way
    from what an even head would score under the same mask to 1, and uniform if it is at least a half; a pattern of
    tokens must be a fifth of the way from the best pattern of positions, too, on the queries it is about. `closest` has
    the two names with the best scores, (…, h, 2), supported or not: those that a mixed head is between. `scores` has
    all by name, and `shares` how much of the attention lies on each pattern's keys, evenly or not. `radius` is the
    distance that fits local best. The scores are this package's own, told in `clearhead.textbook.pattern_scores`; those
    that others publish for induction are in `clearhead.traces.induction` and `clearhead.probe`.
    """

    labels: Any
    score: Any
    radius: Any
    scores: dict[str, Any]
    shares: dict[str, Any]
    closest: Any

    def __getitem__(self, name: str) -> Any:
        """The scores of one pattern."""
        if name not in self.scores:
            known = ", ".join(self.scores)
            raise NoPatternError(f"{name!r} is not one of {known} (those of tokens need patterns(token_ids))")
        return self.scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __str__(self) -> str:
        """A table, one line for each head."""
        columns: dict[str, Any] = {"score": self.score}
        for name, score in self.scores.items():
            columns[name.removesuffix("_token")] = score
            if name == "local":
                columns["radius"] = self.radius
        table = [["head", "pattern", *columns]]
        heads = list(np.ndindex(np.shape(self.labels)))
        for head in heads[:MOST_LINES]:
            numbers = (np.asarray(x)[head] for x in columns.values())
            cells = (str(x) if isinstance(x, np.integer) else f"{x:.2f}" for x in numbers)
            table.append([", ".join(map(str, head)) or "–", self._named(head), *cells])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if n == 1 else cell.rjust(width)
                for n, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in table
        ]
        left = len(heads) - MOST_LINES
        return "\n".join(lines + ([f"… and {left} more heads"] if left > 0 else []))

    def _named(self, head: tuple[int, ...]) -> str:
        """The name of a head; where it is mixed, with the two that are closest."""
        name = str(np.asarray(self.labels)[head])
        return f"mixed ({', '.join(np.asarray(self.closest)[head])})" if name == "mixed" else name


def find_patterns(
    view: View,
    token_ids: ArrayLike | None = None,
    separators: Collection[object] | None = None,
    punctuation: Collection[object] | None = None,
) -> Patterns:
    """The patterns of every head of a view: see `View.patterns`."""
    tokens = _tokens(view, token_ids)
    padding, labelled = None if view.padding is None else view.padding.keys, _labelled_padding(view, tokens)
    total, counts = view.total, view.shaped(np.array(counts_of(view.call)))
    counted = total != 0
    if labelled is not None:
        padding = labelled if padding is None else padding | labelled
        real = ~labelled[..., view.n_k - view.n_q :]
        counted = counted & (real[..., None, :] if view.lead else real)
    keys = single_keys(view, padding)
    by_query = {name: np.asarray(x) for name, x in single_weights(view, keys, padding).items()}
    by_query["uniform"] = even(total, view.observed.entropy, counts)
    masses: dict[str, repeats.TokenMass] = {}
    if tokens is not None:
        masses = repeats.masses(view, tokens) | repeats.masses_on(view, token_kinds(tokens, separators, punctuation))
    having = {name: (mass.keys > 0) & counted for name, mass in masses.items()}
    sets = [counted, *having.values()]  # of queries, over which means are taken

    means = [{name: _mean(x, at) for name, x in by_query.items()} for at in sets]
    local = _best_radius(view, sets, means[0]["uniform"], counts, padding)
    for mean, score in zip(means, local.scores, strict=True):
        mean["local"] = score
    scores, shares = dict(means[0]), dict(means[0])
    shares["local"] = _within(view, local.radius, counted)
    shares["uniform"] = _mean(total, counted)
    for name, mass in masses.items():
        scores[name] = _above_chance(mass.mass, mass.keys / np.maximum(counts, 1), total, having[name])
        shares[name] = _mean(mass.mass, having[name])

    chances = {
        name: _mean(view.shaped(allowed_at(view.call, key)) / np.maximum(counts, 1), counted)
        for name, key in keys.items()
    }
    fewest = LEAST_QUERIES * counted.sum(axis=-1)
    enough = {name: np.asarray(having.get(name, counted).sum(axis=-1) >= fewest) for name in scores}
    labels, best, closest = best_names(
        scores, least_scores(chances | {"local": local.chance}), enough, dict(zip(masses, means[1:], strict=True))
    )
    there = counted.any(axis=-1) & ~np.isnan(best)
    return Patterns(
        by_head(np.where(there, labels, "none").astype(str)),
        by_head(best),
        by_head(local.radius),
        {name: by_head(x) for name, x in scores.items()},
        {name: by_head(x) for name, x in shares.items()},
        closest if closest.ndim > 1 else tuple(closest.tolist()),
    )


def _tokens(view: View, token_ids: ArrayLike | None) -> np.ndarray | None:
    """The tokens of the keys: those given, or else the view's labels, where queries and keys are the same tokens."""
    if token_ids is None and view.tokens is not None and same_tokens(view.tokens) and view.n_q <= view.n_k:
        token_ids = labels_of(view.tokens.keys)
    if token_ids is None:
        return None
    ids = to_numpy(token_ids) if is_tensor(token_ids) else token_ids
    return checked_tokens(ids, view.n_q, view.n_k, view.batch_shape)


def _labelled_padding(view: View, tokens: np.ndarray | None) -> Bool[np.ndarray, "*batch n_k"] | None:
    """Which keys are padding by the labels of their tokens."""
    return padding_of(None, None, tokens, masks.Sizes(view.n_q, view.n_k, view.batch_shape, view.heads))


def single_keys(view: View, padding: Bool[np.ndarray, "*batch n_k"] | None) -> dict[str, Int[np.ndarray, "*batch n_q"]]:
    """The key of each query in the patterns that have one, −1 where it has none: (*batch, n_q) each"""
    position = np.arange(view.n_q) + view.n_k - view.n_q
    first, last = (np.asarray(x)[..., None] for x in real_ends(padding, view.n_k))
    inside = (first <= position) & (position <= last)
    found = {
        "self": position,
        "previous_token": np.where(inside, np.maximum(position - 1, first), -1),
        "next_token": np.where(inside, np.minimum(position + 1, last), -1),
        "first_token": first,
    }
    return {name: np.broadcast_to(key, (*view.batch_shape, view.n_q)) for name, key in found.items()}


def single_weights(
    view: View, keys: dict[str, Int[np.ndarray, "*batch n_q"]], padding: Bool[np.ndarray, "*batch n_k"] | None
) -> dict[str, Float[np.ndarray, "*lead n_q"]]:
    """Each query's weight on those keys, which are its own place, one beside it, or the first."""
    position = np.arange(view.n_q) + view.n_k - view.n_q
    alone = np.asarray(view.on_self)

    def beside(step: int, key: np.ndarray) -> np.ndarray:
        key = key[..., None, :] if view.lead else key
        weight = windows.at(view, position + step)
        return np.where(key == position + step, weight, np.where((key == position) & (key >= 0), alone, 0))

    return {
        "self": alone,
        "previous_token": beside(-1, keys["previous_token"]),
        "next_token": beside(1, keys["next_token"]),
        "first_token": windows.on_first(view, padding),
    }


class Local(NamedTuple):
    """The window that fits each head best: its mean score over sets of queries, its radius, an even head's score."""

    scores: list[Float[np.ndarray, "*lead"]]
    radius: Int[np.ndarray, "*lead"]
    chance: Float[np.ndarray, "*lead"]


def _best_radius(
    view: View,
    sets: list[Bool[np.ndarray, "*lead n_q"]],
    uniform: Float[np.ndarray, "*lead"],
    counts: Int[np.ndarray, "*lead n_q"],
    padding: Bool[np.ndarray, "*batch n_k"] | None,
) -> Local:
    """As the textbook finds it, with all radii of a band at once."""
    radii = tried_radii(view.n_k)
    scores, chance = band_scores(view, [radius for radius in radii if radius <= BAND], sets, counts)
    for radius in (radius for radius in radii if radius > BAND):
        wide, keys = _wide_window(view, radius)
        scores = [np.append(x, _mean(wide, at)[..., None], axis=-1) for x, at in zip(scores, sets, strict=True)]
        chance = np.append(chance, _mean(keys / np.maximum(counts, 1), sets[0])[..., None], axis=-1)
    first, last = real_ends(padding, view.n_k)
    n = (last - first + 1)[..., None, None] if view.lead else last - first + 1
    fits = may_be_best(np.asarray(radii), scores[0], uniform[..., None], n)
    place = np.asarray(np.where(fits, np.round(scores[0], DIGITS), -1).argmax(axis=-1))

    def of_best(x: np.ndarray) -> np.ndarray:
        return np.take_along_axis(x, place[..., None], axis=-1)[..., 0]

    return Local([of_best(x) for x in scores], np.asarray(np.take(radii, place)), of_best(chance))


def _wide_window(view: View, radius: int) -> tuple[Float[np.ndarray, "*lead n_q"], Int[np.ndarray, "*lead n_q"]]:
    """The score of one window, for each query, by another pass, and how many keys it has."""
    call = passes.again(view, None, masks.window(radius, radius), sinks=False)
    watched = engines.observe(call, output=False)
    share, counts = watched.sums.share_in(view.sums), counts_of(call)
    evenness = np.exp(watched.observation.entropy.reshape(counts.shape)) / np.maximum(counts, 1)
    return view.shaped(np.minimum(share * evenness, 1)), view.shaped(np.array(counts))


def _within(view: View, radius: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """The share of each head's attention that lies at most its radius away."""
    result = np.zeros(radius.shape)
    for each in np.unique(radius):
        result = np.where(radius == each, _mean(passes.mass(view, masks.window(int(each), int(each))), counted), result)
    return result


def _above_chance(mass: np.ndarray, chance: np.ndarray, total: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Σ (mass − chance) / Σ (1 − chance) over some queries, where chance is what an even head would leave there."""
    above = np.where(at, mass - chance * total, 0).sum(axis=-1, dtype=np.float64)
    room = np.where(at, 1 - chance, 0).sum(axis=-1, dtype=np.float64)
    return np.asarray(np.clip(np.divide(above, room, out=np.zeros_like(above), where=room > 0), 0, 1))


def _mean(x: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The mean over some of the queries, 0 where there are none: x (…, n_q) → (…)"""
    return mean_over(at, x.astype(np.float64))
