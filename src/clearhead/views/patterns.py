"""What each head does: how much of its attention follows a pattern that is known by name, at any length.

What the patterns are is told in `clearhead.textbook.patterns`, and what a score means in `textbook.pattern_scores`,
which is the judge of what is found here. All of it is streamed: entropies from the kernels, single keys and bands
computed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from clearhead import kernels, masks
from clearhead.textbook.pattern_scores import DIGITS, mean_over, tried_radii
from clearhead.textbook.patterns import LEAST_QUERIES, LEAST_SCORE, NAMES
from clearhead.views import passes, repeats, windows
from clearhead.views.allowed import counts as counts_of
from clearhead.views.bands import BAND, band_scores, even

if TYPE_CHECKING:
    from clearhead.views.view import View

MOST_LINES = 64


@dataclass(frozen=True)
class Patterns:
    """What heads look like: arrays with one entry for each head (…, h), plain values if there is no head axis.

    `labels` has the name of the pattern with the best score, "mixed" if none reaches 0.2 and "none" if no query has
    a key left, and `score` that pattern's score. `scores` has them all by name, and `shares` how much of the
    attention lies on each pattern's keys, evenly or not. `radius` is the distance that fits local best.
    """

    labels: Any
    score: Any
    radius: Any
    scores: dict[str, Any]
    shares: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        """The scores of one pattern."""
        if name not in self.scores:
            known = ", ".join(self.scores)
            raise ValueError(f"{name!r} is not one of {known} (those of tokens need patterns(token_ids))")
        return self.scores[name]

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
            table.append([", ".join(map(str, head)) or "–", str(np.asarray(self.labels)[head]), *cells])
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


def find_patterns(view: View, token_ids: ArrayLike | None = None) -> Patterns:
    """The patterns of every head of a view: see `View.patterns`."""
    total, counts = view.total, view.shaped(np.array(counts_of(view.call)))
    counted = total != 0
    position = np.arange(view.n_q) + view.n_k - view.n_q
    by_query = {
        "self": np.asarray(view.on_self),
        "previous_token": windows.at(view, np.where(position >= 0, np.maximum(position - 1, 0), -1)),
        "first_token": np.asarray(view.on_first),
        "uniform": even(total, view.observed.entropy, counts),
    }
    masses = {} if token_ids is None else repeats.masses(view, token_ids)
    having = {name: (mass.keys > 0) & counted for name, mass in masses.items()}
    places = [counted, *having.values()]  # queries over which means are taken

    means = [{name: _mean(x, at) for name, x in by_query.items()} for at in places]
    local, radius = _best_radius(view, places, means[0]["uniform"])
    for mean, score in zip(means, local, strict=True):
        mean["local"] = score
    scores, shares = dict(means[0]), dict(means[0])
    shares["local"] = _within(view, radius, counted)
    shares["uniform"] = _mean(total, counted)
    for name, mass in masses.items():
        scores[name] = _above_chance(mass.mass, mass.keys / np.maximum(counts, 1), total, having[name])
        shares[name] = _mean(mass.mass, having[name])

    labels, best = _name(scores, dict(zip(masses, means[1:], strict=True)), having, counted)
    return Patterns(
        _plain(labels),
        _plain(best),
        _plain(radius),
        {name: _plain(x) for name, x in scores.items()},
        {name: _plain(x) for name, x in shares.items()},
    )


def _name(
    scores: dict[str, np.ndarray],
    rivals: dict[str, dict[str, np.ndarray]],
    having: dict[str, np.ndarray],
    counted: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The best name of each head, and its score.

    A pattern of tokens is compared with the others on its own queries: a head that copies where there is something
    to copy, and rests on the first token elsewhere, copies.
    """
    table = np.stack([scores[name] for name in NAMES], axis=-1)
    place = np.round(table, DIGITS).argmax(axis=-1)
    labels = np.asarray(NAMES, dtype=object)[place]
    best = np.take_along_axis(table, place[..., None], axis=-1)[..., 0]
    won = np.zeros(best.shape)
    for name, others in rivals.items():
        score, rival = scores[name], np.max(np.stack([others[n] for n in NAMES]), axis=0)
        enough = having[name].sum(axis=-1) >= LEAST_QUERIES * np.maximum(counted.sum(axis=-1), 1)
        wins = enough & (np.round(score, DIGITS) > np.maximum(np.round(rival, DIGITS), won))
        labels, best = np.where(wins, name, labels), np.where(wins, score, best)
        won = np.where(wins, np.round(score, DIGITS), won)
    labels = np.where(best < LEAST_SCORE, "mixed", labels)
    return np.where(counted.any(axis=-1) & ~np.isnan(best), labels, "none").astype(str), best


def _best_radius(
    view: View, places: list[Bool[np.ndarray, "*lead n_q"]], uniform: np.ndarray
) -> tuple[list[Float[np.ndarray, "*lead"]], np.ndarray]:
    """The mean score of the window that fits each head best, over each set of queries, and its radius.

    A window of more than half the sequence is nearly uniform, and noise alone would often prefer one to uniform. As
    in the textbook it counts only where it leaves at most half as much unexplained.
    """
    radii = tried_radii(view.n_k)
    scores = band_scores(view, [radius for radius in radii if radius <= BAND], places)
    for radius in (radius for radius in radii if radius > BAND):
        wide = _wide_window(view, radius)
        scores = [np.append(x, _mean(wide, at)[..., None], axis=-1) for x, at in zip(scores, places, strict=True)]
    narrow = np.asarray(radii) <= max((view.n_k - 1) // 2, 1)
    fits = narrow | (1 - scores[0] <= (1 - uniform[..., None]) / 2)
    place = np.where(fits, np.round(scores[0], DIGITS), -1).argmax(axis=-1)
    place = np.asarray(place)
    return [np.take_along_axis(x, place[..., None], axis=-1)[..., 0] for x in scores], np.asarray(np.take(radii, place))


def _wide_window(view: View, radius: int) -> Float[np.ndarray, "*lead n_q"]:
    """The score of one window, for each query, by the kernels."""
    call = passes.again(view, None, masks.window(radius, radius), sinks=False)
    watched = kernels.observation.observe(call, output=False)
    share, counts = watched.sums.share_in(view.sums), counts_of(call)
    evenness = np.exp(watched.observation.entropy.reshape(counts.shape)) / np.maximum(counts, 1)
    return view.shaped(np.minimum(share * evenness, 1))


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


def _plain(values: np.ndarray) -> Any:
    """One entry per head, or the entry itself if there is no head axis."""
    return values if values.ndim else values.item()
