"""Traces that several processes wrote together: a file of each, which are one trace when they are read.

The file of rank 0 has the name of the trace, and says which others there are; `story.safetensors` goes with
`story.1-of-4.safetensors` and so on. What is of positions, queries and keys above all, each rank wrote for its own:
rows first, a run of positions after the other, and the number of the first in the name. The rest is rank 0's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clearhead.languages import RefusedError
from clearhead.traces import words
from clearhead.traces.end_to_end import end_to_end
from clearhead.traces.tensor_files import Arrays

PART = "part of a trace"
SEVERAL = 3  # the version of the format in which there are several files
MAPPED = ("q", "k", "v", "gradient")  # what is not copied when it is put together
FILLER = "filler"  # the name of what is between arrays, so that they begin where they should


def part_of(path: Path, rank: int, ranks: int) -> Path:
    """The file of a rank."""
    return path if rank == 0 else path.with_name(f"{path.stem}.{rank}-of-{ranks}{path.suffix}")


def parts_of(path: Path, told: dict[str, Any]) -> list[Path]:
    """The files that go with the one of rank 0, all of which must be there."""
    ranks, written_as = told["parts"]["ranks"], path.with_name(told["parts"]["name"])
    found = [part_of(path, rank, ranks) for rank in range(1, ranks)]
    as_written = [part_of(written_as, rank, ranks) for rank in range(1, ranks)]  # if the one of rank 0 was renamed
    found = [one if one.is_file() else other for one, other in zip(found, as_written, strict=True)]
    missing = [part.name for part in found if not part.is_file()]
    if missing:
        raise RefusedError(words.PARTS_MISSING.filled(path=path, ranks=ranks, missing=", ".join(missing)))
    return found


class Row(NamedTuple):
    """A run of positions of an array, in the file of some rank."""

    first: int
    arrays: Arrays
    name: str


class JoinedArrays:
    """The arrays of all files of a trace by their names, those in rows put together."""

    def __init__(self, files: Sequence[Arrays]) -> None:
        self.first = files[0]
        self.rows: dict[str, list[Row]] = {}
        for arrays in files:
            for name in arrays.header:
                if (found := re.fullmatch(r"(.+)@(\d+)", name)) is not None:
                    self.rows.setdefault(found[1], []).append(Row(int(found[2]), arrays, name))
        for rows in self.rows.values():
            rows.sort(key=lambda row: row.first)

    def get(self, name: str) -> np.ndarray:
        if name not in self.rows:
            return self.first.get(name)
        rows = self.rows[name]
        found = [row.arrays.get(row.name) for row in rows]  # each held to its checksum
        ends = np.cumsum([0, *(len(x) for x in found)]).tolist()
        if [row.first for row in rows] != ends[:-1] or len({(x.shape[1:], x.dtype) for x in found}) != 1:
            raise ValueError(f"{self.first.path} is damaged: the rows of {name} do not follow one another in its files")
        if name.rpartition("/")[2] in MAPPED:
            content = end_to_end([row.arrays.place(row.name) for row in rows])
            whole = content.view(found[0].dtype).reshape(ends[-1], *found[0].shape[1:])
        else:
            whole = np.concatenate(found)
        return np.moveaxis(whole, 0, 1)


def joined_arrays(first: Arrays, parts: list[tuple[Path, dict[str, Any]]], told: dict[str, Any]) -> JoinedArrays:
    """The arrays of the file of rank 0 and of those of the others, which must be of the same trace."""
    for path, description in parts:
        if description["identity"] != told["parts"]["identity"]:
            raise RefusedError(words.PART_OF_ANOTHER.filled(path=path, first=first.path.name))
    return JoinedArrays([first, *(Arrays(path, said["checksums"]) for path, said in parts)])
