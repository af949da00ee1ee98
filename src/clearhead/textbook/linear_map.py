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
    W = checks.float_array(name, W)
    if W.ndim != 2 or W.shape[0] != x.shape[-1]:
        raise ValueError(
            f"{name} must have shape (d_in, d_out) with d_in = {x.shape[-1]}, the width of its input, got {W.shape}"
        )
    kind = checks.compute_type(x.dtype, W.dtype)
    y = x.astype(kind) @ W.astype(kind)
    return (y if b is None else y + b.astype(kind)).astype(x.dtype)
