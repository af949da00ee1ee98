"""Looking at attention: clearhead streams the statistics, torch writes the weights out and reads them off.

What is compared is everything end to end: output, entropy, largest weights, the best keys' weights, what each key
receives, and a pooled map. Beside it stands attention alone, which shows what looking costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import clearhead as ch
from benchmarks.measure import ALONE, OURS
from benchmarks.peers import tensor, with_clearhead
from benchmarks.problems import Call, Problem
from clearhead.matrices import cell_length
from clearhead.page.filling import Filling, level_to_fill
from clearhead.page.reading import Layer
from clearhead.page.tiling import TILE

TOP = 8
PIXELS = 256  # a side of a tile


@dataclass(frozen=True)
class Looking:
    """All that is to be seen of a problem: the best keys of each query, and a map of at most `cells` cells a side."""

    of: Problem
    cells: int

    @property
    def operations(self) -> float:
        return self.of.operations

    def truth(self, kind: type[np.floating[Any]] = np.float64) -> np.ndarray:
        """By torch in the given type, from the weights → everything in a row"""
        return joined(eager(self, kind)())


def calls(problem: Looking, threads: int, *, alone: bool = True) -> dict[str, Call]:
    """Ours, torch's where the weights fit into memory, and attention alone."""
    of = problem.of

    def look() -> Any:
        return ch.look(of.q, of.k, of.v, mask=of.mask, top_k=TOP, map_size=problem.cells)

    def read(view: Any) -> np.ndarray:
        statistics = (view.entropy, view.max_weight, view.top_k.weights, view.received, view.map())
        return joined([view.output, *statistics])

    found = {"clearhead": Call(look, read)}
    if alone:
        found |= {"torch": Call(eager(problem, np.float32), joined), ALONE: with_clearhead(of, threads)}
    return found


def eager(problem: Looking, kind: type[np.floating[Any]]) -> Any:
    """The same by torch, as one would write it with all weights at hand."""
    import torch

    q, k, v = (tensor(x.astype(kind)) for x in (problem.of.q, problem.of.k, problem.of.v))
    n = q.shape[-2]
    length = cell_length(n, problem.cells)
    cells = -(-n // length)
    forbidden = torch.ones(n, n, dtype=torch.bool).triu(1) if problem.of.causal else None
    cell = torch.arange(n) // length

    def pooled(x: torch.Tensor) -> torch.Tensor:
        """x (…, n, n) summed over cells → (…, cells, cells)"""
        over_keys = torch.zeros(*x.shape[:-1], cells, dtype=x.dtype).index_add_(-1, cell, x)
        return torch.zeros(*x.shape[:-2], cells, cells, dtype=x.dtype).index_add_(-2, cell, over_keys)

    ones = torch.ones(n, n, dtype=q.dtype)
    counts = pooled(ones if forbidden is None else ones.masked_fill(forbidden, 0))

    def run() -> list[torch.Tensor]:
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if forbidden is not None:
            scores = scores.masked_fill_(forbidden, -torch.inf)
        weights = scores.softmax(dim=-1)
        entropy = torch.special.entr(weights).sum(dim=-1)
        best = weights.topk(min(TOP, n), dim=-1).values
        return [weights @ v, entropy, weights.amax(dim=-1), best, weights.sum(dim=-2), pooled(weights) / counts]

    return run


def joined(statistics: Any) -> np.ndarray:
    """Everything in a row; a cell of the map that is masked altogether counts as 0."""
    return np.nan_to_num(np.concatenate([np.asarray(x).ravel() for x in statistics]))


@dataclass(frozen=True)
class Tile:
    """A window of the only head's map, `side` positions a side, in at most `pixels` cells.

    Its place is not round, unless it is one of the `tiles` that a page asks for, which lie side by side.
    """

    of: Problem
    side: int
    pixels: int
    tiles: bool = False

    @property
    def operations(self) -> float:
        """Of the scores in the window."""
        return 2.0 * self.side**2 * self.of.q.shape[-1]

    @property
    def window(self) -> slice:
        last = self.of.q.shape[2] - self.side
        start = last // self.side * self.side if self.tiles else min(1001, last)
        return slice(start, start + self.side)

    def truth(self, kind: type[np.floating[Any]] = np.float64) -> np.ndarray:
        """From the textbook's weights in the given type → (1, 1, cells, cells)"""
        q, k, v = (x.astype(kind) for x in (self.of.q, self.of.k, self.of.v))
        weights = ch.scaled_dot_product_attention(q, k, v)[1][..., self.window, self.window]
        edges = np.arange(0, self.side, cell_length(self.side, self.pixels))
        sums = np.add.reduceat(np.add.reduceat(weights, edges, axis=-1), edges, axis=-2)
        lengths = np.diff([*edges, self.side])
        return sums / np.outer(lengths, lengths)


def tile_calls(problem: Tile) -> dict[str, Call]:
    """Ours, of a view that was made before; a page's tile as the page has it when its head was open for a second."""
    of, window = problem.of, problem.window
    view = ch.look(of.q, of.k, of.v)
    kept = _kept_tile(view, problem) if problem.tiles else None
    tile = kept or (lambda: view.tile(0, window, window, problem.pixels))
    return {OURS: Call(tile, lambda cells: cells.reshape(1, 1, *cells.shape[-2:]))}


def _kept_tile(view: ch.View, problem: Tile) -> Callable[[], np.ndarray | None] | None:
    """What a page takes from the map that it fills of an open head, where it does."""
    layer, level = Layer("", view, (0,)), (problem.side // problem.pixels).bit_length() - 1
    if problem.pixels != TILE or level_to_fill(layer) != level:
        return None
    filling, place = Filling(layer, 0, level), problem.window.start // problem.side
    while not filling.is_full:
        filling.fill()
    return lambda: filling.tile(level, place, place)
