"""Encoder and decoder blocks, to be trained: the textbook's, on the kernels and under autograd.

Blocks, their parts and their parameters have the textbook's names and shapes, and mean the same, so the weights of one
are read by the other: `encoder.0.attention.W_Q` is (d_model, h·d_k) in both. What is added is dropout, on the weights
of attention, inside the feed-forward, and on what each of the parts adds to the sum; it is off outside of training.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import nn
from torch.nn import functional

from clearhead import checks
from clearhead.textbook.feed_forward import ACTIVATIONS
from clearhead.textbook.norms import NORMS
from clearhead.torch.cache import KeyValueCache
from clearhead.torch.self_attention import (
    CrossAttention,
    Mask,
    Rope,
    SelfAttention,
    checked_rate,
    checked_rows,
    matrix,
    shift,
)


class LayerNorm(nn.Module):
    """Layer norm with its learned scale gamma (d_model,) and shift beta (d_model,)."""

    def __init__(
        self,
        d_model: int,
        *,
        eps: float = 1e-5,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.d_model = checks.count("d_model", d_model)
        self.eps = checks.number("eps", eps, above=0.0)
        self.gamma = nn.Parameter(torch.ones(self.d_model, device=device, dtype=dtype))
        self.beta = shift(self.d_model, bias, device=device, dtype=dtype)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, eps={self.eps:g}"

    def forward(self, x: Float[torch.Tensor, "... d_model"]) -> Float[torch.Tensor, "... d_model"]:
        """x (…, d_model) → (…, d_model)"""
        return functional.layer_norm(x, (self.d_model,), self.gamma, self.beta, self.eps)


class RMSNorm(nn.Module):
    """RMS norm with its learned scale gamma (d_model,)."""

    def __init__(
        self,
        d_model: int,
        *,
        eps: float = 1e-5,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.d_model = checks.count("d_model", d_model)
        self.eps = checks.number("eps", eps, above=0.0)
        self.gamma = nn.Parameter(torch.ones(self.d_model, device=device, dtype=dtype))

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, eps={self.eps:g}"

    def forward(self, x: Float[torch.Tensor, "... d_model"]) -> Float[torch.Tensor, "... d_model"]:
        """x (…, d_model) → (…, d_model)"""
        return functional.rms_norm(x, (self.d_model,), self.gamma, self.eps)


def make_norm(norm: str, d_model: int, *, eps: float, bias: bool, **place: Any) -> LayerNorm | RMSNorm:
    """The norm a block asks for by name; RMS norm has no shift, so `bias` concerns layer norm only."""
    if checks.choice("norm", norm, NORMS) == "layer":
        return LayerNorm(d_model, eps=eps, bias=bias, **place)
    return RMSNorm(d_model, eps=eps, **place)


class FeedForward(nn.Module):
    """activation(x W_1 + b_1) W_2 + b_2, with W_1 (d_model, d_ff) and W_2 (d_ff, d_model).

    `activation` is "relu", "gelu", "gelu_tanh" or "swiglu"; with the last there is a third map W_gate (d_model, d_ff),
    and the middle is silu(x W_gate + b_gate) · (x W_1 + b_1).
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: str = "relu",
        bias: bool = True,
        dropout: float = 0.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.d_model, self.d_ff = checks.count("d_model", d_model), checks.count("d_ff", d_ff)
        self.activation = checks.choice("activation", activation, (*ACTIVATIONS, "swiglu"))
        self.dropout = checked_rate(dropout)
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        if self.activation == "swiglu":
            self.W_gate = matrix(self.d_model, self.d_ff, **place)
            self.b_gate = shift(self.d_ff, bias, **place)
        self.W_1 = matrix(self.d_model, self.d_ff, **place)
        self.b_1 = shift(self.d_ff, bias, **place)
        self.W_2 = matrix(self.d_ff, self.d_model, **place)
        self.b_2 = shift(self.d_model, bias, **place)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, d_ff={self.d_ff}, activation={self.activation!r}"

    def forward(self, x: Float[torch.Tensor, "... n d_model"]) -> Float[torch.Tensor, "... n d_model"]:
        """x (…, n, d_model) → (…, n, d_model)"""
        x = checked_rows("x", x, self.d_model)
        hidden = functional.linear(x, self.W_1.T, self.b_1)  # (…, n, d_ff)
        if self.activation == "swiglu":
            hidden = functional.silu(functional.linear(x, self.W_gate.T, self.b_gate)) * hidden
        elif self.activation == "relu":
            hidden = functional.relu(hidden)
        else:
            hidden = functional.gelu(hidden, approximate="tanh" if self.activation == "gelu_tanh" else "none")
        return functional.linear(functional.dropout(hidden, self.dropout, self.training), self.W_2.T, self.b_2)


class _Block(nn.Module):
    """What both kinds of block have: parts that each add something to a sum, with a norm before or after."""

    def __init__(self, d_model: int, norm_first: bool, dropout: float) -> None:
        super().__init__()
        self.d_model = checks.count("d_model", d_model)
        self.norm_first = bool(norm_first)
        self.dropout = checked_rate(dropout)

    def added(self, x: torch.Tensor, part: nn.Module, norm: nn.Module, *others: Any, **options: Any) -> torch.Tensor:
        """x plus what the part makes of it, normalised before or after."""
        made = part(norm(x) if self.norm_first else x, *others, **options)
        x = x + functional.dropout(made, self.dropout, self.training)
        return x if self.norm_first else norm(x)


class EncoderBlock(_Block):
    """Self-attention, in which every position sees every other, and feed-forward, each with a residual and a norm.

    `norm` is "layer" or "rms"; `activation` is "relu", "gelu", "gelu_tanh" or "swiglu"; `strict` as in SelfAttention.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        norm_first: bool = False,
        norm: str = "layer",
        activation: str = "relu",
        num_kv_heads: int | None = None,
        bias: bool = True,
        eps: float = 1e-5,
        rope: Rope | None = None,
        dropout: float = 0.0,
        strict: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(d_model, norm_first, dropout)
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        shared: dict[str, Any] = {"bias": bias, "dropout": dropout, **place}
        self.attention = SelfAttention(
            d_model=d_model,
            num_heads=num_heads,
            num_kv_heads=num_kv_heads,
            causal=False,
            rope=rope,
            strict=strict,
            **shared,
        )
        self.attention_norm = make_norm(norm, d_model, eps=eps, bias=bias, **place)
        self.feed_forward = FeedForward(d_model, d_ff, activation=activation, **shared)
        self.feed_forward_norm = make_norm(norm, d_model, eps=eps, bias=bias, **place)

    def forward(
        self, x: Float[torch.Tensor, "... n d_model"], mask: Mask | None = None
    ) -> Float[torch.Tensor, "... n d_model"]:
        """x (…, n, d_model)  mask, as in SelfAttention → (…, n, d_model)"""
        x = self.added(checked_rows("x", x, self.d_model), self.attention, self.attention_norm, mask)
        return self.added(x, self.feed_forward, self.feed_forward_norm)


class DecoderBlockCache(NamedTuple):
    """The two caches of one decoder block: one grows with every call, the other holds the projected memory."""

    self_attention: KeyValueCache
    cross_attention: KeyValueCache

    @classmethod
    def empty(cls) -> DecoderBlockCache:
        return cls(KeyValueCache(), KeyValueCache())

    def draft(self) -> DecoderBlockCache:
        """Caches to try a call on: they replace these if it succeeds, and are thrown away if it fails."""
        return DecoderBlockCache(self.self_attention.draft(), self.cross_attention.draft())

    def __copy__(self) -> DecoderBlockCache:
        """Caches that go on by themselves."""
        return DecoderBlockCache(copy.copy(self.self_attention), copy.copy(self.cross_attention))

    def select(self, indices: torch.Tensor) -> DecoderBlockCache:
        """New caches with the given sentences, in that order."""
        return DecoderBlockCache(self.self_attention.select(indices), self.cross_attention.select(indices))


class DecoderBlock(_Block):
    """Causal self-attention, cross-attention and feed-forward, each with a residual connection and a norm.

    Settings as in EncoderBlock. `rope` turns the self-attention only.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        norm_first: bool = False,
        norm: str = "layer",
        activation: str = "relu",
        num_kv_heads: int | None = None,
        bias: bool = True,
        eps: float = 1e-5,
        rope: Rope | None = None,
        dropout: float = 0.0,
        strict: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(d_model, norm_first, dropout)
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        shared: dict[str, Any] = {"bias": bias, "dropout": dropout, **place}
        heads: dict[str, Any] = {
            "d_model": d_model,
            "num_heads": num_heads,
            "num_kv_heads": num_kv_heads,
            "strict": strict,
        }
        self.self_attention = SelfAttention(rope=rope, **heads, **shared)
        self.self_attention_norm = make_norm(norm, d_model, eps=eps, bias=bias, **place)
        self.cross_attention = CrossAttention(**heads, **shared)
        self.cross_attention_norm = make_norm(norm, d_model, eps=eps, bias=bias, **place)
        self.feed_forward = FeedForward(d_model, d_ff, activation=activation, **shared)
        self.feed_forward_norm = make_norm(norm, d_model, eps=eps, bias=bias, **place)

    def forward(
        self,
        x: Float[torch.Tensor, "... n d_model"],
        memory: Float[torch.Tensor, "... n_memory d_model"],
        mask: Mask | None = None,
        memory_mask: Mask | None = None,
        *,
        cache: DecoderBlockCache | None = None,
    ) -> Float[torch.Tensor, "... n d_model"]:
        """x (…, n, d_model)  memory (…, n_memory, d_model) → (…, n, d_model)

        `mask` forbids keys of the self-attention besides those to come, for instance padding; `memory_mask` those of
        the memory. With a `cache`, x continues the rows of earlier calls and the mask covers all of them.
        """
        x = checked_rows("x", x, self.d_model)
        past, projected = (None, None) if cache is None else cache
        x = self.added(x, self.self_attention, self.self_attention_norm, mask, cache=past)
        x = self.added(x, self.cross_attention, self.cross_attention_norm, memory, memory_mask, cache=projected)
        return self.added(x, self.feed_forward, self.feed_forward_norm)
