"""How far away a head looks: i − j under its weights, as a mean, a variance and a histogram, streamed.

Moments are the mixed powers of the keys' positions, in float64: the squares of positions are so much larger than a
variance that float32 would lose it. A bin of the histogram is the mass on a band of keys, and a pass over all bands
touches each pair of a query and a key once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from clearhead import masks
from clearhead.views import passes

if TYPE_CHECKING:
    from clearhead.views.view import View


class Distances(NamedTuple):
    """Where a head's attention lies, counted back from the query: i − j, i being the query's place among the keys.

    All weights of a head count together, each by its size. Positive distances are back, negative ones ahead.

    mean, variance (…, h)        0 where a head has no weights
    bins (b, 2)                  the first and the last distance of each bin: … −3 to −2, −1, 0, 1, 2 to 3, 4 to 7 …
    shares (…, h, b)             the part of the attention that lies in each bin
    """

    mean: Float[Any, "*lead"]
    variance: Float[Any, "*lead"]
    bins: Int[np.ndarray, "b 2"]
    shares: Float[Any, "*lead b"]


def find_distances(view: View) -> Distances:
    """The distances of every head of a view: see `View.distances`."""
    mean, variance = _moments(view)
    bins = log2_bins(view.n_q - 1, view.n_k - 1)
    mass = [_sum(passes.mass(view, _band(view, *map(int, each)))) for each in bins]
    shares = np.stack(mass, axis=-1) if mass else np.zeros((*mean.shape, 0))
    return Distances(
        view.convert(mean), view.convert(variance), bins, view.convert(_share(shares, _sum(view.total)[..., None]))
    )


def log2_bins(ahead: int, back: int) -> Int[np.ndarray, "b 2"]:
    """Bins that double in width on either side of 0, as far as keys can be: their first and last distances."""
    later = [(-(2 ** (power + 1)) + 1, -(2**power)) for power in reversed(range(max(ahead, 0).bit_length()))]
    earlier = [(2**power, 2 ** (power + 1) - 1) for power in range(max(back, 0).bit_length())]
    own = [(0, 0)] if min(ahead, back) >= 0 else []
    return np.array([*later, *own, *earlier], np.int64).reshape(-1, 2)


def _band(view: View, first: int, last: int) -> masks.Mask:
    """The keys at a distance from the first to the last."""
    return masks.window(0, last - first, offset=view.n_k - view.n_q - last)


def _moments(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of i − j over all weights of each head."""
    keys = np.arange(view.n_k, dtype=np.float64)
    mixed = passes.mix(view, np.stack([np.ones_like(keys), keys, keys**2], axis=-1))
    total, first, second = (mixed[..., power] for power in range(3))
    place = np.arange(view.n_q) + float(view.n_k - view.n_q)
    whole = _sum(total)
    mean = _share(_sum(place * total - first), whole)
    far = place - mean[..., None]  # Σ w (i − j − mean)² = Σ w (far − j)²
    variance = _share(_sum(far**2 * total - 2 * far * first + second), whole)
    return mean, np.asarray(np.maximum(variance, 0))


def _sum(x: np.ndarray) -> np.ndarray:
    """Over the queries: (…, n_q) → (…)"""
    return np.asarray(x.sum(axis=-1, dtype=np.float64))


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=whole != 0))
