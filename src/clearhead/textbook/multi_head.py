"""Multi-head attention: several small attentions side by side, each free to look for something else.

    Q (…, n_q, d_model) ──W_Q──▶ split ──▶ (…, h, n_q, d_k)    ┐
    K (…, n_k, d_model) ──W_K──▶ split ──▶ (…, h_kv, n_k, d_k) ├─▶ attention in each head ─▶ merge ──W_O──▶ output
    V (…, n_k, d_model) ──W_V──▶ split ──▶ (…, h_kv, n_k, d_k) ┘

The cache for step-by-step decoding is here too. It is handed in and never kept on the layer, so one layer can serve
many sentences at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike, DTypeLike

from clearhead import checks
from clearhead.masks import Mask
from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.textbook.masks import AnyMask, create_causal_mask
from clearhead.textbook.module import Module, float_type, generator, project, rows_of_width, xavier_uniform

Rope = Callable[[np.ndarray, np.ndarray], np.ndarray]


class MultiHeadAttention(Module):
    """Attention in `num_heads` heads of width d_k = d_model / num_heads.

    W_Q (d_model, h·d_k)  W_K, W_V (d_model, h_kv·d_k)  W_O (h·d_k, d_model), and b_Q, b_K, b_V, b_O with `bias`

    All are plain attributes and may be assigned. With fewer key/value heads, `num_kv_heads`, query head i uses
    key/value head i // (h / h_kv). `rope` is a function (x (…, n, d), positions (n,)) → x that turns queries and
    keys by their positions: `functools.partial(rope, base=500_000)` is one.
    """

    follows: ClassVar[dict[str, str]] = {"num_kv_heads": "num_heads"}

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        bias: bool = True,
        rope: Rope | None = None,
        seed: int | np.random.Generator = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.d_model = checks.count("d_model", d_model)
        self.num_heads = checks.count("num_heads", num_heads)
        self.num_kv_heads = self.num_heads if num_kv_heads is None else checks.count("num_kv_heads", num_kv_heads)
        d_k = checks.head_width(self.d_model, self.num_heads)
        checks.head_groups(self.num_heads, self.num_kv_heads)
        self.bias = bool(bias)
        self.rope = checked_rope(rope)
        self.dtype = float_type(dtype)

        rng = generator(seed)
        widths = {"Q": self.num_heads * d_k, "K": self.num_kv_heads * d_k, "V": self.num_kv_heads * d_k}
        self.W_Q = xavier_uniform(rng, self.d_model, widths["Q"], self.dtype)
        self.W_K = xavier_uniform(rng, self.d_model, widths["K"], self.dtype)
        self.W_V = xavier_uniform(rng, self.d_model, widths["V"], self.dtype)
        self.W_O = xavier_uniform(rng, widths["Q"], self.d_model, self.dtype)
        self.b_Q = np.zeros(widths["Q"], self.dtype) if self.bias else None
        self.b_K = np.zeros(widths["K"], self.dtype) if self.bias else None
        self.b_V = np.zeros(widths["V"], self.dtype) if self.bias else None
        self.b_O = np.zeros(self.d_model, self.dtype) if self.bias else None

    def forward(
        self,
        Q: Float[np.ndarray, "... n_q d_model"],
        K: Float[np.ndarray, "... n_k d_model"] | None = None,
        V: Float[np.ndarray, "... n_k d_model"] | None = None,
        mask: AnyMask | None = None,
        *,
        cache: KeyValueCache | None = None,
    ) -> tuple[Float[np.ndarray, "... n_q d_model"], Float[np.ndarray, "... h n_q n_k"]]:
        """Self-attention over Q alone, or cross-attention from Q to K and V. V is K unless given.

        Q (…, n_q, d_model)  K, V (…, n_k, d_model)  → output (…, n_q, d_model), weights (…, h, n_q, n_k)

        The mask is boolean (True = may attend) or additive and broadcasts to the weights as arrays do in NumPy:
        (n_q, n_k) for all, (h, n_q, n_k) per head, (b, 1, n_q, n_k) per sentence, and (b, 1, 1, n_k) as
        create_padding_mask makes it. Three axes therefore always mean heads, never a batch. Or it is one of
        `clearhead.masks`, which knows the batch from the heads.

        With a `cache` and no K, the keys and values of Q are added to those of earlier calls and the queries attend
        to all of them, n_k counting both; `cache.causal_mask(n_q)` keeps them from looking ahead. With a `cache` and
        K, the keys and values are projected in the first call and reused in later ones. Positions for `rope` count
        on from earlier calls.

        Raises:
            TypeError: an input is not a float array, or the mask is neither boolean nor float.
            ValueError: widths, lengths, the mask's shape, an assigned weight or the cache do not fit.
        """
        if K is None and V is not None:
            raise ValueError("V was given without K; pass K as well (K alone is enough when both are the same)")
        Q = rows_of_width("Q", Q, self.d_model)
        past = KeyValueCache() if cache is None else cache
        queries = self._rotated(split_heads(project(Q, self.W_Q, self.b_Q, "Q"), self.num_heads), past.num_queries)
        if K is None:
            keys, values = past.joined(*self._keys_and_values(Q, Q, past.num_queries))
        elif past.holds == "memory":
            keys, values = past.recalled(K)
        else:
            past.check_use("memory")
            K = rows_of_width("K", K, self.d_model)
            V = K if V is None else rows_of_width("V", V, self.d_model)
            keys, values = self._keys_and_values(K, V, 0)
        check_head_axis(mask, self.num_heads, max(queries.ndim, keys.ndim))
        mixed, weights = scaled_dot_product_attention(queries, keys, values, mask)
        output = project(merge_heads(mixed), self.W_O, self.b_O, "O")
        past.keep("self" if K is None else "memory", keys, values, queries.shape[-2])
        return output, weights

    __call__ = forward

    def _keys_and_values(self, K: np.ndarray, V: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
        """K, V (…, n_k, d_model) → (…, h_kv, n_k, d_k) each, the keys turned by their positions."""
        keys = split_heads(project(K, self.W_K, self.b_K, "K"), self.num_kv_heads)
        values = split_heads(project(V, self.W_V, self.b_V, "V"), self.num_kv_heads)
        return self._rotated(keys, start), values

    def _rotated(self, x: np.ndarray, start: int) -> np.ndarray:
        """x (…, n, d_k), its first row at position `start` → (…, n, d_k)"""
        if self.rope is None:
            return x
        turned = self.rope(x, np.arange(start, start + x.shape[-2]))
        if np.shape(turned) != x.shape:
            raise ValueError(f"rope must return the shape it was given, {x.shape}, got {np.shape(turned)}")
        return turned


class KeyValueCache:
    """The keys and values of one attention layer, kept from call to call: K, V (…, h_kv, n_k, d_k), or None at first.

    A cache belongs to one layer and one use of it. In self-attention it grows with every call; in cross-attention it
    `holds` the projected memory and stays as it is. A call that fails leaves it unchanged.
    """

    def __init__(self) -> None:
        self.K: np.ndarray | None = None
        self.V: np.ndarray | None = None
        self.holds: str | None = None  # "self" or "memory" after the first call
        self.num_queries = 0  # so far, which is the position of the next one

    def __repr__(self) -> str:
        return f"<KeyValueCache: {self.length} keys{' of a memory' if self.holds == 'memory' else ''}>"

    @property
    def length(self) -> int:
        """How many keys it holds."""
        return 0 if self.K is None else self.K.shape[-2]

    def causal_mask(self, n: int) -> Bool[np.ndarray, "n n_k"]:
        """Which keys the next n queries may see: all that are cached, and of themselves none that comes later.

        → mask (n, length + n)
        """
        return create_causal_mask(n, self.length + n)

    def select(self, indices: ArrayLike) -> KeyValueCache:
        """A new cache with the given sentences of the first batch axis, in that order, some perhaps repeated.

        indices (b_new,) → K, V (b_new, …, h_kv, n_k, d_k). Beam search carries on with the survivors this way.
        """
        indices = np.asarray(indices)
        if indices.dtype.kind not in "iu" or indices.ndim != 1:
            raise TypeError(f"indices must be integers (b,), got {indices.dtype.name} of shape {indices.shape}")
        chosen = KeyValueCache()
        chosen.holds, chosen.num_queries = self.holds, self.num_queries
        if self.K is None or self.V is None:
            return chosen
        if self.K.ndim < 4:
            raise ValueError(f"the cached keys have no batch axis to select from, their shape is {self.K.shape}")
        if indices.size and not (indices.min() >= 0 and indices.max() < len(self.K)):
            raise ValueError(f"indices must be in [0, {len(self.K) - 1}], the cached sentences, got {indices.tolist()}")
        chosen.K, chosen.V = self.K[indices], self.V[indices]
        return chosen

    def joined(self, keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is cached followed by what is new: (…, h_kv, n, d_k) → (…, h_kv, length + n, d_k), and no change."""
        self.check_use("self")
        if self.K is None or self.V is None:
            return keys, values
        for name, old, new in (("keys", self.K, keys), ("values", self.V, values)):
            if (*old.shape[:-2], old.shape[-1]) != (*new.shape[:-2], new.shape[-1]):
                raise ValueError(
                    f"the cache holds {name} of shape {old.shape} and the new ones have shape {new.shape}; all but the "
                    "next to last axis must agree (is this the cache of another layer or another batch?)"
                )
        return np.concatenate([self.K, keys], axis=-2), np.concatenate([self.V, values], axis=-2)

    def recalled(self, memory: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The projected memory, provided `memory` (…, n_k, d_model) has the shape of the one that was projected."""
        assert self.K is not None
        assert self.V is not None
        if np.shape(memory)[:-1] != (*self.K.shape[:-3], self.length):
            raise ValueError(
                f"the cache holds a memory of {self.length} positions with leading dimensions {self.K.shape[:-3]}, got "
                f"K of shape {np.shape(memory)}; a new memory needs a new cache"
            )
        return self.K, self.V

    def check_use(self, use: str) -> None:
        """A cache that has been used one way is not used the other way."""
        if self.holds not in (None, use):
            raise ValueError(
                "this cache holds the keys of a memory (cross-attention) and cannot be used for self-attention; "
                "give each its own cache"
                if use == "self"
                else "this cache holds the keys of self-attention and cannot be used with K; give each its own cache"
            )

    def keep(self, holds: str, keys: np.ndarray, values: np.ndarray, n_q: int) -> None:
        """Remember all keys and values, and that n_q more queries have been answered."""
        self.holds, self.K, self.V = holds, keys, values
        self.num_queries += n_q


def split_heads(x: Float[np.ndarray, "... n width"], num_heads: int) -> Float[np.ndarray, "... h n d"]:
    """Cut each row into `num_heads` pieces, one per head.

    x (…, n, h·d) → (…, h, n, d)
    """
    *leading, n, width = x.shape
    if width % num_heads:
        raise ValueError(f"{width} columns cannot be split into {num_heads} heads evenly, x has shape {x.shape}")
    return x.reshape(*leading, n, num_heads, width // num_heads).swapaxes(-3, -2)


def merge_heads(x: Float[np.ndarray, "... h n d"]) -> Float[np.ndarray, "... n width"]:
    """Lay the heads of each position side by side again, the reverse of split_heads.

    x (…, h, n, d) → (…, n, h·d)
    """
    *leading, num_heads, n, d = x.shape
    return x.swapaxes(-3, -2).reshape(*leading, n, num_heads * d)


def checked_rope(rope: Rope | None) -> Rope | None:
    """None or a function."""
    if rope is not None and not callable(rope):
        raise TypeError(f"rope must be a function (x, positions) → x or None, got {rope!r}")
    return rope


def check_head_axis(mask: AnyMask | None, num_heads: int, ndim: int) -> None:
    """Name the usual mistake, a mask (b, n_q, n_k) for weights (b, h, n_q, n_k), rather than 'does not broadcast'."""
    shape = () if mask is None or isinstance(mask, Mask) else np.shape(mask)
    if 3 <= len(shape) < ndim and shape[-3] not in (1, num_heads):
        raise ValueError(
            f"mask of shape {shape} has {shape[-3]} where the {num_heads} heads belong; a mask per sentence needs a "
            "head axis, mask[..., None, :, :]"
        )
