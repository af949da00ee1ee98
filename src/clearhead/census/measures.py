"""What is counted of every head, and how: numbers become integers before they are added, so that sums are exact.

A float sum depends on the order of its terms, and who finishes first decides that order. So each number of a document
is rounded once, to a step that is far below what anybody reads off it, and from there on everything is a whole number:

    pattern scores, sink, entropy / log n, received by kind     0 … 1, in steps of 1 / 65,536
    distance                                                    in positions, in steps of 1 / 64

Histograms have fixed bins: 32 of the same width from 0 to 1; for distances 0, 1, 2 to 3, 4 to 7 …, which double.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from clearhead.census.kinds import KINDS

PATTERNS = (
    "self", "previous_token", "next_token", "first_token", "uniform", "local",
    "duplicate_token", "induction", "separator", "punctuation",
)  # fmt: skip
LABELS = (*PATTERNS, "mixed", "none")  # what a head can be called in one document
RECEIVED = tuple(f"received_{kind}" for kind in KINDS)
MEASURES = (*PATTERNS, "sink", "entropy", "distance", *RECEIVED)
DISTANCE = MEASURES.index("distance")

STEPS = np.array([64 if name == "distance" else 65_536 for name in MEASURES], np.int64)
BINS = 32
FARTHEST = 24  # distances of 2^24 positions and more would share the last bin
DISTANCES = 2 * FARTHEST + 1  # ahead, the own place, back
MASS_STEPS = 1024  # of one query's attention, in the histogram of distances


def quantised(values: Float[np.ndarray, "h m"]) -> Int[np.ndarray, "h m"]:
    """Numbers of a document as whole steps; NaN, which says that there is nothing to measure, becomes −1."""
    return np.where(np.isnan(values), -1, np.rint(np.nan_to_num(values) * STEPS)).astype(np.int64)


def bins_of(steps: Int[np.ndarray, "h m"]) -> Int[np.ndarray, "h m"]:
    """The bin of each number, which is given in steps and not missing."""
    even = np.minimum(steps * BINS // STEPS, BINS - 1)
    doubling = np.minimum(np.frexp(steps // STEPS)[1], BINS - 1)  # of a whole number, how many binary digits it has
    return np.where(np.arange(len(MEASURES)) == DISTANCE, doubling, even).astype(np.int64)


def distance_bin(first: int, last: int) -> int:
    """The place of a bin of `View.distances` among the fixed ones; what lies back comes after the own place."""
    if first > 0:
        return FARTHEST + min(first.bit_length(), FARTHEST)
    return FARTHEST - min((-last).bit_length(), FARTHEST)
