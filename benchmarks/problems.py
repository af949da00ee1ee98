"""What is to be computed, said once for every library, and the calls that compute it.

Problems are drawn from a size, 1 for the real thing and less for trying it out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

import clearhead as ch
from clearhead import biases, masks
from clearhead.biases import RelativeBias

SEED = 7  # of dropout
TYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@dataclass(frozen=True)
class Problem:
    """Attention to be computed. q (b, h, n_q, d)  k (b, h_kv, n_k, d)  v (b, h_kv, n_k, d_v)

    `mask` and `bias` are as clearhead takes them; `allowed` and `addition` say the same written out, for those who
    need it so, with 2 or 4 axes. A causal problem has `mask` too, and no `allowed`: everyone has a word for that.
    """

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    _: KW_ONLY
    causal: bool = False
    mask: masks.Mask | None = None
    allowed: np.ndarray | None = None
    bias: np.ndarray | RelativeBias | None = None
    addition: np.ndarray | None = None
    dropout: float = 0.0

    @property
    def scores(self) -> int:
        """How many there are: b · h · n_q · n_k."""
        return self.q.shape[0] * self.q.shape[1] * self.q.shape[2] * self.k.shape[2]

    @property
    def grouped(self) -> bool:
        return self.q.shape[1] != self.k.shape[1]

    @property
    def operations(self) -> float:
        """Multiplications and additions of the two products, as if nothing were masked."""
        return 2.0 * self.scores * (self.q.shape[-1] + self.v.shape[-1])

    def for_textbook(self) -> dict[str, Any]:
        """The options with masks and biases written out, from what clearhead is given."""
        n_q, n_k, bias = self.q.shape[2], self.k.shape[2], self.bias
        mask = None if self.mask is None else self.mask.array(n_q, n_k, batch_shape=self.q.shape[:1], heads=1)
        bias = bias.array(n_q, n_k) if isinstance(bias, RelativeBias) else bias
        return {"mask": mask, "bias": bias} | ({"dropout": self.dropout, "seed": SEED} if self.dropout else {})

    def truth(self, kind: type[np.floating[Any]] = np.float64) -> np.ndarray:
        """What the textbook says in the given type → (b, h, n_q, d_v)"""
        q, k, v = (x.astype(kind) for x in (self.q, self.k, self.v))
        return ch.scaled_dot_product_attention(q, k, v, **self.for_textbook())[0]


@dataclass(frozen=True)
class Call:
    """`run` is what is timed; `read` turns what it returns into an array (b, h, n_q, d_v) that can be compared."""

    run: Callable[[], Any]
    read: Callable[[Any], np.ndarray] = np.asarray
    _: KW_ONLY
    before: Callable[[], Any] = lambda: None  # is run before each time, and timed only where all that happens counts
    inside: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext  # is entered for each turn
    lean: Callable[[], Callable[[], Any]] | None = None  # makes one that keeps no pool of memory, to be weighed
    weighed: bool = True  # False where memory is kept from call to call, so that what one takes cannot be told
    random: bool = False  # its dropout is its own, so its numbers are too
    operations: float = 0.0  # where the rate is wanted


# Drawn


def at(size: float, n: int) -> int:
    return max(8, round(n * size))


def draw(
    n_q: int, n_k: int | None = None, *, b: int = 1, h: int = 8, h_kv: int | None = None, d: int = 64,
    d_v: int | None = None, dtype: str = "float32", seed: int = 0,
) -> Problem:  # fmt: skip
    """Normal numbers of the given shapes."""
    rng = np.random.default_rng(seed)
    n_k, h_kv, d_v = n_k or n_q, h_kv or h, d_v or d
    shapes = (b, h, n_q, d), (b, h_kv, n_k, d), (b, h_kv, n_k, d_v)
    return Problem(*(rng.standard_normal(shape, np.float32).astype(TYPES[dtype]) for shape in shapes))


def causal_problem(n: int, **shape: Any) -> Problem:
    return replace(draw(n, **shape), causal=True, mask=masks.causal())


def window_problem(n: int, width: int, h: int) -> Problem:
    mask = masks.causal() & masks.window(width)
    return replace(draw(n, h=h), mask=mask, allowed=mask.array(n).copy())


def lengths(size: float, batch: int = 16, shortest: int = 100, longest: int = 1024) -> np.ndarray:
    return np.linspace(at(size, shortest), at(size, longest), batch).astype(int)


def padded_problem(size: float) -> Problem:
    """16 sequences of 100 … 1024 keys, the rest of 1024 being padding."""
    real = lengths(size)
    n = int(real.max())
    allowed = (np.arange(n) < real[:, None])[:, None, None, :]
    return replace(draw(n, b=real.size), mask=masks.key_lengths(real), allowed=allowed)


def biased_problem(n: int, h: int = 8, *, causal: bool = False, **shape: Any) -> Problem:
    """A bias the size of all scores."""
    bias = np.random.default_rng(1).standard_normal((1, h, n, n), np.float32)
    return replace((causal_problem if causal else draw)(n, h=h, **shape), bias=bias, addition=bias)


def alibi_problem(n: int, h: int = 8) -> Problem:
    """A bias by distance: a rule for clearhead, written out for the others."""
    bias = biases.alibi(h)
    return replace(draw(n, h=h), bias=bias, addition=bias.array(n)[None].astype(np.float32))
