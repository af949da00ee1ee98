"""Dropout whose mask depends on a seed and on the place in the matrix, and on nothing else.

A generator that is asked in order ties the mask to the order of the work. Here each cell hashes its own address,
so tiles may be visited in any order, by any number of threads, forward or backward, and the mask is the same.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearhead import checks


def dropout_mask(
    shape: tuple[int, ...], rate: float, seed: int | None, *, first_query: int = 0, first_key: int = 0
) -> Float[np.ndarray, " *shape"]:
    """What each weight is multiplied by: 0 with probability `rate`, else 1 / (1 − rate).

    → factors of the given shape (…, n_q, n_k), of the queries from first_query on and the keys from
    first_key on
    """
    rate, seed = checked_dropout(rate, seed)
    if len(shape) < 2:
        raise ValueError(f"shape must be that of weights, (…, n_q, n_k), got {tuple(shape)}")
    *leading, n_q, n_k = (checks.count("each size of shape", size, least=0) for size in shape)
    heads = np.arange(int(np.prod(leading)), dtype=np.uint64)
    rows = (heads[:, None] << np.uint64(32)) | np.arange(first_query, first_query + n_q, dtype=np.uint64)
    keys = _mix64(rows ^ _mix64(np.array([seed], dtype=np.uint64)))[..., None]
    bits = _mix32(
        np.arange(first_key, first_key + n_k, dtype=np.uint32),
        keys.astype(np.uint32),
        (keys >> np.uint64(32)).astype(np.uint32),
    )
    kept = bits >= np.uint64(round(rate * 2**32))  # a rate next to 1 rounds to 2³², one more than 32 bits hold
    return (kept / (1 - rate)).reshape(shape)


def checked_dropout(rate: float, seed: int | None) -> tuple[float, int]:
    """A rate in [0, 1) and a seed of 64 bits."""
    rate = checks.number("dropout", rate)
    if not 0 <= rate < 1:
        raise ValueError(f"dropout must be at least 0 and less than 1, got {rate:g}")
    if seed is None:
        raise ValueError(f"dropout={rate:g} needs a seed: the same seed always drops the same weights (seed=0, say)")
    return rate, checks.count("seed", seed, least=0) % 2**64


def _mix64(x: np.ndarray) -> np.ndarray:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _mix32(column: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Scramble a column number with the two halves of its row's key, in 32 bits."""
    x = column + low
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = x ^ high
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return np.asarray(x ^ (x >> np.uint32(16)))
