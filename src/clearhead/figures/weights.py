"""What may be drawn: weights as (h, n_q, n_k), finite and not negative, and one label for each position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks

MOST_HEADS = 144  # twelve layers of twelve


def as_array(name: str, value: ArrayLike) -> np.ndarray:
    """`value` as an array; a torch tensor may need gradients, live on a device or be bfloat16."""
    tensor: Any = value
    if hasattr(tensor, "detach") and hasattr(tensor, "cpu"):
        tensor = tensor.detach().cpu()
        tensor = tensor.float() if "bfloat16" in str(tensor.dtype) else tensor
    return checks.float_array(name, tensor)


def drawable_weights(weights: ArrayLike) -> Float[np.ndarray, "h n_q n_k"]:
    """The weights with exactly one head axis.

    weights (n_q, n_k), (h, n_q, n_k) or (1, …, h, n_q, n_k) → (h, n_q, n_k)
    """
    array = as_array("weights", weights)
    if array.ndim < 2:
        raise ValueError(
            f"weights must be (n_q, n_k) or (h, n_q, n_k), got shape {array.shape} (weights[None, :] draws one query)"
        )
    if array.size == 0:
        raise ValueError(f"weights of shape {array.shape} are empty; there must be a query and a key to draw")
    if any(length > 1 for length in array.shape[:-3]):
        raise ValueError(
            f"weights of shape {array.shape} hold a batch; a figure shows one item of it: pick one, weights[0] say"
        )
    heads = array.reshape(-1, *array.shape[-2:])
    if len(heads) > MOST_HEADS:
        raise ValueError(f"{len(heads)} heads do not fit a figure; draw at most {MOST_HEADS}, weights[:64] say")
    return heads


def check_values(weights: Float[np.ndarray, "n_q n_k"], *, head: int | None = None) -> None:
    """Finite and not negative: what softmax gives, with or without sinks and dropout."""
    if weights.min() >= 0 and weights.max() < np.inf:  # false for NaN, which min and max pass on
        return
    row, column = np.argwhere(~((weights >= 0) & (weights < np.inf)))[0]
    where = f"query {row}, key {column}" if head is None else f"head {head}, query {row}, key {column}"
    value = float(weights[row, column])
    if np.isfinite(value):
        raise ValueError(
            f"weights must not be negative, got {value:g} at {where} (are these scores? softmax makes weights of them)"
        )
    raise ValueError(f"weights must be finite, got {value} at {where} (a query with no key left has zeros)")


def checked_tokens(name: str, tokens: Sequence[object] | None, n: int, axis: str) -> list[object] | None:
    """One token for each of n positions."""
    if tokens is None:
        return None
    if isinstance(tokens, (str, bytes)):
        raise TypeError(
            f"{name} must be a list with one entry per position, got one text ({name}.split() or list({name}) cuts it)"
        )
    listed = list(tokens)
    if len(listed) != n:
        raise ValueError(f"{name} must name all {n} {axis}, got {len(listed)} names")
    return listed
