"""Softmax, and the logarithm of its denominator.

Both subtract the row maximum first, so no exponential overflows, and both give meaning to a row with nothing in
it: softmax is all zeros there and log_sum_exp is −inf, where the bare formulas would say NaN.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks


def softmax(x: ArrayLike, axis: int = -1) -> Float[np.ndarray, " *shape"]:
    """Turn scores into weights that are positive and sum to 1 along `axis`.

    x (…) → weights (…). A row of all −inf gives zeros. Integers become float64, as under np.exp.
    """
    x = _floats(x)
    exponentials = _shifted_exp(x.astype(checks.compute_type(x.dtype)), axis)[0]
    total = exponentials.sum(axis=axis, keepdims=True)
    return np.asarray(exponentials / np.where(total == 0, 1, total), dtype=x.dtype)


def log_sum_exp(x: ArrayLike, axis: int = -1) -> Float[np.ndarray, " *shape"]:
    """log Σ exp(x) along `axis`: with it, softmax(x) = exp(x − log_sum_exp(x)).

    x (…, n) → (…). A row of all −inf gives −inf, which leaves every later sum unchanged. Integers become float64.
    """
    x = _floats(x)
    exponentials, top = _shifted_exp(x.astype(checks.compute_type(x.dtype)), axis)
    with np.errstate(divide="ignore"):  # log 0 = −inf is the meaning of an empty row
        return np.asarray(np.log(exponentials.sum(axis=axis)) + np.squeeze(top, axis), dtype=x.dtype)


def _floats(x: ArrayLike) -> np.ndarray:
    x = checks.as_array("x", x)
    return checks.float_array("x", x.astype(np.float64) if x.dtype.kind in "iu" else x)


def _shifted_exp(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """exp(x − m) and m, where m is the row maximum, or 0 in a row of all −inf."""
    top = x.max(axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isneginf(top), 0, top)
    with np.errstate(invalid="ignore", over="ignore"):  # +inf − +inf: NaN in, NaN out; too far below the top: 0
        return np.exp(x - top), top
