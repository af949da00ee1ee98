"""The same numbers, laid out in memory in other ways."""

from __future__ import annotations

import numpy as np


def _flipped(x: np.ndarray, *axes: int) -> np.ndarray:
    return np.flip(np.flip(x, axes).copy(), axes)


def _unaligned(x: np.ndarray) -> np.ndarray:
    buffer = bytearray(x.nbytes + 1)
    view = np.frombuffer(buffer, x.dtype, x.size, offset=1).reshape(x.shape)
    view[...] = x
    return view


def _every_third_column(x: np.ndarray) -> np.ndarray:
    wide = np.full((*x.shape[:-1], 3 * x.shape[-1]), np.nan, x.dtype)
    wide[..., 1::3] = x
    return wide[..., 1::3]


def _inside_a_cache(x: np.ndarray) -> np.ndarray:
    cache = np.full((*x.shape[:-2], x.shape[-2] + 13, x.shape[-1] + 5), np.nan, x.dtype)
    cache[..., 7:-6, 2:-3] = x
    return cache[..., 7:-6, 2:-3]


def _read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


LAYOUTS = {
    "plain": lambda x: x,
    "rows backwards": lambda x: _flipped(x, -2),
    "columns backwards": lambda x: _flipped(x, -1),
    "all backwards": lambda x: _flipped(x, *range(x.ndim)),
    "heads inside": lambda x: x.swapaxes(-2, -3).copy().swapaxes(-2, -3),  # (b, n, h, d), as projections leave it
    "columns outside": lambda x: x.swapaxes(-1, -2).copy().swapaxes(-1, -2),
    "Fortran": np.asfortranarray,
    "every third column": _every_third_column,
    "inside a cache": _inside_a_cache,
    "unaligned": _unaligned,
    "one for all": lambda x: np.broadcast_to(x[:1], x.shape),  # stride 0 along the first axis
    "one row for all": lambda x: np.broadcast_to(x[..., :1, :], x.shape),
    "one number for all": lambda x: np.broadcast_to(x[..., :1], x.shape),
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "read-only": _read_only,
}
