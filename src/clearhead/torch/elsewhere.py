"""Calls whose queries, keys and values are tensors on a device without kernels, and the way there and back.

A call is checked with stand-ins, arrays of the right shape and type that take no memory; then the tensors take their
place. Masks, biases and labels are NumPy's in any case.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from clearhead.call import Call
from clearhead.kernels.sums import Sums
from clearhead.tensors import numpy_type, on_host, to_torch
from clearhead.torch.biases import RelativeBias, constant
from clearhead.torch.places import Places
from clearhead.torch.streaming import Problem


@dataclass
class DeviceCall(Call):
    """A checked call on tensors of a device. Its values may be an array, which is handed over a block at a time."""

    q: Any
    k: Any
    v: Any
    output_type: Any = None  # NumPy's name of the type that the output has, and of the one that scores have
    computed_in: Any = None

    @property
    def kind(self) -> np.dtype[Any]:
        return np.dtype(self.computed_in)

    def own(self, x: Any, batch: tuple[int, ...], head: int) -> Any:
        lead = x.shape[:-2]
        if not lead:
            return x
        place = (*batch, head // (self.heads // lead[-1]))[-len(lead) :]
        return x[tuple(0 if size == 1 else i for i, size in zip(place, lead, strict=True))]

    def problem(self) -> Problem:
        """The same for `streaming`."""
        kind = getattr(torch, self.kind.name)
        places = Places(
            self.sizes, self.q.device, kind, self.ranges, self.allowed, self.rule, self.period, self.phase, self.bias,
            self.table,
        )  # fmt: skip
        sinks = None if self.sinks is None else torch.from_numpy(np.array(self.sinks, self.kind))
        return Problem(self.q, self.k, self.lead, places, self.scale, self.softcap, sinks)


class NaturalSums(Sums):
    """What makes weights of a query's scores here: exp(score − top) / total."""

    def of(self, place: Any) -> NaturalSums:
        return NaturalSums(self.top[place], self.total[place])

    def share_in(self, whole: Sums) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # −inf − −inf, of a query with no key left
            share = np.exp(self.top - whole.top) * (self.total / whole.total)
        none = np.isneginf(self.top) & ~np.isnan(self.total)
        return np.where(none, 0, np.minimum(share, 1)).astype(self.top.dtype)


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Tensors that are looked at where they are. Called with an array, it gives a tensor on their device."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor | None

    def __call__(self, array: np.ndarray) -> torch.Tensor:
        if array.dtype == np.float64 and self.q.device.type == "mps":  # which has no float64
            array = array.astype(np.float32)
        tensor: torch.Tensor = to_torch(np.require(array, requirements=["C", "W"]))
        return tensor.to(self.q.device)

    def stand_ins(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Arrays of no memory in the place of q, k and v."""
        q, k = (stand_in(tuple(x.shape), numpy_type(x.dtype)) for x in (self.q, self.k))
        return q, k, None if self.v is None else stand_in(tuple(self.v.shape), numpy_type(self.v.dtype))

    def placed(self, call: Call, *, own_values: bool) -> DeviceCall:
        """A call that was checked with stand-ins, with the tensors; its values stay what they are unless `own`."""
        fields = {field.name: getattr(call, field.name) for field in dataclasses.fields(Call)}
        fields |= {"q": _in_shape(self.q, call.q.shape, call), "k": _in_shape(self.k, call.k.shape, call)}
        if own_values and self.v is not None:
            fields["v"] = _in_shape(self.v, call.v.shape, call)
        return DeviceCall(**fields, output_type=call.q.dtype.name, computed_in=call.kind.name)


def stand_in(shape: tuple[int, ...], kind: Any) -> np.ndarray:
    """An array of zeros that takes no memory."""
    return np.broadcast_to(np.zeros((), kind), shape)


def options_on_host(n_q: int, n_k: int, **options: Any) -> dict[str, Any]:
    """Mask, bias and sinks as arrays and structures of NumPy's."""
    if isinstance(bias := options.get("bias"), RelativeBias):
        options["bias"] = constant(on_host(bias.table(n_q, n_k)))
    return {name: on_host(x) for name, x in options.items()}


def check_readable(q: torch.Tensor) -> None:
    """Refuse tensors that have a shape and no numbers."""
    if q.is_meta:
        raise ValueError(
            "q is on the meta device, where tensors have a shape and no numbers, so there is nothing to look at "
            "(model.to_empty and load_state_dict, or from_pretrained without meta, give a model its numbers)"
        )


def _in_shape(x: torch.Tensor, shape: tuple[int, ...], call: Call) -> torch.Tensor:
    """With the axes a call has, where it has made many batch axes one."""
    if tuple(x.shape) == shape or call.many_axes is None or shape[0] == 1:
        return x.reshape(shape)
    return x.expand(*call.many_axes, *shape[1:]).reshape(shape)
