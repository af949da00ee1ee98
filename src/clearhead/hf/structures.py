"""Masks as transformers hands them to its models: a tensor in shape, a structure in memory.

A model makes its mask once and passes it to every layer. Most models only pass it on, and then it never becomes
n × n. Some index it, join it with another or ask for its type: those get the tensor they expect, written out at that
moment as transformers would have done in the first place.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils import _pytree as pytree
from transformers import masking_utils

from clearhead import masks
from clearhead.hf.places import Place
from clearhead.hf.rules import looks_back, read
from clearhead.tensors import to_numpy
from clearhead.torch.padding import both, real_run
from clearhead.torch.watching import Position, are_watched, whole_length

# What can be told of a mask without its numbers: its shape and such, all that torch.compile asks when it makes guards.
NUMBERS = {"T", "mT", "H", "mH", "data", "real", "imag"}
TOLD = {
    attribute.__get__
    for name, attribute in vars(torch._C.TensorBase).items()
    if inspect.isgetsetdescriptor(attribute) and name not in NUMBERS
} | {
    torch.Tensor.size, torch.Tensor.dim, torch.Tensor.numel, torch.Tensor.is_floating_point, torch.Tensor.__len__,
    torch.Tensor.stride, torch.Tensor.storage_offset, torch.Tensor.untyped_storage, torch.Tensor._is_view,
    torch.Tensor.is_conj, torch.Tensor.is_neg,
}  # fmt: skip
# What gives the same mask again.
SAME = {torch.Tensor.contiguous, torch.Tensor.detach, torch.Tensor.clone}


class MaskTensor(torch.Tensor):
    """(b, 1, n_q, n_k) floats to add to scores, 0 or the lowest there is, in no memory until somebody reads them.

    That is what eager attention gets, and so what every model knows how to handle.
    mask: the same, from `clearhead.masks`, for a call of these sizes; None allows everything
    position: where the call lies in its sequence
    sizes: (n_q, n_k), which its shape says too, but to ask a tensor like this for it takes a while
    """

    mask: masks.Mask | None
    position: Position
    sizes: tuple[int, int]
    _write: Callable[[], torch.Tensor]
    _written: torch.Tensor | None
    _as_written: int  # how often torch had seen it written over by then

    @staticmethod
    def made(
        shape: tuple[int, int, int, int],
        mask: masks.Mask | None,
        position: Position,
        write: Callable[[], torch.Tensor],
        dtype: torch.dtype,
        device: torch.device | str,
    ) -> MaskTensor:
        hollow = _nothing(shape, dtype, device).as_subclass(MaskTensor)
        hollow.mask, hollow.position, hollow.sizes = mask, position, shape[-2:]
        hollow._write, hollow._written = write, None
        return hollow

    def written(self) -> torch.Tensor:
        """The numbers, written out once."""
        if self._written is None:
            with torch.inference_mode(False):  # where torch does not count who writes over a tensor
                self._written = self._write()
            self._as_written = self._written._version
        return self._written

    def is_changed(self) -> bool:
        """Whether somebody wrote over the numbers, so that the structure no longer says what they are."""
        return self._written is not None and self._written._version != self._as_written

    def __repr__(self) -> str:  # type: ignore[override]
        return f"MaskTensor(shape={tuple(self.shape)}, mask={self.mask!r})"

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in TOLD:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        if func in SAME or (func is torch.Tensor.to and _stays(*args, **kwargs)):
            return args[0]
        args, kwargs = pytree.tree_map_only(MaskTensor, MaskTensor.written, (args, kwargs))
        return func(*args, **kwargs)


@functools.lru_cache(maxsize=256)
def _nothing(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device | str) -> torch.Tensor:
    """One zero in this shape: a model asks for the same in every forward pass."""
    with torch.inference_mode(False):  # or a mask that was first asked for there could not be used elsewhere
        return torch.zeros((), dtype=dtype, device=device).expand(shape)


def _stays(mask: torch.Tensor, *where: Any, **options: Any) -> bool:
    """Whether a mask is sent to where it is, as the type that it has."""
    wanted = [*where, *options.values()]
    return all(x in (mask.device, mask.dtype, str(mask.device), mask.device.type) for x in wanted)


@functools.lru_cache(maxsize=256)
def _causal(place: Place) -> tuple[masks.Mask | None, Position]:
    """What a plain causal rule means at a place: most models ask for nothing else, in every forward pass."""
    return read(masking_utils.causal_mask_function, place), _position(masking_utils.causal_mask_function, place)


def _position(rule: Callable[..., Any], place: Place) -> Position:
    return Position(looks_back(rule), place.first_query, place.first_key)


def _all_real(attention_mask: torch.Tensor, place: Place) -> bool:
    """Whether flags say of every key that it is no padding: in the shape that they have as a rule, (b, n_k)."""
    if attention_mask.dtype is not torch.bool or attention_mask.shape[-1] != place.first_key + place.n_k:
        return False
    return bool(attention_mask.all())


def interface_mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int | torch.Tensor = 0,
    kv_offset: int | torch.Tensor = 0,
    mask_function: Callable[..., Any] = masking_utils.causal_mask_function,
    attention_mask: torch.Tensor | None = None,
    allow_is_bidirectional_skip: bool = False,
    allow_is_causal_skip: bool = False,
    use_vmap: bool = False,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    **others: Any,
) -> MaskTensor | torch.Tensor | None:
    """What transformers' mask functions take, as a `MaskTensor`; None where nothing is masked and that may be said.

    It may be said of attention that sees both ways, and of the one query that is the last of the sequence, unless
    somebody watches, who is told by the mask where the call lies.

    attention_mask (b, ≥ n_k): True where a token is no padding. Where a sequence is spread over processes, it is that
    of the whole, and so is the mask, in the shape of what this process has. Under torch.compile it is made between two
    graphs, as the attention that it is for is called between two.
    """
    if torch.compiler.is_compiling():
        return outside_a_graph(
            batch_size, q_length, kv_length, q_offset, kv_offset, mask_function, attention_mask,
            allow_is_bidirectional_skip, allow_is_causal_skip, use_vmap, dtype, device, **others,
        )  # fmt: skip
    place = Place(int(q_length), int(kv_length), int(q_offset), int(kv_offset))
    if (whole := whole_length()) is not None:
        place = Place(whole, whole)
    watched = are_watched()
    if attention_mask is not None and not watched and _all_real(attention_mask, place):
        attention_mask = None
    if attention_mask is None and mask_function is masking_utils.causal_mask_function:
        if allow_is_causal_skip and place.is_last and not watched:
            return None  # most steps of decoding end here
        mask, position = _causal(place)
    else:
        mask, position = read(mask_function, place, index_by_index=use_vmap), _position(mask_function, place)
    if attention_mask is not None:
        padded = masking_utils.prepare_padding_mask(attention_mask, place.n_k, place.first_key)
        assert padded is not None
        real = to_numpy(padded[:, place.first_key : place.first_key + place.n_k].to(torch.bool).cpu())
        mask, position = both(mask, real_run(real)), position._replace(real=real)
    if mask is None and (allow_is_bidirectional_skip or (allow_is_causal_skip and place.is_last and not watched)):
        return None

    def write() -> torch.Tensor:
        if whole is not None:
            raise NotImplementedError(
                "the model reads the numbers of its mask, and of a sequence that is spread over processes no process "
                "has all of them; run this model in one process"
            )
        return masking_utils.eager_mask(
            batch_size, place.n_q, place.n_k, place.first_query, place.first_key, mask_function, attention_mask,
            dtype, use_vmap=use_vmap, device=device,
        )  # fmt: skip

    own = (place.n_q, place.n_k) if whole is None else (int(q_length), int(q_length))
    return MaskTensor.made((batch_size, 1, *own), mask, position, write, dtype, device)


outside_a_graph = torch.compiler.disable(interface_mask, reason="masks are structures, and graphs hold plain tensors")
