"""Which key each query may look at, as boolean arrays: True = may attend.

The masks that compose and need no array are in `clearhead.masks`; these are the plain ones to read. Either kind can be
given wherever the textbook takes a mask, as can floats to be added to the scores: `mask_for_scores` makes an array of
whatever came.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.masks import Mask

AnyMask = Mask | ArrayLike | bool


def create_causal_mask(n: int, n_k: int | None = None, *, offset: int | None = None) -> Bool[np.ndarray, "n n_k"]:
    """Query i may attend to key j when j ≤ i + offset.

    → mask (n, n_k). Without n_k it is square. The offset is n_k − n unless given: the queries are the last
    positions, as they are when earlier keys come from a cache.
    """
    n = checks.count("n", n, least=0)
    n_k = n if n_k is None else checks.count("n_k", n_k, least=0)
    offset = n_k - n if offset is None else checks.count("offset", offset, least=None)
    return np.arange(n_k) <= np.arange(n)[:, None] + offset


def create_padding_mask(token_ids: ArrayLike, pad_id: int = 0) -> Bool[np.ndarray, "... 1 1 n_k"]:
    """Keys that are padding may not be attended.

    token_ids (…, n_k) → mask (…, 1, 1, n_k), which broadcasts over heads and queries
    """
    token_ids = np.asarray(token_ids)
    if token_ids.dtype.kind not in "iu":
        raise TypeError(
            f"token_ids must be integers, got {token_ids.dtype.name} "
            "(the mask is made from the ids before they are embedded)"
        )
    if token_ids.ndim < 1:
        raise ValueError("token_ids needs at least 1 dimension, (…, n_k), got a single number")
    real: np.ndarray = token_ids != checks.count("pad_id", pad_id, least=None)
    return real[..., None, None, :]


def mask_for_scores(mask: AnyMask, shape: tuple[int, ...], *, has_heads: bool = True) -> np.ndarray:
    """Any mask as an array, boolean or additive, that broadcasts to scores of the given shape (…, n_q, n_k).

    A mask of `clearhead.masks` is written out for these sizes. What it says of heads is about the third axis from the
    end, what it says of a batch about the axes before that; without heads, all axes before n_q are a batch.
    """
    if isinstance(mask, Mask):
        *leading, n_q, n_k = shape
        heads = leading.pop() if leading and has_heads else None
        mask = mask.array(n_q, n_k, batch_shape=tuple(leading), heads=heads)
    return checks.mask_array(np.asarray(mask) if isinstance(mask, bool) else mask, shape)


def as_option(mask: np.ndarray, *index: Any) -> dict[str, Any]:
    """A mask that `mask_for_scores` has seen, or a piece of it, under the name it goes by: floats are a bias."""
    return {"mask" if mask.dtype == np.bool_ else "bias": mask[(..., *index)]}
