"""Arrays as a page carries them: little-endian, deflated, in base64; weights of a map as one byte each.

A byte says a weight on a log scale, so that a map reads the same whether it is drawn on a log or a linear one:

    0  masked    1  zero, or below the range    2 … 254  low · (high / low)^((byte − 2) / 252)    255  not a number

With six decades in 252 steps a weight is off by at most 2.8 %. web/codec.js reads all of this.
"""

from __future__ import annotations

import base64
import zlib
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, UInt8

MASKED, ZERO, LOWEST, HIGHEST, NOT_A_NUMBER = 0, 1, 2, 254, 255
DECADES = 1e6
TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "f2": np.float16, "f4": np.float32}
HIDDEN = -1.0  # what stands for masked among exact weights, which are never negative


class Coded(NamedTuple):
    """Weights as bytes, and the range of those that are not zero."""

    codes: UInt8[np.ndarray, ...]
    low: float
    high: float


class Chunk(NamedTuple):
    """Arrays that are opened together: how each is called, typed and shaped, and all their bytes in base64."""

    arrays: list[tuple[str, str, list[int]]]
    text: str


def coded(weights: Float[np.ndarray, ...]) -> Coded:
    """Weights as bytes: (…) → codes (…). HIDDEN stands for masked."""
    seen = weights[np.isfinite(weights) & (weights > 0)]
    high = float(seen.max(initial=0.0)) or 1.0
    low = max(float(seen.min(initial=high)), high / DECADES)
    low = min(low, high / 2)  # a map of one value has a range too
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.log(weights / low) / np.log(high / low) * (HIGHEST - LOWEST)
    codes = np.clip(np.nan_to_num(np.round(steps), neginf=-1), 0, HIGHEST - LOWEST) + LOWEST
    codes = np.where(weights < low * 0.999, ZERO, codes)
    codes = np.where(weights < 0, MASKED, np.where(np.isnan(weights), NOT_A_NUMBER, codes))
    return Coded(codes.astype(np.uint8), low, high)


def chunk(arrays: dict[str, np.ndarray]) -> Chunk:
    """Some arrays as one deflated text."""
    kinds = {name: kind_of(array) for name, array in arrays.items()}
    raw = b"".join(array.astype(f"<{kinds[name]}").tobytes() for name, array in arrays.items())
    described = [(name, kinds[name], list(array.shape)) for name, array in arrays.items()]
    return Chunk(described, packed(raw))


def packed(raw: bytes) -> str:
    """Bytes deflated, in base64."""
    return base64.b64encode(zlib.compress(raw, 6)).decode()


def kind_of(array: np.ndarray) -> str:
    """What a type is called where arrays are described."""
    return next(name for name, kind in TYPES.items() if array.dtype == kind)
