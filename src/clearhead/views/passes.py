"""Other questions to the same queries and keys, each answered by another pass.

What is a sum over many weights is not summed weight by weight: a mass is what the sums of fewer keys say, mixed values
are attention itself, and what keys receive is observed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from clearhead import checks, masks
from clearhead.call import Call, prepare
from clearhead.tensors import on_host
from clearhead.views import engines
from clearhead.views.conversion import in_type, placed

if TYPE_CHECKING:
    from clearhead.views.view import View


def mass(view: View, further: masks.Mask | ArrayLike | None) -> np.ndarray:
    """The share of attention on the keys a further mask allows: see `View.mass`."""
    if further is None and view.call.sinks is None:
        total = view.sums.total
        return view.shaped(np.where(np.isnan(total), total, total != 0).astype(view.call.kind))
    part = engines.sums_of(again(view, None, _boolean(further), sinks=False))
    return view.shaped(part.share_in(view.sums))


def mix(view: View, values: np.ndarray) -> np.ndarray:
    """Other values under the same weights: see `View.mix`."""
    if values.ndim < 2 or values.shape[-2] != view.n_k:
        raise ValueError(f"values need a row for each of the {view.n_k} keys, got shape {values.shape}")
    return engines.compute(again(view, values))[0]


def received_from(view: View, shares: np.ndarray) -> np.ndarray:
    """The attention each key gets if queries count so much each: see `View.received_from`."""
    try:
        shares = np.broadcast_to(shares, (*view.lead, view.n_q))
    except ValueError:
        raise ValueError(
            f"shares of shape {shares.shape} do not broadcast to {(*view.lead, view.n_q)}, one for each query"
        ) from None
    shares = shares.reshape(*view.call.lead, view.n_q)
    return engines.observe(view.call, row_weights=shares, output=False).observation.received


def again(view: View, values: np.ndarray | None, further: masks.Mask | None = None, *, sinks: bool = True) -> Call:
    """The same call with other values, perhaps fewer keys and no sinks. Without values, for its sums alone.

    The output is not rounded to half precision, as these values are not the model's.
    """
    mask = further if view.mask is None else view.mask if further is None else view.mask & further
    q, k, v = view.inputs
    if values is None:
        values = no_values(v, k)
    else:
        q = in_type(q, checks.compute_type(view.call.kind, values.dtype))
    if view.call.has_heads:
        values = values if values.ndim > 2 else values[None]
        values = np.broadcast_to(values, (*view.batch_shape, *values.shape[-3:]))
    call = prepare(
        q, k, values, mask=mask, scale=view.call.scale, softcap=view.call.softcap or None,
        sinks=view.call.sinks if sinks else None, part=view.call.part, lse=True,
    )  # fmt: skip
    call = replace(call, bias=view.call.bias, table=view.call.table, bias_shape=view.call.bias_shape)
    return placed(view.convert, call, own_values=False)


def no_values(like: ArrayLike, keys: ArrayLike) -> np.ndarray:
    """Values of one column that takes no memory, for calls of which only the sums are wanted."""
    values, k = (checks.float_array("k", x, ndim=2) for x in (like, keys))
    return np.broadcast_to(np.zeros((), values.dtype), (*values.shape[:-2], k.shape[-2], 1))


def _boolean(mask: masks.Mask | ArrayLike | None) -> masks.Mask | None:
    """A further mask, which can only allow or forbid."""
    if mask is None or isinstance(mask, masks.Mask):
        return mask
    array = np.asarray(on_host(mask))
    if array.dtype != np.bool_:
        raise TypeError(
            f"mask must be a mask from clearhead.masks or boolean (True = may attend), got {array.dtype.name}"
        )
    return masks.array(array)
