"""Sinusoidal positions: the waves that tell attention which token came when.

Attention by itself sees a set, not a sequence: permuting its inputs permutes its outputs and changes nothing else.
Adding a different pattern of sines and cosines to each position breaks that tie. Column pairs are clock hands that
turn ever more slowly, so nearby positions look alike and far ones do not.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearhead import checks


def positional_encoding(seq_len: int, d_model: int, *, base: float = 10000.0) -> Float[np.ndarray, "seq_len d_model"]:
    """The encoding of positions 0 … seq_len − 1: sin on even columns, cos on odd ones.

    → (seq_len, d_model), float64. Columns 2i and 2i + 1 hold sin and cos of position / base^(2i / d_model). When
    d_model is odd, the last column is a sine without its cosine.
    """
    seq_len = checks.count("seq_len", seq_len, least=0)
    d_model = checks.count("d_model", d_model)
    base = checks.number("base", base, above=0.0)
    columns = np.arange(d_model)
    angles = np.arange(seq_len)[:, None] / base ** (2 * (columns // 2) / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def add_positional_encoding(
    x: Float[np.ndarray, "... n d_model"], *, start: int = 0, base: float = 10000.0
) -> Float[np.ndarray, "... n d_model"]:
    """x plus the encoding of its positions, the first row being position `start`.

    x (…, n, d_model) → (…, n, d_model), in x's type. Decoding one token at a time with a cache, `start` is the
    number of tokens that came before.
    """
    x = checks.float_array("x", x, ndim=2)
    start = checks.count("start", start, least=0)
    n, d_model = x.shape[-2:]
    kind = checks.compute_type(x.dtype)
    encoding = positional_encoding(start + n, d_model, base=base)[start:]
    encoded: np.ndarray = x.astype(kind) + encoding.astype(kind)
    return encoded.astype(x.dtype)
