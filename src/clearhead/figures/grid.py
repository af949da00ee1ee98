"""How large a map is drawn, and how several share a figure. All lengths are inches.

The maps are sized first and everything else is put around them, so a figure is as large as what it shows: two
tokens make a small one, sixty-four heads a large one, and neither grows without bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

ONE_MAP = 7.0  # the longest side of a single map
MANY_MAPS = (10.8, 10.2)  # width and height that several share, gaps included
LARGEST_OF_MANY = 4.4
LABEL_PITCH = 0.16  # a row this high has room for its label
SHORTEST_SIDE = 0.5  # room for the word "query" beside it
GAP = 0.12
NAME_HEIGHT = 0.22  # a head's name above its map


@dataclass(frozen=True)
class Grid:
    """rows × columns of maps, each `width` × `height`."""

    rows: int
    columns: int
    width: float
    height: float

    @property
    def area(self) -> float:
        return self.width * self.height

    @property
    def row_gap(self) -> float:
        return GAP + NAME_HEIGHT

    @property
    def total_width(self) -> float:
        return self.columns * self.width + (self.columns - 1) * GAP

    @property
    def total_height(self) -> float:
        return self.rows * self.height + (self.rows - 1) * self.row_gap

    def place(self, index: int) -> tuple[float, float]:
        """Left and top edge of one map, from the top left corner of the first."""
        row, column = divmod(index, self.columns)
        return column * (self.width + GAP), row * (self.height + self.row_gap)


def arrange(heads: int, n_q: int, n_k: int) -> Grid:
    """The grid whose maps are largest; among nearly equal ones the fullest, then the one nearest to a page."""
    if heads == 1:
        return Grid(1, 1, *_map_size(n_q, n_k, ONE_MAP, ONE_MAP, cell=(0.6, 0.9)))
    grids = [_grid(heads, columns, n_q, n_k) for columns in range(1, heads + 1)]
    largest = max(grid.area for grid in grids)
    near = [grid for grid in grids if grid.area >= 0.56 * largest]  # three quarters of the side
    fewest = min(grid.rows * grid.columns for grid in near)
    full = [grid for grid in near if grid.rows * grid.columns == fewest]
    return min(full, key=lambda grid: abs(grid.total_width / grid.total_height - 1.5))


def _grid(heads: int, columns: int, n_q: int, n_k: int) -> Grid:
    rows = ceil(heads / columns)
    width = min(LARGEST_OF_MANY, (MANY_MAPS[0] + GAP) / columns - GAP)
    height = min(LARGEST_OF_MANY, (MANY_MAPS[1] + GAP + NAME_HEIGHT) / rows - GAP - NAME_HEIGHT)
    nothing = 0.001  # a grid that leaves no room for its maps is still a grid, and loses
    return Grid(rows, columns, *_map_size(n_q, n_k, max(width, nothing), max(height, nothing), cell=(0.42, 0.8)))


def _map_size(n_q: int, n_k: int, width: float, height: float, *, cell: tuple[float, float]) -> tuple[float, float]:
    """Square cells inside width × height, larger ones in small maps; a narrow strip is widened for its labels."""
    wanted = min(max(2.4 / max(n_q, n_k), cell[0]), cell[1])
    side = min(wanted, width / n_k, height / n_q)
    return max(side * n_k, _least_side(n_k, width)), max(side * n_q, _least_side(n_q, height))


def _least_side(n: int, available: float) -> float:
    """What n labels need, but no more than a third of a large map or the whole of a small one."""
    return min(max(n * LABEL_PITCH, SHORTEST_SIDE), max(0.3 * available, SHORTEST_SIDE), available)
