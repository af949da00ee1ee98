"""x W + b: the one thing between inputs and attention that is learned."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearhead import checks


def linear(
    x: Float[np.ndarray, "... d_in"],
    W: Float[np.ndarray, "d_in d_out"],
    b: Float[np.ndarray, " d_out"] | None = None,
    *,
    name: str = "W",
) -> Float[np.ndarray, "... d_out"]:
    """Map each row of x by W, and shift it by b.

    x (…, d_in)  W (d_in, d_out)  b (d_out,) → (…, d_out)
    """
    x, W = checks.float_array("x", x, ndim=1), checks.float_array(name, W)
    if W.ndim != 2 or W.shape[0] != x.shape[-1]:
        raise ValueError(
            f"{name} must have shape (d_in, d_out) with d_in = {x.shape[-1]}, the width of its input, got {W.shape}"
        )
    kind = checks.compute_type(x.dtype, W.dtype)
    y: np.ndarray = x.astype(kind) @ W.astype(kind)
    if b is not None:
        b = checks.float_array("b", b)
        if b.shape != W.shape[1:]:
            raise ValueError(f"b must have shape {W.shape[1:]}, one number per column of {name}, got {b.shape}")
        y = y + b.astype(kind)
    return y.astype(x.dtype)
