"""Weights of a view, computed again: any window, and each query's weight on one key of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from clearhead.views.choosing import chosen, of_batch

if TYPE_CHECKING:
    from clearhead.views.view import View


def window(view: View, head: Any, rows: Any, cols: Any, batch: Any) -> np.ndarray:
    """Any window, of all heads unless some are chosen: see `View.weights`."""
    rows, one_row = chosen("rows", rows, view.n_q)
    cols, one_col = chosen("cols", cols, view.n_k)
    entries = of_heads(view, head, batch)
    tall, wide = len(np.arange(view.n_q)[rows]), len(np.arange(view.n_k)[cols])
    result = np.empty((*entries.shape, tall, wide), view.call.kind)
    for at_entry in np.ndindex(entries.shape):
        result[at_entry] = view.recomputed.window(*numbered(view, int(entries[at_entry])), rows, cols)
    kept = (..., 0 if one_row else slice(None), 0 if one_col else slice(None))
    return np.ascontiguousarray(result[kept])


def at(view: View, keys: Int[np.ndarray, " n_q"]) -> Float[np.ndarray, "... n_q"]:
    """Each query's weight on one key of its own, 0 where there is no such key: keys (n_q) → (…, h, n_q)"""
    return view.shaped(view.recomputed.at(keys))


def place(view: View, entry: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """A head of a batch entry, by its place along all axes, as a call counts them."""
    return numbered(view, int(np.ravel_multi_index(entry, view.lead)) if view.lead else 0)


def numbered(view: View, number: int) -> tuple[tuple[int, ...], int]:
    """The same, by its number over all axes."""
    *batch, head = (int(i) for i in np.unravel_index(number, view.call.lead))
    return tuple(batch), head


def of_heads(view: View, head: Any, batch: Any) -> Int[np.ndarray, ...]:
    """The heads of batch entries that are meant, as numbers over all of them."""
    entries = of_batch(np.arange(int(np.prod(view.lead))).reshape(view.lead), batch, view.batch_shape)
    if head is None:
        return entries
    if not view.lead:
        raise ValueError(f"this view has no head axis; leave head out, got {head!r}")
    heads, one = chosen("head", head, view.heads)
    return np.asarray(entries[..., heads][..., 0] if one else entries[..., heads])
