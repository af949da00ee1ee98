"""What a type checker must find: each line marked with an error is one."""

from __future__ import annotations

import numpy as np

import clearhead as ch
from clearhead import masks

x = np.zeros((5, 7))
masks.causal(5)  # error: call-arg
print(ch.MultiheadAttention)  # error: attr-defined
ch.MultiHeadAttention(12, 3)(x, maks=None)  # error: call-arg
ch.look(x, x, x, is_causal=True)  # error: call-arg
ch.scaled_dot_product_attention(x, x, x, is_causal=True)  # error: call-arg
print(ch.attention(x, x, x, return_lse=True).shape)  # error: attr-defined
