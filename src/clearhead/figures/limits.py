"""Where a scale of colours begins and ends when the weights choose it, so that a map shows something at any length.

Weights shrink as rows grow longer: under a causal mask the first query gives 1 to its only key, and the last of 16,384
may give 0.00006 to each. On a linear scale that ends at the largest weight, such a map is white but for its tip. So
what is seldom may lie past the end, unless much of the attention is there, and where the usual weight would still be
too pale the scale is one of powers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

RARE = 0.001  # the share of cells that may lie past the end
MOST_MASS = 0.5  # the share of all weight that may
NEAR = 1.5  # a largest weight that is no further off is an end as good
PALE = 0.1  # of the scale: where most cells are paler, a linear scale shows nothing
LIGHTEST = 0.01  # the share of cells that may lie below the lowest colour of a scale of powers
DECADES = 4  # powers of ten, of the longest scale


class Limits(NamedTuple):
    """A scale, "linear" or "log", its ends, and how many of how many cells lie above it, and the largest."""

    scale: str
    low: float
    high: float
    above: int
    total: int
    largest: float


def fitted_limits(cells: Float[np.ndarray, ...]) -> Limits:
    """The scale that shows these cells, of which NaN is none.

    It is linear, from 0, while the median of the weights above 0 reaches a tenth of it; else one of powers. Where most
    places have weight, the median reaches no more than half of it, so that even attention is neither white nor black.
    """
    total = int(np.count_nonzero(~np.isnan(cells)))
    rising = np.sort(cells[cells > 0])
    if not rising.size:
        return Limits("linear", 0.0, 1.0, 0, total, 0.0)
    largest, median = float(rising[-1]), float(rising[rising.size // 2])
    mass = np.cumsum(rising, dtype=np.float64)
    heavy = rising[np.searchsorted(mass, (1 - MOST_MASS) * mass[-1])]
    high = float(max(heavy, rising[min(int(rising.size * (1 - RARE)), rising.size - 1)]))
    high = largest if largest <= NEAR * high else high
    if median >= PALE * high:
        scale, low = "linear", 0.0
        high = max(high, 2 * median) if rising.size > total / 2 else high
    else:
        scale, low = "log", max(float(rising[int(rising.size * LIGHTEST)]) / 2, high / 10**DECADES)
    return Limits(scale, low, high, int(np.count_nonzero(rising > high)), total, largest)
