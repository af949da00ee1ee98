"""From tokens to words: attention between groups of positions, exact and streamed.

A group gets the sum of what its keys get, and gives the mean of what its queries give, so that rows still sum to 1.
Groups may be the words that subword tokens make up, sentences, speakers, or any labels. The sums over keys are
attention itself, with values that say which group a key is in; so the matrix of tokens is never there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from clearhead import masks
from clearhead.views import engines, passes

if TYPE_CHECKING:
    from clearhead.views.view import View

COLUMNS = 128  # groups of keys at a time; where their keys are neighbours, all others are skipped
SCATTERED = 512  # where they lie apart, every time takes a look at all keys
MEMORY = 2**26  # bytes of what they give to each query; with more queries, fewer groups at a time

Labels = ArrayLike | Sequence[Any]


class Groups(NamedTuple):
    """The group of each position, −1 for none: numbers (n) or (*batch, n), and how many groups there are."""

    numbers: Int[np.ndarray, "*batch n"]
    size: int


def grouped(view: View, query_groups: Labels, key_groups: Labels | None) -> Float[np.ndarray, "... G_q G_k"]:
    """Attention between groups: see `View.grouped`."""
    if key_groups is None and view.n_q != view.n_k:
        raise ValueError(
            f"there are {view.n_q} queries and {view.n_k} keys, so their groups cannot be the same; give key_groups too"
        )
    of_queries = numbered("query_groups", query_groups, view.n_q, view.batch_shape)
    of_keys = of_queries if key_groups is None else numbered("key_groups", key_groups, view.n_k, view.batch_shape)
    if view.padding is not None:
        of_queries = of_queries._replace(numbers=np.where(view.padding.queries, -1, of_queries.numbers))
    result = np.zeros((*view.lead, of_queries.size, of_keys.size), view.call.kind)
    row = max(int(np.prod(view.lead)) * view.n_q * view.call.kind.itemsize, 1)
    step = max(1, min(COLUMNS if _in_order(of_keys.numbers) else SCATTERED, MEMORY // row))
    for start in range(0, of_keys.size, step):
        columns = np.arange(start, min(start + step, of_keys.size))
        result[..., start : start + step] = _mean_rows(_given(view, of_keys.numbers, columns), of_queries, view)
    return result


def _given(view: View, groups: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """What each query gives to some groups of keys: → (…, h, n_q, columns)"""
    hot = (groups[..., None] == columns).astype(view.call.kind)
    values = hot[..., None, :, :] if view.lead else hot
    keys = np.flatnonzero(hot.any(axis=(*range(hot.ndim - 2), -1)))
    first, last = (int(keys[0]), int(keys[-1])) if keys.size else (0, -1)
    if last - first + 1 == view.n_k:
        return passes.mix(view, values)
    call = passes.again(view, values, masks.prefix(last + 1) & ~masks.prefix(first), sinks=False)
    output, _, sums = engines.compute_with_sums(call)
    assert sums is not None
    return np.asarray(output * view.shaped(sums.share_in(view.sums))[..., None])


def _in_order(groups: np.ndarray) -> bool:
    """Whether the groups' keys are neighbours, in the order of their numbers."""
    reached = np.maximum.accumulate(groups, axis=-1)
    return bool(((groups == reached) | (groups < 0)).all())


def numbered(name: str, labels: Labels, n: int, batch_shape: tuple[int, ...]) -> Groups:
    """Labels as numbers of groups: (n) or (*batch, n)

    Whole numbers from 0 on are the groups' own numbers, and −1 or None is no group; any other labels are numbered in
    the order in which they first appear.
    """
    array = np.asarray(labels)
    if array.dtype == object:
        missing = np.frompyfunc(lambda x: x is None, 1, 1)(array).astype(np.bool_)
        known = np.asarray(array[~missing].tolist())
        filled = np.full(array.shape, -1, np.int64)
        filled[~missing] = _numbers(known)
        array = filled
    numbers = _numbers(array)
    if numbers.shape not in ((n,), (*batch_shape, n)):
        raise ValueError(f"{name} need a label for each of {n} positions, shape ({n},), got shape {numbers.shape}")
    if numbers.min(initial=0) < -1:
        raise ValueError(f"{name} must be 0 or more, or −1 for no group, got {numbers.min()}")
    return Groups(numbers, int(numbers.max(initial=-1)) + 1)


def _numbers(labels: np.ndarray) -> np.ndarray:
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place].reshape(labels.shape)


def _mean_rows(given: np.ndarray, groups: Groups, view: View) -> np.ndarray:
    """The mean over the queries of each group, 0 where there are none: (…, n_q, columns) → (…, G_q, columns)"""
    result = np.zeros((*given.shape[:-2], groups.size, given.shape[-1]), given.dtype)
    of_batch = np.broadcast_to(groups.numbers, (*view.batch_shape, view.n_q))
    for batch in np.ndindex(view.batch_shape):
        order = np.argsort(of_batch[batch], kind="stable")
        order = order[of_batch[batch][order] >= 0]
        present, starts, sizes = np.unique(of_batch[batch][order], return_index=True, return_counts=True)
        if present.size:
            sums = np.add.reduceat(given[batch][..., order, :], starts, axis=-2)
            result[batch][..., present, :] = sums / sizes[:, None]
    return result
