"""A call to be watched, as the kernel that observes it reads it."""

from __future__ import annotations

from typing import NamedTuple

from clearhead.kernels.job import BLOCK, Job, Strided
from clearhead.kernels.structs import laid_out
from clearhead.kernels.target import TARGET, WIDEST

# What Watch.counting says: places are not counted, for the first head only as all have the same mask, for every head.
NO_COUNT, ONE_COUNT, EVERY_COUNT = range(3)

IN_REGISTERS = 8  # best keys of each query that stay in registers while others get in among them


class Notes(NamedTuple):
    """Addresses of what an observer writes down besides the forward's scratch. Rows are queries unless said."""

    tops: int  # (blocks, width): the largest score when a block of keys had been done
    states: int  # (blocks,): what the mask leaves of a block
    moment: int  # (width,): Σ exponential · (score − top)
    inverse: int  # (width,): 1 / Σ exponential; 0 for a query with no key left, −1 where there is no query
    factor: int  # (width,): what makes weights of a block's exponentials
    share: int  # (width,): how much of a query's weights counts in what keys receive
    position: int  # (width,): where a query stands among the keys
    distance: int  # (width,): Σ weight · distance
    best: int  # (ranked, width)
    best_keys: int  # (ranked, width)
    sums: int  # (BLOCK, width): weights summed over the cells of keys
    counts: int  # (BLOCK, width)
    turned: int  # (width, BLOCK)
    exponentials: int  # (n_k, width)
    end: int


def room_for(kept: int) -> int:
    """How many best keys of each query there is room for, if so many are kept."""
    return max(kept, IN_REGISTERS)


def notes_for(itemsize: int, n_k: int, kept: int) -> Notes:
    """Where each part of the notes lies."""
    width = WIDEST * TARGET.lanes(itemsize)
    blocks = n_k // BLOCK + 1
    ranked = room_for(kept)
    cells = (BLOCK + width) * width  # with what fills up the last vector of cells
    notes: Notes = laid_out(
        Notes, itemsize, tops=blocks * width, states=blocks, moment=width, inverse=width, factor=width, share=width,
        position=width, distance=width, best=ranked * width, best_keys=ranked * width,
        sums=cells, counts=cells, turned=cells, exponentials=n_k * width,
    )  # fmt: skip
    return notes


class Watch(NamedTuple):
    """A call to be watched, and where what is found goes: of each query, of each key, and of each cell of a map."""

    job: Job
    entropy: Strided
    peak: Strided
    distance: Strided
    best: Strided  # a row for each query
    best_keys: Strided
    received: Strided
    share: Strided  # how much of each query's weights counts in what keys receive
    map_sum: Strided  # a row for each cell of queries
    map_count: Strided
    parts: int  # into which a head's panels are dealt
    part_panels: int  # how many panels each part has
    part_rows: int  # address of the first row of the map that is each part's own
    part_step: int  # bytes from one part's sums over queries to the next's
    kept: int  # best keys of each query
    ranked: int  # for how many there is room: see `statistics.rank`
    query_bits: int  # query i, of all there are, lies in row i >> query_bits of the map
    key_bits: int
    first_query: int  # number of the first query here
    position: int  # of that one among the keys
    counting: int
    notes: Notes
