"""Plain calls on tensors that are like one before: see `kernels.known`."""

from __future__ import annotations

from typing import Any

import torch

from clearhead import kernels
from clearhead.kernels.known_call import LSE, OUTPUT, SUMS, Known
from clearhead.torch.derivative import KINDS, Inputs, Mask, differentiable
from clearhead.torch.plain import key_of


def differentiated(*tensors: Any) -> bool:
    """Whether a gradient may be asked for with respect to one of these."""
    if torch.is_grad_enabled():
        for x in tensors:
            if getattr(x, "requires_grad", False):
                return True
    return False


def attend(
    known: Known,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Mask | None,
    scale: float | None,
    softcap: float | None,
    wanted: int,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The output of a call, and its lse if it is wanted or comes for nothing."""
    if wanted == SUMS:
        return differentiable(Inputs(q, k, v, mask=mask, options=_options(scale, softcap), known=known))
    places = q.data_ptr(), k.data_ptr(), v.data_ptr()
    output = q.new_empty_strided(known.output, known.strides)  # making a tensor of an array would take 3 µs
    lse = q.new_empty(known.rows, dtype=KINDS[known.kind]) if wanted == LSE else None
    known.fill(*places, output.data_ptr(), 0 if lse is None else lse.data_ptr())
    return output, lse


def recalled(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: Mask | None,
    scale: float | None,
    softcap: float | None,
) -> torch.Tensor | None:
    """The output (…, n_q, h, d_v) of a plain call like one before, of which no gradient is wanted; else None.

    For modules, which call in the middle of a model: there most of what Python touches has to come from memory, and
    the checks and the names that `attention` has for its users take longer than a small call.
    """
    if differentiated(q, k, v):
        return None
    key = key_of(q, k, v, mask, scale, softcap, OUTPUT)
    known = None if key is None else kernels.known.find(key)
    if known is None or not known.heads_last:
        return None
    rows = q.new_empty(known.lying)
    known.fill(q.data_ptr(), k.data_ptr(), v.data_ptr(), rows.data_ptr())
    return rows


def _options(scale: float | None, softcap: float | None) -> dict[str, Any]:
    """What a plain call has of options."""
    return {"scale": scale, "softcap": softcap, "additive": "bias"}
