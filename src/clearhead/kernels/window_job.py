"""A window of weights, as the kernel that computes it reads it."""

from __future__ import annotations

from typing import NamedTuple

from clearhead.kernels.job import Job, Strided
from clearhead.kernels.structs import laid_out


class CellScratch(NamedTuple):
    """Addresses of one cell of keys: a number for each query of a panel."""

    sums: int
    peaks: int
    counts: int
    end: int


class Weighing(NamedTuple):
    """A window of weights: the call is that of its queries and keys alone, with the sums of the whole call."""

    job: Job
    weights: Strided  # to be written, if there is an address
    map_sum: Strided  # else to be pooled: float64, a row for each cell of queries that a part has queries in
    map_peak: Strided
    map_count: Strided  # int64
    query_bits: int  # a cell is 2^query_bits queries
    key_bits: int
    parts: int  # into which a head's panels are dealt; each adds to rows of the map that are its own
    part_panels: int
    part_rows: int  # address of the first row of each part
    cell: CellScratch


def cell_scratch(itemsize: int, width: int) -> CellScratch:
    """Where each part of the scratch for a cell lies."""
    cell: CellScratch = laid_out(CellScratch, itemsize, sums=width, peaks=width, counts=width)
    return cell
