"""The textbook: every function of the course in plain NumPy, one idea per file, never optimised.

This room is the truth that everything else in clearhead is measured against, so it is itself measured against
outside judges: ONNX's conformance cases, torch and transformers.
"""

from clearhead.textbook.attention import (
    attention_scores,
    attention_weights,
    causal_self_attention,
    mask_scores,
    mix_values,
    scaled_dot_product_attention,
    self_attention,
)
from clearhead.textbook.dropout import dropout_mask
from clearhead.textbook.flash import flash_attention
from clearhead.textbook.masks import create_causal_mask, create_padding_mask
from clearhead.textbook.memory_efficient import memory_efficient_attention
from clearhead.textbook.softmax import log_sum_exp, softmax

__all__ = [
    "attention_scores",
    "attention_weights",
    "causal_self_attention",
    "create_causal_mask",
    "create_padding_mask",
    "dropout_mask",
    "flash_attention",
    "log_sum_exp",
    "mask_scores",
    "memory_efficient_attention",
    "mix_values",
    "scaled_dot_product_attention",
    "self_attention",
    "softmax",
]
