"""How much attention falls on keys that have to do with the query's own token: its other places, and what followed it.

The keys that share a token lie anywhere. But with keys and queries put in order of their tokens, each token's keys
are one run, a mask in runs stays a mask in runs, and the kernels skip all the rest. So it costs as much as there are
pairs, and O(n) memory however often a token comes back. Where a bias or a mask is tied to positions, which such an
order would tear apart, a rule says the same strip by strip.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from clearhead import masks
from clearhead.call import Call
from clearhead.views import engines, passes
from clearhead.views.allowed import counts, union_size

if TYPE_CHECKING:
    from clearhead.views.view import View


class TokenMass(NamedTuple):
    """For each query, the mass on the keys of a pattern and how many it may attend to: (…, h, n_q)"""

    mass: Float[np.ndarray, "*lead n_q"]
    keys: Int[np.ndarray, "*lead n_q"]


def masses(view: View, tokens: np.ndarray) -> dict[str, TokenMass]:
    """The mass on duplicate tokens, and on what followed earlier ones: tokens (*batch, n_k), ids or labels"""
    _, ids = np.unique(tokens, return_inverse=True)
    ids = ids.reshape(math.prod(view.call.batch_shape), view.n_k).astype(np.int64)
    of_query = ids[:, view.n_k - view.n_q :]
    followed = np.concatenate([np.full((len(ids), 1), -1), ids[:, :-1]], axis=1)[:, : view.n_k]
    return {
        "duplicate_token": _mass(view, of_query, ids, later=True),
        "induction": _mass(view, of_query, followed, later=False),
    }


def masses_on(view: View, kinds: dict[str, Bool[np.ndarray, "*batch n_k"]]) -> dict[str, TokenMass]:
    """The mass on keys of several kinds, which are the same for all queries: one pass for all of them."""
    if not kinds:
        return {}
    values = np.stack(list(kinds.values()), axis=-1).astype(view.call.kind)  # (*batch, n_k, kinds)
    mixed = passes.mix(view, values[..., None, :, :] if view.lead else values)
    flat = {name: keys.reshape(*view.call.batch_shape, view.n_k) for name, keys in kinds.items()}
    return {
        name: TokenMass(mixed[..., n], view.shaped(np.array(counts(view.call, keys))))
        for n, (name, keys) in enumerate(flat.items())
    }


def _mass(view: View, of_query: np.ndarray, of_key: np.ndarray, *, later: bool) -> TokenMass:
    """The mass on the keys whose token is the query's: those before it, and those after it too if `later`."""
    call = passes.again(view, None, sinks=False)
    positional = (call.allowed, call.rule, call.bias, call.table)
    tied = call.period > 1 or any(x is not None for x in positional)
    if tied or call.many_axes is not None or not view.sums.top.size:
        return _by_rule(view, of_query, of_key, later=later)
    order, call = _in_order(call, of_query, of_key, later=later)
    sums = engines.sums_of(call)
    assert call.ranges is not None
    full = (*call.lead, call.n_q)
    back = np.argsort(order, axis=-1).reshape(*call.batch_shape, 1, call.n_q)
    top, total, keys = (
        np.take_along_axis(x, np.broadcast_to(back, full), axis=-1)
        for x in (*sums, np.broadcast_to(union_size(*call.ranges), full))
    )
    return TokenMass(view.shaped(type(view.sums)(top, total).share_in(view.sums)), view.shaped(keys))


def _in_order(call: Call, of_query: np.ndarray, of_key: np.ndarray, *, later: bool) -> tuple[np.ndarray, Call]:
    """The call with queries and keys in order of their tokens, and that order of the queries (batch, n_q).

    Among keys in order, the number (token, position) falls into place by bisection, and with it every run.
    """
    n_q, n_k, batch = call.n_q, call.n_k, call.batch_shape
    order, by_token = np.argsort(of_query, axis=-1, kind="stable"), np.argsort(of_key, axis=-1, kind="stable")
    position = order.reshape(*batch, 1, 1, n_q) + n_k - n_q
    if call.ranges is None:
        low, high = np.zeros_like(position), np.full_like(position, n_k)
    else:
        low, high = (_taken(np.broadcast_to(x, (*batch, *x.shape[-3:])), order, batch) for x in _with_heads(call))
    low, high = np.broadcast_arrays(low, high)
    runs = [(low, np.minimum(high, position))]
    if later:
        runs.append((np.maximum(low, position + 1), high))
    lows, highs = (np.concatenate(np.broadcast_arrays(*x), axis=-2) for x in zip(*runs, strict=True))
    highs = np.maximum(lows, highs)

    sorted_keys = np.take_along_axis(of_key, by_token, axis=-1) * (n_k + 1) + by_token
    token = np.take_along_axis(of_query, order, axis=-1) * (n_k + 1)
    found = []
    for x in (lows, highs):
        flat = x.reshape(len(of_key), -1, n_q) + token[:, None]
        places = [np.searchsorted(keys, wanted) for keys, wanted in zip(sorted_keys, flat, strict=True)]
        found.append(np.stack(places).reshape(x.shape))
    ranges = masks.Ranges(*(np.ascontiguousarray(x, np.int64) for x in found))
    if not call.has_heads:
        q, k, v = engines.taken(call.q, order[0][:, None]), engines.taken(call.k, by_token[0][:, None]), call.v
        return order, replace(call, q=q, k=k, v=v, ranges=masks.Ranges(*(x[0] for x in ranges)))
    q, k = _rows(call.q, order, batch), _rows(call.k, by_token, batch)
    return order, replace(call, q=q, k=k, ranges=ranges)


def _with_heads(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """The mask's runs with an axis for heads: (…, h or 1, r, n_q)"""
    assert call.ranges is not None
    low, high = (x if x.ndim > 2 else x[None] for x in call.ranges)
    return low, high


def _taken(x: np.ndarray, order: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    """Runs in the queries' new order: x (*batch, h, r, n_q)"""
    return np.take_along_axis(x, order.reshape(*batch, 1, 1, order.shape[-1]), axis=-1)


def _rows(x: Any, order: np.ndarray, batch: tuple[int, ...]) -> Any:
    """Rows in a new order, that of their batch entry: x (…, h, n, d), an array or a tensor"""
    x = x.reshape((1,) * (len(batch) + 3 - x.ndim) + tuple(x.shape))
    return engines.taken(x, order.reshape(*batch, 1, order.shape[-1], 1))


def _by_rule(view: View, of_query: np.ndarray, of_key: np.ndarray, *, later: bool) -> TokenMass:
    """The same, where positions must stay what they are."""
    shift = view.n_k - view.n_q

    def same(batch: np.ndarray, head: np.ndarray, query: np.ndarray, key: np.ndarray) -> np.ndarray:
        alike = of_query[batch, query] == of_key[batch, key]
        return alike & ((key != query + shift) if later else (key < query + shift))

    rule = masks.where(same)
    call = passes.again(view, None, rule, sinks=False)
    return TokenMass(passes.mass(view, rule), view.shaped(np.array(counts(call))))
