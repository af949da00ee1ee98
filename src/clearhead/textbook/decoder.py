"""The decoder block: look back over what has been written, look across at what is being translated, then think.

    x ──▶ causal self-attention ──▶ cross-attention over the memory ──▶ feed-forward ──▶ output

Each of the three has a residual connection and a norm, before it (pre-norm) or after the sum (post-norm), as in the
encoder block. The causal mask is the block's own: a decoder that could see the words to come would learn to copy them.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike, DTypeLike

from clearhead import checks
from clearhead.textbook.feed_forward import FeedForward
from clearhead.textbook.masks import AnyMask, mask_for_scores
from clearhead.textbook.module import Module, float_type, generator, rows_of_width
from clearhead.textbook.multi_head import KeyValueCache, MultiHeadAttention, Rope, check_head_axis, checked_rope
from clearhead.textbook.norms import make_norm


class DecoderBlockOutput(NamedTuple):
    """output (…, n, d_model), self_weights (…, h, n, n_past + n), cross_weights (…, h, n, n_memory)."""

    output: np.ndarray
    self_weights: np.ndarray
    cross_weights: np.ndarray


class DecoderBlockCache(NamedTuple):
    """The two caches of one decoder block: one grows with every call, the other holds the projected memory."""

    self_attention: KeyValueCache
    cross_attention: KeyValueCache

    @classmethod
    def empty(cls) -> DecoderBlockCache:
        return cls(KeyValueCache(), KeyValueCache())

    def copy(self) -> DecoderBlockCache:
        """The same keys and values in caches of their own; arrays are replaced when a cache grows, never changed."""
        return DecoderBlockCache(copy.copy(self.self_attention), copy.copy(self.cross_attention))

    def select(self, indices: ArrayLike) -> DecoderBlockCache:
        """New caches with the given sentences, in that order."""
        return DecoderBlockCache(self.self_attention.select(indices), self.cross_attention.select(indices))


class DecoderBlock(Module):
    """Causal self-attention, cross-attention and feed-forward, each with a residual connection and a norm.

    Settings as in EncoderBlock. `rope` turns the self-attention only: the words of two languages have no common
    positions that cross-attention could compare.
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
        seed: int | np.random.Generator = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.d_model = checks.count("d_model", d_model)
        self.num_heads = checks.count("num_heads", num_heads)
        self.d_ff = checks.count("d_ff", d_ff)
        self.norm_first, self.norm, self.activation = bool(norm_first), norm, activation
        self.num_kv_heads, self.bias, self.eps = num_kv_heads, bool(bias), eps
        self.rope, self.dtype = checked_rope(rope), float_type(dtype)

        rng = generator(seed)
        attention: dict[str, Any] = {"num_kv_heads": num_kv_heads, "bias": self.bias, "seed": rng, "dtype": self.dtype}
        norms: dict[str, Any] = {"eps": eps, "bias": self.bias, "dtype": self.dtype}
        self.self_attention = MultiHeadAttention(d_model, num_heads, rope=rope, **attention)
        self.self_attention_norm = make_norm(norm, d_model, **norms)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, **attention)
        self.cross_attention_norm = make_norm(norm, d_model, **norms)
        self.feed_forward = FeedForward(d_model, d_ff, activation=activation, bias=bias, seed=rng, dtype=self.dtype)
        self.feed_forward_norm = make_norm(norm, d_model, **norms)

    def forward(
        self,
        x: Float[np.ndarray, "... n d_model"],
        memory: Float[np.ndarray, "... n_memory d_model"],
        mask: AnyMask | None = None,
        memory_mask: AnyMask | None = None,
        *,
        cache: DecoderBlockCache | None = None,
    ) -> DecoderBlockOutput:
        """x (…, n, d_model)  memory (…, n_memory, d_model)
        → output (…, n, d_model), self_weights (…, h, n, n_past + n), cross_weights (…, h, n, n_memory)

        `mask` forbids keys of the self-attention besides those to come, for instance padding; `memory_mask` those of
        the memory. With a `cache`, x continues the rows of earlier calls, n_past of them, and the mask covers all.
        """
        x = rows_of_width("x", x, self.d_model)
        memory = rows_of_width("memory", memory, self.d_model)
        past, projected = (None, None) if cache is None else cache
        mask = self._causal(x, mask, past)
        if self.norm_first:
            attended, self_weights = self.self_attention(self.self_attention_norm(x), mask=mask, cache=past)
            x = x + attended
            attended, cross_weights = self.cross_attention(
                self.cross_attention_norm(x), memory, mask=memory_mask, cache=projected
            )
            x = x + attended
            x = x + self.feed_forward(self.feed_forward_norm(x))
        else:
            attended, self_weights = self.self_attention(x, mask=mask, cache=past)
            x = self.self_attention_norm(x + attended)
            attended, cross_weights = self.cross_attention(x, memory, mask=memory_mask, cache=projected)
            x = self.cross_attention_norm(x + attended)
            x = self.feed_forward_norm(x + self.feed_forward(x))
        return DecoderBlockOutput(x, self_weights, cross_weights)

    __call__ = forward

    def _causal(self, x: np.ndarray, mask: AnyMask | None, past: KeyValueCache | None) -> np.ndarray:
        """The mask with everything that comes later forbidden as well, boolean or additive as it was."""
        causal = (KeyValueCache() if past is None else past).causal_mask(x.shape[-2])
        if mask is None:
            return causal
        check_head_axis(mask, self.num_heads, x.ndim + 1)
        mask = mask_for_scores(mask, (*x.shape[:-2], self.num_heads, *causal.shape))
        return mask & causal if mask.dtype == np.bool_ else np.where(causal, mask, -np.inf)
