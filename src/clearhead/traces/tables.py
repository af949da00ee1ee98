"""What the measures of a trace come to, by the names of the layers: to be read, printed and drawn."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from clearhead.figures.words import PATTERNS
from clearhead.languages import speaking
from clearhead.traces import words
from clearhead.traces.naming import not_there
from clearhead.views import Patterns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_HEADS = 10  # of a list of heads, those that are printed
MOST_COLUMNS = 12  # of a line of numbers, likewise

T = TypeVar("T")


class ByLayer(Mapping[str, T]):
    """Something of each layer, by the layers' names: a mapping, and printed a table with a line for each layer."""

    layers: dict[str, T]

    def __getitem__(self, name: str) -> T:
        if name not in self.layers:
            raise not_there(name, list(self.layers))
        return self.layers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    __eq__ = object.__eq__  # arrays that are compared give no yes or no
    __hash__ = object.__hash__

    @property
    def names(self) -> list[str]:
        """The layers, in their order."""
        return list(self.layers)

    @abstractmethod
    def title(self) -> str:
        """What is printed above the table, or nothing."""

    @abstractmethod
    def rows(self) -> list[list[str]]:
        """The table that is printed, cell by cell."""

    def __repr__(self) -> str:
        return "\n".join(filter(None, [self.title(), *aligned(self.rows())]))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines in which cells stand below each other, columns of numbers at the right; Korean letters are two wide."""
    from rich.cells import cell_len

    columns = [[cell for cell in column if cell] for column in zip_longest(*rows, fillvalue="")]
    widths = [max(map(cell_len, column), default=0) for column in columns]
    numbers = [2 * sum(map(_is_number, column)) >= max(len(column), 1) for column in columns]

    def padded(cell: str, wide: int, number: bool) -> str:
        space = " " * (wide - cell_len(cell))
        return space + cell if number else cell + space

    return ["  ".join(map(padded, row, widths, numbers)).rstrip() for row in rows]


def _is_number(cell: str) -> bool:
    return cell[-1:].isdigit() and cell.lstrip("+-")[:1].isdigit()


def shortened(cells: Sequence[str]) -> list[str]:
    """The first of many cells, and how many more there are."""
    left = len(cells) - MOST_COLUMNS
    return list(cells) if left <= 0 else [*cells[:MOST_COLUMNS], f"… {left} more"]


class HeadTable(ByLayer[Patterns]):
    """What the heads of all layers do: `Patterns` by the layers' names."""

    def __init__(self, layers: dict[str, Patterns]) -> None:
        self.layers = layers

    @functools.cached_property
    def labels(self) -> list[list[str]]:
        """The name of what each head does, layer by layer."""
        return [[str(x) for x in np.asarray(found.labels).reshape(-1)] for found in self.layers.values()]

    def title(self) -> str:
        return ""

    def rows(self) -> list[list[str]]:
        heads = map(str, range(max(map(len, self.labels), default=0)))
        named = [[name, *row] for name, row in zip(self.layers, self.labels, strict=True)]
        return [["head", *heads], *named] if named else []

    def said(self, language: str | None = None) -> str:
        """The table in the language that is spoken, with the names that figures and pages have."""
        with speaking(language):
            rows = [[row[0], *(PATTERNS[x]() if x in PATTERNS else x for x in row[1:])] for row in self.rows()]
            return "\n".join(aligned([[words.HEADS(), *row[1:]] if not i else row for i, row in enumerate(rows)]))


@dataclass(frozen=True, eq=False, repr=False)
class HeadScores(ByLayer[np.ndarray]):
    """A number for each head, by the names of the layers: scores["model.layers.3.self_attn"] is (h,).

    layers: those numbers. label: what they are. Printed, the heads whose numbers are largest.
    """

    layers: dict[str, np.ndarray]
    label: str

    @functools.cached_property
    def array(self) -> np.ndarray:
        """All of them as one array (layers, h), NaN where a layer has no such head."""
        table = np.full((len(self.layers), max(map(len, self.layers.values()), default=0)), np.nan)
        for number, row in enumerate(self.layers.values()):
            table[number, : len(row)] = row
        return table

    def largest(self, count: int | None = MOST_HEADS) -> list[tuple[str, int, float]]:
        """The heads whose numbers are largest, whatever their sign: layer, head, number. count: None for all"""
        order = np.argsort(-np.abs(np.nan_to_num(self.array)), axis=None, kind="stable")
        places = (np.unravel_index(place, self.array.shape) for place in order)
        found = [(self.names[layer], int(head), float(self.array[layer, head])) for layer, head in places]
        return [each for each in found if np.isfinite(each[2])][:count]

    def title(self) -> str:
        """The line above the heads, where they are printed."""
        return f"{self.label}:"

    def rows(self) -> list[list[str]]:
        found = self.largest(None)
        shown = [[name, f"head {head:3}", f"{value:+.6g}"] for name, head, value in found[:MOST_HEADS]]
        left = len(found) - len(shown)
        return [*shown, [f"… {left} more"]] if left else shown

    def plot(self, **options: Any) -> Figure:
        """A figure of layers × heads."""
        from clearhead.figures import visualize_layers

        options.setdefault("values", bool((self.array < 0).any()))  # colours begin at 0, so numbers tell what is below
        names = told_apart(self.names)
        return visualize_layers(np.nan_to_num(self.array), label=self.label, layer_names=names, **options)


def told_apart(names: Sequence[str]) -> list[str]:
    """Names of modules without the parts that all of them begin and end with: 0, 1 … of encoder.layer.0.attention …"""
    parts = [name.split(".") for name in names]
    if len(parts) < 2:
        return list(names)
    start, end = (_shared(rows) for rows in (parts, [row[::-1] for row in parts]))
    return [".".join(row[start : len(row) - end]) or name for row, name in zip(parts, names, strict=True)]


def _shared(rows: Sequence[Sequence[str]]) -> int:
    """How many parts all rows begin with."""
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, zip(*rows, strict=False)))
