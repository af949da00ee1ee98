"""Which heads, queries, keys and batch entries are meant."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearhead import checks


def chosen(name: str, value: Any, size: int) -> tuple[slice | np.ndarray, bool]:
    """Which of `size` things are meant, and whether it is one, whose axis is dropped.

    One number, counted from the end if negative; a slice; or a sequence of numbers. `...` means all.
    """
    if value is Ellipsis:
        return slice(None), False
    if isinstance(value, slice):
        if value.step is not None and checks.count(f"the step of {name}", value.step, least=None) == 0:
            raise ValueError(f"the step of {name} must not be 0")
        return value, False
    if np.ndim(value):
        places = np.asarray(value) if len(value) else np.zeros(0, np.int64)
        if places.ndim != 1 or places.dtype.kind not in "iu":
            raise TypeError(
                f"{name} must be a number, a slice or a sequence of numbers, got {places.dtype.name} "
                f"of shape {places.shape}"
            )
    else:
        places = np.array([checks.count(name, value, least=None)])
    outside = places[(places < -size) | (places >= size)]
    if outside.size:
        there = f"0 … {size - 1}" if size else "none at all"
        raise ValueError(f"{name} {outside[0]} is out of range; there are {size}: {there}")
    return places % max(size, 1), not np.ndim(value)


def of_batch(entries: np.ndarray, batch: Any, batch_shape: tuple[int, ...]) -> np.ndarray:
    """What belongs to a place along the batch axes, a number or one for each axis: entries (*batch, …) → (…)"""
    if batch is None:
        return entries
    places = batch if isinstance(batch, tuple) else (batch,)
    if len(places) > len(batch_shape):
        raise ValueError(f"batch {batch!r} has {len(places)} numbers; the batch axes are {batch_shape}")
    for place, size in zip(places, batch_shape, strict=False):
        number, _ = chosen("batch", checks.count("batch", place, least=None), size)
        entries = np.asarray(entries[number][0])
    return entries
