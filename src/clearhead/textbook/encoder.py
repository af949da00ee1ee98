"""The encoder block: every position looks at every other, then each thinks for itself.

    post-norm (norm_first=False)                     pre-norm (norm_first=True)
    x ─┬─▶ attention ──▶ + ──▶ norm ──▶ x            x ─┬─▶ norm ──▶ attention ──▶ + ──▶ x
       └─────────────────┘                              └──────────────────────────┘
    x ─┬─▶ feed-forward ─▶ + ─▶ norm ──▶ output      x ─┬─▶ norm ──▶ feed-forward ─▶ + ──▶ output
       └───────────────────┘                            └────────────────────────────┘

Post-norm is the original of 2017; pre-norm leaves the sum untouched from the first block to the last and trains
more easily.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import DTypeLike

from clearhead import checks
from clearhead.textbook.feed_forward import FeedForward
from clearhead.textbook.masks import AnyMask
from clearhead.textbook.module import Module, float_type, generator, rows_of_width
from clearhead.textbook.multi_head import MultiHeadAttention, Rope, checked_rope
from clearhead.textbook.norms import make_norm


class EncoderBlockOutput(NamedTuple):
    """output (…, n, d_model), and the weights (…, h, n, n) it was made with."""

    output: np.ndarray
    weights: np.ndarray


class EncoderBlock(Module):
    """Self-attention and feed-forward, each with a residual connection and a norm.

    `norm` is "layer" or "rms"; `activation` is "relu", "gelu", "gelu_tanh" or "swiglu".
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
        norms: dict[str, Any] = {"eps": eps, "bias": self.bias, "dtype": self.dtype}
        self.attention = MultiHeadAttention(
            d_model, num_heads, num_kv_heads=num_kv_heads, bias=bias, rope=rope, seed=rng, dtype=self.dtype
        )
        self.attention_norm = make_norm(norm, d_model, **norms)
        self.feed_forward = FeedForward(d_model, d_ff, activation=activation, bias=bias, seed=rng, dtype=self.dtype)
        self.feed_forward_norm = make_norm(norm, d_model, **norms)

    def forward(self, x: Float[np.ndarray, "... n d_model"], mask: AnyMask | None = None) -> EncoderBlockOutput:
        """x (…, n, d_model)  mask, as in MultiHeadAttention → output (…, n, d_model), weights (…, h, n, n)"""
        x = rows_of_width("x", x, self.d_model)
        if self.norm_first:
            attended, weights = self.attention(self.attention_norm(x), mask=mask)
            x = x + attended
            x = x + self.feed_forward(self.feed_forward_norm(x))
        else:
            attended, weights = self.attention(x, mask=mask)
            x = self.attention_norm(x + attended)
            x = self.feed_forward_norm(x + self.feed_forward(x))
        return EncoderBlockOutput(x, weights)

    __call__ = forward
