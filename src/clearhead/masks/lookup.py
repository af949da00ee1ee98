"""Looking up what a mask was given for batch entries, heads, queries and keys, where any axis may be missing or 1.

And showing it, to whoever prints a mask.
"""

from __future__ import annotations

import numpy as np

from clearhead.masks.sizes import Sizes, Where

MOST_SHOWN = 8  # numbers that are printed one by one


def shown(values: np.ndarray) -> str:
    """An array as it was given, or, where it is long, what it is."""
    return repr(values.tolist()) if values.size <= MOST_SHOWN else f"<{values.dtype.name} of shape {values.shape}>"


def over_batch(name: str, values: np.ndarray, sizes: Sizes, *, of_keys: bool = False) -> np.ndarray:
    """Values with one entry per batch entry, broadcast to the batch axes there are; a further axis if `of_keys`."""
    tail = values.shape[-1:] if of_keys else ()
    wanted = (*sizes.batch_shape, *tail)
    if values.shape == wanted:
        return values
    try:
        return np.broadcast_to(values, wanted)
    except ValueError:
        raise ValueError(
            f"{name} of shape {values.shape} do not broadcast to the batch axes {sizes.batch_shape}"
            + (f" and {tail[0]} keys" if tail else "")
        ) from None


def fits_lead(lead: tuple[int, ...], sizes: Sizes) -> None:
    """A mask's axes before n_q and n_k broadcast to (*batch, heads)."""
    wanted = (*sizes.batch_shape, sizes.heads)
    try:
        fitting = np.broadcast_shapes(lead, wanted) == wanted
    except ValueError:
        fitting = False
    if not fitting:
        raise ValueError(
            f"a mask with leading axes {lead} does not broadcast to the batch axes {sizes.batch_shape} and "
            f"{sizes.heads} heads"
        )


def look_up(table: np.ndarray, at: Where, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """table[batch, head, row, column], where any axis of the table may be missing or 1."""
    lead = table.shape[:-2]
    fits_lead(lead, at.sizes)
    index: list[np.ndarray | int] = []
    if lead:
        places = [*np.unravel_index(at.batch, at.sizes.batch_shape or (1,)), at.head]
        index = [i if size != 1 else 0 for i, size in zip(places[-len(lead) :], lead, strict=True)]
    index += [row if table.shape[-2] != 1 else 0, column if table.shape[-1] != 1 else 0]
    return np.atleast_1d(table[tuple(index)])
