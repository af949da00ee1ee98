"""The textbook: every function of the course in plain NumPy, one idea per file, never optimised.

This room is the truth that everything else in clearhead is measured against, so it is itself measured against
outside judges: ONNX's conformance cases, torch and transformers.
"""

from clearhead.textbook import patterns
from clearhead.textbook.attention import (
    attention_scores,
    attention_weights,
    causal_self_attention,
    mask_scores,
    mix_values,
    scaled_dot_product_attention,
    self_attention,
)
from clearhead.textbook.cost import attention_cost, compare_layers
from clearhead.textbook.decoder import DecoderBlock
from clearhead.textbook.decoding import beam, greedy
from clearhead.textbook.dropout import dropout_mask
from clearhead.textbook.encoder import EncoderBlock
from clearhead.textbook.feed_forward import FeedForward
from clearhead.textbook.flash import flash_attention
from clearhead.textbook.image import attention_map, cut_patches, embed_patches, image_attention, join_patches
from clearhead.textbook.linear_attention import linear_attention, linear_attention_weights
from clearhead.textbook.masks import create_causal_mask, create_padding_mask
from clearhead.textbook.memory_efficient import memory_efficient_attention
from clearhead.textbook.model_cost import MODELS, ModelShape, model_cost
from clearhead.textbook.multi_head import KeyValueCache, MultiHeadAttention
from clearhead.textbook.norms import LayerNorm, RMSNorm, layer_norm, rms_norm
from clearhead.textbook.positions import add_positional_encoding, positional_encoding
from clearhead.textbook.recurrent_attention import recurrent_attention
from clearhead.textbook.relative import alibi, alibi_slopes, relative_attention, t5_bias, t5_buckets
from clearhead.textbook.rope import apply_rope, rope, rope_table
from clearhead.textbook.rope_scaling import (
    dynamic_ntk_scaling,
    linear_scaling,
    llama3_scaling,
    longrope_scaling,
    ntk_scaling,
    proportional_scaling,
    rope_frequencies,
    yarn_scaling,
)
from clearhead.textbook.softmax import log_sum_exp, softmax
from clearhead.textbook.transformer import Transformer
from clearhead.textbook.validate import validate_attention

__all__ = [
    "MODELS",
    "DecoderBlock",
    "EncoderBlock",
    "FeedForward",
    "KeyValueCache",
    "LayerNorm",
    "ModelShape",
    "MultiHeadAttention",
    "RMSNorm",
    "Transformer",
    "add_positional_encoding",
    "alibi",
    "alibi_slopes",
    "apply_rope",
    "attention_cost",
    "attention_map",
    "attention_scores",
    "attention_weights",
    "beam",
    "causal_self_attention",
    "compare_layers",
    "create_causal_mask",
    "create_padding_mask",
    "cut_patches",
    "dropout_mask",
    "dynamic_ntk_scaling",
    "embed_patches",
    "flash_attention",
    "greedy",
    "image_attention",
    "join_patches",
    "layer_norm",
    "linear_attention",
    "linear_attention_weights",
    "linear_scaling",
    "llama3_scaling",
    "log_sum_exp",
    "longrope_scaling",
    "mask_scores",
    "memory_efficient_attention",
    "mix_values",
    "model_cost",
    "ntk_scaling",
    "patterns",
    "positional_encoding",
    "proportional_scaling",
    "recurrent_attention",
    "relative_attention",
    "rms_norm",
    "rope",
    "rope_frequencies",
    "rope_table",
    "scaled_dot_product_attention",
    "self_attention",
    "softmax",
    "t5_bias",
    "t5_buckets",
    "validate_attention",
    "yarn_scaling",
]
