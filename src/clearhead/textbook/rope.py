"""Rotary positions (RoPE): turn queries and keys by their position, so that their dot product knows the distance.

Columns are taken two at a time as points in the plane, and each pair is turned by position · frequency. Turning a
query by m and a key by n leaves a dot product that depends on m − n alone. Which columns make a pair is a matter
of layout: Llama and GPT-NeoX pair column i with column i + width/2 (half-split), GPT-J and Cohere pair columns 2i
and 2i + 1 (interleaved). The two are the same up to a permutation of columns; weights trained on one need it.

The frequencies, and the ways to stretch them to texts longer than those trained on, are in `rope_scaling`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.textbook.rope_scaling import rope_frequencies

# From the rotary width, the base and the number of positions in use to the frequencies and the attention factor.
Scaling = Callable[[int, float, int], tuple[np.ndarray, float]]


def rope(
    x: Float[np.ndarray, "... n d"],
    positions: ArrayLike | None = None,
    *,
    base: float = 10000.0,
    width: int | None = None,
    interleaved: bool = False,
    scaling: Scaling | None = None,
) -> Float[np.ndarray, "... n d"]:
    """Queries or keys, each row turned by its position.

    x (…, n, d)  positions (n,), or (…, n) that broadcasts over x's leading dimensions → (…, n, d), in x's type

    Positions are counted from 0 unless given. Only the first `width` columns are turned (all, unless given); the
    rest pass through. `scaling` is one of the functions of `rope_scaling` with its numbers filled in, for instance
    `functools.partial(linear_scaling, factor=4.0)`.
    """
    x = checks.float_array("x", x, ndim=2)
    positions = np.arange(x.shape[-2]) if positions is None else positions
    width = x.shape[-1] if width is None else width
    cos, sin = rope_table(positions, width, base=base, scaling=scaling)
    return apply_rope(x, cos, sin, interleaved=interleaved)


def rope_table(
    positions: ArrayLike, width: int, *, base: float = 10000.0, scaling: Scaling | None = None
) -> tuple[Float[np.ndarray, "... n pairs"], Float[np.ndarray, "... n pairs"]]:
    """cos and sin of the angle by which each pair of columns turns at each position.

    positions (…, n) → cos, sin (…, n, width / 2), float64, both times the scaling's attention factor
    """
    positions = _checked_positions(positions)
    length = int(np.floor(positions.max())) + 1 if positions.size else 0
    frequencies, attention_factor = (scaling or _unscaled)(width, base, length)
    angles = positions[..., None] * frequencies
    return np.cos(angles) * attention_factor, np.sin(angles) * attention_factor


def apply_rope(
    x: Float[np.ndarray, "... n d"],
    cos: Float[np.ndarray, "... n pairs"],
    sin: Float[np.ndarray, "... n pairs"],
    *,
    interleaved: bool = False,
) -> Float[np.ndarray, "... n d"]:
    """Turn each pair of columns: (a, b) → (a cos − b sin, a sin + b cos).

    x (…, n, d)  cos, sin (…, n, width / 2), broadcasting over x's leading dimensions → (…, n, d), in x's type

    The table's width says how many columns are turned; those after them pass through.
    """
    x = checks.float_array("x", x, ndim=2)
    cos, sin = _checked_table(x, cos, sin)
    width = 2 * cos.shape[-1]
    turning, rest = x[..., :width].astype(checks.compute_type(x.dtype)), x[..., width:]
    half = width // 2
    first, second = (slice(0, None, 2), slice(1, None, 2)) if interleaved else (slice(0, half), slice(half, None))

    turned = np.empty_like(turning)
    turned[..., first] = turning[..., first] * cos - turning[..., second] * sin
    turned[..., second] = turning[..., first] * sin + turning[..., second] * cos
    return np.concatenate([turned.astype(x.dtype), rest], axis=-1)


def _unscaled(width: int, base: float, length: int) -> tuple[np.ndarray, float]:
    return rope_frequencies(width, base), 1.0


def _checked_positions(positions: ArrayLike) -> np.ndarray:
    array = np.asarray(positions)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"positions must be numbers, whole ones as a rule, got {array.dtype.name}")
    if array.ndim < 1:
        raise ValueError(f"positions need one number per row of x, shape (n,), got the single number {array}")
    if not np.isfinite(array).all():
        raise ValueError("positions must be finite, got NaN or inf")
    return array


def _checked_table(x: np.ndarray, cos: ArrayLike, sin: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    kind = checks.compute_type(x.dtype)
    cos, sin = checks.float_array("cos", cos, ndim=2), checks.float_array("sin", sin, ndim=2)
    if cos.shape != sin.shape:
        raise ValueError(f"cos has shape {cos.shape} and sin {sin.shape}; both need one angle per position and pair")
    if 2 * cos.shape[-1] > x.shape[-1]:
        raise ValueError(
            f"{cos.shape[-1]} angles turn {2 * cos.shape[-1]} columns but x has only {x.shape[-1]}; "
            "give at most one angle for every two columns (width= turns fewer columns)"
        )
    try:
        fits = np.broadcast_shapes(cos.shape[:-1], x.shape[:-1]) == x.shape[:-1]
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"angles for positions of shape {cos.shape[:-1]} do not fit x of shape {x.shape}; they must broadcast to "
            f"{x.shape[:-1]} (with a head axis in x, positions of each text (b, n) are passed as positions[:, None])"
        )
    return cos.astype(kind), sin.astype(kind)
