"""The attention that transformers' models call: their arguments, and what those mean to the kernels.

The judge of it is a model's own eager attention. What that obeys is obeyed here; an argument that is not known might
change the answer, so that it is refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from transformers import AttentionInterface, AttentionMaskInterface

from clearhead import masks
from clearhead.hf.places import Chosen
from clearhead.hf.rules import causal_from
from clearhead.hf.structures import MaskTensor, interface_mask
from clearhead.tensors import to_numpy
from clearhead.torch.derivative import Mask
from clearhead.torch.known import recalled
from clearhead.torch.watching import Position, are_watched, attend, whole_length

NAME = "clearhead"

# Arguments that eager attention takes note of nowhere: they ask for outputs, or speak to other implementations.
WITHOUT_EFFECT = frozenset(
    {
        "cache_position",
        "cu_seq_lens_k",
        "cu_seq_lens_q",
        "deterministic",
        "inference_mode",
        "input_ids",
        "is_decoder",
        "logits_to_keep",
        "max_length_k",
        "max_length_q",
        "num_items_in_batch",
        "output_attentions",
        "output_hidden_states",
        "output_router_logits",
        "position_ids",
        "return_dict",
        "seq_idx",
        "use_cache",
    }
)

told: dict[int, tuple[Callable[[torch.nn.Module], object], ...]] = {}  # who is told of a module's calls, by its id


def register() -> None:
    """Let transformers know this attention, and the mask function that goes with it, by name."""
    AttentionInterface.register(NAME, interface_attention)
    AttentionMaskInterface.register(NAME, interface_mask)


def interface_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    *,
    is_causal: bool | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    position_bias: torch.Tensor | None = None,
    indices: torch.Tensor | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """Attention as transformers' interface calls it.

    query (b, h, n_q, d)  key (b, h_kv, n_k, d)  value (b, h_kv, n_k, d_v) → (b, n_q, h, d_v), and no weights

    attention_mask: a `MaskTensor`, booleans (True = may attend) or floats to be added, fitting (b, h, n_q, n_k). None
        masks nothing, unless attention is causal and there are several queries: then query i sees key j ≤ i.
    is_causal: whether attention without a mask is causal; unless given the module's own is_causal, and True without it.
    sliding_window: how many keys a query sees in causal attention without a mask; a mask knows of its window itself.
    s_aux (h): sinks. position_bias (…, n_q, n_k): added to the scores.
    indices (b, n_q, k): the only keys that each query sees, by number, of those that the mask leaves: sparse attention.

    Raises:
        NotImplementedError: an argument is not known, and might change the answer.
    """
    if torch.compiler.is_compiling():
        return outside_a_graph(
            module, query, key, value, attention_mask, dropout, scaling, is_causal=is_causal,
            sliding_window=sliding_window, softcap=softcap, s_aux=s_aux, position_bias=position_bias,
            indices=indices, **others,
        )  # fmt: skip
    _refuse_unknown(module, others)
    if told:
        for tell in told.get(id(module), ()):
            tell(module)
    n_q, n_k, whole = query.shape[-2], key.shape[-2], whole_length()
    causal = bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)
    mask: Mask | None = _without_a_mask(whole or n_q, causal, sliding_window)
    if attention_mask is not None:
        mask = _given(attention_mask, n_q, n_k)
    if whole is not None and not (indices is None and position_bias is None):
        raise NotImplementedError(
            f"{type(module).__name__} chooses keys or adds a bias by positions, and of a sequence that is spread over "
            "processes it knows its own only; run this model in one process"
        )
    if indices is not None:
        mask, position_bias = _among(indices, mask, position_bias)
    scale, softcap = None if scaling is None else float(scaling), None if softcap is None else float(softcap)
    rate = dropout if module.training else 0.0
    if s_aux is None and position_bias is None and not rate and not are_watched():
        rows = recalled(query, key, value, mask, scale, softcap)
        if rows is not None:
            return rows, None
    if isinstance(attention_mask, MaskTensor):
        position = attention_mask.position
    else:  # one query is the last position, and several are all there are, unless there is a cache that a mask knows of
        position = Position(causal, n_k - n_q if n_q == 1 or attention_mask is not None else 0)
    output = attend(
        module, position, query, key, value, mask=mask, bias=position_bias, scale=scale, softcap=softcap,
        sinks=None if s_aux is None else s_aux.reshape(-1), dropout=rate,
        seed=int(torch.randint(2**62, ()).item()) if rate else None,
    )  # fmt: skip
    return output.transpose(1, 2).contiguous(), None


outside_a_graph = torch.compiler.disable(interface_attention, reason="the kernels are called from Python")


def _without_a_mask(n_q: int, causal: bool, sliding_window: int | None) -> masks.Mask | None:
    """What is masked where a model gives no mask, by the rule of transformers' own functions."""
    if n_q == 1 or not causal:
        return None
    return causal_from(0) if sliding_window is None else masks.window(int(sliding_window), offset=0)


def _given(mask: torch.Tensor, n_q: int, n_k: int) -> Mask | None:
    """A mask as the kernels take it."""
    if isinstance(mask, MaskTensor):
        return mask.mask if mask.sizes == (n_q, n_k) and not mask.is_changed() else mask.written()
    return mask


def _among(
    indices: torch.Tensor, mask: Mask | None, bias: torch.Tensor | None
) -> tuple[masks.Mask, torch.Tensor | None]:
    """The mask, and the bias, of attention that sees only the keys that were chosen for each query."""
    chosen = Chosen(to_numpy(indices.detach().cpu()).astype(np.int64))
    if not isinstance(mask, torch.Tensor):
        return (chosen if mask is None else mask & chosen), bias
    if mask.dtype == torch.bool:
        return masks.array(to_numpy(mask.detach().cpu())) & chosen, bias
    return chosen, mask if bias is None else bias + mask


def _refuse_unknown(module: torch.nn.Module, others: dict[str, Any]) -> None:
    """No argument may be ignored that could change the answer."""
    for name, value in others.items():
        if name not in WITHOUT_EFFECT and value is not None and value is not False:
            raise NotImplementedError(
                f"{type(module).__name__} passes {name}= to its attention, which {NAME!r} does not know and which may "
                "change the answer; model.set_attn_implementation('eager') computes it as the model does"
            )
