"""Attention layers as today's models have them: rotary positions, grouped heads, a sliding window, a cache.

Parameters have the names and the layout of `clearhead.textbook.MultiHeadAttention`, W_Q (d_model, h·d_k) and so on, so
weights trained here are read there by name, and the other way round. Weights of attention are not returned and not
kept: they never exist as a matrix here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import nn
from torch.nn import functional

from clearhead import checks, masks, textbook
from clearhead.tensors import to_numpy
from clearhead.textbook.rope import rope as textbook_rope
from clearhead.torch.cache import KeyValueCache
from clearhead.torch.padding import both, mask_of
from clearhead.torch.rope import rope as turn
from clearhead.torch.watching import Position, attend

Rope = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Mask = masks.Mask | Bool[torch.Tensor, "..."]


class _Attention(nn.Module):
    """The four projections and what happens between them.

    W_Q (d_model, h·d_k)  W_K, W_V (d_model, h_kv·d_k)  W_O (h·d_k, d_model), and b_Q, b_K, b_V, b_O with `bias`
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_kv_heads: int | None,
        bias: bool,
        dropout: float,
        strict: bool,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        self.d_model = checks.count("d_model", d_model)
        self.num_heads = checks.count("num_heads", num_heads)
        self.num_kv_heads = self.num_heads if num_kv_heads is None else checks.count("num_kv_heads", num_kv_heads)
        d_k = checks.head_width(self.d_model, self.num_heads)
        checks.head_groups(self.num_heads, self.num_kv_heads)
        self.bias = bool(bias)
        self.dropout = checked_rate(dropout)
        self.strict = bool(strict)
        wide, narrow = self.num_heads * d_k, self.num_kv_heads * d_k
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        self.W_Q = matrix(self.d_model, wide, **place)
        self.W_K = matrix(self.d_model, narrow, **place)
        self.W_V = matrix(self.d_model, narrow, **place)
        self.W_O = matrix(wide, self.d_model, **place)
        self.b_Q = shift(wide, self.bias, **place)
        self.b_K = shift(narrow, self.bias, **place)
        self.b_V = shift(narrow, self.bias, **place)
        self.b_O = shift(self.d_model, self.bias, **place)

    def extra_repr(self) -> str:
        shared = "" if self.num_kv_heads == self.num_heads else f", num_kv_heads={self.num_kv_heads}"
        return f"d_model={self.d_model}, num_heads={self.num_heads}{shared}"

    def queries(self, x: torch.Tensor) -> torch.Tensor:
        """x (…, n, d_model) → (…, h, n, d_k)"""
        return split_heads(functional.linear(x, self.W_Q.T, self.b_Q), self.num_heads)

    def keys_and_values(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """x (…, n, d_model) → (…, h_kv, n, d_k) each"""
        keys, values = functional.linear(x, self.W_K.T, self.b_K), functional.linear(x, self.W_V.T, self.b_V)
        return split_heads(keys, self.num_kv_heads), split_heads(values, self.num_kv_heads)

    def attended(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: masks.Mask | None, position: Position
    ) -> torch.Tensor:
        """q (…, h, n_q, d_k)  k, v (…, h_kv, n_k, d_k) → (…, n_q, d_model)"""
        rate = self.dropout if self.training else 0.0
        seed = int(torch.randint(2**62, ()).item()) if rate else None
        mixed = attend(self, position, q, k, v, mask=mask, dropout=rate, seed=seed, strict=self.strict)
        return functional.linear(mixed.transpose(-3, -2).flatten(-2), self.W_O.T, self.b_O)

    def textbook_layer(self, rope: Any = None) -> textbook.MultiHeadAttention:
        layer = textbook.MultiHeadAttention(
            self.d_model,
            self.num_heads,
            num_kv_heads=self.num_kv_heads,
            bias=self.bias,
            rope=rope,
            dtype=to_numpy(self.W_Q.cpu()).dtype,
        )
        layer.load_parameters({name: to_numpy(p.cpu()) for name, p in self.named_parameters()})
        return layer


class SelfAttention(_Attention):
    """Self-attention with rotary positions, grouped heads and a sliding window, causal unless said otherwise.

    W_Q (d_model, h·d_k)  W_K, W_V (d_model, h_kv·d_k)  W_O (h·d_k, d_model), and b_Q, b_K, b_V, b_O with `bias`

    Args:
        num_kv_heads: fewer key/value heads than query heads: query head i uses key/value head i // (h / h_kv).
        window: a query sees only keys less than this many positions away, itself included.
        causal: a query sees no key after itself.
        rope: a function (x (…, n, d), positions (n,)) → x that turns queries and keys, or None.
            `functools.partial(rope, base=500_000.0)` is one.
        dropout: the share of weights dropped in training; seeds are drawn from torch's generator.
        strict: refuse a call that would take a slow way, with the reason, as `clearhead.attention` does.
    """

    def __init__(
        self,
        *,
        d_model: int,
        num_heads: int,
        num_kv_heads: int | None = None,
        window: int | None = None,
        causal: bool = True,
        rope: Rope | None = turn,
        bias: bool = True,
        dropout: float = 0.0,
        strict: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(d_model, num_heads, num_kv_heads, bias, dropout, strict, device, dtype)
        self.window = None if window is None else checks.count("window", window)
        self.causal = bool(causal)
        if rope is not None and not callable(rope):
            raise TypeError(f"rope must be a function (x, positions) → x or None, got {rope!r}")
        self.rope = rope

    def forward(
        self,
        x: Float[torch.Tensor, "... n d_model"],
        mask: Mask | None = None,
        *,
        cache: KeyValueCache | None = None,
    ) -> Float[torch.Tensor, "... n d_model"]:
        """x (…, n, d_model) → (…, n, d_model)

        `mask` forbids keys besides those that causality and the window forbid: a mask from `clearhead.masks` or a
        boolean tensor that broadcasts to (…, h, n, n_k), True = may attend. With a `cache`, x continues the rows of
        earlier calls, and n_k counts them all; positions for `rope` count on too.

        Raises:
            TypeError: x is not of floats, or the mask is neither a mask nor boolean.
            ValueError: the width of x, the mask's shape or the cache do not fit.
        """
        x = checked_rows("x", x, self.d_model)
        past = KeyValueCache() if cache is None else cache
        q, (k, v) = self.queries(x), self.keys_and_values(x)
        if self.rope is not None:
            positions = torch.arange(past.length, past.length + x.shape[-2])
            q, k = self._turned(q, positions), self._turned(k, positions)
        k, v = past.joined(k, v)
        position = Position(self.causal, past.length)
        output = self.attended(q, k, v, both(self.own_mask(), checked_mask(mask)), position)
        past.keep(x.shape[-2])
        return output

    def extra_repr(self) -> str:
        """The settings, with the mask that causality and the window make."""
        mask = self.own_mask()
        return super().extra_repr() + ("" if mask is None else f", own_mask={mask!r}")

    def own_mask(self) -> masks.Mask | None:
        """Which keys causality and the window leave."""
        if self.window is None:
            return masks.causal() if self.causal else None
        return masks.window(self.window) if self.causal else masks.window(self.window - 1, self.window - 1)

    def to_textbook(self) -> textbook.MultiHeadAttention:
        """The same layer in NumPy, with copies of the weights. Its mask is passed to it: `own_mask().array(n)`."""
        return self.textbook_layer(rope_in_numpy(self.rope))

    def _turned(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        assert self.rope is not None
        turned = self.rope(x, positions)
        if turned.shape != x.shape:
            raise ValueError(f"rope must return the shape it was given, {tuple(x.shape)}, got {tuple(turned.shape)}")
        return turned


class CrossAttention(_Attention):
    """Attention from one sequence to another, the memory: queries from the one, keys and values from the other.

    Parameters as in SelfAttention. There are no rotary positions: two sequences have none in common.
    """

    def __init__(
        self,
        *,
        d_model: int,
        num_heads: int,
        num_kv_heads: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        strict: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(d_model, num_heads, num_kv_heads, bias, dropout, strict, device, dtype)

    def forward(
        self,
        x: Float[torch.Tensor, "... n d_model"],
        memory: Float[torch.Tensor, "... n_memory d_model"],
        mask: Mask | None = None,
        *,
        cache: KeyValueCache | None = None,
    ) -> Float[torch.Tensor, "... n d_model"]:
        """x (…, n, d_model)  memory (…, n_memory, d_model) → (…, n, d_model)

        `mask` as in SelfAttention, over the memory. With a `cache` the memory is projected in the first call only.
        """
        x = checked_rows("x", x, self.d_model)
        past = KeyValueCache() if cache is None else cache
        past.check_use("memory")
        if past.holds is None:
            k, v = self.keys_and_values(checked_rows("memory", memory, self.d_model))
        else:
            k, v = past.recalled(memory)
        output = self.attended(self.queries(x), k, v, checked_mask(mask), Position(grows=False))
        past.keep_memory(k, v)
        return output

    def to_textbook(self) -> textbook.MultiHeadAttention:
        """The same layer in NumPy, with copies of the weights."""
        return self.textbook_layer()


def matrix(d_in: int, d_out: int, **place: Any) -> nn.Parameter:
    """A weight (d_in, d_out), drawn as the textbook draws it: uniform in ±√(6 / (d_in + d_out))."""
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(d_in, d_out, **place)))


def shift(width: int, wanted: bool = True, **place: Any) -> nn.Parameter | None:
    """A bias (width,) that begins at 0, where one is wanted."""
    return nn.Parameter(torch.zeros(width, **place)) if wanted else None


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """x (…, n, h·d) → (…, h, n, d)"""
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def rope_in_numpy(rope: Rope | None) -> Any:
    """The textbook's function for the same turning."""
    if isinstance(rope, functools.partial) and rope.func is turn and not rope.args:
        return functools.partial(textbook_rope, **rope.keywords)
    if rope is None or rope is turn:
        return None if rope is None else textbook_rope
    raise ValueError(
        f"{rope!r} cannot be translated to NumPy; use clearhead.torch.rope, or functools.partial of it with keywords"
    )


def checked_rate(dropout: float) -> float:
    """A share of weights to drop, in [0, 1)."""
    rate = checks.number("dropout", dropout)
    if not 0 <= rate < 1:
        raise ValueError(f"dropout must be at least 0 and less than 1, got {rate:g}")
    return rate


def checked_rows(name: str, x: torch.Tensor, d_model: int) -> torch.Tensor:
    """x as floats (…, n, d_model)."""
    if isinstance(x, masks.Mask) or getattr(x, "dtype", None) == torch.bool:
        raise TypeError(f"{name} must be floats (…, n, {d_model}), got a mask; pass it by its name, mask=")
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} must be a torch tensor, got {type(x).__name__} (torch.as_tensor({name}) may make one)")
    if not x.is_floating_point():
        raise TypeError(f"{name} must be floats, got {x.dtype} (did you pass token ids?)")
    if x.ndim < 2 or x.shape[-1] != d_model:
        raise ValueError(
            f"{name} must be d_model = {d_model} wide, shape (…, n, {d_model}), got shape {tuple(x.shape)}"
        )
    return x


def checked_mask(mask: Mask | None) -> masks.Mask | None:
    """A mask, or a boolean tensor made one."""
    if mask is None or isinstance(mask, masks.Mask):
        return mask
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, torch.Tensor) else type(mask).__name__
        raise TypeError(f"mask must be a mask or a boolean tensor (True = may attend), got {kind}")
    return mask_of(mask)
