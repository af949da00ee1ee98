"""The map of a whole head in cells finer than those that a view keeps, filled strip by strip while nobody asks.

Between the tiles that are quick to compute and those that a view's own map answers there may be a level whose tiles
have too many places for a moment's wait: 8,192 × 8,192 of them take 54 ms on two cores. So from when a head is opened
its map is computed at that level, some 13 ms at a time; what is there is taken from it, exact, and the rest computed
as before.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from clearhead.page.packing import HIDDEN
from clearhead.page.reading import Layer
from clearhead.page.tiling import TILE, levels

QUICK = 1 << 25  # places of a tile that are computed in some 25 ms
STRIP = 1 << 24  # places that are computed at a time
LARGEST = 32 << 20  # bytes of such a map
KEPT = 64 << 20  # bytes of all that are kept


def level_to_fill(layer: Layer) -> int | None:
    """The finest level whose tiles are not quick, if a view's own map does not have it; None if there is none."""
    kept = getattr(layer.matrix, "map_size", None)
    if kept is None:  # the weights are all there
        return None
    longest = max(layer.n_q, layer.n_k)
    for level in range(1, levels(layer)):
        side = TILE << level
        if min(side, layer.n_q) * min(side, layer.n_k) <= QUICK:
            continue
        size = 4 * -(-layer.n_q >> level) * -(-layer.n_k >> level)
        from_map = kept > 0 and longest <= kept << level
        return None if from_map or size > LARGEST else level
    return None


class Filling:
    """The map of a head at one level, as far as it is there."""

    def __init__(self, layer: Layer, head: int, level: int) -> None:
        self.layer, self.head, self.level = layer, head, level
        self.cells = np.full((-(-layer.n_q >> level), -(-layer.n_k >> level)), HIDDEN, np.float32)
        self.filled = 0  # rows of cells

    @property
    def is_full(self) -> bool:
        return self.filled == len(self.cells)

    def fill(self) -> None:
        """Compute the next strip."""
        by = 1 << self.level
        end = min(self.filled + max(STRIP // (self.layer.n_k * by), 1), len(self.cells))
        rows = slice(self.filled * by, min(end * by, self.layer.n_q))
        size = (end - self.filled, self.cells.shape[1])
        self.cells[self.filled : end] = self.layer.window(self.head, rows, slice(0, self.layer.n_k), size)
        self.filled = end

    def tile(self, level: int, row: int, column: int) -> Float[np.ndarray, "cells_q cells_k"] | None:
        """A tile of this level, if it is there."""
        if level != self.level or min((row + 1) * TILE, len(self.cells)) > self.filled:
            return None
        return self.cells[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]


class Fillings:
    """The maps of the heads that were opened last; any thread may ask. A place is the numbers of a layer and a head."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = layers
        self.levels = [level_to_fill(layer) for layer in layers]
        self._lock = threading.Lock()
        self._maps: OrderedDict[tuple[int, int], Filling] = OrderedDict()

    @property
    def size(self) -> int:
        """How many bytes of maps are kept."""
        return sum(filling.cells.nbytes for filling in self._maps.values())

    def opened(self, place: tuple[int, int]) -> bool:
        """A head is looked at now, and its map the next to be filled. → whether there is anything to fill"""
        layer, head = place
        level = self.levels[layer]
        if level is None:
            return False
        with self._lock:
            if place not in self._maps:
                self._maps[place] = Filling(self.layers[layer], head, level)
            self._maps.move_to_end(place)
            while len(self._maps) > 1 and self.size > KEPT:
                self._maps.popitem(last=False)
            return not self._maps[place].is_full

    def fill(self, place: tuple[int, int]) -> bool:
        """Go on with the map of a head, if it is the one that was opened last. → whether there is more to do"""
        with self._lock:
            filling = self._maps.get(place)
            if filling is None or filling.is_full or next(reversed(self._maps)) != place:
                return False
        filling.fill()
        return not filling.is_full

    def tile(self, place: tuple[int, int], level: int, row: int, column: int) -> np.ndarray | None:
        """A tile of a head, if its map has it."""
        with self._lock:
            filling = self._maps.get(place)
        return filling.tile(level, row, column) if filling else None
