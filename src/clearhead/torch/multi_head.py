"""torch.nn.MultiheadAttention on clearhead's kernels: the same constructor, call and state_dict.

Everything that torch.nn.MultiheadAttention says about its arguments holds here, boolean masks with True = masked out
included. Three things are better. The output does not depend on whether the weights are asked for: it comes from the
kernels, to the bit, and the weights are computed beside it. A query whose keys are all masked gets zeros, where torch
says NaN. And a float mask of 0 and −inf is taken for the boolean mask it is, so padding is skipped, not added.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import nn
from torch.nn import functional

from clearhead import masks
from clearhead.textbook.dropout import dropout_mask
from clearhead.torch.function import attention
from clearhead.torch.torch_masks import AnyMask, Size, meaning
from clearhead.torch.watching import Position, attend

NO_CACHE = Position(grows=False)
TorchMask = masks.Mask | Bool[torch.Tensor, "..."] | Float[torch.Tensor, "..."]


class MultiheadAttention(nn.MultiheadAttention):
    """A stand-in for torch.nn.MultiheadAttention: change the import, or load its state_dict.

    Without weights (need_weights=False) it runs in O(n) memory at the speed of the kernels. `is_causal` is torch's
    hint that attn_mask is the causal mask, and is believed whether or not the weights are asked for.
    """

    def forward(
        self,
        query: Float[torch.Tensor, "... d_model"],
        key: Float[torch.Tensor, "... kdim"],
        value: Float[torch.Tensor, "... vdim"],
        key_padding_mask: TorchMask | None = None,
        need_weights: bool = True,
        attn_mask: TorchMask | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Float[torch.Tensor, "... d_model"], Float[torch.Tensor, "... n_q n_k"] | None]:
        """query (b, n_q, d_model)  key (b, n_k, kdim)  value (b, n_k, vdim) → output (b, n_q, d_model), weights

        That is with batch_first; without it, positions come before the batch, and with two axes there is no batch.
        weights (b, n_q, n_k) are averaged over heads, or with average_attn_weights=False (b, h, n_q, n_k), or None.
        key_padding_mask (b, n_k)  attn_mask (n_q, n_k) or (b·h, n_q, n_k): boolean, True = masked out, or added.
        Either may also be a mask from `clearhead.masks`, which says what may be attended, here as everywhere.

        Raises:
            TypeError: a mask is neither boolean nor float, or an input is a nested tensor.
            ValueError: shapes do not fit together.
            RuntimeError: a mask has the wrong size, or is_causal is given without attn_mask.
        """
        return multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            batch_first=self.batch_first,
            module=self,
        )


def multi_head_attention_forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: torch.Tensor | None,
    in_proj_bias: torch.Tensor | None,
    bias_k: torch.Tensor | None,
    bias_v: torch.Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: torch.Tensor,
    out_proj_bias: torch.Tensor | None,
    training: bool = True,
    key_padding_mask: AnyMask | None = None,
    need_weights: bool = True,
    attn_mask: AnyMask | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: torch.Tensor | None = None,
    k_proj_weight: torch.Tensor | None = None,
    v_proj_weight: torch.Tensor | None = None,
    static_k: torch.Tensor | None = None,
    static_v: torch.Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
    *,
    batch_first: bool = False,
    module: nn.Module | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """As torch.nn.functional.multi_head_attention_forward, which has positions before the batch.

    query (n_q, b, d_model)  key, value (n_k, b, …) → output (n_q, b, d_model), weights (b, n_q, n_k) or None
    module: the one whose attention this is, for whoever watches it
    """
    batched = _check_inputs(query, key, value, embed_dim_to_check, num_heads)
    if use_separate_proj_weight:
        assert q_proj_weight is not None and k_proj_weight is not None and v_proj_weight is not None  # noqa: PT018
        weights: tuple[torch.Tensor, ...] = q_proj_weight, k_proj_weight, v_proj_weight
    else:
        assert in_proj_weight is not None
        weights = in_proj_weight.chunk(3)
    _check_widths(key, value, weights)
    axes = _Axes(batched, batch_first, num_heads)
    q, k, v = _projected(query, key, value, in_proj_weight, weights, in_proj_bias, axes)
    if static_k is not None:
        k = static_k.unflatten(0, (q.shape[0], num_heads))
    if static_v is not None:
        v = static_v.unflatten(0, (q.shape[0], num_heads))

    n_k = k.shape[-2]  # so far; two kinds of keys that are always there may follow
    if bias_k is not None and bias_v is not None:
        k, v = _with_one_more(k, bias_k), _with_one_more(v, bias_v)
    if add_zero_attn:
        k, v = functional.pad(k, (0, 0, 0, 1)), functional.pad(v, (0, 0, 0, 1))

    size = Size(q.shape[0], num_heads, q.shape[-2], n_k, k.shape[-2] - n_k)
    mask, bias = meaning(key_padding_mask, attn_mask, is_causal, size, batched)
    rate = float(dropout_p) if training else 0.0
    seed = int(torch.randint(2**62, ()).item()) if rate else None
    mixed = torch.zeros_like(q)  # what is left of the values if all weights are dropped
    if rate < 1:
        options: dict[str, Any] = {"mask": mask, "bias": bias, "dropout": rate, "seed": seed}
        mixed = attention(q, k, v, **options) if module is None else attend(module, NO_CACHE, q, k, v, **options)
    output = functional.linear(axes.merged(mixed), out_proj_weight, out_proj_bias)
    if not need_weights:
        return output, None
    found = attention_weights(q, k, mask=mask, bias=bias, dropout=rate, seed=seed)
    found = found.mean(dim=1) if average_attn_weights else found
    return output, found if batched else found[0]


def attention_weights(
    q: Float[torch.Tensor, "b h n_q d"],
    k: Float[torch.Tensor, "b h n_k d"],
    *,
    mask: masks.Mask | None = None,
    bias: Float[torch.Tensor, ...] | None = None,
    dropout: float = 0.0,
    seed: int | None = None,
) -> Float[torch.Tensor, "b h n_q n_k"]:
    """The weights that attention mixes values with, written out: O(n²) memory, in torch's own operations.

    q (b, h, n_q, d)  k (b, h, n_k, d) → weights (b, h, n_q, n_k), in q's type, differentiable; after dropout
    """
    kind = torch.promote_types(q.dtype, torch.float32)
    scores = (q.to(kind) * q.shape[-1] ** -0.5) @ k.to(kind).mT
    scores = scores if bias is None else scores + bias
    forbidden = _forbidden(q, k, mask, bias)
    if forbidden is not None:
        scores = scores.masked_fill(forbidden, -torch.inf)
    if forbidden is not None and bool((empty := forbidden.all(dim=-1, keepdim=True)).any()):
        weights = torch.softmax(scores.masked_fill(empty, 0), dim=-1).masked_fill(empty, 0)  # not 0 / 0
    else:
        weights = torch.softmax(scores, dim=-1)
    if dropout:
        kept = dropout_mask(tuple(weights.shape), dropout, seed) if dropout < 1 else np.zeros(1)
        weights = weights * torch.from_numpy(kept).to(weights)
    return weights.to(q.dtype)


def _forbidden(
    q: torch.Tensor, k: torch.Tensor, mask: masks.Mask | None, bias: torch.Tensor | None
) -> torch.Tensor | None:
    """True where a key may not be attended, broadcasting to (b, h, n_q, n_k), or None if all may."""
    found = None if bias is None else torch.isneginf(bias)
    if mask is not None:
        at = masks.places(masks.Sizes(q.shape[-2], k.shape[-2], (q.shape[0],), q.shape[1]))
        masked = torch.from_numpy(np.ascontiguousarray(~mask.allows(at))).to(q.device)
        found = masked if found is None else found | masked
    return found


class _Axes(NamedTuple):
    """Where batch, positions and heads are, in tensors (b, n, width), (n, b, width) or (n, width)."""

    batched: bool
    batch_first: bool
    num_heads: int

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """(b, n, h·d) and the like → (b, h, n, d), without a copy"""
        x = x.unflatten(-1, (self.num_heads, -1))
        if not self.batched:
            return x.transpose(0, 1)[None]
        return x.transpose(1, 2) if self.batch_first else x.permute(1, 2, 0, 3)

    def merged(self, x: torch.Tensor) -> torch.Tensor:
        """(b, h, n, d) → (b, n, h·d) and the like"""
        if not self.batched:
            return x[0].transpose(0, 1).flatten(-2)
        return (x.transpose(1, 2) if self.batch_first else x.permute(2, 0, 1, 3)).flatten(-2)


def _projected(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    packed: torch.Tensor | None,
    weights: tuple[torch.Tensor, ...],
    bias: torch.Tensor | None,
    axes: _Axes,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values in heads, (b, h, n, d), in one product where the three inputs are one."""
    if query is key and key is value and packed is not None:
        parts = functional.linear(query, packed, bias).chunk(3, dim=-1)
    else:
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        parts = tuple(functional.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))
    q, k, v = (axes.split(x) for x in parts)
    if q.shape[0] != k.shape[0]:
        raise ValueError(f"query and key must hold as many sentences, got a batch of {q.shape[0]} and of {k.shape[0]}")
    return q, k, v


def _with_one_more(x: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    """x (b, h, n, d), row (1, 1, h·d) → (b, h, n + 1, d)"""
    b, h, _, d = x.shape
    return torch.cat([x, row.view(1, h, 1, d).expand(b, h, 1, d).to(x.dtype)], dim=-2)


def _check_inputs(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, d_model: int, num_heads: int) -> bool:
    """Shapes that fit together; returns whether there is a batch axis."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.is_nested:
            raise TypeError(
                f"{name} is a nested tensor; pad it (torch.nested.to_padded_tensor) and pass key_padding_mask"
            )
    if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
        raise ValueError(
            "query, key and value must all have 3 dimensions, with a batch, or all 2, without one, "
            f"got {query.ndim}, {key.ndim} and {value.ndim}"
        )
    if query.shape[-1] != d_model:
        raise ValueError(f"query must be embed_dim = {d_model} wide, got shape {tuple(query.shape)}")
    if d_model % num_heads:
        raise ValueError(f"embed_dim = {d_model} cannot be divided among {num_heads} heads evenly")
    if key.shape[:-1] != value.shape[:-1]:
        raise ValueError(
            f"each key needs one value, but key has shape {tuple(key.shape)} and value {tuple(value.shape)}; "
            "all but the last axis must agree"
        )
    return query.ndim == 3


def _check_widths(key: torch.Tensor, value: torch.Tensor, weights: tuple[torch.Tensor, ...]) -> None:
    for name, x, width in (("key", key, weights[1].shape[-1]), ("value", value, weights[2].shape[-1])):
        if x.shape[-1] != width:
            raise ValueError(
                f"{name} must be {width} wide, got shape {tuple(x.shape)} ({name[0]}dim={x.shape[-1]} in the "
                "constructor makes a layer for it)"
            )
